package policy

import (
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// unknownProgramWord: not even the base name of the program is known.
func unknownProgramWord(w shell.Word) bool {
	return unknownWord(w) && unknownWord(shell.Word{Text: baseOf(withoutSubstitutions(w.Text)), Dynamic: true})
}

// dynamicProgram judges a command whose program is not known: alone, or with
// a verb that reaches outside, it is external.
func (r *reading) dynamicProgram(c *shell.Command) []Hit {
	t := r.set.table()
	if len(c.Argv) > 2 && c.Argv[1].Text == "=" {
		return r.line(lineOf(c.Argv[2:])) // $x = command, in PowerShell
	}
	if name, value, ok := strings.Cut(c.Argv[0].Text, "="); ok && strings.HasPrefix(name, "$") && plainWord(strings.ReplaceAll(name[1:], ":", "")) {
		if len(c.Argv) == 1 {
			return nil // $x='text', in PowerShell
		}
		return r.line(lineOf(append([]shell.Word{{Text: value}}, c.Argv[1:]...)))
	}
	if isProperty(c.Argv[0].Text) {
		return nil
	}
	why := "The program is not known before the line runs."
	switch prog := c.Argv[0]; {
	case prog.Subst && t.printsEnvironment(prog.Text):
		return nil
	case prog.Subst && !locatesProgram(prog.Text), !prog.Subst && len(c.Argv) == 1:
		return []Hit{opaqueHit("dynamic-program", commandText(c), why)}
	}
	for _, w := range c.Argv[1:] {
		if t.verbs.has(w.Text) {
			return []Hit{opaqueHit("dynamic-program", commandText(c), why)}
		}
		if !strings.HasPrefix(w.Text, "-") {
			break
		}
	}
	return nil
}

// isProperty: $x.name, which prints a value in PowerShell.
func isProperty(s string) bool {
	name, prop, ok := strings.Cut(strings.TrimPrefix(s, "$"), ".")
	return s == "$_" || ok && name != "" && prop != "" && prop != "sh" && len(nameWords(name)) > 0 && !strings.ContainsAny(s, "/{}()\"' ")
}

// opaquePayload judges a command that runs what cannot be seen. What a
// well-known tool prints to set up a shell is no such thing, and a file that
// is only handed on is judged by its name.
func (r *reading) opaquePayload(c *shell.Command) []Hit {
	t := r.set.table()
	for _, w := range c.Argv[1:] {
		if w.Subst && t.printsEnvironment(w.Text) {
			return nil
		}
	}
	f := strings.Fields(c.Stdin.From)
	switch {
	case c.Stdin.Kind == shell.InputFile && len(f) == 1 && !strings.HasPrefix(f[0], "/dev/"),
		c.Stdin.Kind == shell.InputPipe && len(f) == 2 && f[0] == "cat" && !strings.HasPrefix(f[1], "-"):
		if !t.riskyScript(f[len(f)-1]) {
			return nil
		}
	}
	return []Hit{opaqueHit("opaque-payload", commandText(c), "It "+c.Opaque+".")}
}

// printsEnvironment: the substitution is one of those that set up a shell,
// eval "$(ssh-agent -s)" and its kin.
func (t *tables) printsEnvironment(text string) bool {
	if body, ok := strings.CutPrefix(text, "<("); ok {
		text = "$(" + body
	}
	bodies, ok := substitutions(text)
	if !ok || len(bodies) != 1 || strings.ContainsAny(bodies[0], "|;&<>$`") {
		return false
	}
	f := strings.Fields(bodies[0])
	if len(f) == 0 || !t.envPrinters.has(strings.Trim(baseOf(f[0]), `"'`)) {
		return false
	}
	if slices.ContainsFunc(f[1:], t.envVerbs.has) {
		return true
	}
	return len(f) == 1
}

// locatesProgram: the substitution only finds where a program lies.
func locatesProgram(s string) bool {
	bodies, ok := substitutions(s)
	if !ok || len(bodies) != 1 {
		return false
	}
	f := strings.Fields(bodies[0])
	return len(f) > 0 && containsString([]string{"which", "command", "type", "whereis", "npm", "brew", "go", "xcrun"}, f[0])
}

func opaqueHit(rule, text, why string) Hit {
	return Hit{Rule: rule, Tier: External, Why: why, Text: text, Opaque: true}
}
