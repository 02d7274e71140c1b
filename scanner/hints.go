package scanner

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

// maxHints is how many tools' annotations are remembered.
const maxHints = 8 << 10

// hints remembers what servers say of their tools, by the full name of a
// tool, or by its own name where the list does not say whose it is.
type hints map[string]transcript.Hints

func (h *hints) learn(tools []transcript.Tool) {
	for _, t := range tools {
		if *h == nil {
			*h = hints{}
		}
		name := t.Name
		if t.Server != "" && !strings.HasPrefix(name, "mcp__") {
			name = "mcp__" + t.Server + "__" + name
		}
		name = hintKey(name)
		before, ok := (*h)[name]
		switch {
		case ok && !sameHints(before, t.Hints):
			(*h)[name] = transcript.Hints{} // two say different things: neither counts
		case !ok && len(*h) < maxHints:
			(*h)[name] = t.Hints
		}
	}
}

// of finds what is known of the tool of a call.
func (h hints) of(c *transcript.Call) *policy.Annotations {
	if c.Hints != nil {
		return annotations(*c.Hints)
	}
	if len(h) == 0 {
		return nil
	}
	name := hintKey(c.Name)
	said, ok := h[name]
	if i := strings.LastIndex(name, "__"); !ok && i >= 0 {
		said, ok = h[name[i+len("__"):]]
	}
	if !ok {
		return nil
	}
	return annotations(said)
}

// hintKey is a tool's name as clients write it: other characters than letters
// and digits of a server's name become underscores.
func hintKey(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '.', ' ', '/', ':':
			return '_'
		}
		return r
	}, strings.ToLower(name))
}

func annotations(h transcript.Hints) *policy.Annotations {
	return &policy.Annotations{ReadOnly: h.ReadOnly, Destructive: h.Destructive, Idempotent: h.Idempotent, OpenWorld: h.OpenWorld}
}

func sameHints(a, b transcript.Hints) bool {
	return same(a.ReadOnly, b.ReadOnly) && same(a.Destructive, b.Destructive) && same(a.OpenWorld, b.OpenWorld)
}

func same(a, b *bool) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
