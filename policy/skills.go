package policy

import (
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// skillFile classifies what a skill, or a command of the client's, runs by
// itself when it is used: the hooks in its head, and !`command` in its text.
// No hook is asked about either.
func (s *Set) skillFile(c Call, name string) []Hit {
	if c.ReadFile == nil || name == "" || strings.Contains(name, "..") {
		return nil
	}
	r := s.readingOf(c)
	none := &shell.Command{}
	for _, home := range []string{".claude", "~/.claude"} {
		for _, file := range []string{path.Join(home, "skills", name, "SKILL.md"), path.Join(home, "commands", strings.ReplaceAll(name, ":", "/")+".md")} {
			text, at, ok := r.file(none, file)
			if !ok {
				continue
			}
			var hits []Hit
			for n, line := range strings.Split(text, "\n") {
				for _, cmd := range skillCommands(line) {
					hits = append(hits, r.runsSetting(at, cmd, cmd, n+1)...)
				}
			}
			return hits
		}
	}
	return nil
}

// skillCommands finds the commands in a line of a skill.
func skillCommands(line string) []string {
	if cmd, ok := strings.CutPrefix(strings.TrimLeft(line, " \t-"), "command:"); ok {
		return []string{strings.Trim(strings.TrimSpace(cmd), `"'`)}
	}
	var out []string
	for {
		_, rest, ok := strings.Cut(line, "!`")
		cmd, after, closed := strings.Cut(rest, "`")
		if !ok || !closed {
			return out
		}
		out, line = append(out, cmd), after
	}
}

// holdsHooks: what is written into a skill, an agent or a command of the
// client's has hooks of its own.
func holdsHooks(name, text string) bool {
	low := strings.ToLower(filepathSlash(name))
	for _, kind := range []string{".claude/skills/", ".claude/agents/", ".claude/commands/"} {
		if strings.Contains(low, kind) {
			return strings.HasPrefix(text, "hooks:") || strings.Contains(text, "\nhooks:") || strings.Contains(text, `\nhooks:`)
		}
	}
	return false
}
