package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/runner"
)

const explainLong = `Show how a command line is read: each simple command, what was unwrapped, which rule
says what; and, for what leaves this machine, a form of it that would not, where the rule
knows one. Quote the line, so that your shell does not read it first. Nothing is run; the scripts,
make targets and package scripts of the work tree that it would run are read.

` + exitHelp

func newExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "explain 'COMMAND'", Short: "Show how a command line is read and which rule says what",
		Long: explainLong,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			w, c, set, err := a.configured(cmd.Context())
			if err != nil {
				return err
			}
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			call := a.readingIn(cmd.Context(), w, c, dir)
			ro, err := a.reportOptions()
			if err != nil {
				return err
			}
			near, err := newNearer(set)
			if err != nil {
				return err
			}
			e := explainer{w: a.stdout, styles: term.NewStyles(ro.Color), near: near, width: ro.Width}
			e.print(set.ExplainCall(strings.Join(words, " "), call))
			return nil
		},
	}
}

// readingIn is a call in a folder of the workspace that is judged with the files
// that it would run, and by what a run guards.
func (a *app) readingIn(ctx context.Context, w workspace.Workspace, c config.Config, dir string) policy.Call {
	readable := firewall.FilesOf(w.Root, a.env)
	o := &runner.Options{Root: w.Root, State: w.State, Env: a.env, Watched: watched(w.Root, c), Protected: a.finder().Own(), Now: a.now}
	return policy.Call{
		Cwd:       dir,
		ReadFile:  func(name string) (string, bool) { return readable.Read(dir, name) },
		ReadDir:   func(name string) ([]string, bool) { return readable.List(dir, name) },
		ProgramOf: func(name string) string { return readable.Program(dir, name) },
		Guarded:   runner.Guarded(ctx, o),
	}
}

// explainer prints how a call is read.
type explainer struct {
	w      io.Writer
	styles term.Styles
	near   nearer
	width  int // 0: no terminal, nothing is broken
}

func (e explainer) print(x policy.Explanation) {
	e.verdictLine(0, x.Result.Verdict, x.Command)
	for _, n := range x.Nodes {
		e.node(n, 2)
	}
	for _, t := range x.Texts {
		e.put(2, e.styles.Faint, "data, nothing in it runs: ", term.Truncate(term.Quote(t), 100))
	}
	for _, o := range x.Opaque {
		e.put(2, e.styles.Warn, "cannot be seen through: ", term.Quote(o))
	}
}

func (e explainer) node(n policy.Node, indent int) {
	e.verdictLine(indent, n.Verdict, strings.Join(n.Argv, " "))
	indent += 2
	if len(n.Wrappers) > 0 {
		e.put(indent, e.styles.Faint, "unwrapped from: ", term.Command(strings.Join(n.Wrappers, " > ")))
	}
	if n.Remote != "" {
		e.put(indent, e.styles.Faint, "would run on: ", term.Command(n.Remote))
	}
	if n.Defined {
		e.put(indent, e.styles.Faint, "defined here, ", "not run by this line")
	}
	for _, h := range n.Hits {
		e.hit(indent, h)
	}
	if len(n.Hits) == 0 && n.Verdict == policy.VerdictLocal {
		e.put(indent, e.styles.Faint, "no rule speaks of it: ", "local")
	}
	if f, ok := e.near.of(n); ok {
		e.put(indent, e.styles.Ok, f.label+":  ", term.Command(f.command))
	}
	for _, c := range n.Children {
		e.node(c, indent)
	}
}

func (e explainer) hit(indent int, h policy.Hit) {
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
	rule := term.Quote(h.Rule) + "  "
	what = "(" + what + ")  "
	e.broken(indent, rule+e.styles.Faint.Render(what), term.Cells(rule+what), term.Quote(h.Why))
}

func (e explainer) verdictLine(indent int, v policy.Verdict, command string) {
	e.broken(indent, e.verdict(v)+"  ", len(policy.VerdictExternal)+2, term.Command(command))
}

func (e explainer) put(indent int, style term.Style, label, text string) {
	e.broken(indent, style.Render(label), term.Cells(label), text)
}

// minText is the least room that a text gets behind its label.
const minText = 24

// broken prints a label and quoted text, which goes on below itself where it
// is wider than the terminal: what the terminal broke could pass for a verdict.
func (e explainer) broken(indent int, label string, cells int, text string) {
	room := e.width - indent - cells
	if e.width <= 0 || term.Cells(text) <= room {
		fmt.Fprintf(e.w, "%s%s%s\n", term.Spaces(indent), label, text)
		return
	}
	at := indent + cells
	if room < minText {
		fmt.Fprintf(e.w, "%s%s\n", term.Spaces(indent), label)
		at = indent + 4
		label = term.Spaces(4)
	}
	for i, l := range term.Wrap(text, max(e.width-at, minText)) {
		if i > 0 {
			fmt.Fprintf(e.w, "%s%s\n", term.Spaces(at), l)
			continue
		}
		fmt.Fprintf(e.w, "%s%s%s\n", term.Spaces(indent), label, l)
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
