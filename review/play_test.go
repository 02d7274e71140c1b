package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

// Nothing runs before a yes, and a yes counts once every line was on the screen.
func TestNothingRunsThatWasNotOnTheScreen(t *testing.T) {
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("echo %d", i))
	}
	d := &fakeDesk{actions: []queue.Action{call(1, "US-1", strings.Join(lines, "\\n"), policy.Blocked)}}
	d.actions[0].Input, d.actions[0].Command = nil, strings.Join(lines, "\n")
	v := newView(t, d, 80, 24, Options{})
	d.actions[0].Command = strings.Join(lines, "\n")
	v.press("a")
	v.page.set(strings.Join(lines, "\n")) // the fake desk shows one line
	v.page.scroll(0)
	v.wants("run these 100 lines?", "80 not seen yet", "lines 1 to 20 of 100")
	v.press("y")
	v.wants("80 of 100 lines have not been on the screen yet: space shows them")
	v.press("end", "y")
	v.wants("60 of 100 lines have not been on the screen yet")
	v.send(tea.WindowSizeMsg{Width: 60, Height: 24})
	v.press("y")
	v.wants("60 of 100 lines")
	v.press("space", "space", "space")
	if len(d.ran) > 0 || v.mode != asking {
		t.Fatalf("it ran: %q", d.ran)
	}
	v.wants("y yes   n no")
	v.press("y")
	if len(d.ran) != 1 || d.actions[0].Status != queue.Replayed {
		t.Errorf("after a yes: ran %q, %s", d.ran, d.actions[0].Status)
	}
	v.wants("| output of", "#1 replayed; press enter")
	v.press("enter")
	v.wants("Nothing waits for you.")
}

func TestANoRunsNothing(t *testing.T) {
	for _, no := range []string{"n", "q", "esc"} {
		d := night()
		v := newView(t, d, 80, 24, Options{})
		v.press("j", "a", no)
		v.wants("nothing was done", "> #1 blocked")
		if len(d.ran) > 0 || v.quit || v.job != nil {
			t.Errorf("%s: ran %q, quit %v", no, d.ran, v.quit)
		}
	}
}

// What got out already is run once more only after a word.
func TestAgainNeedsTheWord(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{})
	v.press("a", "y")
	v.wants("It has run before, or may have.", "type again:")
	v.press("y", "enter")
	v.wants("nothing was done")
	v.press("a", "y", "again", "enter")
	if diff := cmp.Diff([]string{"npm publish"}, d.ran); diff != "" {
		t.Errorf("ran:\n%s", diff)
	}
}

func TestRejectAndUndo(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{})
	v.press("j", "r", "invented", "enter")
	if a := d.actions[0]; a.Status != queue.Rejected || a.Decisions[0].Reason != "invented" {
		t.Fatalf("%+v", a)
	}
	v.wants("rejected #1; u takes it back", "4 wait", "> #2")
	v.press("u")
	if a := d.actions[0]; a.Status != queue.Pending || len(a.Decisions) != 2 {
		t.Fatalf("%+v", a)
	}
	v.wants("taken back: #1 waits again", "5 wait")
	v.press("u")
	v.wants("nothing to take back")
	v.press("tab", "tab", "tab") // decided ones
	v.wants("> #7 rejected")
	v.press("u")
	if d.actions[6].Status != queue.Pending {
		t.Error("one that was rejected before the view was opened cannot be taken back")
	}
	v.press("r", "esc")
	if d.actions[6].Status != queue.Pending {
		t.Error("esc rejects")
	}
}

// Of two people at once, the second is told, and nothing is decided twice.
func TestSomebodyElseIsQuicker(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{})
	v.press("j")
	other := func() {
		d.actions[0].Status = queue.Rejected
		d.actions[0].Decisions = []queue.Decision{{Verb: queue.Reject, Who: "bob", When: testTime}}
	}
	v.press("r", "no")
	other()
	v.press("enter")
	v.wants("nothing done: #1 is rejected by now (reject by bob at 07:00:00)", "4 wait")
	if n := len(d.actions[0].Decisions); n != 1 {
		t.Errorf("%d decisions", n)
	}
	d = night()
	v = newView(t, d, 80, 24, Options{})
	v.press("j")
	d.actions[0].Status = queue.Rejected
	v.press("a")
	v.wants("nothing done: #1 is rejected by now")
	if len(d.ran) > 0 {
		t.Errorf("ran %q", d.ran)
	}
}

// An answer that somebody else was quicker with is not lost, and takes the place of
// theirs only when it is given once more.
func TestAnAnswerIsNotLost(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{})
	v.press("G", "enter", "SQLite, because it is there")
	q := &d.actions[5]
	q.Status, q.Decisions = queue.Answered, []queue.Decision{{Verb: queue.Answer, Who: "bob", When: testTime, Reason: "Postgres"}}
	v.press("enter")
	v.wants("#6 is answered by now (answer by bob at 07:00:00); tab, e: what you wrote")
	v.press("enter")
	if q.AnswerText() != "Postgres" {
		t.Fatalf("answered %q", q.AnswerText())
	}
	v.press("esc", "tab", "tab")
	v.wants("questions, 1 of 1")
	v.press("e")
	v.wants("answered, by somebody else: Postgres", "SQLite, because it is there")
	v.press("enter")
	if q.AnswerText() != "SQLite, because it is there" || len(q.Decisions) != 2 {
		t.Errorf("answered %q, %d decisions", q.AnswerText(), len(q.Decisions))
	}
}

// The queue is read again when it has changed, and the cursor stays.
func TestARunAddsToTheQueue(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{})
	v.press("j", "j")
	v.wants("> #2")
	got := call(8, "US-9", "docker push x", policy.Executed)
	d.actions = append(d.actions, got)
	v.send(tickMsg{})
	v.wants("5 wait")
	d.stamp++
	v.send(tickMsg{})
	v.wants("6 wait", "> #2", "  #8 GOT OUT")
}

// One that somebody else replays may die with its terminal, which writes nothing.
func TestADeadReplayIsSeen(t *testing.T) {
	d := night()
	d.actions[0].Status = queue.Replaying
	v := newView(t, d, 80, 24, Options{})
	v.wants("4 wait")
	d.actions[0].Status = queue.Unknown
	v.send(tickMsg{})
	v.wants("5 wait", "#1 unknown")
}

// A batch is run in the order of the queue, whatever order it was marked in, and
// stops at the first that fails.
func TestBatch(t *testing.T) {
	d := night()
	d.actions[2].Evidence = policy.Blocked // npm publish
	d.fails = d.actions[1].Command
	v := newView(t, d, 80, 24, Options{})
	v.press("j", "j", "m", "k", "k", "m", "k", "k", "m")
	v.wants("3 marked")
	v.press("a")
	v.wants("3 actions, in this order:")
	if len(d.ran) > 0 {
		t.Fatalf("ran before a yes: %q", d.ran)
	}
	v.press("space", "space", "y")
	if diff := cmp.Diff([]string{d.actions[0].Command, d.actions[1].Command}, d.ran); diff != "" {
		t.Errorf("ran:\n%s", diff)
	}
	v.wants("stopped: 1 of 3 were not run and still wait", "#2 failed: exit 1")
	v.press("enter")
	if d.actions[2].Status != queue.Pending {
		t.Errorf("the one behind the failure is %s", d.actions[2].Status)
	}
	v.wants("1 marked")
}

func TestABatchWithOneThatCannotBeRun(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{})
	v.press("m", "m", "a") // what got out, and a push
	v.wants("1 of them cannot be run; nothing was run")
	if len(d.ran) > 0 {
		t.Errorf("ran %q", d.ran)
	}
	v.press("enter")
	v.press("r", "all of it", "enter")
	for _, i := range []int{0, 2} {
		if a := d.actions[i]; a.Status != queue.Rejected || a.Decisions[0].Reason != "all of it" {
			t.Errorf("#%d: %s", a.Number, a.Status)
		}
	}
}

// What is not what was deferred is named apart, and run when it was taken in by
// a key.
func TestABatchLeavesOutWhatHasChanged(t *testing.T) {
	begin := func(commands ...int) (*fakeDesk, *view) {
		d := night()
		d.actions[2].Evidence = policy.Blocked // npm publish
		d.stale = map[string]string{"git push origin main": "main is \x1b gone"}
		v := newView(t, d, 80, 40, Options{})
		for _, i := range commands {
			v.marks[d.actions[i].ID] = true
		}
		v.press("a")
		return d, v
	}
	d, v := begin(0, 2)
	v.wants("not what was deferred: left out, unless you take it in (i)", "  #1  git push origin main", `!! main is \x1b gone`, "run 1 of 2, until one fails?  y yes   n no   i with #1")
	v.press("i")
	v.wants("run all 2, until one fails, also #1?  y yes   n no   i without #1")
	v.press("i", "y")
	v.wants("all 1 replayed; #1 left out, not what was deferred")
	if diff := cmp.Diff([]string{"npm publish"}, d.ran); diff != "" || d.actions[0].Status != queue.Pending {
		t.Errorf("ran:\n%s, %s", diff, d.actions[0].Status)
	}
	d, v = begin(0, 2)
	v.press("i", "y")
	if diff := cmp.Diff([]string{"git push origin main", "npm publish"}, d.ran); diff != "" {
		t.Errorf("ran, when it was taken in:\n%s", diff)
	}
	// It has changed once more since it was taken in.
	d, v = begin(0, 2)
	v.press("i")
	d.stale["git push origin main"] = "the remote has moved"
	v.press("y")
	v.wants("has changed otherwise than was shown")
	if len(d.ran) > 0 {
		t.Errorf("ran %q", d.ran)
	}
	// The others have changed while the question stood.
	d, v = begin(0, 2)
	d.stale["npm publish"] = "something"
	v.press("y")
	if len(d.ran) > 0 {
		t.Errorf("ran %q", d.ran)
	}
	// Only once the reasons have been on the screen.
	d, v = begin(0, 2)
	v.send(tea.WindowSizeMsg{Width: 80, Height: 12})
	v.page.set(v.page.text)
	v.page.scroll(0)
	v.press("i")
	v.wants("lines have not been on the screen yet")
	v.press("end", "space", "space", "space", "y")
	if diff := cmp.Diff([]string{"npm publish"}, d.ran); diff != "" {
		t.Error(diff)
	}
	d, v = begin(0)
	v.wants("nothing to run: all have changed.")
	v.press("y")
	v.wants("nothing would be run: i takes in what has changed")
	if v.mode != asking || len(d.ran) > 0 {
		t.Errorf("ran %q", d.ran)
	}
	v.press("n")
	v.wants("nothing was done")
}

// A push that is not what was deferred needs a word too.
func TestAStalePushNeedsTheWord(t *testing.T) {
	d := night()
	d.since.Pushes = []replay.Push{{Stale: []string{"main is gone"}}}
	v := newView(t, d, 80, 24, Options{})
	v.press("j", "a", "y")
	v.wants("The push is not what was deferred.", "type anyway:")
	v.press("esc")
	v.wants("run it?")
	v.press("y", "anyway", "enter")
	if len(d.ran) != 1 {
		t.Errorf("ran %q", d.ran)
	}
}

// One word does not stand for the other.
func TestAgainAndAnywayNeedBothWords(t *testing.T) {
	d := night()
	d.since.Pushes = []replay.Push{{Stale: []string{"main is gone"}}}
	v := newView(t, d, 80, 24, Options{})
	for _, word := range []string{"again", "anyway"} {
		v.press("a", "y")
		v.wants("type again anyway:")
		v.press(word, "enter")
		v.wants("nothing was done")
	}
	v.press("a", "y", "again anyway", "enter")
	if len(d.ran) != 1 {
		t.Errorf("ran %q", d.ran)
	}
}

// What is no longer as it was listed is not run.
func TestABatchRunsOnlyWhatItListed(t *testing.T) {
	for name, change := range map[string]func(*fakeDesk){
		"head":    func(d *fakeDesk) { d.since.Head = "2222" },
		"file":    func(d *fakeDesk) { d.since.Files = []replay.FileChange{{Path: "x", Modified: testTime}} },
		"command": func(d *fakeDesk) { d.actions[0].Command = "rm -rf ~" },
		"status":  func(d *fakeDesk) { d.actions[0].Status = queue.Rejected },
	} {
		t.Run(name, func(t *testing.T) {
			d := night()
			v := newView(t, d, 80, 40, Options{})
			v.press("j", "m", "m", "a")
			v.wants("run all 2, until one")
			change(d)
			v.press("y")
			if len(d.ran) > 0 {
				t.Errorf("ran %q", d.ran)
			}
		})
	}
}

// An edit keeps both forms, and is shown as any other before it runs.
func TestEdit(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{})
	v.press("j", "e", "backspace", "backspace", "backspace", "backspace", "topic", "enter")
	v.wants("1 | git push origin topic", "run it?")
	v.press("n")
	v.wants("edited", "1 | git push origin topic", "1 | git push origin main", "edited by ann; the agent's own:")
	v.press("e", "enter", "y")
	if diff := cmp.Diff([]string{"git push origin topic"}, d.ran); diff != "" {
		t.Errorf("ran:\n%s", diff)
	}
	v.press("enter", "e", "ctrl+u", "enter")
	v.wants("nothing is left of it", "Edit what #2 would run")
	v.press("esc")
	if v.mode != listing || d.actions[1].Edited != nil {
		t.Error("esc does not leave it as it was")
	}
}

func TestAnswer(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{})
	v.press("G", "a", "enter")
	v.wants("an empty answer; nothing was done")
	v.press("enter", "SQLite", "enter")
	if a := d.actions[5]; a.Status != queue.Answered || a.AnswerText() != "SQLite" {
		t.Errorf("%s %q", a.Status, a.AnswerText())
	}
	v.press("u")
	if d.actions[5].Status != queue.Pending {
		t.Error("an answer cannot be taken back")
	}
	d.actions[5].Checkpoint = queue.CheckpointAfter
	v.send(actionsMsg{actions: slices.Clone(d.actions)})
	v.press("G", "a")
	if d.actions[5].Status != queue.Answered {
		t.Error("a checkpoint is not let go on by a")
	}
}

// A rule is shown before it is written, and a refusal for good rejects too.
func TestRule(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{})
	v.press("j", "A")
	v.wants("[[rule]]", "/home/ann/rules.toml", "write it?")
	v.press("n")
	if len(d.wrote) > 0 {
		t.Fatal("it is written after a no")
	}
	v.press("A", "y")
	v.wants("written: always-approve")
	if len(d.wrote) != 1 || d.actions[0].Status != queue.Pending || len(d.ran) > 0 {
		t.Errorf("wrote %v, ran %q, %s", d.wrote, d.ran, d.actions[0].Status)
	}
	v.press("enter", "N", "not from here", "enter", "y", "enter")
	if len(d.wrote) != 2 || d.actions[0].Status != queue.Rejected {
		t.Errorf("wrote %v, %s", d.wrote, d.actions[0].Status)
	}
	v.press("e", "backspace", "enter", "n", "A")
	v.wants("It is about one of its forms.", "write it?")
	v.press("n")
	d.actions[1].Command = "a && b"
	v.send(actionsMsg{actions: slices.Clone(d.actions)})
	v.press("A")
	v.wants("more than one plain command")
}

// In an agent's session no key decides anything.
func TestOnlyToRead(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{ReadOnly: "CLAUDECODE is set"})
	for _, k := range []string{"a", "r", "e", "A", "N", "u", "enter"} {
		v.press(k)
		if v.mode != listing && v.mode != zoomed || !strings.Contains(v.screen(), "CLAUDECODE is set") && k != "u" {
			t.Errorf("%s: mode %d\n%s", k, v.mode, v.screen())
		}
		v.mode = listing
	}
	v.press("m", "a")
	for i, a := range d.actions[:6] {
		if a.Status != queue.Pending || len(d.ran)+len(d.wrote) > 0 {
			t.Errorf("action %d is %s, ran %q", i, a.Status, d.ran)
		}
	}
}

func TestKeys(t *testing.T) {
	v := newView(t, night(), 120, 30, Options{})
	for _, tt := range []struct{ key, want string }{
		{"j", "> #1"}, {"space", "> #2"}, {"s", "> #5"}, {"k", "> #2"}, {"G", "> #6"}, {"n", "that was the last; 5 wait"}, {"g", "> #3"},
		{"f", "executed, 1 of 1"}, {"tab", "questions, 1 of 1"}, {"f", "decided, 1 of 1"}, {"f", "mentions, 1 of 1"}, {"f", "all, "}, {"f", "waiting, "},
		{"?", "Without this view: loop list"}, {"x", "waiting, "}, {"x", "1 marked"}, {"esc", "waiting, "}, {"z", "z back"}, {"z", "waiting, "},
	} {
		v.press(tt.key)
		v.wants(tt.want)
	}
	v.press("/", "us-2 pub", "enter")
	v.wants("waiting, 1 of 1", "/us-2 pub", "> #3")
	v.press("/", "zzz", "esc")
	v.wants("/us-2 pub")
	v.press("esc")
	v.wants("of 5")
	if v.press("q"); !v.quit {
		t.Error("q does not quit")
	}
}

// What takes time is looked up of the action on which the cursor rests, and what
// comes too late is dropped.
func TestPartsAreLookedUpAtRest(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{})
	var rests []tea.Msg
	v.later = func(_ time.Duration, f func(time.Time) tea.Msg) tea.Cmd {
		rests = append(rests, f(testTime))
		return nil
	}
	d.asked = nil
	v.press("j", "j", "j")
	if len(d.asked) > 0 {
		t.Errorf("looked up while moving: %q", d.asked)
	}
	for _, r := range rests {
		v.send(r)
	}
	if diff := cmp.Diff([]string{"#5"}, d.asked); diff != "" {
		t.Errorf("looked up:\n%s", diff)
	}
	v.send(partMsg{turn: v.detail.turn - 1, part: 0, rows: []row{{text: "of another"}}})
	if strings.Contains(v.screen(), "of another") {
		t.Error("what was looked up of another action is shown")
	}
}

// M takes all that are listed and alike, and nothing that is not on the list.
func TestMarkAllOfAKind(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{})
	v.press("j", "M")
	v.wants("3 of this kind marked: r rejects them", "3 marked", "*#1", "*#2", "*#5")
	v.press("M")
	v.wants("3 of this kind unmarked")
	if len(v.marks) > 0 {
		t.Errorf("marked: %v", v.marks)
	}
	v.press("/", "push", "enter", "M")
	v.wants("2 of this kind marked")
	v.press("r", "twice", "enter")
	for i, want := range []queue.Status{queue.Rejected, queue.Pending, queue.Pending, queue.Pending, queue.Rejected, queue.Pending, queue.Rejected} {
		if got := d.actions[i].Status; got != want {
			t.Errorf("#%d is %s, want %s", i+1, got, want)
		}
	}
	v.press("esc", "tab", "tab", "tab", "M")
	v.wants("it is decided")
}

func TestNothingIsMarkedBeforeAllIsRead(t *testing.T) {
	d := night()
	v := newView(t, d, 80, 24, Options{})
	v.known = false
	v.press("M")
	v.wants("the queue is still being read")
	if len(v.marks) > 0 {
		t.Errorf("marked: %v", v.marks)
	}
}
