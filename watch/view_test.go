package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/report"
)

const evil = "\x1b]0;x\x07 \u202e ghp_0123456789abcdefghij0123456789abcdefgh"

func sample() Snapshot {
	at := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	s := Snapshot{Standing: report.Standing{
		State: report.StateRunning, At: at, Session: "0190", Pid: 42, Seconds: 7200, Phase: "working", Number: 2, Total: 5,
		Story: "US-2", Title: "Second", StorySeconds: 90, Calls: 7, Doing: "curl x " + evil, CostUSD: 1.5, Passed: 1, Waiting: 3,
	}}
	for i := range 20 {
		st := Story{ID: fmt.Sprintf("US-%d", i+1), Title: "A title that is long enough to be cut on a narrow terminal " + evil, State: "to come"}
		switch i {
		case 0:
			st.State, st.Ended, st.Passed, st.Seconds, st.CostUSD = "done", true, true, 252, 1.2
		case 1:
			st.State, st.Seconds, st.Refused = "running", 90, 1
		case 2:
			st.State, st.Ended, st.Seconds, st.CostUSD = "gate-failed", true, 4000, 0.3
		}
		s.Stories = append(s.Stories, st)
	}
	return s
}

func lines(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("> Bash  line %d", i+1))
	}
	return out
}

func drawn(width, height int, color bool, change func(*view)) string {
	v := newView(Options{Color: color})
	v.width, v.height = width, height
	v.take(sample())
	v.lines, v.linesOf = lines(40), "US-2"
	change(&v)
	return v.render()
}

// The screens, as they are drawn.
func TestScreens(t *testing.T) {
	waiting := func(v *view) {
		v.s.Phase, v.s.Until, v.s.WaitSeconds, v.s.Why = "waiting", v.s.At.Add(time.Hour), 3600, "You've hit your limit "+evil
	}
	tests := map[string]string{
		"80x24":    drawn(80, 24, false, func(*view) {}),
		"120x30":   drawn(120, 30, false, func(*view) {}),
		"color":    drawn(80, 12, true, func(*view) {}),
		"waiting":  drawn(80, 24, false, waiting),
		"help":     drawn(80, 24, false, func(v *view) { v.help = true }),
		"chosen":   drawn(80, 24, false, func(v *view) { v.move(1) }),
		"stopping": drawn(80, 14, false, func(v *view) { v.s.StopAsked = "after-story" }),
		"died":     drawn(80, 14, false, func(v *view) { v.s.State = report.StateDied }),
		"none":     drawn(80, 14, false, func(v *view) { v.s = Snapshot{Standing: report.Standing{State: report.StateNone}} }),
		"tiny":     drawn(3, 2, false, func(*view) {}),
		"trouble":  drawn(80, 14, false, func(v *view) { v.trouble = "open queue: " + evil }),
	}
	for name, got := range tests {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(got, "\x1b]") || strings.ContainsAny(got, "\x07\u202e") || strings.Contains(got, "0123456789abcdefghij") {
				t.Errorf("raw text is drawn:\n%s", got)
			}
			golden(t, name, got)
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	got += "\n"
	if os.Getenv("LOOP_UPDATE") == "1" {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Every screen has as many lines as the terminal, and none is wider.
func TestScreensFit(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 12}} {
		for _, help := range []bool{false, true} {
			got := strings.Split(drawn(size[0], size[1], false, func(v *view) { v.help = help }), "\n")
			if len(got) != size[1] {
				t.Errorf("%v: %d lines", size, len(got))
			}
			for _, l := range got {
				if n := term.Cells(l); n > size[0] {
					t.Errorf("%v: %d cells: %q", size, n, l)
				}
			}
		}
	}
}

// fake gives the same snapshot, or one after the other.
type fake struct {
	snaps []Snapshot
	err   error
	asked []string
}

func (f *fake) Snapshot(context.Context) (Snapshot, error) {
	if f.err != nil {
		return Snapshot{}, f.err
	}
	s := f.snaps[0]
	if len(f.snaps) > 1 {
		f.snaps = f.snaps[1:]
	}
	return s, nil
}

func (f *fake) Lines(_ context.Context, story string, _, _ int) ([]string, error) {
	f.asked = append(f.asked, story)
	return lines(3), nil
}

// press sends a key and follows what it asks for.
func press(t *testing.T, m *model, r rune) (quit bool) {
	t.Helper()
	_, cmd := m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	if cmd == nil {
		return false
	}
	msg := cmd()
	if _, ok := msg.(tea.QuitMsg); ok {
		return true
	}
	m.Update(msg)
	return false
}

func TestKeys(t *testing.T) {
	f := &fake{snaps: []Snapshot{sample()}}
	m := newModel(t.Context(), f, Options{})
	m.Update(m.Init()())
	if m.linesOf != "US-2" {
		t.Errorf("shows the lines of %q, want the story under way", m.linesOf)
	}
	for _, tt := range []struct {
		key  rune
		want string
	}{{'j', "US-3"}, {'k', "US-2"}, {'k', "US-1"}, {'k', "US-1"}, {'f', "US-2"}} {
		if press(t, m, tt.key); m.linesOf != tt.want {
			t.Errorf("after %q: the lines of %q, want %q", tt.key, m.linesOf, tt.want)
		}
	}
	if press(t, m, '?'); !m.help || !strings.Contains(m.View().Content, "follow the story under way again") {
		t.Error("? shows no help")
	}
	f.err = errors.New("queue in use")
	m.Update(m.read())
	if m.trouble == "" || m.s.Story != "US-2" {
		t.Error("a look that failed is not told, or what was known is gone")
	}
	if !press(t, m, 'q') {
		t.Error("q does not quit")
	}
}

// Without a terminal there is a line for each change, and it ends with the run.
func TestPlain(t *testing.T) {
	a, b, c := sample(), sample(), sample()
	b.Phase, b.Until, b.Why = "waiting", b.At, "limit "+evil
	c.State = report.StateEnded
	var out strings.Builder
	f := &fake{snaps: []Snapshot{a, a, b, b, c}}
	if err := Plain(t.Context(), &out, f, time.UTC, func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "\n"); got != 3 || !strings.Contains(out.String(), "until 2026-11-30T03:00:00Z: limit \\x1b]0;x") || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%d lines:\n%s", got, out.String())
	}
	stop := errors.New("stop")
	if err := Plain(t.Context(), &out, &fake{snaps: []Snapshot{a}}, time.UTC, func(context.Context) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// The story under way is followed until the person goes to another one, again
// when they are back at it, and in the next run.
func TestTheStoryUnderWayIsFollowed(t *testing.T) {
	v := newView(Options{})
	v.take(sample())
	v.move(1)
	next := sample()
	next.Story = "US-4"
	v.take(next)
	if v.shown() != "US-3" {
		t.Errorf("a chosen story is left: %q", v.shown())
	}
	v.move(1)
	next.Story = "US-5"
	v.take(next)
	if v.shown() != "US-5" {
		t.Errorf("not followed after going back to it: %q", v.shown())
	}
	v.move(-1)
	next.Stories = []Story{{ID: "B-1"}, {ID: "B-2"}}
	next.Story = "B-2"
	v.take(next)
	if v.shown() != "B-2" {
		t.Errorf("in the next run: %q", v.shown())
	}
}
