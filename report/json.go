package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// Document is the report as JSON. Times are RFC 3339, durations nanoseconds,
// money US dollars. Secrets are masked as in the report for people; the exact
// input of an action is in the queue only. A field is never removed or given
// another meaning without another Schema.
type Document struct {
	Schema   int             `json:"schema"`
	Verdict  Verdict         `json:"verdict"`            // the session in one sentence
	Session  queue.Session   `json:"session"`            // of several the last one, begun with the first
	Sessions []string        `json:"sessions,omitempty"` // ids of several that are told of as one, oldest first
	Stories  []Story         `json:"stories"`            // as planned
	Actions  []queue.Action  `json:"actions"`            // oldest first, whatever their status
	Findings []queue.Finding `json:"findings"`           // oldest first
	Counts   Counts          `json:"counts"`
}

// Story is what became of one story in the session.
type Story struct {
	ID          string          `json:"id"`
	Title       string          `json:"title,omitempty"`
	Outcome     string          `json:"outcome"` // an outcome, "not-started", or "open": running, unless loop died
	Duration    time.Duration   `json:"duration_ns"`
	CostUSD     float64         `json:"cost_usd"`
	GatesPassed int             `json:"gates_passed"`
	GatesTotal  int             `json:"gates_total"`
	Attempts    []queue.Attempt `json:"attempts"` // oldest first
}

// Counts are the numbers of the headline.
type Counts struct {
	Waiting    int     `json:"waiting"`     // pending actions, mentions and questions apart
	Questions  int     `json:"questions"`   // pending questions
	Mentions   int     `json:"mentions"`    // pending mentions
	Tampering  int     `json:"tampering"`   // waiting actions that reached for what guards the run
	Executed   int     `json:"executed"`    // waiting actions that have already run
	Unfinished int     `json:"unfinished"`  // approved, and not at an end
	Stories    int     `json:"stories"`     // the sum of the next seven
	Done       int     `json:"done"`        // every gate passed
	Unproven   int     `json:"unproven"`    // no gate configured
	Failed     int     `json:"failed"`      //
	Asks       int     `json:"asks"`        // ended with a question
	CutShort   int     `json:"cut_short"`   // limit, auth, interrupted, unguarded
	Open       int     `json:"open"`        // running, unless loop died
	NotStarted int     `json:"not_started"` //
	SharedRuns int     `json:"shared_runs"` // calls of tier shared that ran
	CostUSD    float64 `json:"cost_usd"`
}

// JSON prints the report for programs.
func JSON(w io.Writer, d queue.Snapshot, o Options) error {
	return writeActions(w, newDocument(d, o), d.Actions, o)
}

func newDocument(d queue.Snapshot, o Options) Document {
	verdict := newView(d, o).verdict(o)
	v := newView(d, Options{Alive: true, Sessions: o.Sessions})
	doc := Document{
		Schema:   queue.Schema,
		Verdict:  verdict,
		Session:  d.Session,
		Stories:  make([]Story, 0, len(v.stories)),
		Actions:  []queue.Action{}, // they are written one by one
		Findings: append([]queue.Finding{}, d.Findings...),
		Counts: Counts{
			Waiting: len(v.waiting), Questions: len(v.questions), Mentions: len(v.mentions), Tampering: v.tampers, Executed: v.ran, Unfinished: len(v.open),
			Stories: len(v.stories), Done: v.counts[classDone], Unproven: v.counts[classUnproven],
			Failed: v.counts[classFailed], Asks: v.counts[classAsks], CutShort: v.counts[classCut], Open: v.counts[classRunning],
			NotStarted: v.counts[classNotStarted], SharedRuns: v.shared, CostUSD: v.cost,
		},
	}
	doc.Session.Schema = queue.Schema // also where there is no record of it
	for i := range o.Sessions {
		doc.Sessions = append(doc.Sessions, o.Sessions[i].ID)
	}
	for _, s := range v.stories {
		passed, total := s.gates()
		doc.Stories = append(doc.Stories, Story{
			ID: s.id, Title: s.title, Outcome: s.word(), Duration: s.time, CostUSD: s.cost,
			GatesPassed: passed, GatesTotal: total, Attempts: append([]queue.Attempt{}, s.attempts...),
		})
	}
	return doc
}

// word is the story's outcome for programs.
func (s *story) word() string {
	switch s.state {
	case notStarted:
		return "not-started"
	case running, noEndRecord:
		return "open"
	}
	return string(s.outcome)
}

// writeActions is WriteJSON of a value whose actions are an empty list, with
// these in it. They are written one after the other: the first is out long
// before the last of ten thousand is encoded.
func writeActions(w io.Writer, v any, actions []queue.Action, o Options) error {
	whole, err := indented(v, "")
	if err != nil {
		return err
	}
	// No string holds a line break, and no other member stands this far left.
	begin, end, ok := bytes.Cut(whole, []byte("\n  \"actions\": []"))
	if !ok {
		return errors.New("encode report: no list of actions in it")
	}
	m := o.masker()
	out := bufio.NewWriterSize(w, 32<<10)
	out.Write(safeJSON(begin, m))
	out.WriteString("\n  \"actions\": [")
	for i := range actions {
		b, err := indented(printable(actions[i]), "    ")
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(safeJSON(bytes.TrimSuffix(b, []byte("\n")), m))
	}
	if len(actions) > 0 {
		out.WriteString("\n  ")
	}
	out.WriteByte(']')
	out.Write(safeJSON(end, m))
	return out.Flush()
}

// printable makes the input valid JSON: what is not becomes a string, as one bad
// record must not cost the whole report.
func printable(a queue.Action) queue.Action {
	if len(a.Input) > 0 && !json.Valid(a.Input) {
		// A string always marshals.
		a.Input, _ = json.Marshal(string(a.Input))
	}
	return a
}

// WriteJSON prints a value with secrets masked and every rune that cannot be
// seen escaped, so that the output is safe to look at as well. Of the options
// only Known is looked at.
func WriteJSON(w io.Writer, v any, o Options) error {
	m := o.masker()
	return encodeJSON(w, v, m.Mask, m.MaskField)
}

// WriteExactJSON is WriteJSON without masking, for what somebody checks byte
// for byte.
func WriteExactJSON(w io.Writer, v any) error {
	return encodeJSON(w, v, func(key string) string { return key }, func(_, value string) string { return value })
}

func encodeJSON(w io.Writer, v any, key func(string) string, value func(key, value string) string) error {
	b, err := indented(v, "")
	if err != nil {
		return err
	}
	_, err = w.Write(rewriteJSON(b, key, value))
	return err
}

// indented is JSON as it is printed, all lines but the first behind a prefix.
func indented(v any, prefix string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return buf.Bytes(), nil
}

// safeJSON rewrites the strings of valid JSON: keys and values are quoted
// anew, values masked by themselves and by the key they belong to.
func safeJSON(raw []byte, m term.Masker) []byte { return rewriteJSON(raw, m.Mask, m.MaskField) }

func rewriteJSON(raw []byte, onKey func(string) string, onValue func(key, value string) string) []byte {
	out := make([]byte, 0, len(raw)+len(raw)/16)
	var key string
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			out = append(out, raw[i])
			i++
			continue
		}
		end := stringEnd(raw, i)
		s := unquote(raw[i:end])
		if isKey(raw[end:]) {
			key = s
			s = onKey(key)
		} else {
			s = onValue(key, s)
		}
		out = appendQuoted(out, s)
		i = end
	}
	return out
}

func isKey(after []byte) bool {
	after = bytes.TrimLeft(after, " \t\r\n")
	return len(after) > 0 && after[0] == ':'
}

// stringEnd is the index after the closing quote of the string at i.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

func unquote(lit []byte) string {
	if bytes.IndexByte(lit, '\\') < 0 && utf8.Valid(lit) {
		return string(lit[1 : len(lit)-1])
	}
	var s string
	if err := json.Unmarshal(lit, &s); err != nil {
		return string(lit) // not reached with valid JSON
	}
	return s
}

// appendQuoted writes a JSON string in which only visible runes stand as
// themselves.
func appendQuoted(out []byte, s string) []byte {
	out = append(out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\t':
			out = append(out, `\t`...)
		case term.Visible(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return append(out, '"')
}
