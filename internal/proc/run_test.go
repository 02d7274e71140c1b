//go:build linux

package proc

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func shell(script string, o RunOptions) RunOptions {
	o.Argv = []string{"sh", "-c", script}
	o.Env = append(o.Env, "PATH=/usr/bin:/bin")
	return o
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	o := Run(t.Context(), shell("pwd; cat; echo err >&2; exit 4", RunOptions{Dir: dir, Stdin: []byte("in\n")}))
	if got, want := string(o.Tail), dir+"\nin\nerr\n"; got != want || o.ExitCode != 4 || o.Err != nil || o.Cut || o.OK() {
		t.Fatalf("output %q, want %q: %+v", got, want, o)
	}
	if o := Run(t.Context(), shell("kill -9 $$", RunOptions{})); o.ExitCode != 137 || o.Signal != "killed" {
		t.Fatalf("%+v", o)
	}
}

func TestRunSeparate(t *testing.T) {
	o := Run(t.Context(), shell("echo out; echo err >&2", RunOptions{Separate: true}))
	if string(o.Tail) != "out\n" || string(o.Stderr) != "err\n" || !o.OK() {
		t.Fatalf("%q %q %+v", o.Tail, o.Stderr, o)
	}
}

func TestRunKeepsTheTail(t *testing.T) {
	var tee bytes.Buffer
	o := Run(t.Context(), shell("seq 1 20000", RunOptions{Tail: 6, Tee: &tee}))
	if string(o.Tail) != "20000\n" || !o.Cut {
		t.Fatalf("tail %q cut %v", o.Tail, o.Cut)
	}
	if lines := strings.Count(tee.String(), "\n"); lines != 20000 {
		t.Fatalf("tee got %d lines", lines)
	}
}

func TestTail(t *testing.T) {
	for _, sizes := range [][]int{{1}, {8}, {9}, {3, 3, 3, 3, 3, 3, 3}, {100, 2}, {2, 100}, {8, 8, 1}, {7, 9, 7}} {
		x := tail{keep: 8}
		var all []byte
		for i, n := range sizes {
			p := bytes.Repeat([]byte{byte('a' + i)}, n)
			all = append(all, p...)
			x.write(p)
		}
		want := all[max(0, len(all)-8):]
		if got, cut := x.bytes(); !bytes.Equal(got, want) || cut != (len(all) > 8) {
			t.Errorf("%v: %q cut %v, want %q", sizes, got, cut, want)
		}
	}
}

func TestRunTimeout(t *testing.T) {
	token := "token-" + rand.Text()
	o := Run(t.Context(), RunOptions{
		Argv:    []string{"/proc/self/exe", modeArg, "ignore-term", token},
		Timeout: 300 * time.Millisecond,
		Grace:   10 * time.Millisecond,
	})
	if !o.TimedOut || o.Signal == "" || o.Err != nil || o.OK() {
		t.Fatalf("%+v", o)
	}
	if l := withToken(token); len(l) > 0 {
		t.Fatalf("left %q", l)
	}
}

// readyWriter cancels when the child says that it is ready.
type readyWriter struct{ cancel context.CancelFunc }

func (w readyWriter) Write(p []byte) (int, error) {
	w.cancel()
	return 0, errors.New("no room") // must not stall the child either
}

func TestRunEndsWithTheContext(t *testing.T) {
	token := "token-" + rand.Text()
	ctx, cancel := context.WithCancel(t.Context())
	o := Run(ctx, RunOptions{
		Argv: []string{"/proc/self/exe", modeArg, "tree", token},
		Tee:  readyWriter{cancel},
	})
	if !errors.Is(o.Err, context.Canceled) || o.Signal != "terminated" {
		t.Fatalf("%+v", o)
	}
	if l := withToken(token); len(l) > 0 {
		t.Fatalf("left %q", l)
	}
	if o := Run(ctx, shell("echo ran", RunOptions{})); o.ExitCode != -1 || !errors.Is(o.Err, context.Canceled) || len(o.Tail) != 0 {
		t.Fatalf("with an ended context: %+v", o)
	}
}

// A background process of a gate holds the pipe: its output ends all the same.
func TestRunDoesNotWaitForAHolder(t *testing.T) {
	o := Run(t.Context(), shell("sleep 300 & echo out", RunOptions{}))
	if string(o.Tail) != "out\n" || o.ExitCode != 0 || len(o.Leftovers) != 1 || !strings.Contains(o.Leftovers[0].Command, "sleep 300") {
		t.Fatalf("%q %+v", o.Tail, o)
	}
}

func TestRunCannotStart(t *testing.T) {
	o := Run(t.Context(), RunOptions{Argv: []string{"no-such-program"}, Env: []string{"PATH=/usr/bin"}})
	if o.ExitCode != -1 || !errors.Is(o.Err, os.ErrNotExist) {
		t.Fatalf("%+v", o)
	}
}

func TestRunDuration(t *testing.T) {
	at := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	o := Run(t.Context(), shell("", RunOptions{Now: func() time.Time { at = at.Add(time.Minute); return at }}))
	if o.Duration != time.Minute {
		t.Fatalf("duration %v", o.Duration)
	}
}

func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		Run(b.Context(), shell("", RunOptions{}))
	}
}

func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		readTable()
	}
}
