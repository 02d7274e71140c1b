package review

import (
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
)

const helpText = `loop review

a        approve: shows exactly what runs, asks once, runs it, with its output
r        reject, with a reason
e        edit what would run, then approve it; the agent's own form is kept
A, N     always, never: a rule about exactly this command, shown first
enter    answer a question; of anything else, all that is known of it (also z)
s space  skip: it waits
u        take a decision back that nothing has come of
m        mark; a then shows all that are marked, asks once, and runs them in
         the order in which they were queued until one fails; r rejects them.
         Pushes that have changed since are left out, unless i takes them in
M        mark, or unmark, all that are listed and of this kind
+        a row with others folded into it (+2): each as a row, or folded again.
         a and e are about the first alone, r rejects all that it names

j k      up and down       g G  first and last     esc  unmark, end the search
tab f    what is listed: waiting, executed, questions, decided, mentions, all
/        search            pgdn pgup J K  scroll what is told
q        close; nothing is lost

Without this view: loop list, loop show ID, loop approve ID, loop reject ID`

// helpLines are the keys.
func (m *model) helpLines() []string {
	width, _ := m.size()
	lines := strings.Split(helpText, "\n")
	for i, l := range lines {
		lines[i] = term.Truncate(l, width)
	}
	lines[0] = m.styles.Bold.Render(lines[0])
	return lines
}
