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

// maxText bounds what is read of one text of an action.
const maxText = 256 << 10

// Call is a call whose texts are judged.
type Call struct {
	ID    string // the call's tool_use_id; "" = what happened last counts too
	Input json.RawMessage

	// Commits are messages of commits that a push would send, as git has them,
	// beside those that the transcripts show.
	Commits []string
	// ReadFile gives a file that the call names, as it lies on the disk now.
	ReadFile func(name string) (text string, ok bool)
}

// Options say what is known besides the transcripts.
type Options struct {
	Memory  []string                      // files that outlive a session, by name or path
	Receipt func(toolUseID string) string // the receipt of a result; may be nil
}

// Judged is what became of one call's claims, in the order of its texts.
type Judged struct {
	Claims []queue.Claim
	Beyond int  // further claims, not judged
	Found  bool // the call stands in the transcripts; else all that happened counts
}

// Events walks through what happened in one attempt, oldest first.
type Events func(do func(transcript.Event)) error

// Judge holds the claims of calls against what happened before each of them,
// in the attempts at one story, oldest first. Each is walked through once, or
// twice when there is more in it than is kept.
func Judge(calls []Call, attempts []Events, o Options) ([]Judged, error) {
	w, t := newWriter(calls), &tape{}
	for i, events := range attempts {
		err := events(func(ev transcript.Event) {
			w.see(ev)
			t.keep(i, ev)
		})
		if err != nil {
			return nil, err
		}
	}
	w.end()
	j := newJudge(calls, w.claims, o)
	if len(j.claims) > 0 {
		if err := t.play(attempts, j); err != nil {
			return nil, err
		}
	}
	out := make([]Judged, len(calls))
	for i := range calls {
		out[i].Beyond, out[i].Found = w.beyond[i], w.found[i]
	}
	for _, c := range j.claims {
		out[c.call].Claims = append(out[c.call].Claims, c.told(o))
	}
	return out, nil
}

// maxTape bounds what is kept of the events, in bytes.
const maxTape = 4 << 20

// tape keeps the events that sources are looked for in: what a call claims is
// known only when the call is reached.
type tape struct {
	events []taped
	size   int
}

type taped struct {
	attempt int
	event   transcript.Event
}

func (t *tape) keep(attempt int, ev transcript.Event) {
	slim := transcript.Event{Kind: ev.Kind, Line: ev.Line, Agent: ev.Agent, Synthetic: ev.Synthetic}
	switch ev.Kind {
	case transcript.KindPrompt:
		slim.Text = ev.Text
	case transcript.KindTask:
		slim.Task = ev.Task
	case transcript.KindCall:
		slim.Call = ev.Call
		t.size += len(ev.Call.Input)
	case transcript.KindResult:
		r := *ev.Result
		r.Structured = ""
		slim.Result = &r
		t.size += len(r.Text)
	default:
		return
	}
	if t.size += len(slim.Text); t.size > maxTape {
		t.events = nil
		return
	}
	t.events = append(t.events, taped{attempt, slim})
}

func (t *tape) play(attempts []Events, j *judge) error {
	if t.size <= maxTape {
		for _, e := range t.events {
			j.earlier = e.attempt < len(attempts)-1
			j.see(e.event)
		}
		j.finish(t)
		return nil
	}
	for i, events := range attempts {
		j.earlier = i < len(attempts)-1
		if err := events(j.see); err != nil {
			return err
		}
	}
	return nil
}

// writer follows what the agent wrote up to each call, and reads the claims of
// its texts then.
type writer struct {
	calls   []Call
	done    []bool
	found   []bool
	claims  [][]claim
	beyond  []int
	files   written
	commits commits
}

func newWriter(calls []Call) *writer {
	return &writer{
		calls: calls, done: make([]bool, len(calls)), found: make([]bool, len(calls)), claims: make([][]claim, len(calls)), beyond: make([]int, len(calls)),
		files: newWritten(),
	}
}

func (w *writer) see(ev transcript.Event) {
	switch ev.Kind {
	case transcript.KindCall:
		w.commits.call(ev.Call, w.files.text)
		for i, c := range w.calls {
			if c.ID != "" && c.ID == ev.Call.ID {
				w.found[i] = true
				w.read(i)
			}
		}
		w.files.write(ev.Call)
	case transcript.KindResult:
		w.commits.result(ev.Result)
	}
}

func (w *writer) end() {
	for i, c := range w.calls {
		if !w.done[i] {
			w.commits.call(&transcript.Call{ID: c.ID, Name: "Bash", Input: c.Input}, w.files.text)
			w.read(i)
			w.commits.drop(c.ID)
		}
	}
}

func (w *writer) read(i int) {
	if w.done[i] {
		return
	}
	w.done[i] = true
	c := w.calls[i]
	from := sources{written: &w.files, disk: c.ReadFile, commits: c.Commits}
	// Git may have been asked in another repository than the line pushes from.
	from.commits = append(slices.Clone(from.commits), w.commits.messages()...)
	for _, t := range from.texts(c.Input) {
		if len(t.Body) > maxText {
			t.Body = clip(t.Body, maxText)
			w.beyond[i]++
		}
		for _, c := range find(t) {
			same := func(o claim) bool { return o.kind == c.kind && o.text == c.text && o.work == c.work }
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
