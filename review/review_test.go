package review

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

const evil = "\x1b]0;x\x07\u202e\u0430 "

var testTime = time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC)

// fakeDesk is a queue in memory.
type fakeDesk struct {
	actions []queue.Action
	stamp   int
	ran     []string // commands
	fails   string   // the command that fails
	since   replay.Since
	stale   map[string]string // command -> why its push is not what was deferred
	wrote   []Rule
	asked   []string // what the parts were looked up of
}

func (d *fakeDesk) Head(context.Context, int) ([]queue.Action, bool, error) {
	return slices.Clone(d.actions[:min(3, len(d.actions))]), len(d.actions) > 3, nil
}

func (d *fakeDesk) Actions(context.Context) ([]queue.Action, error) {
	return slices.Clone(d.actions), nil
}

func (d *fakeDesk) Stamp() string { return fmt.Sprint(d.stamp) }

func (d *fakeDesk) Parts(a queue.Action) []Part {
	return []Part{
		{Title: "If it is approved", Load: func(context.Context, int) (string, error) {
			d.asked = append(d.asked, number(a))
			return "since then\n  !! git HEAD was 1111, is 2222\n", nil
		}},
		{Title: "Nothing", Load: func(context.Context, int) (string, error) { return "", nil }},
		{Title: "Broken", Load: func(context.Context, int) (string, error) { return "", errors.New("no rules " + evil) }},
	}
}

func (d *fakeDesk) at(seen queue.Action) (*queue.Action, error) {
	for i := range d.actions {
		if d.actions[i].ID == seen.ID {
			if !d.actions[i].Stands(seen) {
				return nil, &queue.ChangedError{Now: d.actions[i]}
			}
			return &d.actions[i], nil
		}
	}
	return nil, queue.ErrNotFound
}

func (d *fakeDesk) Decide(_ context.Context, seen queue.Action, verb, reason string) (queue.Action, error) {
	a, err := d.at(seen)
	if err != nil {
		return queue.Action{}, err
	}
	d.stamp++
	a.Status = map[string]queue.Status{queue.Reject: queue.Rejected, queue.Answer: queue.Answered, queue.Undo: queue.Pending}[verb]
	a.Decisions = append(a.Decisions, queue.Decision{Verb: verb, Reason: reason, Who: "ann", When: testTime})
	return *a, nil
}

func (d *fakeDesk) Edit(_ context.Context, seen queue.Action, text string) (queue.Action, error) {
	a, err := d.at(seen)
	if err != nil {
		return queue.Action{}, err
	}
	if strings.TrimSpace(text) == "" {
		return queue.Action{}, errors.New("nothing is left of it")
	}
	d.stamp++
	a.Edited = &queue.Edited{Command: text, Input: fmt.Appendf(nil, `{"command":%q}`, text), Who: "ann"}
	a.Decisions = append(a.Decisions, queue.Decision{Verb: queue.Edit})
	return *a, nil
}

func (d *fakeDesk) Rule(_ context.Context, seen queue.Action, verb, reason string) (Rule, error) {
	if strings.Contains(seen.Command, "&&") {
		return Rule{}, errors.New("it is more than one plain command")
	}
	about := ""
	if seen.Edited != nil {
		about = "It is about one of its forms."
	}
	return Rule{About: about, ID: "always-" + verb, Text: "[[rule]]\nwhy = \"" + reason + "\"\n", File: "/home/ann/rules.toml"}, nil
}

func (d *fakeDesk) Write(_ context.Context, r Rule) error { d.wrote = append(d.wrote, r); return nil }

func (d *fakeDesk) Replay(ctx context.Context, seen queue.Action, insist replay.Insist, w io.Writer, agree Agree) (replay.Result, error) {
	a, err := d.at(seen)
	if err != nil {
		return replay.Result{}, err
	}
	run := a.AsRun()
	if err := queue.MayReplay(run, insist.Again); err != nil {
		return replay.Result{}, &replay.RefusedError{Action: a.Number, Reason: err.Error(), Advice: "reject it"}
	}
	fmt.Fprintf(w, "action #%d\n\nwill run\n  1 | %s\n", a.Number, term.Quote(run.Command))
	since := d.since
	if why := d.stale[run.Command]; why != "" {
		since.Pushes = []replay.Push{{Stale: []string{why}}}
		if !insist.Anyway {
			return replay.Result{}, &replay.RefusedError{Action: a.Number, Reason: "not what was deferred", Stale: since.Stale()}
		}
	}
	yes, err := agree(ctx, run, since)
	if err != nil || !yes {
		return replay.Result{Action: *a, Declined: err == nil}, err
	}
	d.ran = append(d.ran, run.Command)
	fmt.Fprintf(w, "| output of %s\n", term.Quote(run.Command))
	d.stamp++
	a.Status = queue.Replayed
	if run.Command == d.fails {
		a.Status = queue.Failed
		a.Replay = &queue.Replay{ExitCode: 1}
		return replay.Result{Action: *a, Ran: true}, &replay.FailedError{Action: a.Number, ExitCode: 1}
	}
	return replay.Result{Action: *a, Ran: true}, nil
}

func call(n uint64, story, command string, e policy.Evidence) queue.Action {
	return queue.Action{
		ID: fmt.Sprintf("0192d3c4-0000-7000-8000-%012d", n), Number: n, Kind: queue.KindCall, Story: story, StoryTitle: "Ship it", Tool: "Bash",
		Input: fmt.Appendf(nil, `{"command":%q}`, command), Command: command, Cwd: "/repo", Rules: []string{"git-push"}, Why: "It sends commits.",
		Undo: policy.UndoNone, Tier: policy.External, Evidence: e, Status: queue.Pending, DetectedAt: testTime,
	}
}

func night() *fakeDesk {
	d := &fakeDesk{actions: []queue.Action{
		call(1, "US-1", "git push origin main", policy.Blocked),
		call(2, "US-2", "curl -d x https://example.com/"+strings.Repeat("path/", 30)+"end", policy.Blocked),
		call(3, "US-2", "npm publish", policy.Executed),
		call(4, "US-3", "words about git push", policy.Mentioned),
		call(5, "US-4", "echo "+evil+"; git push", policy.Blocked),
	}}
	q := call(6, "US-5", "SQLite or Postgres?\nBoth would do.", "")
	q.Kind, q.Tool, q.Input, q.Rules = queue.KindQuestion, "", nil, nil
	done := call(7, "US-6", "gh pr create", policy.Blocked)
	done.Status = queue.Rejected
	done.Decisions = []queue.Decision{{Verb: queue.Reject, Who: "bob", When: testTime}}
	d.actions = append(d.actions, q, done)
	return d
}

// view is a model that a test plays with.
type view struct {
	t *testing.T
	*model
	quit bool
}

func newView(t *testing.T, d Desk, width, height int, o Options) *view {
	t.Helper()
	v := &view{t: t, model: newModel(t.Context(), d, o)}
	v.later = func(after time.Duration, f func(time.Time) tea.Msg) tea.Cmd {
		if after == Every {
			return nil // the test says when
		}
		return func() tea.Msg { return f(testTime) }
	}
	v.send(tea.WindowSizeMsg{Width: width, Height: height})
	v.sized = true
	v.do(v.Init())
	t.Cleanup(v.stop)
	return v
}

func (v *view) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.QuitMsg:
		v.quit = true
	case tea.BatchMsg:
		for _, c := range msg {
			v.do(c)
		}
	default:
		v.send(msg)
	}
}

func (v *view) send(msg tea.Msg) {
	_, cmd := v.Update(msg)
	v.do(cmd)
}

var named = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace, "backspace": tea.KeyBackspace,
	"pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "end": tea.KeyEnd, "home": tea.KeyHome, "left": tea.KeyLeft, "up": tea.KeyUp, "down": tea.KeyDown,
}

// press gives keys: names of keys, or texts that are typed.
func (v *view) press(keys ...string) {
	v.t.Helper()
	for _, k := range keys {
		if code, ok := named[k]; ok {
			text := ""
			if k == "space" {
				text = " "
			}
			v.send(tea.KeyPressMsg{Code: code, Text: text})
			continue
		}
		if letter, ok := strings.CutPrefix(k, "ctrl+"); ok {
			v.send(tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl})
			continue
		}
		for _, r := range k {
			v.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

func (v *view) screen() string {
	text, _ := v.render()
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

func (v *view) wants(texts ...string) {
	v.t.Helper()
	for _, text := range texts {
		if !strings.Contains(v.screen(), text) {
			v.t.Errorf("no %q on the screen:\n%s", text, v.screen())
		}
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

// The screens, as they are drawn.
func TestScreens(t *testing.T) {
	for _, tt := range []struct {
		name          string
		width, height int
		keys          []string
		o             Options
	}{
		{"list-80x24", 80, 24, nil, Options{}},
		{"list-120x40", 120, 40, nil, Options{}},
		{"list-200x50", 200, 50, []string{"j", "j"}, Options{}},
		{"color-80x24", 80, 24, nil, Options{Color: true}},
		{"hostile-80x24", 80, 24, []string{"G", "k"}, Options{}},
		{"question-120x40", 120, 40, []string{"G"}, Options{}},
		{"marked-120x40", 120, 40, []string{"j", "m", "m"}, Options{}},
		{"zoomed-80x24", 80, 24, []string{"j", "z"}, Options{}},
		{"help-80x24", 80, 24, []string{"?"}, Options{}},
		{"search-80x24", 80, 24, []string{"/", "git push"}, Options{}},
		{"none-80x24", 80, 24, []string{"/", "no such thing", "enter"}, Options{}},
		{"decided-80x24", 80, 24, []string{"tab", "tab", "tab"}, Options{}},
		{"reason-80x24", 80, 24, []string{"r", "the number is invented"}, Options{}},
		{"answer-80x24", 80, 24, []string{"G", "enter", "SQLite,", "ctrl+j", "and keep it in one file"}, Options{}},
		{"edit-80x24", 80, 24, []string{"G", "k", "e"}, Options{}},
		{"ask-80x24", 80, 24, []string{"j", "a"}, Options{}},
		{"ran-80x24", 80, 24, []string{"j", "a", "y"}, Options{}},
		{"batch-80x24", 80, 24, []string{"j", "m", "m", "a"}, Options{}},
		{"rule-80x24", 80, 24, []string{"j", "N", "not from here", "enter"}, Options{}},
		{"agent-80x24", 80, 24, []string{"a"}, Options{ReadOnly: "CLAUDECODE is set"}},
		{"tiny", 20, 5, nil, Options{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := newView(t, night(), tt.width, tt.height, tt.o)
			v.press(tt.keys...)
			got := v.screen()
			if !tt.o.Color && term.QuoteLines(got) != got {
				t.Errorf("raw text is drawn:\n%q", got)
			}
			golden(t, tt.name, got)
		})
	}
}

// Every screen has as many lines as the terminal, and none is wider.
func TestScreensFit(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {99, 11}, {100, 24}, {120, 40}, {200, 12}} {
		for _, keys := range [][]string{nil, {"?"}, {"z"}, {"r", strings.Repeat("long ", 80)}, {"/", "x"}, {"j", "a"}, {"j", "j", "a"}, {"m", "m", "m", "a"}, {"A"}, {"u"}} {
			v := newView(t, night(), size[0], size[1], Options{})
			v.press(keys...)
			text, _ := v.render()
			lines := strings.Split(text, "\n")
			if len(lines) != size[1] {
				t.Errorf("%v %q: %d lines", size, keys, len(lines))
			}
			for _, l := range lines {
				if n := term.Cells(l); n > size[0] {
					t.Errorf("%v %q: %d cells: %q", size, keys, n, l)
				}
			}
		}
	}
}
