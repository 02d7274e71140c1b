package review

import (
	"slices"
	"strings"
)

// screenOrder is how the sections of what an approval shows are told here: what
// it does outside and what has changed come before the rest.
var screenOrder = []string{"  !! ", "will call\n", "would push\n", "since then\n"}

// BelowCommand is what an approval shows without its head and the command, which
// stand above it here; the warnings about the command stay.
func BelowCommand(screen string) string {
	var out []string
	for i, text := range strings.Split(strings.TrimRight(screen, "\n"), "\n\n") {
		if i == 0 && strings.HasPrefix(text, "action #") {
			continue
		}
		for _, again := range []string{"will run\n", "with\n"} {
			if rest, ok := strings.CutPrefix(text, again); ok {
				text = warningsOf(rest)
			}
		}
		if text != "" {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return ""
	}
	slices.SortStableFunc(out, func(a, b string) int { return place(a) - place(b) })
	return strings.Join(out, "\n\n") + "\n"
}

func place(section string) int {
	for i, begin := range screenOrder {
		if strings.HasPrefix(section, begin) {
			return i
		}
	}
	return len(screenOrder)
}

func warningsOf(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "  !! ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
