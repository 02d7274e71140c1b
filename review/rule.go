package review

import (
	"context"
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

type ruleMsg struct {
	seen queue.Action
	verb string
	rule Rule
	err  error
}

// rule makes the rule that allows or refuses such a call for good, and shows it
// before it is written.
func (m *model) rule(a queue.Action, verb string) tea.Cmd {
	if verb == queue.Approve {
		return m.makeRule(a, verb, "")
	}
	return m.open(form{
		field: newField("", true), label: "Never again what " + number(a) + " would run. Why (told to the agent; may be empty)?", hint: hintSingle,
		done: func(text string) tea.Cmd { return m.makeRule(a, verb, text) },
	})
}

func (m *model) makeRule(a queue.Action, verb, reason string) tea.Cmd {
	m.mode = deciding
	return func() tea.Msg {
		r, err := m.desk.Rule(m.ctx, a, verb, reason)
		return ruleMsg{a, verb, r, err}
	}
}

// ruleUpdate shows the rule and asks.
func (m *model) ruleUpdate(msg ruleMsg) tea.Cmd {
	m.mode = listing
	switch {
	case msg.err != nil:
		return m.trouble(msg.err)
	case msg.rule.There:
		return m.say(false, "this rule stands in your own rules already: "+msg.rule.ID)
	}
	what := "From now on exactly this command, in this folder, runs without being kept back."
	after := "The action itself still waits: a runs it."
	if msg.verb == queue.Reject {
		what = "From now on exactly this command, in this folder, is refused without being queued."
		after = "The action itself is rejected with it."
	}
	if msg.seen.Status != queue.Pending {
		after = ""
	}
	return m.start("A rule for good", func(ctx context.Context, w io.Writer, ask func(question) (bool, error)) (string, error) {
		fmt.Fprintf(w, "%s\n", what)
		if msg.rule.About != "" {
			fmt.Fprintf(w, "%s\n", msg.rule.About)
		}
		fmt.Fprintf(w, "This goes to the end of %s:\n\n%s\n%s\n", term.Quote(msg.rule.File), indented(msg.rule.Text), after)
		yes, err := ask(question{text: "write it?"})
		if err != nil {
			return "", err
		}
		if !yes {
			return "", errDeclined
		}
		if err := m.desk.Write(ctx, msg.rule); err != nil {
			return "", err
		}
		note := "written: " + msg.rule.ID
		if msg.verb == queue.Reject && msg.seen.Status == queue.Pending {
			if _, err := m.desk.Decide(ctx, msg.seen, queue.Reject, "never again: "+msg.rule.ID); err != nil {
				return "", fmt.Errorf("the rule is written, but the action was not rejected: %w", err)
			}
			note += ", and " + number(msg.seen) + " rejected"
		}
		return note, nil
	})
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + term.Quote(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}
