package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
	"github.com/seed-b23e517c/loop/transcript"
)

// maxCited bounds the receipts that are judged in one attempt; what is beyond
// is counted.
const maxCited = 500

// cited judges every receipt that the agent wrote in an attempt, and finds the
// subagents that reported without having done anything.
func (r *run) cited(ctx context.Context, a *queue.Attempt) error {
	if a.Receipts == nil {
		return nil
	}
	path := filepath.Join(a.Dir, transcriptName)
	w := newWriting(scope(a))
	if err := eachEvent(path, w.see); err != nil {
		return fmt.Errorf("judge the receipts: %w", err)
	}
	for _, m := range a.Memory {
		w.memory(m)
	}
	sources, err := r.sources(path, w.sightings)
	if err != nil {
		return fmt.Errorf("judge the receipts: %w", err)
	}
	judge := receipt.Judge{
		Book: r.book,
		Ledger: func(t receipt.Token) (receipt.Record, bool) {
			_, line, err := r.o.Store.FindReceipt(ctx, t.String())
			if err != nil {
				return receipt.Record{}, false
			}
			rec, err := receipt.ParseRecord(line)
			return rec, err == nil
		},
		Source: func(e receipt.Entry) (receipt.Source, bool) { s, ok := sources[e.ToolUseID]; return s, ok },
	}
	texts := w.idle()
	for _, s := range w.sightings {
		ruling := judge.Rule(s.Sighting)
		if ruling.Verdict == receipt.VerdictValid {
			a.Receipts.Cited++
			continue
		}
		a.Receipts.Judged = append(a.Receipts.Judged, queue.Citation{
			Token: clip(s.Text, 100), Verdict: string(ruling.Verdict), Severity: ruling.Severity.String(),
			Reason: ruling.Reason, Sentence: clip(ruling.Sentence, 300), Line: s.line,
		})
		if ruling.Severity >= receipt.Warn {
			texts = append(texts, citationText(s, ruling))
		}
	}
	if w.beyond > 0 {
		texts = append(texts, fmt.Sprintf("the agent wrote %d further receipts, which were not judged", w.beyond))
	}
	for _, text := range texts {
		if err := addFinding(ctx, r.o, a, "receipt", text); err != nil {
			return err
		}
	}
	return nil
}

func citationText(s sighting, r receipt.Ruling) string {
	text := fmt.Sprintf("the agent wrote a receipt that is %s: %s", r.Verdict, r.Reason)
	if r.Sentence != "" {
		text += fmt.Sprintf("; it stands for %q", clip(r.Sentence, 200))
	}
	if s.line > 0 {
		text += fmt.Sprintf(" (transcript line %d)", s.line)
	}
	return text
}

// sighting is a receipt that the agent wrote, and where.
type sighting struct {
	receipt.Sighting
	line int
}

// writing collects what an agent wrote, in the order in which it happened.
type writing struct {
	scope     string
	arrived   map[string]bool // what looked like a receipt in a result or a prompt
	seen      map[string]bool // sightings, so that what the client repeats counts once
	sightings []sighting
	beyond    int
	delegated map[string]string // Agent calls without a call below them yet: id to what was asked
	reported  []string          // those that reported like that
}

func newWriting(scope string) *writing {
	return &writing{scope: scope, arrived: map[string]bool{}, seen: map[string]bool{}, delegated: map[string]string{}}
}

func (w *writing) see(ev transcript.Event) {
	switch ev.Kind {
	case transcript.KindText, transcript.KindThinking:
		w.text(ev.Text, receipt.InWords, ev.Line)
	case transcript.KindFinal:
		// The last text over again, but for a client that sends only this.
		w.text(ev.Final.Result, receipt.InWords, ev.Line)
	case transcript.KindPrompt:
		w.came(ev.Text)
	case transcript.KindResult:
		w.came(ev.Result.Text)
		if asked, ok := w.delegated[ev.Result.CallID]; ok && !ev.Result.IsError {
			w.reported = append(w.reported, asked)
		}
		delete(w.delegated, ev.Result.CallID)
	case transcript.KindCall:
		delete(w.delegated, ev.Agent)
		if ev.Call.Name == "Agent" || ev.Call.Name == "Task" {
			w.delegated[ev.Call.ID] = clip(string(ev.Call.Input), 200)
		}
		w.call(ev)
	}
}

// call looks into every text of a call's input.
func (w *writing) call(ev transcript.Event) {
	if len(receipt.Find(string(ev.Call.Input))) == 0 {
		return
	}
	var input any
	if json.Unmarshal(ev.Call.Input, &input) != nil {
		input = string(ev.Call.Input)
	}
	place := receipt.InMessage
	switch ev.Call.Name {
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		place = receipt.InFile
	}
	eachText(input, func(text string) { w.text(text, place, ev.Line) })
}

// eachText calls f for every string of a decoded JSON value.
func eachText(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			eachText(e, f)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			eachText(v[k], f)
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

func (w *writing) text(text string, place receipt.Place, line int) {
	for _, c := range receipt.Find(text) {
		// The words around it are a part of what is judged, the place of a file
		// in the transcript is not.
		key := fmt.Sprint(c.Text, "\x00", place, "\x00", around(text, c))
		if w.seen[key] {
			continue
		}
		w.seen[key] = true
		if len(w.sightings) == maxCited {
			w.beyond++
			continue
		}
		w.sightings = append(w.sightings, sighting{line: line, Sighting: receipt.Sighting{
			Candidate: c, In: text, Place: place, Scope: w.scope, Arrived: w.arrived[c.Text],
		}})
	}
}

// around is a receipt's surroundings.
func around(text string, c receipt.Candidate) string {
	return text[max(0, c.Start-100):min(len(text), c.End+100)]
}

func (w *writing) came(text string) {
	for _, c := range receipt.Find(text) {
		w.arrived[strings.Clone(c.Text)] = true // and not all of the result with it
	}
}

// idle tells of subagents that reported without a call of their own.
func (w *writing) idle() []string {
	var texts []string
	for _, asked := range w.reported {
		texts = append(texts, fmt.Sprintf("a subagent reported without having called a single tool; it had been asked: %s", asked))
	}
	return texts
}

// sources reads the calls that the receipts of sightings belong to, on a
// second way through the transcript: results are kept only of those.
func (r *run) sources(path string, sightings []sighting) (map[string]receipt.Source, error) {
	out := map[string]receipt.Source{}
	for _, s := range sightings {
		for _, e := range r.book.Lookup(s.Token) {
			out[e.ToolUseID] = receipt.Source{}
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	err := eachEvent(path, func(ev transcript.Event) {
		switch ev.Kind {
		case transcript.KindCall:
			if s, ok := out[ev.Call.ID]; ok {
				s.Tool, s.Input = ev.Call.Name, inputText(ev.Call)
				out[ev.Call.ID] = s
			}
		case transcript.KindResult:
			if s, ok := out[ev.Result.CallID]; ok {
				s.Result = ev.Result.Text
				out[ev.Result.CallID] = s
			}
		}
	})
	return out, err
}

// inputText is the command of a shell call, else the arguments.
func inputText(c *transcript.Call) string {
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(c.Input, &in) == nil && in.Command != "" {
		return in.Command
	}
	return string(c.Input)
}

// eachEvent decodes the transcript of a file.
func eachEvent(path string, see func(transcript.Event)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return transcript.Each(f, transcript.Options{}, func(ev transcript.Event) error { see(ev); return nil })
}
