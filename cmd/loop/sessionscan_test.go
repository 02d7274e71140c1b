package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/scanner"
)

func sessionScanOf(t *testing.T, since time.Time) *sessionScan {
	t.Helper()
	set, err := policy.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	s := newSessionScan(&app{}, set, since)
	s.opts = scanner.Options{Set: set}
	return s
}

// writeSessions makes n files of one push each, and one more that copies all.
func writeSessions(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "-home-mara-shop")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for i := range n {
		line := fmt.Sprintf(`{"type":"assistant","cwd":"/home/mara/shop","timestamp":"2026-11-01T10:00:00Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"git push origin b%d"}}]}}`+"\n", i, i)
		all.WriteString(line)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "all.jsonl"), []byte(all.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(dir)
}

func TestManySessionsAtATime(t *testing.T) {
	const n = 60
	dir := writeSessions(t, n)
	found := findSessions(dir, time.Time{})
	if len(found.files) != n+1 || filepath.Base(found.files[0].path) != "all.jsonl" || found.files[0].project != "-home-mara-shop" {
		t.Fatalf("%d files, the first is %+v", len(found.files), found.files[0])
	}
	s := sessionScanOf(t, time.Time{})
	if err := s.all(context.Background(), found); err != nil {
		t.Fatal(err)
	}
	out := s.tally.Outgoing(s.projects.name)
	if got := report.Count(out.Sent); got != n || len(out.Sent) != 1 || out.Sent[0].Project != "/home/mara/shop" {
		t.Errorf("%d calls in %+v", got, out.Sent)
	}
}

func TestSessionsStopWithTheContext(t *testing.T) {
	found := findSessions(writeSessions(t, 5), time.Time{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := sessionScanOf(t, time.Time{})
	if err := s.all(ctx, found); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if len(s.unread) > 0 {
		t.Errorf("what was given up counts as unreadable: %+v", s.unread)
	}
}

// A folder that cannot be listed, a link that leads nowhere or round, and a
// file that is none are told, and the others are read.
func TestWhatCannotBeReadIsTold(t *testing.T) {
	dir := writeSessions(t, 1)
	project := filepath.Join(dir, "-home-mara-shop")
	for link, to := range map[string]string{"gone.jsonl": "nowhere", "round": ".."} {
		if err := os.Symlink(to, filepath.Join(project, link)); err != nil {
			t.Skip(err)
		}
	}
	found := findSessions(dir, time.Time{})
	if len(found.files) != 2 || len(found.unread) != 1 || filepath.Base(found.unread[0].File) != "gone.jsonl" {
		t.Errorf("files %+v, unread %+v", found.files, found.unread)
	}
	if err := os.Remove(found.files[0].path); err != nil {
		t.Fatal(err)
	}
	s := sessionScanOf(t, time.Time{})
	if err := s.all(context.Background(), found); err != nil {
		t.Fatal(err)
	}
	if len(s.unread) != 1 || s.read.Files != 1 {
		t.Errorf("%d files read, unread %+v", s.read.Files, s.unread)
	}
}

// Of several rules the one counts whose work can be taken back least, and a
// dry run counts for nothing.
func TestGravestRule(t *testing.T) {
	s := sessionScanOf(t, time.Time{})
	for command, want := range map[string]string{
		"git push && npm publish":           "npm-publish",
		"npm publish && git push":           "npm-publish",
		"npm publish --dry-run && git push": "git-push",
		"git push":                          "git-push",
	} {
		call := policy.Call{Tool: "Bash", Input: []byte(`{"command":"` + command + `"}`)}
		h := scanner.Hit{Tool: call.Tool, Input: call.Input, Tier: policy.External, Evidence: policy.Executed, Rules: s.opts.Set.Classify(call).Rules()}
		if got := s.gravest(h); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
}
