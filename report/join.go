package report

import (
	"slices"

	"github.com/seed-b23e517c/loop/queue"
)

// Join makes one snapshot of several, which are in the order of time: its
// session is the last one, begun with the first. The sessions belong into
// Options.Sessions.
func Join(list []queue.Snapshot) (all queue.Snapshot, sessions []queue.Session) {
	var waits []queue.Wait
	for _, d := range list {
		sessions = append(sessions, d.Session)
		waits = append(waits, d.Session.Waits...)
		all.Session = d.Session
		all.Attempts = append(all.Attempts, d.Attempts...)
		all.Actions = append(all.Actions, d.Actions...)
		all.Findings = append(all.Findings, d.Findings...)
	}
	if len(list) > 0 {
		all.Session.Started, all.Session.Waits = sessions[0].Started, waits
	}
	return all, sessions
}

// OnlyStory leaves of a snapshot what is about one story; ok is false when
// nothing in it is.
func OnlyStory(d queue.Snapshot, id string) (only queue.Snapshot, ok bool) {
	ok = slices.Contains(d.Session.StoryOrder, id)
	d.Session.StoryOrder = nil
	if ok {
		d.Session.StoryOrder = []string{id}
	}
	d.Session.Waits = keep(d.Session.Waits, func(w queue.Wait) bool { return w.Story == id })
	d.Attempts = keep(d.Attempts, func(a queue.Attempt) bool { return a.Story == id })
	d.Actions = keep(d.Actions, func(a queue.Action) bool { return a.Story == id })
	d.Findings = keep(d.Findings, func(f queue.Finding) bool { return f.Story == id })
	return d, ok || len(d.Attempts)+len(d.Actions)+len(d.Findings) > 0
}

func keep[T any](list []T, fits func(T) bool) []T {
	var out []T
	for _, x := range list {
		if fits(x) {
			out = append(out, x)
		}
	}
	return out
}
