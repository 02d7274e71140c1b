package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// payloads classifies what an option or the operands of a command make it run.
func (r *reading) payloads(a *args, c *shell.Command) []Hit {
	var hits []Hit
	for _, sub := range a.subs {
		for _, f := range sub.RunFlags {
			for _, v := range a.all(f) {
				if f == "-wrapper" { // gcc -wrapper gdb,--args
					v.Text = strings.ReplaceAll(v.Text, ",", " ")
				}
				hits = append(hits, r.line(v.Text)...)
			}
		}
		hits = append(hits, r.evaluates(sub, a, c)...)
		n := len(strings.Fields(sub.Path))
		if sub.Path == "*" {
			n = 0
		}
		if sub.Run == "" || len(a.words) <= n {
			continue
		}
		switch {
		case sub.Run == "git-command":
			hits = append(hits, r.gitCommand(a, c, sub.Except)...)
		case containsString(sub.Except, a.words[n].Text):
		case sub.Lang != "":
		case sub.Run == "package":
			hits = append(hits, r.packageOperand(a, c, n)...)
		case sub.Run == "bin":
			hits = append(hits, r.localBin(a, n)...)
		default:
			hits = append(hits, r.operands(sub.Run, a, c, n)...)
		}
	}
	return hits
}

// operands classifies the operands from n on, which the command runs: as one
// shell line ("sh"), each as a line ("each", "spawn"), as a command ("argv"),
// or as a command line of the same program ("argv-self").
func (r *reading) operands(how string, a *args, c *shell.Command, n int) []Hit {
	var hits []Hit
	inner := *c
	inner.Argv = tailOf(a.argv, a.words[n])
	switch how {
	case "sh":
		return r.line(joinWords(a.words[n:]))
	case "each", "spawn":
		for _, w := range a.words {
			if strings.ContainsAny(w.Text, " \n") {
				hits = append(hits, r.line(strings.ReplaceAll(w.Text, "spawn ", " "))...)
			}
		}
	case "start":
		words := []shell.Word{a.words[0]}
		for _, v := range a.all("-ArgumentList", "-Args") {
			words = append(words, v)
		}
		hits = r.line(strings.NewReplacer("'", "", ",", " ").Replace(joinWords(append(words, a.words[1:]...))))
	case "told":
		return r.toldTo("", c, a.words[n:]) // the project's own program
	case "goals":
		for _, goal := range strings.FieldsFunc(joinWords(a.words[n:]), func(r rune) bool { return r == ',' || r == '+' }) {
			hits = append(hits, r.line(c.Program()+" "+strings.TrimSpace(goal))...)
		}
	case "argv":
		hits = r.line(lineOf(inner.Argv))
		if a.tool.is("railway") {
			hits = ofPlatform(hits)
		}
	case "argv-self":
		hits = r.line(lineOf(append([]shell.Word{c.Argv[0]}, inner.Argv...)))
	}
	return hits
}

// ofPlatform raises what changes a database: it runs here, but with the
// addresses and passwords of the platform's environment.
func ofPlatform(hits []Hit) []Hit {
	for i, h := range hits {
		if h.Tier == Shared && !h.Mention && strings.HasPrefix(h.Rule, "db-") {
			hits[i] = Hit{Rule: "platform-env", Tier: External, Why: "It changes the database that the platform's environment names.", Text: h.Text}
		}
	}
	return hits
}

// tailOf is argv from the word w on.
func tailOf(argv []shell.Word, w shell.Word) []shell.Word {
	for i := range argv {
		if argv[i] == w {
			return argv[i:]
		}
	}
	return []shell.Word{w}
}

// lineOf writes words as a command line; what is not known stays open to
// expansion.
func lineOf(words []shell.Word) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quoteWords([]string{w.Text})
		if w.Dynamic && !strings.ContainsAny(w.Text, "\"\\") {
			out[i] = `"` + w.Text + `"`
		}
	}
	return strings.Join(out, " ")
}

func joinWords(words []shell.Word) string { return strings.Join(wordTexts(words), " ") }

func wordTexts(words []shell.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

// git follows aliases and the commands that configuration makes git run.
func (r *reading) git(a *args, c *shell.Command) []Hit {
	r.noteGitConfig(a)
	hits := r.newAlias(a)
	for _, v := range a.all("-c") {
		key, val, _ := strings.Cut(v.Text, "=")
		hits = append(hits, r.gitCommandKey(key, val)...)
	}
	if key, val, ok := configured(a); ok {
		hits = append(hits, r.gitCommandKey(key, val)...)
	}
	hits = append(hits, r.gitCommandEnv(c)...)
	exp, ok := r.gitAlias(a)
	if !ok || r.depth > maxNesting {
		return hits
	}
	rest := tailOf(a.argv, a.words[0])[1:]
	if cmd, shellAlias := strings.CutPrefix(exp, "!"); shellAlias {
		return append(hits, r.line(cmd+" "+joinWords(rest))...)
	}
	return append(hits, r.line("git "+exp+" "+joinWords(rest))...)
}

// gitCommand judges a subcommand that git itself does not have: a program
// git-NAME, an alias that the line defines, or an alias that lies in a
// configuration and cannot be seen.
func (r *reading) gitCommand(a *args, c *shell.Command, own []string) []Hit {
	name := a.words[0].Text
	if _, ok := r.gitAlias(a); ok || !plainWord(name) && !strings.ContainsAny(name, "[*?") {
		return nil
	}
	if r.set.knows("git-" + name) {
		inner := *c
		inner.Argv = append([]shell.Word{{Text: "git-" + name}}, tailOf(a.argv, a.words[0])[1:]...)
		return r.again(&inner)
	}
	if _, ok := r.gitAlias(a); !ok && strings.ContainsAny(name, "[*?") { // git pus[h], where a file may be named so
		return []Hit{opaqueHit("git-alias", commandText(c), "The subcommand is a pattern of file names, and what it becomes cannot be seen.")}
	}
	if containsString(own, name) {
		return nil
	}
	return []Hit{opaqueHit("git-alias", commandText(c), "Git has no such command: it may be an alias, and what that runs cannot be seen.")}
}

// plainWord: letters, digits and dashes alone, as commands are named.
func plainWord(s string) bool {
	for i := range len(s) {
		if !isIdent(s[i]) && s[i] != '-' {
			return false
		}
	}
	return s != "" && s[0] != '-'
}
