package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/runner"
)

const statusLong = `Say on one screen whether a run works in this repository, how far it is, what it does
now, what it cost so far and what waits for you; after a run, how it ended.

Exit codes: 0 said; 1 failed; 2 wrong use; 4 queue in use.`

func newStatus(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Say how far a run is", Long: statusLong, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.status(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return a.json(s)
			}
			ro, err := a.reportOptions()
			if err != nil {
				return err
			}
			return report.Now(a.stdout, s, ro)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// status is how the run of this repository stands.
func (a *app) status(ctx context.Context) (report.Standing, error) {
	w, store, err := a.openStore(ctx, true)
	if err != nil {
		return report.Standing{}, err
	}
	return a.statusOf(ctx, w, store)
}

func (a *app) statusOf(ctx context.Context, w workspace.Workspace, store *queue.Store) (report.Standing, error) {
	now := a.now()
	st, ok, err := runner.ReadStatus(w.State)
	if err != nil {
		return report.Standing{}, err
	}
	pid, busy := runner.Busy(w.State)
	s := report.Standing{Schema: 1, State: report.StateNone, At: now.UTC()}
	switch {
	case busy && (!ok || strconv.Itoa(st.Pid) != pid || !st.Alive()):
		// The run has not come to its first word yet.
		s.State, s.Pid = report.StateStarting, number(pid)
		return s, nil
	case !ok:
	case st.Alive():
		s.State = report.StateRunning
	case st.Ended.IsZero():
		s.State = report.StateDied
	default:
		s.State = report.StateEnded
	}
	if ok {
		fill(&s, st, now)
	}
	return s, waitingNow(ctx, store, &s)
}

// fill takes over what the run wrote.
func fill(s *report.Standing, st runner.Status, now time.Time) {
	s.Session, s.Pid, s.Level, s.Started, s.Ended = st.Session, st.Pid, st.Level, st.Started, st.Ended
	s.Phase, s.Number, s.Total, s.Story, s.Title = string(st.Phase), st.Number, st.Total, st.Story, st.Title
	s.Calls, s.Refused, s.CostUSD, s.Passed, s.Failed = st.Calls, st.Refused, st.CostUSD, st.Passed, st.Failed
	s.Why, s.Notice, s.StopAsked = term.Mask(st.Why), term.Mask(st.Notice), st.Stop
	end := st.Ended
	if end.IsZero() {
		end = st.Written
	}
	if s.State == report.StateRunning {
		end = now
		s.Doing, s.Until = term.Mask(st.Doing), st.Until
		s.StorySeconds = seconds(st.StoryStarted, now)
		s.QuietSeconds = seconds(st.Seen, now)
		s.WaitSeconds = seconds(now, st.Until)
		for _, f := range st.InFlight {
			s.InFlight = append(s.InFlight, report.Flight{
				Number: f.Number, Story: f.Story, Title: f.Title, Phase: string(f.Phase), Calls: f.Calls, Refused: f.Refused,
				Doing: term.Mask(f.Doing), StorySeconds: seconds(f.Started, now), QuietSeconds: seconds(f.Seen, now),
			})
		}
	}
	s.Seconds = seconds(st.Started, end)
	s.Written = st.Written
}

// seconds is how long from is before to, 0 when one of them is not known.
func seconds(from, to time.Time) int64 {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return max(0, int64(to.Sub(from).Round(time.Second)/time.Second))
}

// waitingNow counts what waits for a person, of this session and in all.
func waitingNow(ctx context.Context, store *queue.Store, s *report.Standing) error {
	snap := queue.Snapshot{}
	actions, err := store.Actions(ctx, queue.Filter{Status: []queue.Status{queue.Pending}})
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return err
	}
	snap.Actions = actions
	s.Waiting, s.Mentions = report.Waiting(snap)
	return nil
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
