//go:build linux

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
)

// nightEvent is one thing that happened in a night.
type nightEvent struct {
	at          time.Time
	story, what string
}

// nightEvents are what went otherwise than planned in a session, and its
// beginning and end.
func nightEvents(d report.Document) []nightEvent {
	s := d.Session
	events := []nightEvent{{s.Started, "", fmt.Sprintf("a session begins: %d stories", len(s.StoryOrder))}}
	for _, story := range d.Stories {
		for _, a := range story.Attempts {
			if !a.Outcome.Passed() {
				events = append(events, nightEvent{a.Ended, a.Story, string(a.Outcome) + ": " + a.Reason})
			}
		}
	}
	for _, w := range s.Waits {
		events = append(events, nightEvent{w.From, w.Story, fmt.Sprintf("waits %v: %s", w.Duration().Round(time.Second), w.Cause)})
	}
	for _, f := range d.Findings {
		if f.Kind != "untested" {
			events = append(events, nightEvent{f.When, f.Story, f.Kind + ": " + f.Text})
		}
	}
	for _, a := range d.Actions {
		if a.Evidence != policy.Mentioned {
			what := cmp.Or(string(a.Evidence), a.Kind)
			events = append(events, nightEvent{a.DetectedAt, a.Story, fmt.Sprintf("#%d %s, %s: %s", a.Number, what, a.Status, a.Command)})
		}
	}
	end := fmt.Sprintf("the session ends: %d done", d.Counts.Done)
	if s.Stopped != "" {
		end += ", because " + s.Stopped
	}
	return append(events, nightEvent{s.Ended, "", end})
}

// tellNight is a night of several sessions for a person who looks at the test:
// what happened and when, and what became of the stories.
func tellNight(docs []report.Document) string {
	var events []nightEvent
	passed, seen := map[string]int{}, map[string]queue.Outcome{}
	for _, d := range docs {
		events = append(events, nightEvents(d)...)
		for _, story := range d.Stories {
			for _, a := range story.Attempts {
				seen[story.ID] = a.Outcome
				if a.Outcome.Passed() {
					passed[story.ID]++
				}
			}
		}
	}
	slices.SortStableFunc(events, func(a, b nightEvent) int { return a.at.Compare(b.at) })
	var b strings.Builder
	b.WriteString("\n")
	for _, e := range events {
		fmt.Fprintf(&b, "%s  %-3s %s\n", e.at.Format(time.TimeOnly), e.story, term.Truncate(term.Line(e.what), 66))
	}
	lost, twice, open := 0, 0, []string{}
	for _, id := range docs[0].Session.StoryOrder {
		outcome, tried := seen[id]
		switch {
		case !tried:
			lost++
		case passed[id] > 1:
			twice++
		case passed[id] == 0:
			open = append(open, fmt.Sprintf("%s (%s)", id, outcome))
		}
	}
	fmt.Fprintf(&b, "\n%d stories: %d done, %d not done: %s; %d lost, %d done twice\n",
		len(docs[0].Session.StoryOrder), len(passed), len(open), strings.Join(open, ", "), lost, twice)
	return b.String()
}

func TestANightIsToldInItsOrder(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 2, 23, 3, 0, s, 0, time.UTC) }
	d := report.Document{
		Session: queue.Session{
			Started: at(0), Ended: at(9), StoryOrder: []string{"1", "2", "3"},
			Waits: []queue.Wait{{From: at(2), Ended: at(4), Story: "1", Cause: queue.FiveHourLimit}},
		},
		Stories: []report.Story{
			{ID: "1", Attempts: []queue.Attempt{{Story: "1", Outcome: queue.Limit, Reason: "You've hit your limit", Ended: at(1)}, {Story: "1", Outcome: queue.Done, Ended: at(5)}}},
			{ID: "2", Attempts: []queue.Attempt{{Story: "2", Outcome: queue.Hung, Reason: "no sign\nof life", Ended: at(8)}}},
		},
		Findings: []queue.Finding{{Kind: "claim", Story: "2", Text: "marked", When: at(7)}},
		Counts:   report.Counts{Done: 1},
	}
	want := `
03:00:00      a session begins: 3 stories
03:00:01  1   limit: You've hit your limit
03:00:02  1   waits 2s: five-hour limit
03:00:07  2   claim: marked
03:00:08  2   hung: no sign\nof life
03:00:09      the session ends: 1 done

3 stories: 1 done, 1 not done: 2 (hung); 1 lost, 0 done twice
`
	if got := tellNight([]report.Document{d}); got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
}
