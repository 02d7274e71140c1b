package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// sourceWords say where a claim's words come from.
var sourceWords = map[queue.ClaimSource]string{
	queue.SourceResult:    "a result",
	queue.SourceFile:      "a file that the agent has not written",
	queue.SourceStory:     "the story",
	queue.SourcePage:      "something fetched",
	queue.SourceSubagent:  "only source: a subagent's report",
	queue.SourceAgentFile: "only source: a file that an agent wrote",
	queue.SourceAgent:     "only source: the agent's own command",
	queue.SourceNone:      "no source in this session",
}

// claimSource says in words what a claim rests on.
func claimSource(c queue.Claim) string {
	if c.Source == queue.SourceNone && (c.Kind == "run" || c.Kind == "command") {
		return "no such run in this session"
	}
	if c.Failed {
		return "its last run failed"
	}
	if words, ok := sourceWords[c.Source]; ok {
		return words
	}
	return term.Line(string(c.Source))
}

// claimsSummary is one line about what an action's text claims; "" when it
// claims nothing.
func claimsSummary(a *queue.Action) string {
	n, unproven := len(a.Claims)+a.MoreClaims, 0
	for _, c := range a.Claims {
		if !c.Proven() {
			unproven++
		}
	}
	switch {
	case n == 0:
		return ""
	case unproven == 0:
		return fmt.Sprintf("it claims %s; this session shows all of it", things(n))
	case unproven == n:
		return fmt.Sprintf("it claims %s; nothing in this session shows it", things(n))
	}
	return fmt.Sprintf("it claims %s; %d of them nothing in this session shows", things(n), unproven)
}

func things(n int) string {
	if n == 1 {
		return "1 thing"
	}
	return strconv.Itoa(n) + " things"
}

// claims lists what the action's text says beside what supports it, what
// nothing supports first.
func (p *printer) claims(a *queue.Action) {
	if len(a.Claims) == 0 {
		return
	}
	p.heading("What its text claims (where each could come from; not whether it is true)")
	for _, proven := range []bool{false, true} {
		for _, c := range a.Claims {
			if c.Proven() == proven {
				p.claim(c)
			}
		}
	}
	if a.MoreClaims > 0 {
		p.line("  ", p.Faint.Render(fmt.Sprintf("and %d more, which were not looked at", a.MoreClaims)))
	}
}

func (p *printer) claim(c queue.Claim) {
	style := p.Faint
	if !c.Proven() {
		style = p.Warn
	}
	said := "“" + p.Line(c.Text) + "”"
	if c.Where != "" {
		said += dot + p.Line(c.Where)
	}
	for i, l := range p.pieces(said, p.width-2) {
		p.line(term.Spaces(2+2*min(i, 1)), l)
	}
	words := claimSource(c)
	if c.Note != "" {
		words += ": " + c.Note
	}
	p.prose(style, 4, words)
	var from []string
	if c.Command != "" || c.Tool != "" {
		from = append(from, strings.TrimSpace(p.Line(c.Tool)+" "+p.Line(c.Command)))
	}
	if c.Line > 0 {
		from = append(from, "line "+strconv.Itoa(c.Line))
	}
	if c.Receipt != "" {
		from = append(from, p.Line(c.Receipt))
	}
	for _, text := range []string{strings.Join(from, dot), quoted(p.Line(c.Quote))} {
		if text == "" {
			continue
		}
		for _, l := range p.pieces(text, p.width-4) {
			p.line(term.Spaces(4), p.Faint.Render(l))
		}
	}
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return "“" + s + "”"
}
