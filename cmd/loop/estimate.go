package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// estimateSessions is how many past sessions say what a story takes.
const estimateSessions = 20

// estimate is what a story took in past sessions: the median, because one
// story that went wrong says nothing about the next.
type estimate struct {
	stories int
	time    time.Duration
	costUSD float64
}

// pastStories sums up the past sessions of a repository; the zero estimate when
// there are none.
func pastStories(ctx context.Context, store *queue.Store) (estimate, error) {
	sessions, err := store.Sessions(ctx)
	if errors.Is(err, queue.ErrNotFound) {
		return estimate{}, nil
	}
	if err != nil {
		return estimate{}, err
	}
	sessions = slices.DeleteFunc(sessions, func(s queue.Session) bool { return s.Scan })
	var times []time.Duration
	var costs []float64
	for _, s := range sessions[max(0, len(sessions)-estimateSessions):] {
		attempts, err := store.Attempts(ctx, s.ID)
		if err != nil {
			return estimate{}, err
		}
		for _, t := range taken(attempts) {
			times, costs = append(times, t.time), append(costs, t.costUSD)
		}
	}
	return estimate{stories: len(times), time: median(times), costUSD: median(costs)}, nil
}

// taken is what each story took that came to an end by itself, over all its
// attempts.
func taken(attempts []queue.Attempt) map[string]estimate {
	out := map[string]estimate{}
	whole := map[string]bool{}
	for _, a := range attempts {
		if a.Ended.IsZero() || a.Recovered {
			continue
		}
		e := out[a.Story]
		e.time += a.Ended.Sub(a.Started)
		e.costUSD += a.CostUSD
		out[a.Story] = e
		whole[a.Story] = worked(a.Outcome)
	}
	for id := range out {
		if !whole[id] {
			delete(out, id)
		}
	}
	return out
}

// worked reports whether an attempt with this outcome took as long as its story
// takes: one that was cut short did not.
func worked(o queue.Outcome) bool {
	switch o {
	case queue.Done, queue.Unproven, queue.GateFailed, queue.AgentFailed, queue.Unchanged, queue.Hung, queue.Conflict:
		return true
	case queue.Limit, queue.Outage, queue.Interrupted, queue.Auth, queue.CouldNotStart, queue.Unguarded,
		queue.HostFailed, queue.Question, queue.Blocked, queue.Budget:
	}
	return false
}

func median[T cmp.Ordered](list []T) (m T) {
	if len(list) == 0 {
		return m
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// text says what n stories will take, so many at the same time.
func (e estimate) text(n, beside int) string {
	if e.stories == 0 {
		return "not known: no story of this repository has come to its end yet"
	}
	text := fmt.Sprintf("about %s and $%.2f a story (median of %d)", clock(e.time), e.costUSD, e.stories)
	switch beside = max(1, min(n, beside)); {
	case beside > 1:
		text += fmt.Sprintf(", so at least %s and $%.2f for %d, %d at the same time; waits for limits come on top",
			clock(time.Duration((n+beside-1)/beside)*e.time), float64(n)*e.costUSD, n, beside)
	case n > 1:
		text += fmt.Sprintf(", so %s and $%.2f for %d; waits for limits come on top", clock(time.Duration(n)*e.time), float64(n)*e.costUSD, n)
	}
	return text
}

// steps are what a story's own text asks for and the firewall will hold, in
// its words.
func steps(set *policy.Set, s *stories.Story) (out []string) {
	text := strings.Join(slices.Concat([]string{s.Title, s.Description, s.Notes}, s.Criteria, s.Verify), "\n")
	set.FindMentions([]byte(text), func(m policy.Mention) bool {
		words := strings.Join(strings.Fields(text[m.Start:m.End]), " ")
		if m.Tier == policy.External && !slices.Contains(out, words) {
			out = append(out, words)
		}
		return true
	})
	return out
}
