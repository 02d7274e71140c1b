package serve

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
	"github.com/seed-b23e517c/loop/report"
)

// recordWidth is how wide the record of an action is set.
const recordWidth = 100

var (
	errStale   = errors.New("nothing was done: what the page showed is not what the queue and the folder hold now")
	errForm    = errors.New("nothing was done")
	errRunning = errors.New("nothing was done")
)

// get is the action that the address names, by its number.
func (s *server) get(r *http.Request) (queue.Action, error) {
	n, err := strconv.ParseUint(r.PathValue("n"), 10, 64)
	if err != nil {
		return queue.Action{}, queue.ErrNotFound
	}
	return s.d.Get(r.Context(), "#"+strconv.FormatUint(n, 10))
}

func (s *server) action(w http.ResponseWriter, r *http.Request) error {
	a, err := s.get(r)
	if err != nil {
		return err
	}
	o, err := s.d.Options(r.Context(), a)
	if err != nil {
		return err
	}
	pieces, err := report.NewPieces(o)
	if err != nil {
		return err
	}
	p := &actionPage{Number: a.Number}
	if p.Piece, err = pieces.Action(a, s.o.Dir); err != nil {
		return err
	}
	o.Width, o.Color = recordWidth, false
	var record strings.Builder
	if err := report.Show(&record, a, o); err != nil {
		return err
	}
	p.Record = record.String()
	lastWord(p, &a)
	outcome(p, &a)
	if err := s.ways(p, a); err != nil {
		return err
	}
	s.page.write(w, http.StatusOK, page{Title: fmt.Sprintf("#%d is %s", a.Number, term.Line(string(a.Status))), Up: "../", Action: p})
	return nil
}

// lastWord is what a person decided last, with what they wrote.
func lastWord(p *actionPage, a *queue.Action) {
	n := len(a.Decisions)
	if n == 0 {
		return
	}
	d := a.Decisions[n-1]
	what := map[string]string{
		queue.Approve: "Approved", queue.Reject: "Rejected", queue.Answer: "Answered", queue.Edit: "Changed", queue.Unedit: "Put back as it was", queue.Undo: "Taken back",
	}[d.Verb]
	if d.Verb == queue.Answer && a.Checkpoint != "" {
		what = "Let go on"
	}
	p.Word = fmt.Sprintf("%s by %s at %s; it is %s now.", cmp.Or(what, term.Line(d.Verb)), term.Line(d.Who), d.When.Format(time.RFC3339), term.Line(string(a.Status)))
	p.Wrote = term.QuoteLines(d.Reason)
}

// outcome is how the last replay ended, with what it printed.
func outcome(p *actionPage, a *queue.Action) {
	r := a.Replay
	switch {
	case a.Status == queue.Replaying:
		p.Outcome = "It is being run now; reload this page to see how it ended."
		return
	case r == nil:
		return
	case r.Error != "":
		p.Outcome, p.Tone = term.Line(r.Error), "danger"
	case r.ExitCode != 0:
		p.Outcome, p.Tone = fmt.Sprintf("exit %d", r.ExitCode), "danger"
	default:
		p.Outcome, p.Tone = "exit 0", "ok"
	}
	p.Outcome = fmt.Sprintf("Run at %s, %s: %s", r.Started.Format(time.RFC3339), r.Duration.Round(10*time.Millisecond), p.Outcome)
	if r.Cut {
		p.Outcome += "; only the end of what it printed was kept"
	}
	p.Output = term.QuoteLines(term.Mask(r.Output))
}

// ways are what can be done with the action here.
func (s *server) ways(p *actionPage, a queue.Action) error {
	shown, err := s.actionSeen(a)
	if err != nil {
		return err
	}
	form := func(verb string) *form { return s.form(fmt.Sprintf("%s/%d", verb, a.Number), shown) }
	switch {
	case a.IsQuestion():
		if slices.Contains([]queue.Status{queue.Pending, queue.Answered, queue.Rejected}, a.Status) {
			p.Answer = &answerForm{form: *form("answer"), Checkpoint: a.Checkpoint != "", Most: maxAnswer}
		}
	case queue.MayReplay(a, false) == nil:
		p.Run = &link{askPath(a.Number, replay.Insist{}), "See exactly what would run, then decide"}
	case queue.MayReplay(a, true) == nil:
		p.Run = &link{askPath(a.Number, replay.Insist{Again: true}), "It may have run already: see what running it again would do"}
	}
	switch a.Status {
	case queue.Pending, queue.Failed, queue.Unknown:
		p.Reject = form("reject")
	case queue.Approved, queue.Answered:
		p.Reject, p.Undo = form("reject"), form("undo")
	case queue.Rejected:
		p.Undo = form("undo")
	case queue.Replaying, queue.Replayed, queue.Superseded:
	}
	return nil
}

func (s *server) form(path, shown string) *form {
	return &form{Action: "../" + path, Token: s.keyed("form", path), Shown: shown}
}

// actionSeen stands for an action as a page showed it.
func (s *server) actionSeen(a queue.Action) (string, error) {
	raw, err := json.Marshal(a)
	sum := sha256.Sum256(raw)
	return s.keyed("action", string(sum[:])), err
}

// decide writes a decision about the action that the form's page showed.
func (s *server) decide(w http.ResponseWriter, r *http.Request, verb, reason string) error {
	a, err := s.get(r)
	if err != nil {
		return err
	}
	shown, err := s.actionSeen(a)
	if err != nil {
		return err
	}
	if !equal(r.PostForm.Get("shown"), shown) {
		return &queue.ChangedError{Now: a}
	}
	if _, err := s.d.Decide(r.Context(), a, verb, reason); err != nil {
		return err
	}
	s.done(w, r, a)
	return nil
}

// done leads to what came of it.
func (s *server) done(w http.ResponseWriter, r *http.Request, a queue.Action) {
	http.Redirect(w, r, fmt.Sprintf("%saction/%d#outcome", s.base, a.Number), http.StatusSeeOther)
}

// written is a text that a person wrote into a form; browsers end lines as mail does.
func written(r *http.Request, name string) string {
	text := strings.ReplaceAll(r.PostForm.Get(name), "\r\n", "\n")
	return strings.ToValidUTF8(strings.TrimSpace(text), "\ufffd")
}

func (s *server) reject(w http.ResponseWriter, r *http.Request) error {
	return s.decide(w, r, queue.Reject, written(r, "reason"))
}

// answer answers a question, or lets go on what a checkpoint holds.
func (s *server) answer(w http.ResponseWriter, r *http.Request) error {
	text := written(r, "answer")
	if len(text) > maxAnswer {
		return fmt.Errorf("%w: the answer is longer than %d KiB", errForm, maxAnswer>>10)
	}
	return s.decide(w, r, queue.Answer, text)
}

func (s *server) undo(w http.ResponseWriter, r *http.Request) error {
	return s.decide(w, r, queue.Undo, "")
}

// trouble says why something was not done.
func (s *server) trouble(w http.ResponseWriter, r *http.Request, err error) {
	var refused *replay.RefusedError
	var changed *queue.ChangedError
	code := http.StatusInternalServerError
	switch {
	case errors.Is(err, errForm), errors.Is(err, queue.ErrNoAnswer):
		code = http.StatusBadRequest
	case errors.Is(err, queue.ErrNotFound):
		code = http.StatusNotFound
	case errors.Is(err, queue.ErrBusy):
		code = http.StatusServiceUnavailable
	case errors.Is(err, errStale), errors.Is(err, errRunning), errors.Is(err, queue.ErrStatus), errors.As(err, &refused), errors.As(err, &changed):
		code = http.StatusConflict
	}
	v := page{Title: cmp.Or(http.StatusText(code), "Trouble"), Text: term.QuoteLines(err.Error()), Tone: "warn", Up: s.base}
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		v.Hint = term.QuoteLines(h.Hint())
	}
	// What a person wrote is not lost because somebody else was quicker.
	v.Wrote = term.QuoteLines(cmp.Or(written(r, "answer"), written(r, "reason")))
	if n := r.PathValue("n"); code == http.StatusConflict || code == http.StatusBadRequest {
		v.Title = "Nothing was done"
		v.Link = &link{s.base + "action/" + n, "See #" + n + " as it is now"}
	}
	s.page.write(w, code, v)
}
