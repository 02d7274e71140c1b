//go:build linux || darwin

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/queue"
)

// beside splits the window: the other pane is a second terminal in the same
// repository.
func (w *terminal) beside() *terminal {
	w.t.Helper()
	w.size(161, 24)
	w.tmux("split-window", "-h", "-t", w.pane, "-l", "80", "-c", w.root+"/repo", "exec sh")
	other := *w
	other.pane = "m:0.1"
	other.keys("type PS1='$ '; clear", "Enter")
	return &other
}

// seeAll goes through what an approval shows, to the question.
func (w *terminal) seeAll() {
	w.t.Helper()
	for !strings.Contains(w.screen("run it?"), "y yes   n no") {
		w.keys("Space")
	}
}

// one waits until one of two terminals shows a text, and gives that and the other.
func one(a, b *terminal, text string) (which, other *terminal) {
	a.t.Helper()
	for end := time.Now().Add(terminalWait); time.Now().Before(end); {
		for _, w := range []*terminal{a, b} {
			if strings.Contains(w.tmux("capture-pane", "-p", "-t", w.pane), text) {
				if w == a {
					return a, b
				}
				return b, a
			}
		}
	}
	a.t.Fatalf("no %q in either:\n%s\n%s", text, a.screen(), b.screen())
	return nil, nil
}

// decisions are the verbs of what was decided about an action, in their order.
func (w *terminal) decisions(number int) string {
	w.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(w.root, "state", "repo-*"))
	if err != nil || len(dirs) != 1 {
		w.t.Fatalf("%q, %v", dirs, err)
	}
	s, err := queue.Open(dirs[0], queue.Options{Now: time.Now, ReadOnly: true})
	if err != nil {
		w.t.Fatal(err)
	}
	a, err := s.Get(context.Background(), fmt.Sprint(number))
	if err != nil {
		w.t.Fatal(err)
	}
	var verbs []string
	for _, d := range a.Decisions {
		verbs = append(verbs, d.Verb)
	}
	return strings.Join(verbs, " ") + ": " + string(a.Status)
}

// wants looks what was decided about an action.
func (w *terminal) wants(number int, want string) {
	w.t.Helper()
	if got := w.decisions(number); got != want {
		w.t.Errorf("#%d has %q, want %q", number, got, want)
	}
}

// Two terminals over one queue, two views and a view beside the commands: nothing
// is decided or run twice, and who is second is told who was first.
func TestTwoTerminals(t *testing.T) {
	if testing.Short() {
		t.Skip("plays a night first")
	}
	a := newMorning(t)
	pushed := filepath.Join(a.root, "pushed")
	hook := filepath.Join(a.root, "remote.git", "hooks", "post-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho x >>"+pushed+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := a.beside()
	views := func(keys ...string) {
		for _, w := range []*terminal{a, b} {
			w.keys(keys...)
		}
	}
	told := func(w *terminal, text string) {
		t.Helper()
		screen, re := "", regexp.MustCompile(text)
		for end := time.Now().Add(terminalWait); time.Now().Before(end); {
			screen = w.tmux("capture-pane", "-p", "-J", "-t", w.pane) // wrapped lines are one
			if re.MatchString(strings.Join(strings.Fields(screen), " ")) {
				return
			}
		}
		t.Errorf("no %q in\n%s", text, screen)
	}
	views("type clear; loop review", "Enter")
	a.screen("7 wait", "> #1 blocked")
	b.screen("7 wait", "> #1 blocked")

	// Both are about to reject the same.
	views("type jjjj")
	a.screen("> #6")
	b.screen("> #6")
	views("type r")
	a.screen("Reject #6")
	b.screen("Reject #6")
	views("type it hides something")
	a.keys("Enter")
	a.screen("6 wait", "rejected #6; u takes it back")
	b.keys("Enter")
	b.screen("6 wait", "nothing done: #6 is rejected by now (reject by ")
	a.wants(6, "reject: rejected")

	// One takes it back, and the other sees it within moments.
	a.keys("u")
	a.screen("7 wait", "taken back: #6 waits again")
	b.screen("7 wait")
	a.wants(6, "reject undo: pending")

	// Both run the same at the same time: it runs once. The loser sees either that
	// it has run, or that it is being run.
	views("type g")
	a.screen("> #1")
	b.screen("> #1")
	views("type a")
	a.seeAll()
	b.seeAll()
	a.tmux("send-keys", "-t", a.pane, "-l", "y", ";", "send-keys", "-t", b.pane, "-l", "y")
	winner, loser := one(a, b, "#1 replayed")
	told(loser, `#1.*(being replayed|replayed|changed).*approve by `)
	a.wants(1, "approve: replayed")
	if text, err := os.ReadFile(pushed); err != nil || string(text) != "x\n" {
		t.Errorf("pushed %q, %v", text, err)
	}
	winner.keys("Enter")
	loser.keys("Enter")
	a.screen("6 wait")
	b.screen("6 wait")

	// A view asks, and a command decides meanwhile.
	b.keys("type q")
	b.screen("$\n")
	a.keys("type gj")
	a.screen("> #3")
	a.keys("type a")
	a.seeAll()
	b.keys("type clear; loop reject 3 --reason nobody-measured-it", "Enter")
	b.screen("rejected #3")
	a.keys("type y")
	a.screen("#3 not replayed: it was rejected (reject by ", "press enter to go on")
	a.keys("Enter")
	a.wants(3, "reject: rejected")

	// A command asks, and the view decides meanwhile.
	b.keys("type clear; loop approve 2", "Enter")
	b.screen("run it? [y/N]")
	a.keys("type g")
	a.screen("> #2")
	a.keys("type r")
	a.screen("Reject #2")
	a.keys("type not this one", "Enter")
	a.screen("rejected #2")
	b.keys("type y", "Enter")
	b.screen("it was rejected")
	told(b, `action #2 not replayed: it was rejected \(reject by \S+ at [0-9TZ:-]+\)`)
	a.wants(2, "reject: rejected")
	b.keys("type clear; loop approve 2 --yes; loop answer 7 'as ae, oe and ue'", "Enter")
	b.screen("answered #7")
	told(b, `it was rejected \(reject by `)

	// An answer that is too late is not lost.
	b.keys("type clear; loop undo 7", "Enter")
	b.screen("taken back: #7")
	a.screen("4 wait")
	a.keys("type G", "Enter")
	a.screen("Answer #7")
	a.keys("type Keep them.")
	b.keys("type clear; loop answer 7 'as ae, oe and ue'", "Enter")
	b.screen("answered #7")
	a.keys("Enter")
	a.screen("#7 is answered by now (answer by ")
	a.wants(7, "answer undo answer: answered")

	// Two commands at the same time are one run.
	b.keys("type clear; loop undo 2; git -C ../remote.git tag; git tag -d v1.0; rm -f ../pushed; (loop approve 2 --yes & loop approve 2 --yes; wait) >../out 2>&1; grep -c exit.0 ../out; cat ../pushed; echo over", "Enter")
	b.screen("\nover\n")
	out, err := os.ReadFile(filepath.Join(a.root, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(pushed); err != nil || string(text) != "x\n" || strings.Count(string(out), "#2: exit 0") != 1 || !strings.Contains(string(out), "approve by ") {
		t.Errorf("pushed %q, %v:\n%s", text, err, out)
	}
	a.wants(2, "reject undo approve: replayed")
}
