package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// unshown says how much of what an action's text claims nothing in its session
// shows, with the first of it; "" when it claims nothing.
func (t *teller) unshown(a *queue.Action) string {
	n, unproven, first := len(a.Claims)+a.MoreClaims, 0, ""
	for _, c := range queue.GravestFirst(a.Claims) {
		if c.Proven() {
			continue
		}
		if unproven++; first == "" {
			if !t.o.All {
				c.Text, c.Where = truncateRunes(t.Mask(c.Text), 60), truncateRunes(t.Mask(c.Where), 40)
			}
			first = ": “" + t.quoted(c.Text) + "”" + t.place(c) + ", " + c.Basis()
		}
	}
	switch {
	case n == 0:
		return ""
	case unproven == 0:
		return "what it claims (" + plural(n, "thing", "things") + ") has a source in this session"
	case n == 1:
		return "unproven" + first
	}
	return fmt.Sprintf("unproven: %d of %s that it claims%s", unproven, plural(n, "thing", "things"), first)
}

// place is where in an action a claim stands.
func (t *teller) place(c queue.Claim) string {
	if c.Where == "" {
		return ""
	}
	return " in " + t.Line(c.Where)
}

// claims lists what the action's text says beside what supports it, what
// nothing supports first.
func (p *printer) claims(a *queue.Action) {
	if len(a.Claims) == 0 {
		return
	}
	p.heading("What its text claims (where each could come from; not whether it is true)")
	p.claimList(a)
}

// Claims lists what an action's text claims, as Show does, and nothing else.
func Claims(w io.Writer, a queue.Action, o Options) error {
	o.All = true
	p := newPrinter(w, o)
	p.claimList(&a)
	return p.flush()
}

func (p *printer) claimList(a *queue.Action) {
	if a.Judged {
		p.prose(p.Faint, 2, "made at the prompt: its sources stand in the client's own file, which an agent can write, and have no receipts")
	}
	for _, c := range queue.GravestFirst(a.Claims) {
		p.claim(c)
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
	for i, l := range p.pieces("“"+p.quoted(c.Text)+"”"+p.place(c), p.width-2) {
		p.line(term.Spaces(2+2*min(i, 1)), l)
	}
	words := c.Basis()
	if c.Note != "" {
		words += ": " + p.Line(c.Note)
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
	quote := ""
	if c.Quote != "" {
		quote = "“" + p.quoted(c.Quote) + "”"
	}
	for _, text := range []string{strings.Join(from, dot), quote} {
		if text == "" {
			continue
		}
		for _, l := range p.pieces(text, p.width-4) {
			p.line(term.Spaces(4), p.Faint.Render(l))
		}
	}
}
