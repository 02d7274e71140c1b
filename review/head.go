package review

import (
	"fmt"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

// head is what is told of an action at once: how it stands, and exactly what it
// would run. Nothing of the command is masked or cut; what hides is shown.
func head(a queue.Action) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d  %s  %s\n", a.Number, term.Line(string(a.Status)), evidence(&a))
	story := term.Line(strings.TrimSpace(a.Story + "  " + a.StoryTitle))
	if a.Agent != "" {
		story += "  (subagent " + term.Line(a.Agent) + ")"
	}
	if story != "" {
		fmt.Fprintf(&b, "story %s\n", story)
	}
	if a.Tampering {
		b.WriteString("!! it would take away what guards the run\n")
	}
	b.WriteString("\n")
	if a.IsQuestion() {
		b.WriteString(term.QuoteLines(a.Command) + "\n")
		if text := a.AnswerText(); text != "" {
			b.WriteString("\nanswered: " + term.QuoteLines(text) + "\n")
		}
		return b.String()
	}
	run := a.AsRun()
	numbered(&b, exact(run))
	if a.Edited != nil {
		fmt.Fprintf(&b, "\nedited by %s; the agent's own:\n", term.Line(a.Edited.Who))
		own := a
		own.Edited = nil
		numbered(&b, exact(own))
	}
	if run.Why != "" {
		fmt.Fprintf(&b, "\n%s: %s\n", run.Tier, term.Line(run.Why))
	}
	if run.Undo != "" {
		b.WriteString(undo(run.Undo) + "\n")
	}
	return b.String()
}

func undo(u string) string {
	switch u {
	case policy.UndoNone:
		return "!! it cannot be undone"
	case policy.UndoCorrection:
		return "it can be followed by a correction, and not be taken back"
	case policy.UndoFull:
		return "it can be taken back"
	}
	return "how far it can be taken back is not known"
}

func evidence(a *queue.Action) string {
	if a.IsQuestion() {
		if a.Checkpoint != "" {
			return "a checkpoint of the story file"
		}
		return "a question; its story waits for the answer"
	}
	text := term.Line(string(a.Evidence))
	switch a.Evidence {
	case policy.Executed:
		text = "EXECUTED: it got out"
		if a.Outcome != "" {
			text += ", " + term.Line(a.Outcome)
		}
	case policy.Blocked:
		text = "blocked: the firewall stopped it"
		if a.Asked {
			text = "asked at the prompt: whether it ran is not known"
		}
	case policy.Written:
		text = "written: only put into a file"
	case policy.Mentioned:
		text = "mentioned: only words"
	}
	if a.Repeats > 0 {
		text += fmt.Sprintf(", %d times", a.Repeats+1)
	}
	return text
}

// exact is what the head shows: the command line, or the input of another tool,
// laid out.
func exact(a queue.Action) string {
	if a.Tool == "Bash" {
		return replay.EditText(a)
	}
	if len(a.Input) == 0 {
		return a.Command
	}
	return term.Line(a.Tool) + " " + replay.EditText(a)
}

func numbered(b *strings.Builder, text string) {
	lines := strings.Split(text, "\n")
	width := len(fmt.Sprint(len(lines)))
	for i, l := range lines {
		body := strings.TrimRight(l, " ")
		fmt.Fprintf(b, "  %*d | %s%s\n", width, i+1, term.Quote(term.Lookalikes(body)), strings.Repeat(`\x20`, len(l)-len(body)))
	}
}
