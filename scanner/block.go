package scanner

import (
	"bytes"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

// blockSize is how much is looked through for words at a time: many lines
// together, because looking through a short text costs more per byte.
const blockSize = 256 << 10

// block holds lines until they are looked through for words together.
type block struct {
	raw   []byte // the lines
	text  []byte // the same as a text to look through, a zero byte behind each line
	lines []blockLine
}

type blockLine struct {
	number, count int
	start, end    int // in raw
	textEnd       int // in text
	marks         mark
	words         *phrases // nil: none
}

func (b *block) add(l transcript.Line) {
	start := len(b.raw)
	b.raw = append(b.raw, l.Bytes...)
	marks, again := survey(l.Bytes)
	if again.end > 0 && shapeOf(l.Bytes) == shapeJSON {
		b.text = append(transcript.Unescape(b.text, l.Bytes[:again.start]), 0)
		b.text = append(transcript.Unescape(b.text, l.Bytes[again.end:]), 0)
	} else {
		b.text = readable(b.text, l.Bytes)
	}
	b.lines = append(b.lines, blockLine{
		number: l.Number, count: l.Count, start: start, end: len(b.raw), textEnd: len(b.text), marks: marks,
	})
}

// readable appends a line as a text to look through: with its escapes
// resolved, and as it stands too where it need not be JSON.
func readable(dst, line []byte) []byte {
	if shapeOf(line) != shapeJSON {
		dst = append(append(dst, line...), 0)
		if bytes.IndexByte(line, '\\') < 0 {
			return dst
		}
	}
	return append(transcript.Unescape(dst, line), 0)
}

// mark finds out which lines hold which words of interest.
func (b *block) mark(rules classifier) {
	at := 0
	rules.FindMentions(b.text, func(m policy.Mention) bool {
		for at > 0 && b.lines[at-1].textEnd > m.Start {
			at--
		}
		for at < len(b.lines)-1 && b.lines[at].textEnd <= m.Start {
			at++
		}
		if b.lines[at].words == nil {
			b.lines[at].words = &phrases{}
		}
		b.lines[at].words.add(m, b.text)
		return true
	})
}

// flush handles the lines of the block and empties it.
func (s *scanning) flush() {
	b := &s.block
	if len(b.lines) > 0 {
		b.mark(s.rules)
	}
	for _, l := range b.lines {
		var words []phrase
		if l.words != nil {
			words = l.words.list
		}
		s.line(transcript.Line{Number: l.number, Count: l.count, Bytes: b.raw[l.start:l.end]}, l.marks, words)
		if s.out.err != nil {
			break
		}
	}
	b.raw, b.text, b.lines = b.raw[:0], b.text[:0], b.lines[:0]
}

// line handles one line. Most lines need no decoding: they hold no call, no
// result that is waited for and no words of interest.
func (s *scanning) line(l transcript.Line, marks mark, words []phrase) {
	need := markCall | markNotice
	if s.calls.waiting() || s.vcs.waiting() {
		need |= markResult
	}
	shape := shapeOf(l.Bytes)
	if len(words) == 0 && marks&need == 0 && shape != shapeOdd {
		s.stats.Lines += l.Count
		if shape == shapePlain {
			s.stats.Plain += l.Count
		}
		return
	}
	s.words.line = words
	events := l.Events(&s.stats.Stats)
	for from := 0; from < len(events); {
		to := from + 1
		for to < len(events) && events[to].Line == events[from].Line && events[to].Part == events[from].Part {
			to++
		}
		s.record(events[from:to])
		from = to
	}
}

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
	markCall   mark = 1 << iota // a tool call
	markResult                  // a result, or the end of a background task
	markNotice                  // an init or result record, a version-control notice
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
		case n >= 4 && n <= longestMark:
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
		"tool.execution_start", "command_execution", "mcp_tool_call":
		return markCall
	case "tool_result", "mcp_tool_result", "task_notification", "task_updated",
		"function_call_output", "custom_tool_call_output", "toolResult", "tool_call_id", "tool.execution_complete":
		return markResult
	case "init", "vcs_state_changed", "code_change_published", "gitOperation", "permission_denials", "deferred_tool_use":
		return markNotice
	}
	if bytes.Contains(piece, []byte(`\u00`)) {
		return markCall // a letter that needed no escape: look closer
	}
	return 0
}
