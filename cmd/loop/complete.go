package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// maxCompletions bounds what a shell is offered.
const maxCompletions = 200

// fixedValues are the values of flags that take one of a few words.
var fixedValues = map[string][]string{
	"color":     {"auto", "always", "never"},
	"log-level": {"debug", "info", "warn", "error"},
	"level":     {"supervised", "unattended", "lockdown"},
	"billing":   {"subscription", "api-key"},
	"tier":      {policy.External.String(), policy.Shared.String()},
	"parked":    {"done", "all"},
}

// complete lets the shells' completion offer what a command's arguments and
// flags can be: actions with what they run, sessions, stories, words. What an
// argument is, its word in the command's usage line says.
func (a *app) complete(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil {
		if f := a.argumentsOf(cmd); f != nil {
			cmd.ValidArgsFunction = f
		}
	}
	for name, words := range fixedValues {
		if cmd.Name() == "install" && name == "level" {
			words = append([]string{policy.Interactive.String()}, words...)
		}
		completeFlag(cmd, name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	completeFlag(cmd, "session", a.completeFrom(sessionValues))
	completeFlag(cmd, "story", a.completeFrom(storyValues))
	completeFlag(cmd, "only", a.completeFrom(storyValues))
	for _, sub := range cmd.Commands() {
		a.complete(sub)
	}
}

func completeFlag(cmd *cobra.Command, name string, values cobra.CompletionFunc) {
	if cmd.LocalFlags().Lookup(name) == nil {
		return
	}
	// It fails only for a flag that has a function already.
	_ = cmd.RegisterFlagCompletionFunc(name, values)
}

func (a *app) argumentsOf(cmd *cobra.Command) cobra.CompletionFunc {
	_, usage, _ := strings.Cut(cmd.Use, " ")
	word, _, _ := strings.Cut(strings.Trim(usage, "[]"), "...")
	word, _, _ = strings.Cut(word, " ")
	word, _, _ = strings.Cut(word, "]")
	if strings.Contains(word, "FILE") {
		return nil // the shell knows the files
	}
	switch {
	case word == "ID" && cmd.Parent() != nil && cmd.Parent().Name() == "rules":
		return a.completeFrom(ruleValues)
	case word == "ID":
		return a.completeFrom(actionValues(cmd.Name()))
	case word == "SESSION":
		return a.completeFrom(sessionValues)
	case word == "STORY":
		return a.completeFrom(storyValues)
	}
	return cobra.NoFileCompletions
}

// values lists what can stand in a place; an error offers nothing, because
// there is nobody to read it.
type values func(ctx context.Context, a *app, s *queue.Store) []cobra.Completion

func (a *app) completeFrom(list values) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		_, store, err := a.openStore(ctx, true)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []cobra.Completion
		for _, v := range list(ctx, a, store) {
			word, _, _ := strings.Cut(v, "\t")
			if strings.HasPrefix(word, begun) && !slices.Contains(given, word) && len(out) < maxCompletions {
				out = append(out, v)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// described is a word with what stands beside it, which is a stranger's text.
func described(word, text string) cobra.Completion {
	return cobra.CompletionWithDesc(word, term.Truncate(term.Command(text), 60))
}

// actionValues are the actions that a command can do something with, the
// latest first.
func actionValues(command string) values {
	can := func(x queue.Action) bool { return x.Status == queue.Pending && !x.IsQuestion() }
	switch command {
	case "show":
		can = func(queue.Action) bool { return true }
	case "answer":
		can = func(x queue.Action) bool { return x.Status == queue.Pending && x.IsQuestion() }
	case "reject":
		can = func(x queue.Action) bool { return x.Status == queue.Pending }
	case "undo":
		can = func(x queue.Action) bool { return x.Status == queue.Approved || x.Status == queue.Rejected }
	}
	return func(ctx context.Context, _ *app, s *queue.Store) []cobra.Completion {
		list, err := s.Actions(ctx, queue.Filter{})
		if err != nil {
			return nil
		}
		var out []cobra.Completion
		for i := len(list) - 1; i >= 0; i-- {
			if x := list[i]; can(x) && (command != "approve" || x.Evidence != policy.Mentioned) {
				out = append(out, described(strconv.FormatUint(x.Number, 10), cmp.Or(x.Command, x.Excerpt)))
			}
		}
		return out
	}
}

func sessionValues(ctx context.Context, a *app, s *queue.Store) []cobra.Completion {
	list, err := s.Sessions(ctx)
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, cobra.CompletionWithDesc(list[i].ID, list[i].Started.In(a.now().Location()).Format("2 Jan 15:04")))
	}
	return out
}

// storyValues are the stories of the story file, and those of the last session
// where there is none.
func storyValues(ctx context.Context, a *app, s *queue.Store) []cobra.Completion {
	var out []cobra.Completion
	if path, _, err := a.storiesPath(ctx, nil); err == nil {
		if f, err := stories.Read(path); err == nil {
			for _, st := range f.Stories {
				out = append(out, described(st.ID, st.Title))
			}
			return out
		}
	}
	last, err := s.LastSession(ctx)
	if err != nil {
		return nil
	}
	attempts, err := s.Attempts(ctx, last.ID)
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for _, at := range attempts {
		if !seen[at.Story] {
			seen[at.Story] = true
			out = append(out, described(at.Story, at.StoryTitle))
		}
	}
	return out
}

func ruleValues(context.Context, *app, *queue.Store) []cobra.Completion {
	set, err := policy.Builtin()
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for _, r := range set.Rules() {
		out = append(out, cobra.CompletionWithDesc(r.ID, r.Why))
	}
	return out
}
