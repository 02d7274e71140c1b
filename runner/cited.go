package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
	"github.com/seed-b23e517c/loop/transcript"
)

// cited judges every receipt that the agent wrote in an attempt, and finds the
// subagents that reported without having done anything. files are the lines with
// receipts that the work tree has more than before.
func (r *run) cited(ctx context.Context, a *queue.Attempt, files string) error {
	if a.Receipts == nil {
		return nil
	}
	t := table{book: r.book, ids: func(t receipt.Token) (ids []string) {
		for _, e := range r.book.Lookup(t) {
			if e.Scope == scope(a) {
				ids = append(ids, e.ToolUseID)
			}
		}
		return ids
	}}
	return judgeReceipts(ctx, r.o, a, t, files)
}

// table is what was issued in the attempt that is judged.
type table struct {
	book *receipt.Book                // nil = it is gone, the audit trail decides
	ids  func(receipt.Token) []string // the calls of the attempt that a receipt was issued for
}

func judgeReceipts(ctx context.Context, o *Options, a *queue.Attempt, t table, files string) error {
	path := filepath.Join(a.Dir, transcriptName)
	w := newWriting(scope(a), func(token receipt.Token) bool { return len(t.ids(token)) > 0 })
	// What a person asked for may have receipts in it, as examples; the client
	// does not show it. Without it, less is forgiven.
	if prompt, err := os.ReadFile(filepath.Join(a.Dir, promptName)); err == nil {
		w.came(string(prompt))
	}
	if err := eachEvent(path, w.see); err != nil {
		return fmt.Errorf("judge the receipts: %w", err)
	}
	for _, m := range a.Memory {
		w.memory(m)
	}
	w.rewritten(commitMessages(ctx, o, a.HeadAfter, a.HeadBefore), commitMessages(ctx, o, a.HeadBefore, a.HeadAfter))
	w.apart(files, receipt.InFile, "a file that a command changed")
	for _, message := range messagesBeside(ctx, o, a) {
		w.apart(message, receipt.InMessage, besideBranch)
	}
	sources, err := sourcesOf(path, w.sightings, t)
	if err != nil {
		return fmt.Errorf("judge the receipts: %w", err)
	}
	var failed error
	judge := receipt.Judge{
		Book:   t.book,
		Ledger: func(t receipt.Token) (receipt.Record, bool) { return fromLedger(ctx, o.Store, t, &failed) },
		Source: func(e receipt.Entry) (receipt.Source, bool) { s, ok := sources[e.ToolUseID]; return s, ok },
	}
	texts := w.idle()
	for _, s := range w.sightings {
		ruling := judge.Rule(s.Sighting)
		if failed != nil {
			return fmt.Errorf("judge the receipts: %w", failed) // not knowing is no verdict
		}
		switch {
		case s.apart == besideBranch && ruling.Verdict == receipt.VerdictReplayed:
			continue // that other attempts made at the same time, most likely
		case s.apart != "":
			ruling = apart(ruling, s.apart)
		case s.kept && ruling.Verdict == receipt.VerdictReplayed:
			// Who writes a file anew does not say again what stood in it.
			ruling.Severity, ruling.Reason = receipt.Info, ruling.Reason+"; the whole line stood there before, and was kept"
		}
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
	for _, text := range append(texts, w.notJudged()...) {
		if err := addFinding(ctx, o, a, "receipt", text); err != nil {
			return err
		}
	}
	return nil
}

// fromLedger finds the record of a receipt in the audit trails. Of one whose
// record is gone it is still known that it was issued, and in which session.
func fromLedger(ctx context.Context, store *queue.Store, t receipt.Token, failed *error) (receipt.Record, bool) {
	session, line, err := store.FindReceipt(ctx, t.String())
	switch {
	case errors.Is(err, queue.ErrNotFound):
		return receipt.Record{}, false
	case err != nil && session == "":
		*failed = err
		return receipt.Record{}, false
	case err != nil:
		return receipt.Record{Event: receipt.CallOK, Scope: session + " (its record is gone)", Receipt: t}, true
	}
	rec, err := receipt.ParseRecord(line)
	if err != nil || rec.Receipt != t {
		return receipt.Record{Event: receipt.CallOK, Scope: session + " (its record was changed)", Receipt: t}, true
	}
	return rec, true
}

const besideBranch = "a tag, a note or a commit that is not on the branch"

// apart is a ruling on a receipt that no call shows, and where it stands: a
// program may have brought it from anywhere.
func apart(r receipt.Ruling, where string) receipt.Ruling {
	r.Reason += "; it stands in " + where + ", and may come from elsewhere"
	r.Severity = min(r.Severity, receipt.Info)
	if r.Verdict == receipt.VerdictForged {
		r.Severity = receipt.Warn
	}
	return r
}

func citationText(s sighting, r receipt.Ruling) string {
	text := fmt.Sprintf("the agent wrote a receipt that is %s: %s", r.Verdict, r.Reason)
	if r.Sentence != "" {
		text += fmt.Sprintf("; it stands for %q", clip(r.Sentence, 200))
	}
	switch {
	case s.line > 0:
		text += fmt.Sprintf(" (transcript line %d)", s.line)
	case s.apart != "":
	case s.Place == receipt.InMessage:
		text += " (in the message of a commit)"
	case s.Place == receipt.InFile:
		text += " (in a memory file)"
	}
	return text
}

// sourcesOf reads the calls that the receipts of sightings belong to, on a
// second way through the transcript: results are kept only of those.
func sourcesOf(path string, sightings []sighting, t table) (map[string]receipt.Source, error) {
	out := map[string]receipt.Source{}
	for _, s := range sightings {
		for _, id := range t.ids(s.Token) {
			out[id] = receipt.Source{}
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	cut := false
	err := eachEvent(path, func(ev transcript.Event) {
		switch ev.Kind {
		case transcript.KindOversize:
			cut = true
		case transcript.KindCall:
			if s, ok := out[ev.Call.ID]; ok && s.Tool == "" {
				s.Tool, s.Input, s.Unseen = ev.Call.Name, inputText(ev.Call), true
				out[ev.Call.ID] = s
			}
		case transcript.KindResult:
			if s, ok := out[ev.Result.CallID]; ok {
				s.Result, s.Unseen = ev.Result.Text, false
				out[ev.Result.CallID] = s
			}
		}
	})
	for id, s := range out {
		if cut { // the result may be what is too long
			s.Unseen = false
			out[id] = s
		}
	}
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
