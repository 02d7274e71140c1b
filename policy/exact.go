package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// ExactWords are the words of a line that is one simple command and nothing
// beside it: nothing wrapped, set, fed or unknown. ok is false for any other.
func ExactWords(line string) (words []string, ok bool) {
	l := shell.Read(line, shell.Options{})
	if len(l.Commands) != 1 || len(l.Opaque) > 0 || !plainCommand(&l.Commands[0]) {
		return nil, false
	}
	return wordTexts(l.Commands[0].Argv), true
}

func plainCommand(c *shell.Command) bool {
	return len(c.Argv) > 0 && len(c.Env)+len(c.Wrappers)+len(c.Scripts) == 0 && c.Remote == "" && c.Opaque == "" && c.Depth == 0 &&
		c.Mode != shell.Defined && c.Stdin.Kind == shell.InputNone && !slices.ContainsFunc(c.Argv, func(w shell.Word) bool { return w.Dynamic || w.Subst })
}

// exactly: the command is one of the lines of the rule, word by word, and runs
// in the folder of the rule.
func (r *rule) exactly(a *args) bool {
	if r.Dir != "" && path.Clean(r.Dir) != a.dir {
		return false
	}
	if len(r.lines) == 0 {
		return true
	}
	return plainCommand(a.cmd) && slices.ContainsFunc(r.lines, func(words []string) bool { return slices.Equal(words, wordTexts(a.cmd.Argv)) })
}

// compileExact makes the lines of a rule ready.
func (r *rule) compileExact() error {
	for _, line := range r.Line {
		words, ok := ExactWords(line)
		if !ok {
			return fmt.Errorf("line %q is not one plain command", line)
		}
		r.lines = append(r.lines, words)
	}
	if r.Dir != "" && !strings.HasPrefix(filepathSlash(r.Dir), "/") && !strings.Contains(r.Dir, ":") {
		return fmt.Errorf("dir %q is not an absolute path", r.Dir)
	}
	if r.Deny && (r.Allow || r.tier != External || len(r.cmds) == 0) {
		return fmt.Errorf("deny is for rules with tier external and cmd")
	}
	return nil
}

// folder is where a command runs; "" when it is not known.
func (r *reading) folder(c *shell.Command) string {
	dir := "."
	for _, d := range []string{c.Dir, r.inside(), r.cwd} {
		if d != "" {
			dir = joinDir(d, dir)
		}
	}
	if r.cwd == "" && !strings.HasPrefix(dir, "/") || strings.ContainsAny(dir, "~$`") {
		return ""
	}
	return path.Clean(filepathSlash(dir))
}

// inside is the folder into which the files that are followed have led.
func (r *reading) inside() string {
	if r.tree == nil {
		return ""
	}
	return r.tree.dir
}

// Denied is what a rule of the user's own says that refuses the call for good;
// ok is false when there is none, or when another part of the call reaches
// outside as well, about which nobody has decided.
func (r Result) Denied() (h Hit, ok bool) {
	i := slices.IndexFunc(r.Hits, func(h Hit) bool { return h.Denied && !h.Mention })
	if i < 0 {
		return Hit{}, false
	}
	return r.Hits[i], !slices.ContainsFunc(r.Hits, func(h Hit) bool { return !h.Mention && h.Tier == External && h.Text != r.Hits[i].Text })
}

// Allows reports whether a rule of the user's own takes something back that
// others say. The embedded packs have none.
func (s *Set) Allows() bool {
	for _, p := range s.packs {
		if slices.ContainsFunc(p.def.Rules, func(d ruleDef) bool { return d.Allow }) {
			return true
		}
	}
	return false
}
