package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	errRunning = errors.New("nothing was done: another action is being run")
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
	outcome(p, &a)
	if err := s.ways(p, a); err != nil {
		return err
	}
	s.page.write(w, http.StatusOK, page{Title: fmt.Sprintf("#%d is %s", a.Number, term.Line(string(a.Status))), Up: "../", Action: p})
	return nil
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
	switch err := queue.MayReplay(a, false); {
	case err == nil:
		p.Run = &link{fmt.Sprintf("../approve/%d", a.Number), "See exactly what would run, then decide"}
	case a.IsQuestion() && a.Status == queue.Pending:
		p.ByHand = fmt.Sprintf("Answer it on the terminal: loop answer %d \"...\"", a.Number)
		if a.Checkpoint != "" {
			p.ByHand = fmt.Sprintf("Let its stories go on, on the terminal: loop approve %d", a.Number)
		}
	case queue.MayReplay(a, true) == nil:
		p.Run = &link{fmt.Sprintf("../approve/%d?again=1", a.Number), "It may have run already: see what running it again would do"}
	}
	switch a.Status {
	case queue.Pending, queue.Approved, queue.Failed, queue.Unknown, queue.Answered:
		shown, err := s.actionSeen(a)
		if err != nil {
			return err
		}
		p.Reject = s.form(fmt.Sprintf("reject/%d", a.Number), shown)
	case queue.Replaying, queue.Replayed, queue.Rejected, queue.Superseded:
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

// ask shows what would run, and the form that runs it.
func (s *server) ask(w http.ResponseWriter, r *http.Request) error {
	a, err := s.get(r)
	if err != nil {
		return err
	}
	again := r.FormValue("again") == "1"
	v := page{Title: fmt.Sprintf("Run #%d?", a.Number), Up: "../", Ask: &askPage{Number: a.Number, Again: again}}
	code := http.StatusOK
	var screen bytes.Buffer
	_, err = s.d.Replay(r.Context(), a, again, &screen, func(_ context.Context, a queue.Action, since replay.Since) (bool, error) {
		shown, err := replay.Fingerprint(a, since)
		v.Ask.Form = s.form(fmt.Sprintf("approve/%d", a.Number), s.keyed("replay", shown))
		return false, err
	})
	var refused *replay.RefusedError
	switch {
	case errors.As(err, &refused):
		code, v.Ask.Form = http.StatusConflict, nil
		v.Title, v.Tone = fmt.Sprintf("#%d cannot be run", a.Number), "warn"
		v.Text, v.Hint = term.Quote(refused.Reason), term.Quote(refused.Hint())
	case err != nil:
		return err
	}
	v.Ask.Screen = strings.Trim(screen.String(), "\n")
	s.page.write(w, code, v)
	return nil
}

// approve runs what the form's page showed, if that is still so.
func (s *server) approve(w http.ResponseWriter, r *http.Request) error {
	if !s.replays.TryLock() {
		return errRunning
	}
	defer s.replays.Unlock()
	a, err := s.get(r)
	if err != nil {
		return err
	}
	// A closed window does not end what was approved.
	_, err = s.d.Replay(s.ctx, a, r.PostForm.Get("again") == "1", io.Discard, func(_ context.Context, a queue.Action, since replay.Since) (bool, error) {
		now, err := replay.Fingerprint(a, since)
		if err != nil {
			return false, err
		}
		if !equal(r.PostForm.Get("shown"), s.keyed("replay", now)) {
			return false, errStale
		}
		return true, nil
	})
	var failed *replay.FailedError // which the action's page tells
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	http.Redirect(w, r, fmt.Sprintf("%saction/%d", s.base, a.Number), http.StatusSeeOther)
	return nil
}

func (s *server) reject(w http.ResponseWriter, r *http.Request) error {
	a, err := s.get(r)
	if err != nil {
		return err
	}
	shown, err := s.actionSeen(a)
	if err != nil {
		return err
	}
	if !equal(r.PostForm.Get("shown"), shown) {
		return errStale
	}
	reason := strings.ToValidUTF8(strings.TrimSpace(r.PostForm.Get("reason")), "\ufffd")
	if _, err := s.d.Decide(r.Context(), a, queue.Reject, reason); err != nil {
		return err
	}
	http.Redirect(w, r, fmt.Sprintf("%saction/%d", s.base, a.Number), http.StatusSeeOther)
	return nil
}

// trouble says why something was not done.
func (s *server) trouble(w http.ResponseWriter, r *http.Request, err error) {
	var refused *replay.RefusedError
	var changed *queue.ChangedError
	code := http.StatusInternalServerError
	switch {
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
	if n := r.PathValue("n"); code == http.StatusConflict {
		v.Link = &link{s.base + "action/" + n, "See #" + n + " as it is now"}
	}
	s.page.write(w, code, v)
}
