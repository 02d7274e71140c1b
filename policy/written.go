package policy

import (
	"encoding/json"

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
	for _, w := range shell.Read(command, o).Written {
		if name := t.path(w.Name); name != "" {
			out = append(out, FileWrite{Name: name, Text: w.Text, Known: w.Known, Append: w.Append})
		}
	}
	return out
}
