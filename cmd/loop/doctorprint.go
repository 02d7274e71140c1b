package main

import (
	"fmt"
	"time"

	"github.com/seed-b23e517c/loop/internal/selftest"
	"github.com/seed-b23e517c/loop/internal/term"
)

// page is the width that text is wrapped to when stdout is no terminal.
const page = 100

// table prints rows of a state, a name and text.
type table struct {
	a      *app
	styles term.Styles
	width  int
	state  int // cells of the first column
}

func (a *app) newTable(state int) (*table, error) {
	ro, err := a.reportOptions()
	if err != nil {
		return nil, err
	}
	t := &table{a: a, styles: term.NewStyles(ro.Color), width: page, state: state}
	if ro.Width > 0 {
		t.width = min(ro.Width, page)
	}
	return t, nil
}

// row prints a state and text beside it, wrapped. Without a state the text
// goes on under that of the row before.
func (t *table) row(style term.Style, state, text string) {
	indent := 2 + t.state + 2
	for i, line := range term.Wrap(text, max(20, t.width-indent)) {
		if i > 0 {
			state = ""
		}
		t.a.printf("  %s  %s\n", style.Render(term.Pad(state, t.state)), line)
	}
}

// named prints a state, a name, and text beside it, wrapped.
func (t *table) named(style term.Style, state, name, text string) {
	indent := 2 + t.state + 2 + term.Cells(name) + 2
	head := "  " + style.Render(term.Pad(state, t.state)) + "  " + name + "  "
	for _, line := range term.Wrap(text, max(20, t.width-indent)) {
		t.a.printf("%s%s\n", head, line)
		head = term.Spaces(indent)
	}
}

// printChecks prints the quick checks and what to do first.
func (a *app) printChecks(checks []check) error {
	t, err := a.newTable(len("note"))
	if err != nil {
		return err
	}
	names := 0
	for _, c := range checks {
		names = max(names, len(c.Name))
	}
	for _, c := range checks {
		style := map[string]term.Style{checkOK: t.styles.Ok, checkNote: t.styles.Warn, checkBad: t.styles.Danger}[c.State]
		t.named(style, c.State, term.Pad(c.Name, names), term.Line(c.Text))
	}
	if bad := firstBad(checks); bad != nil {
		a.printf("\n%s %s\n", t.styles.Danger.Render("First:"), term.Line(bad.Fix))
		return nil
	}
	a.printf("\nAll is there for a night.\n")
	return nil
}

// printLive prints what a test of the client found.
func (a *app) printLive(r *selftest.Result, first string) error {
	t, err := a.newTable(len(selftest.Fails))
	if err != nil {
		return err
	}
	held := 0
	for _, g := range r.Guarantees {
		t.guarantee(g)
		if g.State == selftest.Holds {
			held++
		}
	}
	a.printf("\n%d of %d hold with %s, tested in %s.\n", held, len(r.Guarantees), r.Client.Name(), fmt.Sprintf("%.1fs", r.Took.Round(100*time.Millisecond).Seconds()))
	a.printf("%s\n", t.styles.Faint.Render(term.Command(r.Client.Path)))
	if first != "" {
		a.printf("\n%s %s\n", t.styles.Danger.Render("First:"), term.Line(first))
	}
	return nil
}

func (t *table) guarantee(g selftest.Guarantee) {
	style := t.styles.Ok
	switch {
	case g.State == selftest.Holds:
	case g.State == selftest.Fails && g.Protects:
		style = t.styles.Danger
	default:
		style = t.styles.Warn
	}
	t.row(style, string(g.State), term.Line(g.Name))
	if g.State == selftest.Holds {
		return
	}
	if g.Detail != "" {
		t.row(term.Style{}, "", "seen: "+term.Line(g.Detail))
	}
	if g.State == selftest.Fails {
		t.row(term.Style{}, "", "so: "+term.Line(g.Means))
	}
}
