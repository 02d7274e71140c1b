package runner

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
	"github.com/seed-b23e517c/loop/transcript"
)

// The receipts that are judged in one attempt; what is beyond is counted. Those
// that were issued in it are bounded apart, so that repeating a good one keeps
// no other from being judged.
const (
	maxCited     = 500
	maxCitedGood = 2000
)

// sighting is a receipt that the agent wrote, and where.
type sighting struct {
	receipt.Sighting
	line  int
	apart string // where it stands that no call shows
	kept  bool   // the whole line stood there before
}

// writing collects what an agent wrote, in the order in which it happened.
type writing struct {
	scope     string
	issued    func(receipt.Token) bool // in this attempt
	arrived   texts                    // what looked like a receipt in a result or a prompt
	seen      texts                    // sightings, so that what the client repeats counts once
	lines     texts                    // that have something like a receipt in a result or a prompt
	wrote     texts                    // what looked like a receipt in what the agent wrote
	below     texts                    // lines with such in what subagents said
	sightings []sighting
	good      int // of the sightings
	beyond    int // that were not judged, and were not issued in this attempt
	repeated  int // that were not judged, and were

	asked    []delegated
	agents   map[string]bool // ids of those calls
	acted    map[string]bool // ids of the Agent calls below which there is a call
	reported map[string]bool // ids of those that came back
}

// delegated is an Agent call, and what was asked.
type delegated struct{ id, asked string }

// texts is a set of strings of which only hashes are kept: there may be millions.
type texts struct {
	seed maphash.Seed
	all  map[uint64]struct{}
}

func newTexts() texts { return texts{maphash.MakeSeed(), map[uint64]struct{}{}} }

func (t texts) add(s string) { t.all[maphash.String(t.seed, s)] = struct{}{} }

func (t texts) has(s string) bool {
	if t.all == nil {
		return false
	}
	_, ok := t.all[maphash.String(t.seed, s)]
	return ok
}

func (t texts) clone() texts { return texts{t.seed, maps.Clone(t.all)} }

func newWriting(scope string, issued func(receipt.Token) bool) *writing {
	return &writing{
		scope: scope, issued: issued, arrived: newTexts(), seen: newTexts(), lines: newTexts(), wrote: newTexts(), below: newTexts(),
		agents: map[string]bool{}, acted: map[string]bool{}, reported: map[string]bool{},
	}
}

func (w *writing) see(ev transcript.Event) {
	switch ev.Kind {
	case transcript.KindText, transcript.KindThinking:
		w.text(ev.Text, receipt.InWords, ev.Line)
		if ev.Agent != "" {
			for _, c := range receipt.Find(ev.Text) {
				w.below.add(lineOf(ev.Text, c))
			}
		}
	case transcript.KindFinal:
		// The last text over again, but for a client that sends only this.
		w.text(ev.Final.Result, receipt.InWords, ev.Line)
	case transcript.KindOversize:
		if strings.HasPrefix(ev.Text, `{"type":"assistant"`) {
			w.text(ev.Text, receipt.InFile, ev.Line)
		}
	case transcript.KindPrompt:
		// A subagent's prompt was written by the agent, in its call.
		if ev.Agent == "" {
			w.came(ev.Text)
		}
	case transcript.KindResult:
		w.result(ev)
	case transcript.KindCall:
		w.acted[ev.Agent] = true
		if isDelegation(ev.Call.Name) {
			w.agents[ev.Call.ID] = true
			w.asked = append(w.asked, delegated{ev.Call.ID, clip(string(ev.Call.Input), 200)})
		}
		w.call(ev)
	}
}

func isDelegation(tool string) bool { return tool == "Agent" || tool == "Task" }

// result takes note of what came to the agent. The result of a subagent is what
// that one wrote, and the client does not always show its words elsewhere.
func (w *writing) result(ev transcript.Event) {
	id := ev.Result.CallID
	if !w.agents[id] {
		w.came(ev.Result.Text)
		return
	}
	if !ev.Result.IsError {
		w.reported[id] = true
	}
	// What it says in its last words stands in them too, indented in a frame.
	w.textBut(func(c receipt.Candidate) bool { return w.below.has(lineOf(ev.Result.Text, c)) }, ev.Result.Text, receipt.InWords, ev.Line)
}

// call looks into every text of a call's input.
func (w *writing) call(ev transcript.Event) {
	var input any
	if json.Unmarshal(ev.Call.Input, &input) != nil {
		input = string(ev.Call.Input)
	}
	place := receipt.InMessage
	switch ev.Call.Name {
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		place = receipt.InFile
	}
	stood := newTexts()
	eachText(input, "", func(key, text string) {
		if place == receipt.InFile && key == "old_string" {
			for _, c := range receipt.Find(text) {
				stood.add(c.Text) // and stays where the edit leaves it
			}
		}
	})
	eachText(input, "", func(key, text string) {
		if place != receipt.InFile || key != "old_string" {
			w.textBut(func(c receipt.Candidate) bool { return stood.has(c.Text) }, text, place, ev.Line)
		}
	})
}

// eachText calls f for every string of a decoded JSON value, with the key that
// it stands under, and for every key.
func eachText(v any, key string, f func(key, text string)) {
	switch v := v.(type) {
	case string:
		f(key, v)
	case []any:
		for _, e := range v {
			eachText(e, key, f)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			f("", k)
			eachText(v[k], k, f)
		}
	}
}

// memory looks into what was added to a memory file, by whatever means.
func (w *writing) memory(m queue.MemoryChange) {
	var added strings.Builder
	for line := range strings.Lines(m.Diff) {
		if rest, ok := strings.CutPrefix(line, "+"); ok && !strings.HasPrefix(line, "+++") {
			added.WriteString(rest)
		}
	}
	w.text(added.String(), receipt.InFile, 0)
}

// unseen looks into a text that the agent made by means of a call: what stands
// in the call was judged there.
func (w *writing) unseen(text string, place receipt.Place) {
	before := w.wrote.clone()
	w.textBut(func(c receipt.Candidate) bool { return before.has(c.Text) }, text, place, 0)
}

// rewritten looks into the messages of commits, of which those that are gone may
// have come back with another.
func (w *writing) rewritten(messages, gone []string) {
	lines := newTexts()
	for _, text := range gone {
		for _, c := range receipt.Find(text) {
			lines.add(lineOf(text, c))
		}
	}
	for _, message := range messages {
		from := len(w.sightings)
		w.unseen(message, receipt.InMessage)
		for i := range w.sightings[from:] {
			s := &w.sightings[from+i]
			s.kept = lines.has(lineOf(s.In, s.Candidate))
		}
	}
}

// apart looks into what no call shows, and which may not be the agent's.
func (w *writing) apart(text string, place receipt.Place, where string) {
	from := len(w.sightings)
	w.unseen(text, place)
	for i := range w.sightings[from:] {
		w.sightings[from+i].apart = where
	}
}

func (w *writing) text(text string, place receipt.Place, line int) {
	w.textBut(func(receipt.Candidate) bool { return false }, text, place, line)
}

func (w *writing) textBut(not func(receipt.Candidate) bool, text string, place receipt.Place, line int) {
	for _, c := range receipt.Find(text) {
		if not(c) {
			continue
		}
		// The words around it are a part of what is judged, the place of a file
		// in the transcript is not.
		key := fmt.Sprint(c.Text, "\x00", place, "\x00", around(text, c, 100))
		if w.seen.has(key) {
			continue
		}
		w.seen.add(key)
		w.wrote.add(c.Text)
		if !w.room(c) {
			continue
		}
		s := receipt.Sighting{Candidate: c, Place: place, Scope: w.scope, Arrived: w.arrived.has(c.Text)}
		// All that a Judge looks at, and not all of a file with it.
		s.In = strings.Clone(around(text, c, receipt.Reach))
		s.Start = min(c.Start, receipt.Reach)
		s.End = s.Start + len(c.Text)
		s.Text = s.In[s.Start:s.End]
		w.sightings = append(w.sightings, sighting{line: line, Sighting: s, kept: place == receipt.InFile && w.lines.has(lineOf(text, c))})
	}
}

// room says whether one more is to be judged, and counts it.
func (w *writing) room(c receipt.Candidate) bool {
	if c.Strict && w.issued(c.Token) {
		if w.good == maxCitedGood {
			w.repeated++
			return false
		}
		w.good++
		return true
	}
	if len(w.sightings)-w.good == maxCited {
		w.beyond++
		return false
	}
	return true
}

// around is a receipt with its surroundings.
func around(text string, c receipt.Candidate, reach int) string {
	return text[max(0, c.Start-reach):min(len(text), c.End+reach)]
}

// lineOf is the line that a receipt stands in, without the number that the client
// puts before the lines of a file.
func lineOf(text string, c receipt.Candidate) string {
	from, to := max(0, c.Start-receipt.Reach), min(len(text), c.End+receipt.Reach)
	if i := strings.LastIndexByte(text[from:c.Start], '\n'); i >= 0 {
		from += i + 1
	}
	if i := strings.IndexByte(text[c.End:to], '\n'); i >= 0 {
		to = c.End + i
	}
	line := strings.TrimSpace(text[from:to])
	if rest := strings.TrimLeft(line, "0123456789"); rest != line {
		if numbered, ok := strings.CutPrefix(rest, "\t"); ok {
			return strings.TrimSpace(numbered)
		}
		if numbered, ok := strings.CutPrefix(rest, "→"); ok {
			return strings.TrimSpace(numbered)
		}
	}
	return line
}

func (w *writing) came(text string) {
	for _, c := range receipt.Find(text) {
		w.arrived.add(c.Text)
		w.lines.add(lineOf(text, c))
	}
}

// idle tells of subagents that reported without a call of their own. It is
// asked at the end: one that works in the background comes back at once.
func (w *writing) idle() []string {
	var told []string
	for _, d := range w.asked {
		if w.reported[d.id] && !w.acted[d.id] {
			told = append(told, "a subagent reported without having called a single tool; it had been asked: "+d.asked)
		}
	}
	return told
}

// notJudged tells of what was too much to be judged.
func (w *writing) notJudged() []string {
	var told []string
	if w.beyond > 0 {
		told = append(told, fmt.Sprintf("the agent wrote %d further receipts, which were not judged", w.beyond))
	}
	if w.repeated > 0 {
		told = append(told, fmt.Sprintf("the agent repeated its receipts %d times more, and the sentences beside them were not held against the results", w.repeated))
	}
	return told
}
