package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/queue"
)

// Before a story there must be room for it, wherever a night writes.
func TestNoRoomEndsTheSession(t *testing.T) {
	for _, place := range []string{"state", "root", "client"} {
		t.Run(place, func(t *testing.T) {
			n := newNight(t, sim.Any(say("ok")), "one", "two", "three")
			logs := filepath.Join(t.TempDir(), "not-there-yet")
			n.o.Env = append(n.o.Env, "CLAUDE_CONFIG_DIR="+logs)
			tight := map[string]string{"state": n.o.State, "root": n.o.Root, "client": filepath.Dir(logs)}[place]
			asked := 0
			n.o.Host = Host{Space: 1 << 30, Free: func(dir string) (uint64, error) {
				if dir == logs {
					return 0, os.ErrNotExist
				}
				if dir != tight {
					return 5 << 30, nil
				}
				if asked++; asked > 1 {
					return 300 << 20, nil
				}
				return 1 << 30, nil
			}}
			snap := n.run(t.Context())
			if len(snap.Attempts) != 1 || snap.Session.StopKind != queue.HostFailed {
				t.Errorf("%d attempts, stopped as %q", len(snap.Attempts), snap.Session.StopKind)
			}
			want := `only 300 MiB are free in "` + tight + `", and a story wants 1 GiB (host.space)`
			if snap.Session.Stopped != want {
				t.Errorf("stopped: %q, want %q", snap.Session.Stopped, want)
			}
		})
	}
}

type heavy struct {
	child
	has     uint64
	stopped chan struct{}
}

func (h *heavy) Memory() uint64 { return h.has }
func (h *heavy) Terminate() (proc.State, error) {
	close(h.stopped)
	return proc.State{}, nil
}

// An attempt with more memory than it may have is the machine's fault, and is
// ended once.
func TestTooMuchMemory(t *testing.T) {
	now := time.Unix(1000, 0)
	h := &heavy{has: 3 << 30, stopped: make(chan struct{})}
	w := &watch{o: &Options{Host: Host{Memory: 4 << 30}, Now: func() time.Time { return now }}, child: h}
	w.memory()
	h.has = 5 << 30
	w.memory() // looked at a moment ago
	if w.stopped {
		t.Error("stopped within its limit, or looked at more often than is worth it")
	}
	now = now.Add(memoryPause)
	w.memory()
	w.memory()
	<-h.stopped
	j := judge(w.end, now)
	if j.outcome != queue.HostFailed || j.reason != "its processes had 5 GiB of memory together, and may have 4 GiB (host.memory)" {
		t.Errorf("%q: %q", j.outcome, j.reason)
	}
	if v := (&tally{}).next(&Options{Tries: 3}, &queue.Attempt{Outcome: j.outcome, Reason: j.reason}, now); v.do != block || v.reason != j.reason {
		t.Errorf("then: %+v", v)
	}
}

// What keeps the machine awake runs as long as the run does, and not longer.
func TestKeptAwakeWhileTheRunIsOn(t *testing.T) {
	bin := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, on := range []bool{true, false} {
		n := newNight(t, sim.Any(say("ok")), "one")
		n.o.Env = append(n.o.Env, "PATH="+bin+":"+os.Getenv("PATH"))
		n.o.Gates = []string{"until [ -e " + bin + "/log ]; do sleep 0.02; done"}
		if !on {
			n.o.Gates = []string{"true"}
		}
		n.o.Host.Inhibit = on
		write("systemd-inhibit", "echo \"$@\" > "+bin+"/log; exec sleep 600\n")
		n.run(t.Context())
		log, err := os.ReadFile(filepath.Join(bin, "log"))
		if on && (err != nil || !strings.Contains(string(log), "--what=idle:sleep") || !strings.Contains(string(log), "tail --pid=")) {
			t.Errorf("asked for %q, %v", log, err)
		}
		if !on && err == nil {
			t.Errorf("switched off, and started all the same: %q", log)
		}
		_ = os.Remove(filepath.Join(bin, "log"))
	}
	if got := Inhibitor([]string{"PATH=" + bin}); got != "systemd-inhibit" {
		t.Errorf("found %q", got)
	}
	if got := Inhibitor([]string{"PATH=" + t.TempDir()}); got != "" {
		t.Errorf("found %q in an empty folder", got)
	}
}
