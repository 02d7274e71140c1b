package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/runner"
)

func newPrompt(a *app) *cobra.Command {
	var rules bool
	var o runOptions
	cmd := &cobra.Command{
		Use: "prompt", Short: "Print the prompt of the next attempt, or the constraint rules alone", Args: args(cobra.NoArgs),
		Long: "Print the prompt of the next attempt; with --rules the constraint rules alone, for people\nwho keep their own loop (claude --append-system-prompt \"$(loop prompt --rules)\").\n\n" + exitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, c, set, err := a.configured(cmd.Context())
			if err != nil {
				return err
			}
			if err := o.apply(&c, false); err != nil {
				return err
			}
			text, err := rulesText(c)
			if err != nil {
				return err
			}
			if !rules {
				ro, err := a.runnerOptions(w, c, set, o.only)
				if err != nil {
					return err
				}
				if ro.Store, err = a.store(w, true); err != nil {
					return err
				}
				if text, err = nextPrompt(cmd.Context(), &ro); err != nil {
					return err
				}
			}
			a.printf("%s", text)
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&rules, "rules", false, "the constraint rules alone")
	f.StringVar(&o.stories, "stories", "", "story file or folder of stories (loop stories --forms lists what is read)")
	f.StringVar(&o.only, "only", "", "the prompt of this story")
	f.StringVar(&o.level, "level", "", "autonomy level: supervised, unattended or lockdown")
	return cmd
}

// nextPrompt is the prompt of the story that a run would begin with.
func nextPrompt(ctx context.Context, ro *runner.Options) (string, error) {
	plan, _, err := runner.Plan(ctx, ro)
	if err != nil {
		return "", err
	}
	told, err := runner.Tell(ctx, ro, plan[0])
	if err != nil {
		return "", err
	}
	return runner.Prompt(ro, plan[0], told)
}
