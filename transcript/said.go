package transcript

import (
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// Said is what an agent said last before it made a call.
type Said struct {
	Text  string // hostile; of a long text the end
	Calls int    // of the same agent, made between the text and the call
	// Delegated says that the words are those by which another agent gave the
	// work to a subagent, which said nothing itself.
	Delegated bool
}

// maxSaid is how much of one text is kept, in bytes.
const maxSaid = 16 << 10

// SaidBefore finds for each wanted call, by its id, what its agent said last
// before it. A prompt of a person's begins anew: what was said before it was
// about something else. It reads no further than the last wanted call.
func SaidBefore(r io.Reader, o Options, want map[string]bool) (map[string]Said, error) {
	out := map[string]Said{}
	if len(want) == 0 {
		return out, nil
	}
	last := map[string]Said{} // by agent
	enough := errors.New("enough")
	err := Each(r, o, func(ev Event) error {
		switch ev.Kind {
		case KindText:
			if strings.TrimSpace(ev.Text) != "" {
				last[ev.Agent] = Said{Text: endOf(ev.Text)}
			}
		case KindPrompt:
			switch {
			case ev.Agent != "":
				last[ev.Agent] = Said{Text: endOf(ev.Text), Delegated: true}
			case !ev.Synthetic:
				delete(last, "")
			}
		case KindCall:
			s := last[ev.Agent]
			if _, known := out[ev.Call.ID]; want[ev.Call.ID] && !known {
				if out[ev.Call.ID] = s; len(out) == len(want) {
					return enough
				}
			}
			if s.Text != "" && !ev.Call.Again {
				s.Calls++
				last[ev.Agent] = s
			}
		}
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return out, err
}

// endOf copies the last bytes of a text, so that a line is not kept for them.
func endOf(s string) string {
	if from := len(s) - maxSaid; from > 0 {
		for from < len(s) && !utf8.RuneStart(s[from]) {
			from++
		}
		s = s[from:]
	}
	return strings.Clone(s)
}
