//go:build linux

package proc

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLeftoversAreNamedOnce(t *testing.T) {
	// No such processes: they are named by what the table says.
	a, b := entry{pid: 1 << 30, comm: "a"}, entry{pid: 1<<30 + 1, comm: "b"}
	left := merge(merge(nil, []entry{a}), []entry{a, b})
	left = markStuck(left, []entry{b})
	want := []Leftover{{Pid: a.pid, Command: "a"}, {Pid: b.pid, Command: "b", Stuck: true}}
	if d := cmp.Diff(want, left); d != "" {
		t.Fatal(d)
	}
}

func TestParseStat(t *testing.T) {
	line := "7 (a) R 1 (b) S 5 6 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 9 9\n"
	e, ok := parseStat(7, []byte(line))
	if want := (entry{pid: 7, ppid: 5, pgrp: 6, start: 4242, comm: "a) R 1 (b"}); !ok || e != want {
		t.Fatalf("%+v, want %+v", e, want)
	}
	for _, bad := range []string{"", "7 (a", "7 (a) S 5 6", ")("} {
		if e, ok := parseStat(7, []byte(bad)); ok {
			t.Errorf("%q gave %+v", bad, e)
		}
	}
	if e, _ := parseStat(7, []byte("7 (x) Z 5 6 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 9 9")); !e.dead {
		t.Error("a zombie is taken for alive")
	}
}
