package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay/mcp"
)

// writeCall says what will be called, with what, and how the server is
// reached. Values of the configuration are secrets: only their names are
// shown, and variables as the configuration names them.
func writeCall(b *strings.Builder, a queue.Action, c *ServerCall) {
	field := func(name, text string) { fmt.Fprintf(b, "  %-9s %s\n", name, text) }
	b.WriteString("\nwill call\n")
	field("tool", shown(firstOf(c.Tool, a.Tool))+"  of the MCP server "+shown(firstOf(c.Server.Name, c.Name)))
	b.WriteString("\nwith\n")
	arguments := pretty(a.Input)
	writeLines(b, arguments)
	for _, n := range hiddenNotes(arguments) {
		fmt.Fprintf(b, "  !! %s\n", n)
	}
	b.WriteString("\n")
	if c.Problem != "" {
		field("server", "!! "+term.Line(c.Problem))
		return
	}
	s := c.Server
	if s.Way() == mcp.Stdio {
		field("by", term.Command(strings.Join(append([]string{s.Command}, s.Args...), " ")))
		field("in", term.Command(c.Dir))
		if len(s.Env) > 0 {
			field("env", names(s.Env)+"  (values not shown), beside your own")
		}
	} else {
		field("at", term.Command(s.URL)+"  ("+term.Line(s.Way())+")")
		if len(s.Headers) > 0 {
			field("headers", names(s.Headers)+"  (values not shown)")
		}
	}
	field("from", term.Command(s.From))
}

func names(m map[string]string) string {
	return term.Line(strings.Join(slices.Sorted(maps.Keys(m)), " "))
}

// pretty is JSON with one value on each line; what is none stays as it is.
func pretty(input json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, input, "", "  ") != nil {
		return string(input)
	}
	return b.String()
}

// callChanges says what is different now about the server, one sentence each.
func callChanges(c *ServerCall) (out []string) {
	if c.Problem != "" {
		return []string{"!! the server is not known, so nothing else was looked at"}
	}
	switch {
	case !c.Recorded:
		out = append(out, "!! how the server was reached then was not recorded: this is the client's configuration as it is now")
	case c.Gone != "":
		out = append(out, "!! "+term.Command(c.Gone)+" has the server no more; what the run was given is used")
	case len(c.Changed) > 0:
		out = append(out, "!! the server's configuration has changed ("+strings.Join(c.Changed, ", ")+"); what the run was given is used")
	default:
		out = append(out, "the server's configuration is the same")
	}
	for _, v := range c.Unset {
		out = append(out, "!! the configuration names ${"+term.Line(v)+"}, which is not set: the server gets these characters")
	}
	return out
}
