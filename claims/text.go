package claims

import (
	"bytes"
	"encoding/json"
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

// texts are the texts in a call's input. files gives the text of a file that
// the agent wrote, and commits the messages of the commits that a push sends.
func texts(input json.RawMessage, files func(name string) (string, bool), commits []string) []Text {
	var in struct {
		Command *string `json:"command"`
	}
	if json.Unmarshal(input, &in) == nil && in.Command != nil {
		return textsOfLine(*in.Command, files, commits)
	}
	var out []Text
	walk(input, nil, &out)
	return out
}

func textsOfLine(line string, files func(string) (string, bool), commits []string) []Text {
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
	read := shell.Read(line, shell.Options{})
	for _, c := range read.Commands {
		textsOfCommand(&c, files, add)
		if c.Program() == "git" && slices.ContainsFunc(c.Argv, func(w shell.Word) bool { return w.Text == "push" }) {
			for _, m := range commits {
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

func textsOfCommand(c *shell.Command, files func(string) (string, bool), add func(where, body string)) {
	for i, w := range c.Argv {
		if i == 0 {
			continue
		}
		option, value, joined := strings.Cut(w.Text, "=")
		before := c.Argv[i-1].Text
		name, body, isFile := namedFile(w.Text, files)
		switch {
		case isFile:
			add("file "+name, body)
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
		if body, ok := files(c.Stdin.From); ok {
			add("file "+c.Stdin.From, body)
		}
	}
}

func optionName(word string) string {
	if strings.HasPrefix(word, "-") && !strings.ContainsAny(word, " \n") {
		return word
	}
	return ""
}

func namedFile(word string, files func(string) (string, bool)) (name, body string, ok bool) {
	for _, name := range fileNames(word) {
		if body, ok := files(name); ok {
			return name, body, true
		}
	}
	return "", "", false
}

// fileNames are the names that a word may give a file: x, @x, field=@x, --option=x.
func fileNames(word string) []string {
	if strings.ContainsAny(word, "\n") || len(word) > 400 {
		return nil
	}
	names := []string{strings.TrimPrefix(word, "@")}
	if _, value, ok := strings.Cut(word, "="); ok {
		names = append(names, strings.TrimPrefix(strings.TrimPrefix(value, "@"), "<"))
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
