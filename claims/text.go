package claims

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// Text is a text that a call would publish.
type Text struct {
	Where string // the option, the key or the file that it stands in
	Key   string // the last key of a JSON value
	Body  string
}

// textOptions are options whose value is text, in any tool.
var textOptions = map[string]bool{
	"-m": true, "--message": true, "-t": true, "--title": true, "-b": true, "--body": true, "-n": true, "--notes": true, "--note": true,
	"-d": true, "-F": true, "-f": true, "--data": true, "--data-raw": true, "--data-binary": true, "--data-urlencode": true, "--json": true, "--form": true, "--form-string": true,
	"--field": true, "--raw-field": true, "--text": true, "--comment": true, "--description": true, "--subject": true, "--summary": true, "--content": true,
	"--body-data": true, "--post-data": true, "--notes-from-tag": true, "--caption": true, "--status": true,
}

// sources are where the texts of a call may lie outside of it.
type sources struct {
	written *written                                 // files that the agent wrote, as they were then
	disk    func(name string) (text string, ok bool) // other files, as they are now; may be nil
	commits []string                                 // messages of the commits that a push sends
}

// texts are the texts in a call's input.
func (s *sources) texts(input json.RawMessage) []Text {
	if line, ok := lineIn(input); ok {
		return s.ofLine(line)
	}
	var out []Text
	walk(input, nil, &out)
	return out
}

func (s *sources) ofLine(line string) []Text {
	var out []Text
	add := func(where, body string) {
		if strings.TrimSpace(body) == "" || slices.ContainsFunc(out, func(t Text) bool { return t.Body == body }) {
			return
		}
		if isJSON(body) {
			var inner []Text
			walk(json.RawMessage(body), nil, &inner)
			for _, t := range inner {
				t.Where = where + " " + t.Where
				out = append(out, t)
			}
			return
		}
		out = append(out, Text{Where: where, Body: body})
	}
	read := shell.Read(line, shell.Options{ReadFile: s.written.text})
	sends := slices.ContainsFunc(read.Commands, func(c shell.Command) bool { return sendsCommits(&c) })
	for _, c := range read.Commands {
		if sends && gitVerb(&c) == "commit" {
			continue // its message stands among those of the push
		}
		s.ofCommand(&c, add)
		if sendsCommits(&c) {
			for _, m := range s.commits {
				add("commit message", m)
			}
		}
	}
	for _, t := range read.Texts {
		if t.Kind == shell.TextHeredoc {
			add("heredoc", t.Body)
		}
	}
	return out
}

func (s *sources) ofCommand(c *shell.Command, add func(where, body string)) {
	for i, w := range c.Argv {
		if i == 0 {
			continue
		}
		option, value, joined := strings.Cut(w.Text, "=")
		before := c.Argv[i-1].Text
		name, body, isFile := s.file(c, i)
		switch {
		case isFile:
			add(name, body)
		case joined && textOptions[option]:
			add(option, value)
		case textOptions[before] && !strings.HasPrefix(w.Text, "-"):
			add(before, w.Text)
		case strings.ContainsAny(w.Text, " \n\t") || isJSON(w.Text):
			add(strings.TrimSpace(c.Program()+" "+optionName(before)), w.Text)
		}
	}
	if c.Stdin.Known {
		add("standard input", c.Stdin.Text)
	}
	if c.Stdin.Kind == shell.InputFile {
		if where, body, ok := s.open(c.Stdin.From, true); ok {
			add(where, body)
		}
	}
	if name := implied(c); name != "" {
		if where, body, ok := s.open(name, false); ok {
			add(where, body)
		}
	}
}

// implied is the file that a package's publication shows without being named.
func implied(c *shell.Command) string {
	publishes := slices.ContainsFunc(c.Argv[1:], func(w shell.Word) bool { return w.Text == "publish" || w.Text == "upload" })
	switch c.Program() {
	case "npm", "pnpm", "yarn", "bun", "cargo", "poetry", "uv", "twine", "flit", "hatch", "vsce", "ovsx", "dart", "flutter":
		if publishes {
			return "README.md"
		}
	}
	return ""
}

func optionName(word string) string {
	if strings.HasPrefix(word, "-") && !strings.ContainsAny(word, " \n") {
		return word
	}
	return ""
}

// open gives a file that a call names, and where it was found. A file of which
// only the agent's edits are known is read from the disk, where it can be.
func (s *sources) open(name string, disk bool) (where, body string, ok bool) {
	body, ok = s.written.text(name)
	if disk && s.disk != nil && name != "" && name != "-" && (!ok || s.written.partly(name)) {
		if text, found := s.disk(name); found {
			return "file " + name + ", as it is now", text, true
		}
	}
	return "file " + name, body, ok
}

// fileOptions are followed by the name of a file whose text is sent.
var fileOptions = wordSet("--body-file --file --input --notes-file --upload-file -T --post-file --body-file= --data-file --message-file --description-file --content-file --readme-file")

// programFiles are the endings of files whose numbers claim nothing: programs and
// what configures them.
var programFiles = wordSet(".go .py .pyi .ipynb .js .mjs .cjs .jsx .ts .tsx .mts .sh .bash .zsh .fish .rb .rs .c .h .cc .cpp .hpp .m .java .kt .kts .scala .swift " +
	".cs .fs .php .pl .pm .lua .r .jl .ex .exs .erl .hs .ml .clj .dart .zig .nim .sql .css .scss .less .vue .svelte .tf .hcl .proto .graphql .gradle .cmake .mk .ps1 .bat " +
	".toml .yaml .yml .ini .cfg .conf .env .lock .mod .sum .xml .plist .patch .diff .svg .snap .gitignore")

func isProgram(name string) bool {
	base := strings.ToLower(path.Base(name))
	return programFiles[path.Ext(base)] || base == "makefile" || base == "dockerfile"
}

// file is the file that the word at i of a command names: any word may name one
// that the agent wrote, if it is no program, and only one that is sent is read
// from the disk.
func (s *sources) file(c *shell.Command, i int) (where, body string, ok bool) {
	word, before, program := c.Argv[i].Text, c.Argv[i-1].Text, c.Program()
	gist := program == "gh" && len(c.Argv) > 2 && c.Argv[1].Text == "gist" && i > 2 && !strings.HasPrefix(word, "-") && !strings.HasPrefix(before, "-")
	for _, n := range fileNames(word) {
		option, _, _ := strings.Cut(word, "=")
		sent := n.sent || fileOptions[before] || fileOptions[option] || before == "-F" && (program == "gh" || program == "glab")
		if !sent && isProgram(n.name) && !interpreters[program] { // what a program sends, stands in it
			continue
		}
		if where, body, ok := s.open(n.name, sent || gist); ok {
			return where, body, true
		}
	}
	return "", "", false
}

type fileName struct {
	name string
	sent bool // the word says that the file is read: @x
}

// fileNames are the names that a word may give a file: x, @x, field=@x,
// --option=x, @x;type=text/plain.
func fileNames(word string) []fileName {
	if strings.ContainsAny(word, "\n") || len(word) > 400 {
		return nil
	}
	one := func(word string) fileName {
		name, sent := strings.CutPrefix(word, "@")
		if !sent {
			name, sent = strings.CutPrefix(word, "<")
		}
		if file, _, ok := strings.Cut(name, ";"); sent && ok {
			name = file
		}
		return fileName{name, sent}
	}
	names := []fileName{one(word)}
	if _, value, ok := strings.Cut(word, "="); ok {
		names = append(names, one(value))
	}
	if rest, ok := strings.CutPrefix(word, "-d@"); ok {
		names = append(names, fileName{rest, true})
	}
	return names
}

func isJSON(s string) bool {
	t := strings.TrimSpace(s)
	return len(t) > 1 && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t))
}

// walk lists the strings and numbers of a JSON value. A number is given the
// words of its key, because they are what it counts.
func walk(v json.RawMessage, path []string, out *[]Text) {
	const deepest, most = 32, 500
	v = bytes.TrimSpace(v)
	if len(v) == 0 || len(path) > deepest || len(*out) >= most {
		return
	}
	key := ""
	if len(path) > 0 {
		key = path[len(path)-1]
	}
	text := func(body string) {
		*out = append(*out, Text{Where: strings.Join(path, "."), Key: key, Body: body})
	}
	switch v[0] {
	case '{':
		dec := json.NewDecoder(bytes.NewReader(v))
		if _, err := dec.Token(); err != nil {
			return
		}
		for dec.More() {
			k, err := dec.Token()
			name, ok := k.(string)
			var member json.RawMessage
			if err != nil || !ok || dec.Decode(&member) != nil {
				return
			}
			walk(member, append(slices.Clone(path), name), out)
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(v, &list) != nil {
			return
		}
		for i, e := range list {
			walk(e, append(slices.Clone(path), strconv.Itoa(i)), out)
		}
	case '"':
		var s string
		if json.Unmarshal(v, &s) != nil {
			return
		}
		if isJSON(s) {
			walk(json.RawMessage(s), path, out)
			return
		}
		text(s)
	default:
		if isDigit(v[0]) || v[0] == '-' {
			text(string(v))
		}
	}
}
