package policy

import (
	"encoding/json"
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

// Writes lists what the command line of a shell tool puts into files, in
// order: by redirection, tee, cp and mv. It is nil for any other tool, and
// never panics.
func (s *Set) Writes(c Call) (out []FileWrite) {
	defer func() {
		if p := recover(); p != nil {
			out = nil // the call itself is judged by Classify
		}
	}()
	var in map[string]any
	if !s.isShellTool(c.Tool) || len(c.Input) > maxInput || json.Unmarshal(c.Input, &in) != nil {
		return nil
	}
	command, ok := commandField(in)
	if !ok {
		return nil
	}
	t := s.readingOf(c).tree
	o := shell.Options{}
	if t != nil {
		o.ReadFile = func(name string) (string, bool) { text, _, ok := t.read(name); return text, ok }
	} else {
		t = &worktree{cwd: c.Cwd}
	}
	l := shell.Read(command, o)
	for i := range l.Commands {
		if w, ok := setting(&l.Commands[i]); ok {
			l.Written = append(l.Written, w)
		}
	}
	for _, w := range l.Written {
		if name := t.path(w.Name); name != "" {
			out = append(out, FileWrite{Name: name, Text: w.Text, Known: w.Known, Append: w.Append})
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
		w.Name, w.Text = joinDir(c.Dir, ".git/config"), "["+section+"]\n\t"+key+" = "+last+"\n"
	case c.Program() == "npm" && words[0] == "pkg" && words[1] == "set":
		key, value, ok := strings.Cut(last, "=")
		if key, ok2 := strings.CutPrefix(key, "scripts."); ok && ok2 {
			pair, err := json.Marshal(map[string]string{key: value})
			w.Name, w.Text = joinDir(c.Dir, "package.json"), "\n"+strings.Trim(string(pair), "{}")+"\n"
			return w, err == nil
		}
		return w, false
	default:
		return w, false
	}
	return w, true
}
