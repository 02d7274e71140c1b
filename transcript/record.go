package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
)

const (
	scanBudget = 8 // how often the bytes of one line are looked through for records in it
	maxNested  = 8 // progress records inside each other
)

// Events decodes the line into what happened in it, and counts it in s. A
// line that is no record gives one event of its text; an empty one gives none.
func (l Line) Events(s *Stats) []Event {
	s.Lines += l.Count
	if l.Oversize {
		s.Oversize++
		return []Event{l.oversize()}
	}
	if l.Aider {
		if events := l.aider(); events != nil {
			s.Plain += l.Count
			return events
		}
	}
	d := &lineDecoder{line: l.Number}
	d.run(string(l.Bytes))
	if !d.found && l.Count > 1 {
		// not a record over several lines after all
		d = &lineDecoder{line: l.Number}
		for text := range strings.SplitSeq(string(l.Bytes), "\n") {
			d.run(strings.TrimSuffix(text, "\r"))
			d.line, d.part = d.line+1, 0
		}
	}
	s.Plain += d.plain
	s.Broken += d.broken
	s.Unread += d.unread
	return d.events
}

// lineDecoder decodes one line.
type lineDecoder struct {
	line          int
	part          int
	found         bool // a record was in it
	budget        int  // bytes that may still be looked through for records
	plain, broken int
	unread        int
	events        []Event
}

// run takes the records of one line and the text between them apart.
func (d *lineDecoder) run(text string) {
	d.budget = scanBudget*len(text) + firstPart
	rest := strings.TrimLeft(text, " \t")
	for at := 0; at < len(rest); {
		if end := d.record(rest, at); end >= 0 {
			rest = strings.TrimLeft(rest[end:], " \t,")
			at = 0
			continue
		}
		next := -1
		if d.budget > 0 {
			next = nextRecord(rest[at+1:])
		}
		if next < 0 {
			break
		}
		at += 1 + next
	}
	if !d.found {
		rest = text
	}
	d.text(rest)
}

// record decodes the record at rest[at:], if there is one, after the text
// that stands before it. It returns the index behind it, or -1.
func (d *lineDecoder) record(rest string, at int) int {
	s := rest[at:]
	if s[0] != '{' && s[0] != '[' {
		return -1
	}
	n := valueEnd(s)
	if n < 0 || !gjson.Valid(s[:n]) {
		d.budget -= len(s)
		return -1
	}
	rows, known := readRows(s[:n])
	if !known && at == 0 {
		if inner := logged(s[:n]); inner != "" && d.record(inner, 0) >= 0 {
			return n
		}
	}
	behind := strings.TrimLeft(s[n:], " \t\r\n,")
	if !known && (at > 0 || len(rows) == 0 || behind != "" && behind[0] != '{') {
		d.budget -= n
		return -1 // JSON in the middle of a text
	}
	d.text(rest[:at])
	d.found = true
	for _, r := range rows {
		d.decode(r)
	}
	return at + n
}

// readRows reads a record or a list of them, and says whether they are
// records of a transcript and not just any JSON.
func readRows(s string) (rows []*row, known bool) {
	if s[0] == '{' {
		r := readRow(s)
		return []*row{r}, r.isRecord()
	}
	known = true
	objects := true
	eachElement(s, func(e string) {
		if e[0] != '{' {
			objects = false
			return
		}
		r := readRow(e)
		known = known && r.isRecord()
		rows = append(rows, r)
	})
	if !objects {
		return nil, false
	}
	return rows, known && len(rows) > 0
}

// text adds what is not a record.
func (d *lineDecoder) text(s string) {
	trimmed := strings.TrimSpace(s)
	if trimmed == "" {
		return
	}
	if beginsLikeJSON(trimmed) {
		d.broken++
	} else {
		d.plain++
	}
	d.events = append(d.events, Event{Kind: KindPlain, Line: d.line, Part: d.part, Text: s})
	d.part++
}

func beginsLikeJSON(s string) bool {
	if s[0] != '{' {
		return false
	}
	rest := strings.TrimLeft(s[1:], " \t\r\n")
	return rest != "" && (rest[0] == '"' || rest[0] == '}')
}

// recordStarts are how records and the blocks inside them begin. They are
// looked for inside a line only after its first character.
var recordStarts = [...]string{`{"type"`, `{ "type"`, `{"parentUuid"`, `{"id"`, `{"role"`, `{"duration_api_ms"`, `{"tool_use_id"`, `{"timestamp"`, `{"uuid"`, `{"sessionId"`}

func nextRecord(s string) int {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '{')
		if i < 0 {
			return -1
		}
		at += i
		if startsRecord(s[at:]) {
			return at
		}
		at++
	}
}
