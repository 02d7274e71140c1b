package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-b23e517c/loop/audit"
	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/transcript"
)

// trailOf reads the audit trail of a session.
func trailOf(ctx context.Context, store *queue.Store, s queue.Session) (audit.Trail, error) {
	if s.AuditKey == "" {
		return audit.Trail{}, &hintedError{
			err:  fmt.Errorf("session %s has no receipts and no audit trail: it is no run, or they were switched off", s.ID),
			hint: lastWithTrail(ctx, store),
		}
	}
	return audit.Load(ctx, store, s)
}

// lastWithTrail says which session to name instead.
func lastWithTrail(ctx context.Context, store *queue.Store) string {
	sessions, err := store.Sessions(ctx)
	if err == nil {
		for _, s := range slices.Backward(sessions) {
			if s.AuditKey != "" {
				return "the last one that has them is " + s.ID
			}
		}
	}
	return "`[receipts] enabled` in your own config.toml switches them"
}

// known says which receipts loop issued in this repository. It reads them when
// a text has something like one, and once: a report needs them hardly ever.
// Those that cannot be read are not known, and so are masked.
func known(ctx context.Context, store *queue.Store) func(string) bool {
	issued := sync.OnceValue(func() map[string]bool {
		all, err := store.Issued(ctx)
		if err != nil {
			return nil
		}
		return all
	})
	return func(token string) bool { return issued()[token] }
}

// commands reads from an attempt's transcript what its calls were; nothing
// when the transcript is gone.
func commands(dir string) (map[string]string, error) {
	f, err := os.Open(filepath.Join(dir, "transcript.jsonl"))
	if err != nil {
		return nil, nil //nolint:nilerr // pruned: the trail is all that is left
	}
	defer f.Close()
	out := map[string]string{}
	err = transcript.Each(f, transcript.Options{}, func(ev transcript.Event) error {
		if ev.Kind != transcript.KindCall || ev.Call.ID == "" {
			return nil
		}
		if _, ok := out[ev.Call.ID]; !ok {
			out[ev.Call.ID] = policy.CommandOf(policy.Call{Tool: ev.Call.Name, Input: ev.Call.Input})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the transcript in %q: %w", dir, err)
	}
	return out, nil
}

// said is what the agents said last in some attempts of a session, with the
// receipts of their calls.
func said(ctx context.Context, store *queue.Store, s queue.Session, attempts []queue.Attempt) (map[string]report.Said, error) {
	out := map[string]report.Said{}
	var calls []audit.Call
	if s.AuditKey != "" {
		t, err := audit.Load(ctx, store, s)
		if err != nil {
			return nil, err
		}
		calls = audit.Calls(t.Records)
	}
	for _, a := range attempts {
		x := report.Said{Text: a.FinalText}
		for _, c := range calls {
			if c.Scope == a.Scope() {
				x.Calls = append(x.Calls, c)
			}
		}
		if strings.TrimSpace(x.Text) != "" || len(x.Calls) > 0 {
			out[a.ID] = x
		}
	}
	return out, nil
}

// saidOf is said for the attempt of one action.
func saidOf(ctx context.Context, store *queue.Store, x queue.Action) (map[string]report.Said, error) {
	s, err := store.Session(ctx, x.Session)
	if errors.Is(err, queue.ErrNotFound) {
		return nil, nil // from a scan
	}
	if err != nil {
		return nil, err
	}
	attempts, err := store.Attempts(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	var own []queue.Attempt
	for _, a := range attempts {
		if a.ID == x.Attempt {
			own = append(own, a)
		}
	}
	return said(ctx, store, s, own)
}

// showsReceipts reports whether the configuration of a session's repository
// asks for receipts in the report. A report does not depend on it otherwise,
// and so not on its being right.
func (a *app) showsReceipts(s queue.Session) bool {
	c, err := config.Load(a.finder().UserDir(), s.Dir)
	return err == nil && c.Receipts.Show
}

// recorder puts what people do with actions into the audit trail. A decision
// stands, whatever becomes of its record.
func (a *app) recorder() *queue.Recorder {
	return &queue.Recorder{
		Record: func(x queue.Action, scope string, n uint64, last []byte) ([]byte, error) {
			return audit.Decision(x, scope, a.now()).Next(n, last)
		},
		Failed: func(x queue.Action, err error) {
			fmt.Fprintf(a.stderr, "loop: #%d: the decision stands, but the audit trail has no record of it: %s\n", x.Number, term.QuoteLines(err.Error()))
		},
	}
}
