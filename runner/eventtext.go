package runner

import (
	"fmt"

	"github.com/seed-b23e517c/loop/queue"
)

// endText says in one sentence how a session ended.
func endText(s *queue.Session, st Status) string {
	text := fmt.Sprintf("%d of %d stories passed", st.Passed, st.Total)
	if st.Failed > 0 {
		text += fmt.Sprintf(", %d did not", st.Failed)
	}
	text += fmt.Sprintf(", $%.2f", st.CostUSD)
	if s.Stopped != "" {
		text += "; stopped early: " + clip(s.Stopped, 300)
	}
	return text
}

func storyText(a queue.Attempt) string {
	text := fmt.Sprintf("story %q: %s", a.Story, a.Outcome)
	if a.Reason != "" {
		text += ": " + clip(a.Reason, 300)
	}
	return text
}

// actionsText names the first of some actions.
func actionsText(what string, list []queue.Action) string {
	text := fmt.Sprintf("story %q %s: #%d %s", list[0].Story, what, list[0].Number, clip(list[0].Command, 300))
	if more := len(list) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}
