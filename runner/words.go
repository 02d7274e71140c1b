package runner

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// keptWords is how many characters of an agent's words an action keeps.
const keptWords = 300

// AddWords reads the transcript that actions were found in once more, from its
// start, and notes at each call what the agent had said last before it. The
// hook does not know it: the client shows it a call and nothing else.
func AddWords(r io.ReadSeeker, actions []queue.Action) error {
	want := map[string]bool{}
	for i := range actions {
		if wantsWords(&actions[i]) {
			want[actions[i].ToolUseID] = true
		}
	}
	if len(want) == 0 {
		return nil
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return err
	}
	said, err := transcript.SaidBefore(r, transcript.Options{}, want)
	for i := range actions {
		s, ok := said[actions[i].ToolUseID]
		if ok && wantsWords(&actions[i]) {
			actions[i].Said = &queue.Said{Text: lastWords(s.Text), Calls: s.Calls, Delegated: s.Delegated}
		}
	}
	return err
}

func wantsWords(a *queue.Action) bool {
	return a.ToolUseID != "" && a.Evidence != policy.Mentioned && a.Kind == queue.KindCall
}

// lastWords are the last of a text that is kept: whole paragraphs from its end,
// or the beginning of the last one. A cut falls between words, and secrets are
// masked before it, because half a secret may not look like one.
func lastWords(text string) string {
	text = strings.TrimSpace(term.Mask(text))
	if utf8.RuneCountInString(text) <= keptWords {
		return text
	}
	paragraphs := strings.Split(text, "\n\n")
	from, used := len(paragraphs), 0
	for from > 0 {
		if used += utf8.RuneCountInString(paragraphs[from-1]) + 2; used > keptWords {
			break
		}
		from--
	}
	if from < len(paragraphs) {
		return "… " + strings.Join(paragraphs[from:], "\n\n")
	}
	last := paragraphs[len(paragraphs)-1]
	head := clip(last, keptWords)
	if i := strings.LastIndexAny(head, " \n"); i > len(head)/2 {
		head = strings.TrimRight(head[:i], " \n") + " …"
	}
	if len(paragraphs) > 1 {
		head = "… " + head
	}
	return head
}
