//go:build linux || darwin

package proc

import "testing"

// Whose is it? Our own id is 10, our group 10. Child A (20) started at 100,
// child B (30) at 200; both are leaders of their own groups.
func TestOwners(t *testing.T) {
	names := map[*Child]string{nil: "not ours", noChild: "doubtful"}
	for name, c := range map[string]struct {
		e      entry
		others []entry // beside 10, 20 and 30
		marks  map[int]string
		change func(a, b *Child, r *registry)
		want   string
	}{
		"the leader":                {e: entry{pid: 20, ppid: 10, pgrp: 20, start: 100}, want: "A"},
		"a later process of its id": {e: entry{pid: 20, ppid: 1, pgrp: 99, start: 900}, want: "not ours"},
		"below it":                  {e: entry{pid: 21, ppid: 20, pgrp: 21, start: 110}, want: "A"},
		"two below it": {
			e: entry{pid: 22, ppid: 21, pgrp: 22, start: 120}, others: []entry{{pid: 21, ppid: 20, pgrp: 21, start: 110}}, want: "A",
		},
		"below B, with A's mark": {e: entry{pid: 31, ppid: 30, pgrp: 31, start: 210}, marks: map[int]string{31: "a"}, want: "B"},
		"orphan with a mark":     {e: entry{pid: 40, ppid: 10, pgrp: 40, start: 300}, marks: map[int]string{40: "a"}, want: "A"},
		"orphan older than B":    {e: entry{pid: 40, ppid: 10, pgrp: 40, start: 150}, want: "A"},
		"orphan, either's":       {e: entry{pid: 40, ppid: 10, pgrp: 40, start: 300}, want: "doubtful"},
		"orphan seen below B": {
			e:      entry{pid: 40, ppid: 10, pgrp: 40, start: 300},
			change: func(_, b *Child, _ *registry) { b.seen[40] = 300 }, want: "B",
		},
		"orphan with an id that was seen": {
			e:      entry{pid: 40, ppid: 10, pgrp: 40, start: 300},
			change: func(_, b *Child, _ *registry) { b.seen[40] = 250 }, want: "doubtful",
		},
		"orphan in A's group": {e: entry{pid: 40, ppid: 10, pgrp: 20, start: 300}, want: "A"},
		"a group that took A's id": {
			e:      entry{pid: 40, ppid: 1, pgrp: 20, start: 300},
			change: func(a, _ *Child, _ *registry) { a.reaped.Store(true) }, want: "not ours",
		},
		"orphan older than both":     {e: entry{pid: 40, ppid: 10, pgrp: 40, start: 50}, want: "doubtful"},
		"started by others, in ours": {e: entry{pid: 40, ppid: 10, pgrp: 10, start: 300}, want: "not ours"},
		"the same under another run's mark": {
			e: entry{pid: 40, ppid: 10, pgrp: 10, start: 300}, marks: map[int]string{40: "outer"}, want: "not ours",
		},
		"a mark in our group": {e: entry{pid: 40, ppid: 10, pgrp: 10, start: 300}, marks: map[int]string{40: "b"}, want: "B"},
		"had before we were loop": {
			e:      entry{pid: 40, ppid: 10, pgrp: 40, start: 300},
			change: func(_, _ *Child, r *registry) { r.inherited = map[int]uint64{40: 300} }, want: "not ours",
		},
		"started by others, no subreaper": {
			e:      entry{pid: 40, ppid: 10, pgrp: 40, start: 300},
			change: func(_, _ *Child, r *registry) { r.reaper = false }, want: "not ours",
		},
		"gone to init with a mark":         {e: entry{pid: 40, ppid: 1, pgrp: 40, start: 300}, marks: map[int]string{40: "b"}, want: "B"},
		"a mark, but older than its child": {e: entry{pid: 40, ppid: 1, pgrp: 40, start: 150}, marks: map[int]string{40: "b"}, want: "not ours"},
		"somebody's":                       {e: entry{pid: 40, ppid: 39, pgrp: 39, start: 300}, want: "not ours"},
		"marked, below a dying orphan": {
			e: entry{pid: 41, ppid: 40, pgrp: 41, start: 310}, others: []entry{{pid: 40, ppid: 10, pgrp: 40, start: 300}},
			marks: map[int]string{41: "a"}, want: "A",
		},
		"unmarked, below a dying orphan": {
			e: entry{pid: 41, ppid: 40, pgrp: 41, start: 310}, others: []entry{{pid: 40, ppid: 10, pgrp: 40, start: 300}}, want: "doubtful",
		},
		"a ring, read while parents changed": {
			e: entry{pid: 41, ppid: 40, pgrp: 41, start: 310}, others: []entry{{pid: 40, ppid: 41, pgrp: 40, start: 300}}, want: "not ours",
		},
		"ourselves": {e: entry{pid: 10, ppid: 1, pgrp: 10, start: 1}, want: "not ours"},
		"init":      {e: entry{pid: 1, start: 1}, want: "not ours"},
	} {
		a := &Child{pid: 20, start: 100, mark: "a", seen: map[int]uint64{}}
		b := &Child{pid: 30, start: 200, mark: "b", seen: map[int]uint64{}}
		names[a], names[b] = "A", "B"
		r := &registry{live: []*Child{a, b}, reaper: true}
		if c.change != nil {
			c.change(a, b, r)
		}
		tab := &table{byPid: map[int]entry{
			10: {pid: 10, ppid: 1, pgrp: 10, start: 1}, 20: {pid: 20, ppid: 10, pgrp: 20, start: 100}, 30: {pid: 30, ppid: 10, pgrp: 30, start: 200},
		}}
		for _, e := range append(c.others, c.e) {
			tab.byPid[e.pid] = e
		}
		o := &owners{r: r, t: tab, self: 10, group: 10, mark: func(pid int) string { return c.marks[pid] }, memo: map[int]*Child{}}
		if got := names[o.of(c.e)]; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
