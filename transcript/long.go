package transcript

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

// firstPart is how much of a line over the cap is kept, from either end.
const firstPart = 64 << 10

// long reads the line at start, which is over the cap: Options.Chunk sees all
// of it, its first and last part are kept.
func (l *Lines) long() Line {
	if len(l.buf) < 4*overlap {
		l.slideTo(make([]byte, 4*overlap))
	}
	line := Line{Number: l.number + 1, Count: 1, Oversize: true}
	seen := 0 // bytes at start that the last chunk had
	for {
		n, ok := l.chunk(seen)
		b := l.buf[l.start:n]
		if line.Bytes == nil {
			line.Bytes = bytes.Clone(b[:min(len(b), firstPart)])
		}
		line.Size += int64(len(b) - seen)
		if l.o.Chunk != nil {
			l.o.Chunk(Chunk{Line: line.Number, Data: b, Overlap: seen})
		}
		if ok || l.err != nil {
			line.Tail = bytes.Clone(trimCR(b[max(0, len(b)-firstPart):]))
			l.start = min(n+1, l.end)
			l.scanned = l.start
			l.number++
			return line
		}
		seen = min(overlap, len(b))
		copy(l.buf, b[len(b)-seen:])
		l.start, l.end = 0, seen
	}
}

// chunk fills the buffer up to the next line end, and says where it is.
func (l *Lines) chunk(seen int) (int, bool) {
	from := l.start + seen
	for {
		if i := bytes.IndexByte(l.buf[from:l.end], '\n'); i >= 0 {
			return from + i, true
		}
		from = l.end
		if l.end == len(l.buf) || !l.fill() {
			return l.end, false
		}
	}
}

// oversize makes the event of a line over the cap. What its first and last
// part still tell about a call or a result is recovered.
func (l Line) oversize() Event {
	head, tail := string(l.Bytes), string(l.Tail)
	ev := Event{Kind: KindOversize, Line: l.Number, Text: strings.ToValidUTF8(head, "")}
	// at the top level only: what the agent wrote may name any type
	ev.Request = isRequest(gjson.Get(head, "type").String())
	ev.SessionID = firstString(head, tail, "session_id", "sessionId")
	ev.Agent = firstString(head, tail, "parent_tool_use_id", "agent_id", "agentId")
	ev.Cwd = firstString(head, tail, "cwd")
	ev.Time = parseTime(firstString(head, tail, "timestamp"))
	switch {
	case strings.Contains(head, `"tool_result"`), strings.Contains(tail, `"tool_result"`):
		ev.Result = &Result{CallID: firstString(head, tail, "tool_use_id")}
		ev.Result.IsError = strings.Contains(tail, `"is_error":true`) || strings.Contains(tail, `"is_error": true`)
		if i := strings.LastIndex(tail, `"tool_result_meta"`); i >= 0 {
			if j := strings.IndexByte(tail[i:], '['); j >= 0 {
				applyMeta(ev.Result, gjson.Parse(tail[i+j:]))
			}
		}
	case strings.Contains(head, `"tool_use"`), strings.Contains(tail, `"tool_use"`):
		ev.Call = recoverCall(head, tail)
	}
	return ev
}

// recoverCall finds the id and the name of a call whose input is too long to
// be kept; the keys may stand before or behind the input.
func recoverCall(head, tail string) *Call {
	c := &Call{}
	if i := strings.Index(head, `"tool_use"`); i >= 0 {
		if j := strings.LastIndexByte(head[:i], '{'); j >= 0 {
			head = head[j:]
		}
	} else if i := strings.LastIndex(head, `"input"`); i >= 0 {
		head = head[:i]
		if j := strings.LastIndexByte(head, '{'); j >= 0 {
			head = head[j:]
		}
	}
	for at := 0; c.ID == ""; {
		id, n := stringField(head[at:], "id")
		if n < 0 {
			break
		}
		at += n
		if !strings.HasPrefix(id, "msg_") {
			c.ID = id
		}
	}
	c.Name, _ = stringField(head, "name")
	if c.Name == "" {
		for at := 0; ; {
			name, n := stringField(tail[at:], "name")
			if n < 0 {
				break
			}
			c.Name = name
			at += n
		}
	}
	return c
}

// firstString is the value of the first of the keys that either text has.
func firstString(head, tail string, keys ...string) string {
	for _, k := range keys {
		if v, n := stringField(head, k); n >= 0 && v != "" {
			return v
		}
		if v, n := stringField(tail, k); n >= 0 && v != "" {
			return v
		}
	}
	return ""
}

// stringField finds "key": "value" in a piece of JSON that need not be whole,
// and the index behind it, -1 when there is none. A key inside a string does
// not count: its quotes are escaped.
func stringField(s, key string) (string, int) {
	quoted := `"` + key + `"`
	for at := 0; ; {
		i := strings.Index(s[at:], quoted)
		if i < 0 {
			return "", -1
		}
		i += at
		at = i + len(quoted)
		if i > 0 && s[i-1] == '\\' {
			continue
		}
		rest := strings.TrimLeft(s[at:], " \t")
		if !strings.HasPrefix(rest, ":") {
			continue
		}
		rest = strings.TrimLeft(rest[1:], " \t")
		if !strings.HasPrefix(rest, `"`) {
			continue
		}
		end := stringEnd(rest, 0)
		if end < 0 {
			continue
		}
		return gjson.Parse(rest[:end]).String(), len(s) - len(rest) + end
	}
}
