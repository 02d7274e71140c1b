package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
)

func newRulesCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "check FILE...", Short: "Check rule packs and run their examples", Args: args(cobra.MinimumNArgs(1)),
		Long: "Check rule packs: decode them strictly and run every example through the whole classifier.\nEverything that is wrong is said with its line. Exit code 1 when something is.\n\n" + exitHelp,
		RunE: func(_ *cobra.Command, files []string) error { return a.checkRules(files) },
	}
}

// checkRules says everything that is wrong with the files.
func (a *app) checkRules(files []string) error {
	bad := 0
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read rules: %w", err)
		}
		problems, rules, examples := policy.Check(policy.PackFile{Name: name, Data: data, Own: true})
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
