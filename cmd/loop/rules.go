package main

import (
	"context"

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

// rulesHere is every rule in force here.
func (a *app) rulesHere(ctx context.Context) (*policy.Set, error) {
	_, _, set, err := a.configured(ctx)
	return set, err
}

func (a *app) rulesJSON(rules []policy.Detail) error {
	return report.WriteJSON(a.stdout, struct {
		Schema int             `json:"schema"`
		Rules  []policy.Detail `json:"rules"`
	}{queue.Schema, rules}, report.Options{})
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
