package policy

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// FileWrite is what a shell call puts into a file of this machine.
type FileWrite struct {
	Name   string // joined to the call's Cwd when that is known
	Text   string // hostile
	Known  bool   // the text is known
	Append bool
}

// Writes lists what a call puts into files, in order: the command line of a
// shell tool by redirection, tee, cp, mv, sed -i and patches, and a tool that
// applies a patch. It is nil for any other tool, and never panics.
func (s *Set) Writes(c Call) (out []FileWrite) {
	defer func() {
		if p := recover(); p != nil {
			out = nil // the call itself is judged by Classify
		}
	}()
	if len(c.Input) > MaxInput {
		return nil
	}
	t := s.readingOf(c).tree
	if t == nil {
		t = &worktree{cwd: c.Cwd, open: func(string) (string, bool) { return "", false }, texts: map[string]string{}, missing: map[string]bool{}}
	}
	read := func(name string) (string, bool) { text, _, ok := t.read(name); return text, ok }
	var list []shell.Write
	if command, ok := s.commandLine(c); ok {
		list = lineWrites(command, read)
	} else if text := patchText(c); text != "" {
		list = patchWrites(text, "", read)
	}
	for _, w := range list {
		if name := t.path(w.Name); name != "" {
			out = append(out, FileWrite{Name: name, Text: w.Text, Known: w.Known, Append: w.Append})
		}
	}
	return out
}

// commandLine is the line that a shell tool is given.
func (s *Set) commandLine(c Call) (string, bool) {
	if !s.isShellTool(c.Tool) {
		return "", false
	}
	if in, ok := c.input(); ok {
		return commandField(in)
	}
	var words []string
	if json.Unmarshal(c.Input, &words) == nil {
		return quoteWords(words), true
	}
	var line string
	return line, json.Unmarshal(c.Input, &line) == nil
}

// lineWrites lists what a command line puts into files. What its commands do
// to one file builds on each other.
func lineWrites(command string, read func(string) (string, bool)) []shell.Write {
	o := shell.Options{ReadFile: read}
	o.Effects = func(c *shell.Command, written func(string) (string, bool)) []shell.Write {
		return effects(c, func(name string) (string, bool) {
			if text, ok := written(name); ok {
				return text, true
			}
			return read(joinDir(c.Dir, name))
		})
	}
	return shell.Read(command, o).Written
}

// effects is shell.Options.Effects: what settings, edits in place, patches,
// copies and inline code put into files.
func effects(c *shell.Command, read func(string) (string, bool)) []shell.Write {
	var out []shell.Write
	if w, ok := setting(c); ok {
		out = append(out, w)
	}
	out = append(out, edits(c, read)...)
	if text := givenPatch(c, read); text != "" {
		out = append(out, patchWrites(text, "", read)...)
	}
	out = append(out, copies(c, read)...)
	return append(out, codeWrites(c)...)
}

// runnable keeps, of what a line puts into files, what it may run afterwards: a
// text that it only edits is no part of the line.
func runnable(c *shell.Command, read func(string) (string, bool)) []shell.Write {
	return slices.DeleteFunc(effects(c, read), func(w shell.Write) bool { return !mayRun(w.Name) || editsUnseen(c, w, read) })
}

// editsUnseen: the command edits a file that the line has not written. It
// keeps the rest of what it held, which is not known here.
func editsUnseen(c *shell.Command, w shell.Write, read func(string) (string, bool)) bool {
	_, known := read(w.Name)
	return w.Append && !known && (c.Program() == "sed" || c.Program() == "gsed" || c.Program() == "perl")
}

func mayRun(name string) bool {
	switch path.Ext(name) {
	case "", ".sh", ".bash", ".zsh", ".py", ".rb", ".pl", ".php", ".js", ".mjs", ".cjs", ".ts", ".lua", ".mk", ".go", ".ps1", ".fish":
		return true
	}
	switch baseOf(name) {
	case "package.json", "composer.json", "deno.json", "Taskfile.yml", "Taskfile.yaml", "pyproject.toml", "mise.toml", "tox.ini", "Cargo.toml":
		return true
	}
	return strings.Contains(name, ".git/hooks/")
}

// copies is what dd and git mv put into files.
func copies(c *shell.Command, read func(string) (string, bool)) []shell.Write {
	words := wordTexts(c.Argv[1:])
	switch {
	case c.Program() == "dd":
		w := shell.Write{Text: c.Stdin.Text, Known: c.Stdin.Known}
		for _, s := range words {
			if name, ok := strings.CutPrefix(s, "of="); ok {
				w.Name = name
			}
			if name, ok := strings.CutPrefix(s, "if="); ok {
				w.Text, w.Known = read(name)
			}
		}
		if w.Name != "" && !strings.HasPrefix(w.Name, "/dev/") {
			return []shell.Write{w}
		}
	case c.Program() == "git" && len(words) > 2 && words[0] == "mv":
		if text, ok := read(words[len(words)-2]); ok {
			return []shell.Write{{Name: words[len(words)-1], Text: text, Known: true}}
		}
	}
	return nil
}

// givenPatch is the patch that a command applies.
func givenPatch(c *shell.Command, read func(string) (string, bool)) string {
	words := wordTexts(c.Argv[1:])
	switch prog := c.Program(); {
	case prog == "apply_patch" || prog == "applypatch":
		if len(words) > 0 {
			return words[len(words)-1]
		}
	case prog == "patch":
		for i, w := range words {
			if w == "-i" && i+1 < len(words) {
				text, _ := read(words[i+1])
				return text
			}
		}
	case prog == "git" && len(words) > 0 && (words[0] == "apply" || words[0] == "am"):
		for _, w := range words[1:] {
			if text, ok := read(w); ok && !strings.HasPrefix(w, "-") {
				return text
			}
		}
	default:
		return ""
	}
	if c.Stdin.Kind == shell.InputFile {
		text, _ := read(c.Stdin.From)
		return text
	}
	if c.Stdin.Known {
		return c.Stdin.Text
	}
	return ""
}

// patchWrites lists what a patch puts into files.
func patchWrites(text, dir string, read func(string) (string, bool)) []shell.Write {
	var out []shell.Write
	for _, f := range patches(text) {
		from := f.name
		if f.old != "" {
			from = f.old
		}
		if f.deleted {
			out = append(out, shell.Write{Name: joinDir(dir, f.name)})
			continue
		}
		old, known := read(joinDir(dir, from))
		text, whole := f.apply(old, known)
		out = append(out, shell.Write{Name: joinDir(dir, f.name), Text: text, Known: true, Append: !whole && !known})
	}
	return out
}

// patchText is the patch in the input of a tool that applies one.
func patchText(c Call) string {
	var line string
	if !isFileTool(toolKey(c.Tool)) || json.Unmarshal(c.Input, &line) == nil {
		return line
	}
	in, ok := c.input()
	if !ok {
		return ""
	}
	for _, k := range []string{"input", "patch", "diff", "patchText", "patch_text"} {
		if text, ok := in[k].(string); ok && len(patches(text)) > 0 {
			return text
		}
	}
	return ""
}

// PatchedFiles lists the files that a text which is a patch writes to, with
// what it puts in; nil when it is none.
func PatchedFiles(text string) []FileWrite {
	var out []FileWrite
	for _, f := range patches(text) {
		added, _ := (&filePatch{create: true, hunks: f.hunks}).apply("", false)
		if !f.deleted {
			out = append(out, FileWrite{Name: f.name, Text: added, Known: f.create, Append: !f.create})
		}
	}
	return out
}

// setting is what git config and npm pkg set add to a file by which later
// calls are governed.
func setting(c *shell.Command) (shell.Write, bool) {
	if c.Mode == shell.Defined || c.Remote != "" || len(c.Argv) < 4 {
		return shell.Write{}, false
	}
	w := shell.Write{Known: true, Append: true}
	words := wordTexts(c.Argv[1:])
	switch last := words[len(words)-1]; {
	case c.Program() == "git" && containsString(words[:3], "config"):
		section, key, ok := strings.Cut(words[len(words)-2], ".")
		if !ok || section != "alias" && section != "core" {
			return w, false
		}
		w.Name, w.Text = ".git/config", "["+section+"]\n\t"+key+" = "+last+"\n"
	case c.Program() == "npm" && (words[0] == "pkg" && words[1] == "set" || words[0] == "set-script"):
		w.Name, w.Text = "package.json", npmScripts(words)
		return w, w.Text != ""
	default:
		return w, false
	}
	return w, true
}

// npmScripts are the scripts that npm pkg set, or npm set-script, adds, each as
// a line of JSON.
func npmScripts(words []string) string {
	pairs := words[2:]
	if words[0] == "set-script" {
		pairs = []string{"scripts." + words[1] + "=" + strings.Join(words[2:], " ")}
	}
	var b strings.Builder
	for _, p := range pairs {
		key, value, ok := strings.Cut(p, "=")
		if key, script := strings.CutPrefix(key, "scripts."); ok && script {
			if pair, err := json.Marshal(map[string]string{key: value}); err == nil {
				b.WriteString("\n" + strings.Trim(string(pair), "{}") + "\n")
			}
		}
	}
	return b.String()
}
