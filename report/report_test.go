package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

var (
	sgr       = regexp.MustCompile("\x1b\\[[0-9;]*m")
	storyForm = regexp.MustCompile(`(?m)^Story #\S+ \[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\]: `)
)

// everything is all that the package prints of each night, by night and by
// name of the output. It is made once: several tests look at it.
var everything = sync.OnceValues(func() (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	for night, d := range nights() {
		all[night] = map[string]string{}
		for name, print := range prints(d) {
			var b bytes.Buffer
			if err := print(&b); err != nil {
				return nil, fmt.Errorf("%s %s: %w", night, name, err)
			}
			all[night][name] = b.String()
		}
	}
	return all, nil
})

func outputs(t *testing.T) map[string]map[string]string {
	t.Helper()
	all, err := everything()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// prints is every way to print a snapshot.
func prints(d queue.Snapshot) map[string]func(io.Writer) error {
	out := map[string]func(io.Writer) error{
		"json":         func(w io.Writer) error { return JSON(w, d, Options{}) },
		"export-json":  func(w io.Writer) error { return Export(w, d.Actions, d.Session.ID, "json", Options{}) },
		"export-state": func(w io.Writer) error { return Export(w, d.Actions, d.Session.ID, "state", Options{}) },
	}
	for _, width := range []int{0, 40, 80, 200} {
		for _, color := range []bool{false, true} {
			o := options(width, color)
			o.Said = saidIn(d)
			all := o
			all.All = true
			name := fmt.Sprintf("-%d-color=%v", width, color)
			out["terminal"+name] = func(w io.Writer) error { return Terminal(w, d, o) }
			out["terminal-all"+name] = func(w io.Writer) error { return Terminal(w, d, all) }
			out["list"+name] = func(w io.Writer) error { return List(w, d.Actions, o) }
			maps.Copy(out, receiptPrints(d, name, o))
			for i, a := range d.Actions {
				out[fmt.Sprintf("show%d%s", i, name)] = func(w io.Writer) error { return Show(w, a, o) }
			}
		}
	}
	return out
}

func TestNoOutputHoldsWhatCannotBeSeen(t *testing.T) {
	for night, outs := range outputs(t) {
		for name, out := range outs {
			if strings.HasSuffix(name, "color=true") {
				out = sgr.ReplaceAllString(out, "")
			}
			if !utf8.ValidString(out) {
				t.Errorf("%s %s: invalid UTF-8", night, name)
			}
			for _, r := range out {
				if r != '\n' && (unicode.IsControl(r) || !term.Visible(r)) {
					t.Errorf("%s %s: holds %U", night, name, r)
					break
				}
			}
		}
	}
}

func TestNoOutputHoldsASecret(t *testing.T) {
	for name, out := range outputs(t)["hostile"] {
		if strings.Contains(out, "abcdef0123456789") {
			t.Errorf("%s shows the secret", name)
		}
	}
	var b bytes.Buffer
	a := queue.Action{Input: json.RawMessage(`{"headers":{"api_token":"abcdef0123456789"}}`)}
	if err := Show(&b, a, Options{}); err != nil || strings.Contains(b.String(), "0123456789") {
		t.Errorf("%v, or a secret field is shown:\n%s", err, b.String())
	}
}

func TestColourOnlyAddsColour(t *testing.T) {
	for night, out := range outputs(t) {
		for name, coloured := range out {
			plain, ok := out[strings.Replace(name, "color=true", "color=false", 1)]
			if ok && sgr.ReplaceAllString(coloured, "") != plain {
				t.Errorf("%s %s: the text differs with colour", night, name)
			}
			if strings.HasSuffix(name, "color=false") && strings.Contains(coloured, "\x1b") {
				t.Errorf("%s %s: an escape without colour", night, name)
			}
		}
	}
}

func TestNothingIsWiderThanTheTerminal(t *testing.T) {
	for night, d := range nights() {
		for _, o := range []Options{{Width: 40}, {Width: 80}, {Width: 120}, {Width: 200}, {Width: 80, All: true}} {
			width := o.Width
			for l := range strings.Lines(string(terminal(t, d, o))) {
				l = strings.TrimRight(l, "\n")
				if strings.HasPrefix(l, "/") || strings.HasPrefix(l, "Session 0") {
					continue // a folder or an id to copy is never cut
				}
				if width == 40 && strings.HasPrefix(l, `Story #\x1b`) {
					continue // the form of the line wants more with a long id
				}
				if term.Cells(l) > width {
					t.Errorf("%s at %d columns: %d cells: %s", night, width, term.Cells(l), l)
				}
			}
		}
	}
}

func TestAgentTextCannotForgeStoryLines(t *testing.T) {
	for name, out := range outputs(t)["hostile"] {
		if !strings.HasPrefix(name, "terminal") {
			continue
		}
		want := 3
		if strings.HasPrefix(name, "terminal-all") {
			want = 4 // and the mention
		}
		if got := len(storyForm.FindAllString(sgr.ReplaceAllString(out, ""), -1)); got != want {
			t.Errorf("%s: %d story lines, want %d", name, got, want)
		}
	}
}

func TestBlockOfActionsHasItsFixedForm(t *testing.T) {
	d := queue.Snapshot{Actions: []queue.Action{
		{Number: 12, Story: "3", Command: "git push origin main", Evidence: policy.Blocked, Status: queue.Pending,
			DetectedAt: time.Date(2026, 2, 23, 9, 15, 0, 999, time.FixedZone("CET", 3600))},
		{Number: 13, Story: "3", Command: "git push", Evidence: policy.Mentioned, Status: queue.Pending},
	}}
	out := string(terminal(t, d, Options{}))
	want := "DEFERRED ACTIONS REQUIRE REVIEW\n1 external command(s) detected.\n\nStory #3 [2026-02-23T08:15:00Z]: git push origin main\n"
	if !strings.Contains(out, want) {
		t.Errorf("no\n%s\nin\n%s", want, out)
	}
	if !strings.Contains(out, "1 mention(s) folded; loop report --all shows them\n") {
		t.Errorf("mentions not counted in\n%s", out)
	}
	if !strings.Contains(out, "loop show 12 · loop approve 12 · loop reject 12\n") {
		t.Errorf("no hint in\n%s", out)
	}
}

func TestWhatHasRunIsNotOfferedForApproval(t *testing.T) {
	d := queue.Snapshot{Actions: []queue.Action{{Number: 4, Evidence: policy.Executed, Status: queue.Pending, Command: "git push"}}}
	if out := string(terminal(t, d, Options{})); strings.Contains(out, "approve") || !strings.Contains(out, "loop show 4 · loop reject 4") {
		t.Errorf("wrong hint:\n%s", out)
	}
}

func TestGraverEvidenceComesFirst(t *testing.T) {
	out := string(terminal(t, badNight(), options(80, false)))
	last := -1
	for _, n := range []string{"#3 executed (ok)", "#1 blocked ×3", "#2 blocked", "#4 written"} {
		i := strings.Index(out, n)
		if i <= last {
			t.Errorf("%s is missing or too early in\n%s", n, out)
		}
		last = i
	}
}

func TestLongCommandKeepsItsEnd(t *testing.T) {
	long := "git add -A && git commit -m '" + strings.Repeat("words of a long message ", 40) + "' && git push --force origin main"
	d := queue.Snapshot{Actions: []queue.Action{{Number: 1, Story: "1", Command: long, Status: queue.Pending, Evidence: policy.Blocked}}}
	if out := string(terminal(t, d, options(80, false))); !strings.Contains(out, "… && git push --force origin main\n") {
		t.Errorf("the push is not shown:\n%s", out)
	}
	if out := string(terminal(t, d, options(0, false))); !strings.Contains(out, "]: "+long+"\n") {
		t.Errorf("the command is cut in a pipe:\n%s", out)
	}
	o := options(80, false)
	o.All = true
	if out := string(terminal(t, d, o)); !strings.Contains(strings.ReplaceAll(out, "\n  ", " "), "]: "+long) {
		t.Errorf("the command is cut with All:\n%s", out)
	}
}

func TestWaiting(t *testing.T) {
	external, mentions := Waiting(badNight())
	if external != 4 || mentions != 2 {
		t.Errorf("got %d and %d, want 4 and 2", external, mentions)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken pipe")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteErrorsComeBack(t *testing.T) {
	d := badNight()
	for name, err := range map[string]error{
		"terminal": Terminal(brokenWriter{}, d, options(80, false)),
		"list":     List(brokenWriter{}, d.Actions, options(80, false)),
		"show":     Show(brokenWriter{}, d.Actions[0], options(80, false)),
		"json":     JSON(brokenWriter{}, d, Options{}),
		"export":   Export(brokenWriter{}, d.Actions, "s", "state", Options{}),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestHeadline(t *testing.T) {
	base := func(change func(*queue.Snapshot)) queue.Snapshot {
		d := goodNight()
		change(&d)
		return d
	}
	tests := []struct {
		name  string
		d     queue.Snapshot
		alive bool
		want  string
	}{
		{"auth", base(func(d *queue.Snapshot) { d.Session.StopKind = queue.Auth }), false, "STOPPED EARLY: the client is not logged in"},
		{"limit without a time", base(func(d *queue.Snapshot) { d.Session.StopKind = queue.Limit }), false, "STOPPED EARLY: usage limit, and no reset time was given.\n"},
		{"limit over", base(func(d *queue.Snapshot) {
			d.Session.StopKind, d.Session.ResetsAt = queue.Limit, morning.Add(-time.Hour)
		}), false, "STOPPED EARLY: usage limit, reset at 30 Nov 06:00: loop run can go on now.\n"},
		{"interrupted", base(func(d *queue.Snapshot) { d.Session.StopKind = queue.Interrupted }), false, "STOPPED EARLY: interrupted.\n"},
		{"unguarded", base(func(d *queue.Snapshot) {
			d.Session.StopKind, d.Session.Stopped = queue.Unguarded, "no handshake"
		}), false, "UNGUARDED: the firewall was not live for a part of this session.\n  no handshake\n"},
		{"credit", base(func(d *queue.Snapshot) { d.Session.StopKind, d.Session.StopCause = queue.Limit, queue.Credit }), false, "STOPPED EARLY: credit used up.\n"},
		{"a week's limit", base(func(d *queue.Snapshot) {
			d.Session.StopKind, d.Session.StopCause, d.Session.ResetsAt = queue.Limit, queue.WeeklyLimit, morning.Add(50*time.Hour)
		}), false, "STOPPED EARLY: weekly limit, resets 2 Dec 09:00 (in 2d02h).\n"},
		{"budget", base(func(d *queue.Snapshot) { d.Session.StopKind = queue.Budget }), false, "STOPPED EARLY: the cap of this session is reached.\n"},
		{"outage", base(func(d *queue.Snapshot) { d.Session.StopKind = queue.Outage }), false, "STOPPED EARLY: the provider could not be reached, or failed.\n"},
		{"blocked", base(func(d *queue.Snapshot) { d.Session.StopKind = queue.Blocked }), false, "STOPPED EARLY: one story after the other got nowhere.\n"},
		{"waited", base(func(d *queue.Snapshot) {
			d.Session.Waits = []queue.Wait{{From: morning, Until: morning, Ended: morning.Add(2 * time.Hour), Cause: queue.FiveHourLimit}, {From: morning, Ended: morning.Add(10 * time.Minute)}}
		}), false, "29 Nov 23:10 – 30 Nov 06:12 · 7h02m · $2.67 · waited 2h10m for a usage limit\n"},
		{"waits", base(func(d *queue.Snapshot) {
			d.Session.Ended, d.Session.Waits = time.Time{}, []queue.Wait{{From: morning, Until: morning.Add(time.Hour), Cause: queue.Network}}
		}), true, "Still running since 29 Nov 23:10 (pid 4711) · $2.67\nwaiting until 30 Nov 08:00 for an outage\n"},
		{"other reason", base(func(d *queue.Snapshot) { d.Session.Stopped = "disk full" }), false, "STOPPED EARLY.\n  disk full\n"},
		{"died", base(func(d *queue.Snapshot) { d.Session.Ended = time.Time{} }), false, "LOOP DIED: this session has no end record"},
		{"running", base(func(d *queue.Snapshot) { d.Session.Ended = time.Time{} }), true, "Still running since 29 Nov 23:10 (pid 4711)"},
		{"day", base(func(d *queue.Snapshot) {
			d.Session.Started, d.Session.Ended = morning.Add(3*time.Hour), morning.Add(4*time.Hour)
		}), false, "30 Nov 10:00 – 11:00 · 1h00m ·"},
		{"scan only", queue.Snapshot{Session: queue.Session{ID: "abc"}, Actions: badActions()[:1]}, false, "Session abc: no run, its actions come from a scan"},
		{"nothing", queue.Snapshot{}, false, "Nothing is recorded yet\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(80, false)
			o.Alive = tt.alive
			out, _, _ := strings.Cut(string(terminal(t, tt.d, o)), "DEFERRED")
			if !strings.Contains("\n"+out, "\n"+tt.want) {
				t.Errorf("got\n%s\nwant in it\n%s", out, tt.want)
			}
		})
	}
}

func TestExportStateIsExact(t *testing.T) {
	var b bytes.Buffer
	actions := []queue.Action{
		{Command: "git push && echo <done>", Story: "3", DetectedAt: time.Date(2026, 2, 23, 8, 15, 0, 5, time.UTC), Status: queue.Pending},
		{Command: "decided", Status: queue.Rejected},
		{Command: "done", Status: queue.Replayed},
	}
	if err := Export(&b, actions, "s1", "state", Options{}); err != nil {
		t.Fatal(err)
	}
	want := `{
  "session_id": "s1",
  "deferred_actions": [
    {
      "command_pattern": "git push && echo <done>",
      "story_id": "3",
      "detected_at": "2026-02-23T08:15:00Z"
    }
  ]
}
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := Export(&b, nil, "s1", "state", Options{}); err != nil || !strings.Contains(b.String(), `"deferred_actions": []`) {
		t.Errorf("no actions: %v, %s", err, b.String())
	}
	if err := Export(&b, nil, "s1", "xml", Options{}); err == nil {
		t.Error("an unknown format is accepted")
	}
}

func TestJSONReadsBack(t *testing.T) {
	for night, d := range nights() {
		var b bytes.Buffer
		if err := JSON(&b, d, Options{}); err != nil {
			t.Fatal(err)
		}
		var doc Document
		if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatalf("%s: %v", night, err)
		}
		external, mentions := Waiting(d)
		if doc.Schema != 1 || doc.Counts.Waiting != external || doc.Counts.Mentions != mentions || len(doc.Actions) != len(d.Actions) {
			t.Errorf("%s: %+v", night, doc.Counts)
		}
	}
}

func TestSafeJSONKeepsTheText(t *testing.T) {
	in := "a\x1b[2J\u202e\U000e0041 \"q\" \\ </script> 世界\n\t\u2028"
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	safe := safeJSON(raw, term.Masker{})
	want := `"a\u001b[2J\u202e\udb40\udc41 \"q\" \\ </script> 世界\n\t\u2028"`
	if string(safe) != want {
		t.Errorf("got %s, want %s", safe, want)
	}
	var back string
	if err := json.Unmarshal(safe, &back); err != nil || back != in {
		t.Errorf("reads back as %q, %v", back, err)
	}
}

// What reached for the guard is told apart from what was stopped, and is not
// what the report offers for approval.
func TestTamperingIsToldApart(t *testing.T) {
	d := queue.Snapshot{Actions: []queue.Action{
		{Number: 1, Evidence: policy.Blocked, Status: queue.Pending, Command: "git push"},
		{Number: 2, Evidence: policy.Blocked, Status: queue.Pending, Command: "kill $PPID", Tampering: true, Rules: []string{"guard-process"}},
		{Number: 3, Evidence: policy.Executed, Status: queue.Pending, Command: "npm publish"},
	}}
	out := string(terminal(t, d, Options{}))
	last := -1
	for _, want := range []string{"3 actions wait, 1 of them already ran, 1 is tampering", "npm publish", "git push", "What touched the guard", "kill $PPID", "loop approve 1"} {
		i := strings.Index(out, want)
		if i <= last {
			t.Errorf("%q is missing or too early in\n%s", want, out)
		}
		last = i
	}
	var doc bytes.Buffer
	if err := JSON(&doc, d, Options{}); err != nil || !strings.Contains(doc.String(), `"tampering": 1`) {
		t.Errorf("error %v, the count is missing in\n%s", err, doc.String())
	}
	var list bytes.Buffer
	if err := List(&list, d.Actions, Options{}); err != nil || !strings.Contains(list.String(), "tampering, blocked") {
		t.Errorf("error %v in\n%s", err, list.String())
	}
}

// A story that ran at another level than the session says so.
func TestStoryLevelIsShown(t *testing.T) {
	at := time.Date(2026, 2, 23, 9, 0, 0, 0, time.UTC)
	d := queue.Snapshot{
		Session:  queue.Session{ID: "s", Level: "unattended", Started: at, Ended: at},
		Attempts: []queue.Attempt{{Story: "1", Level: "lockdown", Outcome: queue.Done, Ended: at}, {Story: "2", Level: "unattended", Outcome: queue.Done, Ended: at}},
	}
	if out := string(terminal(t, d, Options{})); strings.Count(out, "level lockdown, as the story asks") != 1 || strings.Contains(out, "level unattended, as") {
		t.Errorf("levels in\n%s", out)
	}
}

// One intent in several spellings is told as one.
func TestOtherSpellingsAreTold(t *testing.T) {
	d := queue.Snapshot{Actions: []queue.Action{
		{Number: 12, Evidence: policy.Blocked, Status: queue.Pending, Command: "git push", Again: []uint64{13, 14}},
		{Number: 13, Evidence: policy.Blocked, Status: queue.Pending, Command: "git -C . push", RelatedTo: "12"},
	}}
	var list, show bytes.Buffer
	if err := errors.Join(List(&list, d.Actions, Options{}), Show(&show, d.Actions[0], Options{})); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		string(terminal(t, d, Options{})): {"tried again in another spelling: 2 times, #13 #14", "tries again what was refused as #12"},
		list.String():                     {"blocked +2", "blocked after #12"},
		show.String():                     {"tried again in another spelling: 2 times, #13 #14"},
	} {
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in\n%s", w, text)
			}
		}
	}
}
