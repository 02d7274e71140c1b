// Package claims lists what a text that would be published claims, and holds
// each claim against what the agent's tools returned before: numbers with what
// they count, commands, addresses, quoted output, and that something was run.
//
// It is deterministic and asks no model. It says where a claim could come from
// and never that it is true: a number that stands in a result may be the wrong
// one. The one invariant: what the agent itself wrote is no source for what it
// claims, wherever it reads it again.
package claims

import (
	"encoding/json"
	"slices"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// most bounds the claims that are kept of one action; the rest is counted.
const most = 60

// Call is a call whose texts are judged.
type Call struct {
	ID    string // the call's tool_use_id; "" = what happened last counts too
	Input json.RawMessage
}

// Options say what is known besides the transcript.
type Options struct {
	Memory  []string                      // files that outlive a session, by name or path
	Receipt func(toolUseID string) string // the receipt of a result; may be nil
}

// Judged is what became of one call's claims, in the order of its texts.
type Judged struct {
	Claims []queue.Claim
	Beyond int // further claims, not judged
}

// Events walks through what happened, oldest first; it is walked through twice.
type Events func(do func(transcript.Event)) error

// Judge holds the claims of calls against what happened before each of them.
func Judge(calls []Call, events Events, o Options) ([]Judged, error) {
	w := newWriter(calls)
	if err := events(w.see); err != nil {
		return nil, err
	}
	w.end()
	out := make([]Judged, len(calls))
	j := newJudge(calls, w.claims, o)
	if len(j.claims) > 0 {
		if err := events(j.see); err != nil {
			return nil, err
		}
	}
	for i := range calls {
		out[i].Beyond = w.beyond[i]
	}
	for _, c := range j.claims {
		out[c.call].Claims = append(out[c.call].Claims, c.told(o))
	}
	return out, nil
}

// writer follows what the agent wrote up to each call, and reads the claims of
// its texts then.
type writer struct {
	calls   []Call
	done    []bool
	claims  [][]claim
	beyond  []int
	files   written
	commits []string
}

func newWriter(calls []Call) *writer {
	return &writer{
		calls: calls, done: make([]bool, len(calls)), claims: make([][]claim, len(calls)), beyond: make([]int, len(calls)),
		files: newWritten(),
	}
}

func (w *writer) see(ev transcript.Event) {
	if ev.Kind != transcript.KindCall {
		return
	}
	for i, c := range w.calls {
		if c.ID != "" && c.ID == ev.Call.ID {
			w.read(i)
		}
	}
	w.files.write(ev.Call)
	w.commits = append(w.commits, commitMessages(ev.Call)...)
}

func (w *writer) end() {
	for i := range w.calls {
		w.read(i)
	}
}

func (w *writer) read(i int) {
	if w.done[i] {
		return
	}
	w.done[i] = true
	for _, t := range texts(w.calls[i].Input, w.files.text, w.commits) {
		for _, c := range find(t) {
			same := func(o claim) bool { return o.kind == c.kind && o.text == c.text }
			switch {
			case slices.ContainsFunc(w.claims[i], same):
			case len(w.claims[i]) >= most:
				w.beyond[i]++
			default:
				w.claims[i] = append(w.claims[i], c)
			}
		}
	}
}
