package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// commandTree are the commands that people see, each before its own.
func commandTree(root *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{root}
	for _, sub := range root.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" && sub.Name() != "completion" {
			out = append(out, commandTree(sub)...)
		}
	}
	return out
}

func documented() *cobra.Command {
	root := newRoot(&app{})
	root.DisableAutoGenTag = true
	root.InitDefaultHelpFlag()
	return root
}

// A shell is offered what a command can take, with what it is.
func TestEveryArgumentCompletes(t *testing.T) {
	for _, cmd := range commandTree(documented()) {
		_, usage, _ := strings.Cut(cmd.Use, " ")
		words := strings.FieldsFunc(usage, func(r rune) bool { return strings.ContainsRune(" []|.", r) })
		named := slices.ContainsFunc(words, func(w string) bool { return w == "ID" || w == "SESSION" || w == "STORY" })
		if named && cmd.ValidArgsFunction == nil && !slices.Contains(words, "FILE") {
			t.Errorf("%s: nothing completes %q", cmd.CommandPath(), usage)
		}
		for flag := range fixedValues {
			if f := cmd.LocalFlags().Lookup(flag); f != nil {
				if _, ok := cmd.GetFlagCompletionFunc(flag); !ok {
					t.Errorf("%s: nothing completes --%s", cmd.CommandPath(), flag)
				}
			}
		}
	}
}
