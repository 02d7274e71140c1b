package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// maxMentions bounds the mentions kept of one text.
const maxMentions = 50

// mentions lists what a text that is data speaks of.
func (s *Set) mentions(text string) []Hit {
	hits := s.phrasesIn(text)
	if len(hits) == 0 && len(text) <= maxProse {
		hits = s.prose(text)
	}
	if len(hits) == 0 && len(text) <= maxProse {
		if plain := joinQuoted(text); plain != text {
			hits = s.phrasesIn(plain)
		}
	}
	if strings.Contains(text, "[alias]") && len(text) <= maxProse {
		hits = append(hits, s.aliasesIn(text)...)
	}
	return hits
}

// joinQuoted joins the quoted words of an argument list, as in
// CMD ["npm", "publish"], so that a phrase is seen in it.
func joinQuoted(text string) string {
	for _, sep := range []string{`", "`, `","`, `', '`, `','`} {
		if strings.Contains(text, sep) {
			text = strings.ReplaceAll(text, sep, " ")
		}
	}
	return text
}

// aliasesIn lists what the aliases of a git configuration would do.
func (s *Set) aliasesIn(text string) []Hit {
	_, text, _ = strings.Cut(strings.NewReplacer(`\n`, "\n", `\t`, " ").Replace(text), "[alias]")
	if i := strings.Index(text, "\n["); i >= 0 {
		text = text[:i]
	}
	var hits []Hit
	for line := range strings.SplitSeq(text, "\n") {
		_, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		cmd, isShell := strings.CutPrefix(value, "!")
		if !isShell {
			cmd = "git " + value
		}
		for _, h := range s.newReading().line(cmd) {
			if h.Tier == External && !h.Opaque {
				h.Mention, h.Net = true, false
				hits = append(hits, h)
			}
		}
	}
	return hits
}

// phrasesIn lists the phrases of the rules that stand in a text.
func (s *Set) phrasesIn(text string) []Hit {
	if !strings.ContainsAny(text, " \t\n") && len(s.patterns) == 0 {
		return nil
	}
	return s.phrasesOf([]byte(text))
}

// phrasesOf is phrasesIn for a text of any length.
func (s *Set) phrasesOf(text []byte) []Hit {
	var hits []Hit
	seen := map[string]bool{}
	s.FindMentions(text, func(m Mention) bool {
		if !seen[m.Rule] {
			seen[m.Rule] = true
			hits = append(hits, Hit{Rule: m.Rule, Tier: m.Tier, Why: m.Why, Text: lineAround(text, m.Start, m.End), Mention: true})
		}
		return len(hits) < maxMentions
	})
	return hits
}

// lineAround is the line that a span stands in, cut to a readable length.
func lineAround[T ~string | ~[]byte](text T, start, end int) string {
	before := string(text[max(0, start-120):start])
	after, _, _ := strings.Cut(string(text[end:min(len(text), end+120)]), "\n")
	return strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:] + string(text[start:end]) + after)
}

// mentions looks through a part of the line that is data, within the bounds of
// the reading: many commands may share one long text.
func (r *reading) mentions(text string) []Hit {
	if len(text) > r.words || text == r.last {
		return nil
	}
	r.words -= len(text)
	r.last = text
	return r.set.mentions(text)
}

// data looks for mentions in the words of a command that are data.
func (r *reading) data(prog string, c *shell.Command) []Hit {
	var hits []Hit
	for _, w := range c.Argv {
		text := w.Text
		if w.Subst {
			text = withoutSubstitutions(text)
		}
		if len(text) > 3 && text[0] == '-' && text[1] != '-' && isIdent(text[2]) {
			text = text[2:] // -S'kubectl apply'
		}
		hits = append(hits, r.mentions(text)...)
	}
	for _, rd := range c.Redirects {
		if c.Stdin.Known && languageOfFile(rd.Target.Text, c.Stdin.Text) != "" {
			hits = append(hits, r.set.written(rd.Target.Text, c.Stdin.Text)...)
		} else if c.Stdin.Known {
			hits = append(hits, r.set.writtenForms(rd.Target.Text, c.Stdin.Text)...)
		}
	}
	for _, e := range c.Env {
		if !e.Value.Subst {
			hits = append(hits, r.mentions(e.Value.Text)...)
		}
	}
	if prog == "echo" || prog == "printf" || prog == "print" || prog == ":" || prog == "true" {
		hits = append(hits, r.mentions(joinWords(c.Argv[1:]))...)
	}
	if c.Stdin.Known {
		hits = append(hits, r.mentions(c.Stdin.Text)...)
	}
	for _, f := range c.Files {
		hits = append(hits, r.mentions(f.Text)...)
	}
	return hits
}

// strays finds mentions that stand in no word of a command: in a [[ test ]],
// a case pattern, an assignment. A phrase that is the beginning of a command
// that was judged is no mention of it.
func (s *Set) strays(text string, commands []shell.Command, hits []Hit) []Hit {
	if top(hits) > Local || anyMention(hits) || !strings.Contains(text, "=") && !strings.Contains(text, "[[") && !strings.Contains(text, "case ") {
		return nil
	}
	found := s.mentions(text)
	if len(found) == 0 {
		return nil
	}
	judged := make([]string, 0, len(commands))
	for _, c := range commands {
		judged = append(judged, strings.ToLower(c.Program()+" "+joinWords(c.Argv[min(1, len(c.Argv)):])))
	}
	var out []Hit
	s.FindMentions([]byte(text), func(m Mention) bool {
		p := strings.ToLower(strings.Join(strings.Fields(text[m.Start:m.End]), " "))
		for _, j := range judged {
			if strings.Contains(j, p) {
				return true
			}
		}
		out = append(out, Hit{Rule: m.Rule, Tier: m.Tier, Why: m.Why, Text: lineAround(text, m.Start, m.End), Mention: true})
		return len(out) < maxMentions
	})
	return out
}

func anyMention(hits []Hit) bool {
	for _, h := range hits {
		if h.Mention {
			return true
		}
	}
	return false
}

// unparsed judges a line of which a part could not be read: what its text names
// might run.
func (r *reading) unparsed(text, why string, hits []Hit) []Hit {
	if top(hits) == External {
		return []Hit{{Rule: "unread-text", Tier: External, Opaque: true, Why: "Part of the line could not be read: " + why, Text: text}}
	}
	out := Hit{Rule: "unread-text", Tier: Local, Opaque: true, Why: "Part of the line could not be read: " + why, Text: text}
	low := strings.ToLower(text)
	if len(r.set.mentions(text)) > 0 || holdsWord(low, "iex") || holdsWord(low, "invoke-expression") {
		out.Tier = External
	}
	return []Hit{out}
}

// ClassifyText classifies natural language: a mention or local.
func (s *Set) ClassifyText(text string) Result {
	return finish(s.mentions(text), Mentioned)
}
