package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// evaluates classifies the code that a program is given, by the options, the
// operand or the standard input that its table names.
func (r *reading) evaluates(sub *subDef, a *args, c *shell.Command) []Hit {
	if sub.Lang == "" {
		return nil
	}
	var code []string
	for _, v := range a.all(sub.Code...) {
		code = append(code, v.Text)
	}
	n := len(strings.Fields(sub.Path))
	switch {
	case sub.Run == "itself":
		code = append(code, a.words[n-1].Text)
	case sub.Run == "code" && len(a.words) > n:
		code = append(code, a.words[n].Text)
	}
	if len(code) == 0 && c.Stdin.Known && !strings.HasPrefix(c.Stdin.Text, "#!") {
		code = append(code, c.Stdin.Text)
	}
	var hits []Hit
	for _, text := range code {
		hits = append(hits, r.program(sub.Lang, text)...)
		hits = append(hits, r.imports(sub.Lang, text, "")...)
	}
	return hits
}

// pipedLits classifies what Scala starts: "cmd".!, Process("cmd").!!,
// Seq("cmd", "arg").!
func (r *reading) pipedLits(s *source) []Hit {
	var hits []Hit
	for _, l := range s.lits {
		if strings.HasPrefix(strings.TrimLeft(s.code[l.end:], " "), ".!") || strings.HasPrefix(s.code[l.end:], " !") {
			hits = append(hits, r.line(l.text)...)
		}
	}
	return hits
}

// rakuWords classifies the <word lists> that Raku runs as commands.
func (r *reading) rakuWords(text string) []Hit {
	var hits []Hit
	for _, verb := range []string{"run <", "run(<", "shell <", "Proc.new(<", "Proc::Async.new(<"} {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, verb)
			if !ok {
				break
			}
			words, _, _ := strings.Cut(after, ">")
			hits = append(hits, r.line(words)...)
			rest = after
		}
	}
	return hits
}
