package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
)

func newRulesShow(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show one rule whole, with its examples", Args: args(cobra.ExactArgs(1)),
		Long: "Show one rule whole: where it stands, what it asks for, what it matches and what it does not.\n\n" + exitHelp,
		RunE: func(cmd *cobra.Command, ids []string) error {
			set, err := a.rulesHere(cmd.Context())
			if err != nil {
				return err
			}
			found, err := set.Detail(ids[0])
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return noRule(set.Rules(), ids[0])
			}
			if asJSON {
				return a.rulesJSON(found)
			}
			for i := range found {
				if err := a.showRule(&found[i]); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// noRule says that there is no such rule, and which ones have a like name.
func noRule(rules []policy.RuleInfo, id string) error {
	var like []string
	for _, part := range strings.FieldsFunc(id, func(r rune) bool { return r == '-' || r == ' ' }) {
		for _, r := range rules {
			if len(part) > 2 && strings.Contains(r.ID, part) && !slices.Contains(like, r.ID) && len(like) < 6 {
				like = append(like, r.ID)
			}
		}
	}
	hint := "`loop rules list` lists them"
	if len(like) > 0 {
		hint = "there is " + strings.Join(like, ", ")
	}
	return &hintedError{err: fmt.Errorf("no rule %q", id), hint: hint}
}

// ruleShower prints one rule whole.
type ruleShower struct {
	a      *app
	styles term.Styles
	width  int // 0: no terminal, nothing is broken
}

func (a *app) showRule(d *policy.Detail) error {
	ro, err := a.reportOptions()
	if err != nil {
		return err
	}
	s := ruleShower{a: a, styles: term.NewStyles(ro.Color), width: ro.Width}
	a.printf("%s  %s\n", s.styles.Bold.Render(term.Quote(d.ID)), tierStyle(s.styles, d.Tier).Render(d.Tier.String()))
	s.text(0, d.Why)
	a.printf("\n")
	s.field("pack", term.Quote(d.Pack)+ruleSource(d))
	if d.Tier != policy.Local {
		s.field("undo", undoMeaning(d.Undo))
	}
	for _, c := range d.Conditions {
		values := c.Values
		if values[0] == "true" {
			values = nil // the key alone says it
		}
		s.list(c.Key, keyMeaning(c.Key), values)
	}
	if len(d.Match)+len(d.NotMatch) > 0 {
		s.list("matches", "", d.Match)
		s.list("does not match", "", d.NotMatch)
	}
	if len(d.Conditions) == 0 {
		a.printf("\n")
		s.text(0, "It is part of the classifier; `loop explain 'COMMAND'` shows when it speaks.")
	}
	return nil
}

func (s ruleShower) field(label, text string) {
	s.a.printf("%s %s\n", s.styles.Faint.Render(term.Pad(label, 6)), text)
}

// list prints values under a heading, one a line.
func (s ruleShower) list(title, meaning string, values []string) {
	if meaning != "" {
		meaning = "  " + s.styles.Faint.Render(meaning)
	}
	s.a.printf("\n%s%s\n", s.styles.Heading.Render(title), meaning)
	for _, v := range values {
		s.text(2, v)
	}
}

// text prints hostile text in lines of its own, so that the terminal breaks
// none of them.
func (s ruleShower) text(indent int, text string) {
	lines := []string{term.Command(text)}
	if s.width > 0 {
		lines = term.Wrap(lines[0], max(s.width-indent-2, 20))
	}
	for i, l := range lines {
		if i > 0 {
			l = "  " + l
		}
		s.a.printf("%s%s\n", term.Spaces(indent), l)
	}
}

// ruleSource says where a rule stands.
func ruleSource(d *policy.Detail) string {
	switch {
	case d.File == "" && d.Builtin:
		return ", built in"
	case d.File == "":
		return ", from your configuration"
	case d.Builtin:
		return ", built in: policy/" + d.File
	}
	return ", yours: " + strings.TrimSuffix(fmt.Sprintf("%s:%d", term.Quote(d.File), d.Line), ":0")
}
