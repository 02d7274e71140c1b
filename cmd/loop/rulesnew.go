package main

import (
	"strings"

	"github.com/spf13/cobra"
)

const rulesNewLong = `Print a rule made from one command: its program and subcommand, with examples that hold.
Append it to rules.toml in your configuration folder, or to a file that rules in loop.toml
names, and say in "why" what the command sends. What cannot be made narrow is refused:
several commands, a program without a subcommand, options before the subcommand.

` + exitHelp

func newRulesNew(a *app) *cobra.Command {
	o := struct {
		tier  string
		words int
	}{}
	cmd := &cobra.Command{
		Use: "new 'COMMAND'", Short: "Print a rule made from one command", Long: rulesNewLong,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			if o.tier != "external" && o.tier != "shared" {
				return usagef("--tier external or --tier shared", "unknown tier %q", o.tier)
			}
			if o.words < 1 {
				return usagef("--words 1 or more", "a rule for a whole program is not narrow")
			}
			set, err := a.rulesHere(cmd.Context())
			if err != nil {
				return err
			}
			text, err := draftRule(set, strings.Join(words, " "), o.tier, o.words)
			if err != nil {
				return err
			}
			a.printf("%s", text)
			return nil
		},
	}
	cmd.Flags().StringVar(&o.tier, "tier", "external", "external or shared")
	cmd.Flags().IntVar(&o.words, "words", 2, "how many words behind the program are its subcommand, at most")
	return cmd
}
