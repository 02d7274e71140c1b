package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

const (
	wideGap  = 16 // blanks in a row, behind something, that push the rest out of sight
	margin   = 80 // blanks in a row that do so at the beginning of a line
	tallGap  = 5  // empty lines in a row that do
	maxNamed = 12 // escapes named in the note
)

// notes are the warnings below a command: what the eye would miss.
func notes(a queue.Action, command string) []string {
	out := hiddenNotes(command)
	if a.Command != "" && a.Command != command {
		out = append(out, "Lists show it otherwise, as: "+shown(a.Command))
	}
	if a.Opaque {
		out = append(out, "Part of it cannot be read before it runs (encoded, downloaded, or in a script).")
	}
	var input struct {
		Background bool `json:"run_in_background"`
	}
	if json.Unmarshal(a.Input, &input) == nil && input.Background {
		out = append(out, "The agent wanted it in the background; here it runs to its end, and what it leaves running is ended.")
	}
	return out
}

// hiddenNotes are about what the eye would miss in any text.
func hiddenNotes(command string) (out []string) {
	if n, names := escapes(command); n > 0 {
		out = append(out, fmt.Sprintf("%d characters above are shown as escapes, because they hide or pass for others: %s. "+
			"What runs has the characters themselves.", n, strings.Join(names, " ")))
	}
	if hasGap(command) {
		out = append(out, "A long run of blanks: look at what follows it.")
	}
	if strings.Contains(command, strings.Repeat("\n", tallGap+1)) {
		out = append(out, "Many empty lines: look at what follows them.")
	}
	return out
}

func hasGap(command string) bool {
	for line := range strings.SplitSeq(command, "\n") {
		body := strings.TrimLeft(line, " ")
		if len(line)-len(body) >= margin || strings.Contains(body, strings.Repeat(" ", wideGap)) {
			return true
		}
	}
	return false
}

// escapes counts the characters that the screen shows as escapes and names the
// first kinds of them.
func escapes(command string) (n int, names []string) {
	seen := map[string]bool{}
	for line := range strings.SplitSeq(command, "\n") {
		for _, e := range escaped(line) {
			n++
			switch {
			case seen[e] || len(seen) > maxNamed:
			case len(seen) == maxNamed:
				names = append(names, "...")
			default:
				names = append(names, e)
			}
			seen[e] = true
		}
	}
	return n, names
}

// escaped lists the escapes in the shown form of a line, by walking both at
// once: an escape is where the screen does not go on as the line does.
func escaped(line string) []string {
	var out []string
	screen := shown(line)
	for len(line) > 0 {
		r, n := utf8.DecodeRuneInString(line)
		raw := line[:n]
		line = line[n:]
		if rest, ok := strings.CutPrefix(screen, raw); ok {
			screen = rest
			continue
		}
		e := term.Escape(r)
		if r == utf8.RuneError && n == 1 {
			e = fmt.Sprintf(`\x%02x`, raw[0])
		}
		out = append(out, e)
		screen = strings.TrimPrefix(screen, e)
	}
	return out
}
