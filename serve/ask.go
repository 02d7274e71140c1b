package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

// insistence is what a page or a form says beside a yes.
func insistence(get func(string) string) replay.Insist {
	return replay.Insist{Again: get("again") == "1", Anyway: get("anyway") == "1"}
}

func askPath(n uint64, in replay.Insist) string {
	var with []string
	if in.Again {
		with = append(with, "again=1")
	}
	if in.Anyway {
		with = append(with, "anyway=1")
	}
	path := fmt.Sprintf("../approve/%d", n)
	if len(with) > 0 {
		path += "?" + strings.Join(with, "&")
	}
	return path
}

// ask shows what would run, and the form that runs it. What is not as it was
// deferred is named on a page of its own, with a box that nobody has ticked.
func (s *server) ask(w http.ResponseWriter, r *http.Request) error {
	a, err := s.get(r)
	if err != nil {
		return err
	}
	in := insistence(r.URL.Query().Get)
	v := page{Title: fmt.Sprintf("Run #%d?", a.Number), Up: "../", Ask: &askPage{Number: a.Number, Again: in.Again}}
	code := http.StatusOK
	var screen bytes.Buffer
	_, err = s.d.Replay(r.Context(), a, in, &screen, func(_ context.Context, a queue.Action, since replay.Since) (bool, error) {
		shown, err := replay.Fingerprint(a, since)
		v.Ask.Form = s.form(fmt.Sprintf("approve/%d", a.Number), s.keyed("replay", shown))
		if v.Ask.Changed = quoted(since.Stale()); len(v.Ask.Changed) > 0 {
			v.Title = fmt.Sprintf("Run #%d although it has changed?", a.Number)
		}
		return false, err
	})
	var refused *replay.RefusedError
	switch {
	case errors.As(err, &refused):
		code, v.Ask.Form, v.Tone = http.StatusConflict, nil, "warn"
		v.Title, v.Text, v.Hint = fmt.Sprintf("#%d cannot be run", a.Number), term.Quote(refused.Reason), term.Quote(refused.Hint())
		if len(refused.Stale) > 0 {
			v.Title, v.Hint = fmt.Sprintf("#%d is not what was deferred", a.Number), "It is not run as it is."
			in.Anyway = true
			v.Link = &link{askPath(a.Number, in), "Go on to the question whether it is run all the same"}
		}
	case err != nil:
		return err
	}
	v.Ask.Screen = strings.Trim(screen.String(), "\n")
	s.page.write(w, code, v)
	return nil
}

func quoted(list []string) []string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = term.Quote(text)
	}
	return out
}

// approve runs what the form's page showed, if that is still so.
func (s *server) approve(w http.ResponseWriter, r *http.Request) error {
	a, err := s.get(r)
	if err != nil {
		return err
	}
	if !s.replays.TryLock() {
		return fmt.Errorf("%w: #%d is being run", errRunning, s.runs.Load())
	}
	defer s.replays.Unlock()
	s.runs.Store(a.Number)
	// A closed window does not end what was approved.
	_, err = s.d.Replay(s.ctx, a, insistence(r.PostForm.Get), io.Discard, func(_ context.Context, a queue.Action, since replay.Since) (bool, error) {
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
	s.done(w, r, a)
	return nil
}
