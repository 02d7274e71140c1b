package scanner

import "bytes"

// shape is what a line looks like from its first and last character.
type shape uint8

const (
	shapeBlank shape = iota
	shapePlain
	shapeJSON
	shapeOdd // has to be decoded to be known
)

func shapeOf(b []byte) shape {
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0:
		return shapeBlank
	case b[0] == '{':
		if b[len(b)-1] == '}' {
			return shapeJSON
		}
		return shapeOdd
	case b[0] == '[' && len(b) > 1 && (b[1] == '{' || b[1] == '\n' || b[1] == '\r'):
		return shapeOdd
	}
	return shapePlain
}

// mark says what a line may hold, by the strings that stand in it unescaped.
type mark uint8

const (
	markCall    mark = 1 << iota // a tool call
	markResult                   // a result, or the end of a background task
	markNotice                   // an init or result record, a version-control notice
	markClient                   // the line is one of the client's own
	markForeign                  // what a call may be made of in the line of another agent
)

// span is a part of a line.
type span struct{ start, end int }

// longPiece is the length from which a piece is worth comparing.
const longPiece = 1 << 10

// survey looks at the pieces of a line between quotes: for marks, and for a
// long piece that stands there twice, as the output of a command does in the
// client's results. Text inside a JSON string cannot look like a mark, because
// its quotes are escaped; and a torn line, in which inside and outside are
// exchanged, is read all the same.
func survey(line []byte) (m mark, again span) {
	var long []span
	piece, at := 0, 0 // beginnings of the piece and of what is not yet searched
	for {
		i := bytes.IndexByte(line[at:], '"')
		if i < 0 {
			return m, again
		}
		i += at
		at = i + 1
		if i > 0 && line[i-1] == '\\' && escaped(line[:i]) {
			continue
		}
		switch n := i - piece; {
		case n >= 3 && n <= longestMark:
			m |= markOf(line[piece:i])
		case n >= longPiece && again.end == 0:
			for _, l := range long {
				if l.end-l.start == n && bytes.Equal(line[l.start:l.end], line[piece:i]) {
					again = span{piece, i}
				}
			}
			if len(long) < 4 {
				long = append(long, span{piece, i})
			}
		}
		piece = at
	}
}

// escaped reports whether b ends in an odd number of backslashes.
func escaped(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}

const longestMark = 6 * len("code_change_published") // all its letters escaped

func markOf(piece []byte) mark {
	switch string(piece) {
	case "tool_use", "mcp_tool_use", "server_tool_use",
		"function_call", "custom_tool_call", "local_shell_call", "toolCall", "tool_calls",
		"tool.execution_start", "command_execution", "mcp_tool_call", "functionCall", "tool_call", "tool-call", "toolcall":
		return markCall
	case "uuid", "parentUuid", "parent_tool_use_id":
		return markClient
	case "role", "command", "cmd", "commands", "args", "arguments", "rawInput", "tool_input", "action", "actions", "tool", "toolName", "tool_name",
		"toolId", "toolCalls", "toolSpecificData", "invocation", "changes", "ask", "say", "operation", "code":
		return markForeign
	case "tool_result", "mcp_tool_result", "task_notification", "task_updated",
		"function_call_output", "custom_tool_call_output", "toolResult", "tool_call_id", "tool.execution_complete":
		return markResult
	case "init", "vcs_state_changed", "code_change_published", "gitOperation", "permission_denials", "deferred_tool_use", "readOnlyHint":
		return markNotice
	}
	if bytes.Contains(piece, []byte(`\u00`)) {
		return markCall // a letter that needed no escape: look closer
	}
	return 0
}
