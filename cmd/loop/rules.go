package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
)

func newRules(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rules", Short: "List, show, check and make the rules that calls are judged by",
		Long: "List, show, check and make the rules that calls are judged by: the built-in ones and yours.\n\n" + exitHelp,
		Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return usagef("loop rules list", "loop rules needs a command: list, show, check or new")
		},
	}
	cmd.AddCommand(newRulesList(a), newRulesShow(a), newRulesCheck(a), newRulesNew(a))
	return cmd
}

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

func newRulesCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "check FILE...", Short: "Check rule packs and run their examples", Args: args(cobra.MinimumNArgs(1)),
		Long: "Check rule packs: decode them strictly and run every example through the whole classifier.\nEverything that is wrong is said with its line. Exit code 1 when something is.\n\n" + exitHelp,
		RunE: func(_ *cobra.Command, files []string) error { return a.checkRules(files) },
	}
}

// rulesHere is every rule in force here.
func (a *app) rulesHere(ctx context.Context) (*policy.Set, error) {
	w, err := a.workspace(ctx)
	if err != nil {
		return nil, err
	}
	_, set, err := a.loadConfig(w)
	return set, err
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

func (a *app) rulesJSON(rules []policy.Detail) error {
	return report.WriteJSON(a.stdout, struct {
		Schema int             `json:"schema"`
		Rules  []policy.Detail `json:"rules"`
	}{queue.Schema, rules})
}

// checkRules says everything that is wrong with the files.
func (a *app) checkRules(files []string) error {
	bad := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read rules: %w", err)
		}
		problems, rules, examples := policy.Check(policy.PackFile{Name: name, Data: data})
		for _, p := range problems {
			at := term.Quote(name)
			if p.Line > 0 {
				at = fmt.Sprintf("%s:%d", at, p.Line)
			}
			fmt.Fprintf(a.stderr, "loop: %s: %s\n", at, term.Quote(p.Text))
		}
		if bad += len(problems); len(problems) == 0 {
			a.printf("%s: %s and %s hold\n", term.Quote(name), count(rules, "rule"), count(examples, "example"))
		}
	}
	if bad > 0 {
		return &codeError{code: exitFailed, err: fmt.Errorf("%s found", count(bad, "mistake"))}
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
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

func tierStyle(s term.Styles, t policy.Tier) term.Style {
	switch t {
	case policy.External:
		return s.Danger
	case policy.Shared:
		return s.Warn
	case policy.Local:
	}
	return s.Ok
}
