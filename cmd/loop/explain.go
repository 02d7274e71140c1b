package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
)

const explainLong = `Show how a command line is read: each simple command, what was unwrapped, which rule
says what; and, for what leaves this machine, a form of it that would not, where the rule
knows one. Quote the line, so that your shell does not read it first. Nothing is run.

` + exitHelp

func newExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "explain 'COMMAND'", Short: "Show how a command line is read and which rule says what",
		Long: explainLong,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			w, err := a.workspace(cmd.Context())
			if err != nil {
				return err
			}
			_, set, err := a.loadConfig(w)
			if err != nil {
				return err
			}
			ro, err := a.reportOptions()
			if err != nil {
				return err
			}
			near, err := newNearer(set)
			if err != nil {
				return err
			}
			e := explainer{a: a, styles: term.NewStyles(ro.Color), near: near}
			e.print(set.Explain(strings.Join(words, " ")))
			return nil
		},
	}
}

type explainer struct {
	a      *app
	styles term.Styles
	near   nearer
}

func (e explainer) print(x policy.Explanation) {
	e.a.printf("%s  %s\n", e.verdict(x.Result.Verdict), term.Command(x.Command))
	for _, n := range x.Nodes {
		e.node(n, "  ")
	}
	for _, t := range x.Texts {
		e.a.printf("  %s %s\n", e.styles.Faint.Render("data, nothing in it runs:"), term.Truncate(term.Quote(t), 100))
	}
	for _, o := range x.Opaque {
		e.a.printf("  %s %s\n", e.styles.Warn.Render("cannot be seen through:"), term.Quote(o))
	}
}

func (e explainer) node(n policy.Node, indent string) {
	e.a.printf("%s%s  %s\n", indent, e.verdict(n.Verdict), term.Command(strings.Join(n.Argv, " ")))
	deeper := indent + "  "
	note := func(label, text string) {
		e.a.printf("%s%s %s\n", deeper, e.styles.Faint.Render(label), term.Command(text))
	}
	if len(n.Wrappers) > 0 {
		note("unwrapped from:", strings.Join(n.Wrappers, " > "))
	}
	if n.Remote != "" {
		note("would run on:", n.Remote)
	}
	if n.Defined {
		note("defined here,", "not run by this line")
	}
	for _, h := range n.Hits {
		what := h.Tier.String()
		if h.Net {
			what += ", reads the network"
		}
		if h.Mention {
			what = "only words; it would be " + what
		}
		if h.Opaque {
			what += ", opaque"
		}
		e.a.printf("%s%s  %s  %s\n", deeper, term.Quote(h.Rule), e.styles.Faint.Render("("+what+")"), term.Quote(h.Why))
	}
	if f, ok := e.near.of(n); ok {
		e.a.printf("%s%s  %s\n", deeper, e.styles.Ok.Render(f.label+":"), term.Command(f.command))
	}
	if len(n.Hits) == 0 {
		note("no rule speaks of it:", "local")
	}
	for _, c := range n.Children {
		e.node(c, deeper)
	}
}

// verdict is the word, in its colour, padded to the longest one.
func (e explainer) verdict(v policy.Verdict) string {
	text := term.Pad(string(v), len(policy.VerdictExternal))
	switch v {
	case policy.VerdictExternal:
		return e.styles.Danger.Render(text)
	case policy.VerdictShared, policy.VerdictMention:
		return e.styles.Warn.Render(text)
	case policy.VerdictLocal:
	}
	return e.styles.Ok.Render(text)
}
