package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
)

func newRulesList(a *app) *cobra.Command {
	var o struct {
		pack string
		json bool
	}
	cmd := &cobra.Command{
		Use: "list", Short: "List the rules in force", Args: args(cobra.NoArgs),
		Long: "List the rules in force, yours first: id, tier, pack, how far it can be taken back (none,\ncorrection, full), why.\n\n" + exitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := a.rulesHere(cmd.Context())
			if err != nil {
				return err
			}
			rules, err := set.Details()
			if err != nil {
				return err
			}
			if o.pack != "" {
				if rules, err = ofPack(rules, o.pack); err != nil {
					return err
				}
			}
			if o.json {
				return a.rulesJSON(rules)
			}
			return a.listRules(rules)
		},
	}
	cmd.Flags().StringVar(&o.pack, "pack", "", "only the rules of this pack")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func ofPack(rules []policy.Detail, pack string) ([]policy.Detail, error) {
	var packs []string
	for _, r := range rules {
		if !slices.Contains(packs, r.Pack) {
			packs = append(packs, r.Pack)
		}
	}
	if !slices.Contains(packs, pack) {
		return nil, &hintedError{err: fmt.Errorf("no pack %q", pack), hint: "the packs are " + strings.Join(packs, ", ")}
	}
	return slices.DeleteFunc(rules, func(d policy.Detail) bool { return d.Pack != pack }), nil
}

// listRules prints one line for each rule, a user's own first, under the file
// they stand in.
func (a *app) listRules(rules []policy.Detail) error {
	ro, err := a.reportOptions()
	if err != nil {
		return err
	}
	l := ruleLister{a: a, styles: term.NewStyles(ro.Color), width: ro.Width}
	byFile := map[string][]policy.Detail{}
	var files []string
	for _, r := range rules {
		file := cmp.Or(r.File, "your configuration")
		if r.Builtin {
			file = ""
		}
		if _, ok := byFile[file]; !ok {
			files = append(files, file)
		}
		byFile[file] = append(byFile[file], r)
		l.measure(r)
	}
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(min(len(b), 1), min(len(a), 1)) })
	for i, file := range files {
		if i > 0 {
			a.printf("\n")
		}
		title := "Built in"
		if file != "" {
			title = "Yours, from " + file
		}
		a.printf("%s\n", l.styles.Heading.Render(term.Command(title)))
		for _, r := range byFile[file] {
			l.line(r)
		}
	}
	return nil
}

type ruleLister struct {
	a        *app
	styles   term.Styles
	width    int
	id, pack int
}

const (
	tierCells = len("external")
	undoCells = len("correction")
)

func (l *ruleLister) measure(r policy.Detail) {
	l.id, l.pack = max(l.id, min(term.Cells(term.Quote(r.ID)), 30)), max(l.pack, term.Cells(term.Quote(r.Pack)))
}

func (l *ruleLister) line(r policy.Detail) {
	why := term.Quote(r.Why)
	if l.width > 0 {
		why = term.Truncate(why, max(12, l.width-l.id-tierCells-l.pack-undoCells-10))
	}
	l.a.printf("  %s  %s  %s  %s  %s\n", term.Pad(term.Quote(r.ID), l.id), tierStyle(l.styles, r.Tier).Render(term.Pad(r.Tier.String(), tierCells)),
		term.Pad(term.Quote(r.Pack), l.pack), term.Pad(cmp.Or(r.Undo, "-"), undoCells), l.styles.Faint.Render(why))
}
