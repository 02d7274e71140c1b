package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/google/uuid"

	"github.com/seed-b23e517c/loop/audit"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
	"github.com/seed-b23e517c/loop/report"
)

// appIn is the program in a folder that is no repository, with a state of its
// own; the file takes what it prints.
func appIn(t *testing.T) (*app, *os.File) {
	t.Helper()
	t.Chdir(t.TempDir())
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	state := t.TempDir()
	return &app{
		stdin: os.Stdin, stdout: out, stderr: out, now: time.Now,
		env: []string{"LOOP_HOME=" + state, "HOME=" + state, "PATH=" + os.Getenv("PATH")},
	}, out
}

// waiting puts one action into the queue of a session with an audit trail.
func waiting(t *testing.T, a *app) (*queue.Store, queue.Session) {
	t.Helper()
	_, store, err := a.openStore(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	id := uuid.Must(uuid.NewV7()).String()
	signer, err := receipt.NewSigner(receipt.Origin(id), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := queue.Session{ID: id, Started: time.Now(), Ended: time.Now(), AuditKey: signer.PublicKey()}
	if err := store.PutSession(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	_, _, err = store.Add(t.Context(), queue.Action{
		Session: id, Story: "1", Tool: "Bash", ToolUseID: "t", Command: "git push", Input: json.RawMessage(`{"command":"git push"}`),
		Tier: policy.External, Evidence: policy.Blocked, FoundBy: queue.ByHook, Cwd: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return store, s
}

// A decision whose record cannot be kept stands all the same, and that is said.
func TestDecisionStandsWithoutItsRecord(t *testing.T) {
	a, out := appIn(t)
	store, s := waiting(t, a)
	db, err := bolt.Open(store.Path(), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Where the records of the session belong stands something else.
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("audit"))
		if err != nil {
			return err
		}
		return b.Put([]byte(s.ID), []byte("x"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	code := a.run(t.Context(), []string{"reject", "1"})
	printed, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if code != exitDone || !strings.Contains(string(printed), "rejected #1") || !strings.Contains(string(printed), "#1: the decision stands, but the audit trail has no record of it") {
		t.Errorf("exit %d\n%s", code, printed)
	}
	if x, err := store.Get(t.Context(), "1"); err != nil || x.Status != queue.Rejected {
		t.Errorf("%s, %v", x.Status, err)
	}
}

// Answers, and words at checkpoints, go into the trail of the session that
// asked.
func TestAnswersAreInTheTrail(t *testing.T) {
	a, out := appIn(t)
	store, s := waiting(t, a)
	for _, kind := range []string{"", queue.CheckpointAfter} {
		if _, _, err := store.Add(t.Context(), queue.Action{Kind: queue.KindQuestion, Checkpoint: kind, Session: s.ID, Story: "1", Command: "q" + kind}); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"answer", "2", "8080"}, {"answer", "2", "80"}, {"approve", "3"}} {
		if code := a.run(t.Context(), args); code != exitDone {
			printed, _ := os.ReadFile(out.Name())
			t.Fatalf("%q: exit %d\n%s", args, code, printed)
		}
	}
	trail, err := store.Audit(t.Context(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, line := range trail.Records {
		r, err := receipt.ParseRecord(line)
		if err != nil || r.Event != receipt.Answered {
			t.Fatalf("%s, %v", line, err)
		}
		said = append(said, r.ResultSHA256)
	}
	if want := []string{receipt.SumHex([]byte("8080")), receipt.SumHex([]byte("80")), receipt.SumHex(nil)}; !slices.Equal(said, want) {
		t.Errorf("got %q, want %q", said, want)
	}
}

// Every decision and its being taken back stand in the trail, by whichever
// command, and the exported trail is whole.
func TestWhatIsTakenBackIsInTheTrail(t *testing.T) {
	a, out := appIn(t)
	store, s := waiting(t, a)
	if _, _, err := store.Add(t.Context(), queue.Action{Kind: queue.KindQuestion, Session: s.ID, Story: "1", Command: "Which port?"}); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"reject", "1"}, {"undo", "1"}, {"answer", "2", "80"}, {"undo", "2"}} {
		if code := a.run(t.Context(), args); code != exitDone {
			printed, _ := os.ReadFile(out.Name())
			t.Fatalf("%q: exit %d\n%s", args, code, printed)
		}
	}
	// The same by the desk of loop review and loop serve.
	w, err := a.workspace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(a, w, store, report.Options{})
	x, err := store.Get(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{queue.Reject, queue.Undo} {
		if x, err = d.Decide(t.Context(), x, verb, ""); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second changes nothing
		if x, err = d.Edit(t.Context(), x, "git push origin main"); err != nil {
			t.Fatal(err)
		}
	}
	trail, err := store.Audit(t.Context(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	var events []receipt.Event
	for _, line := range trail.Records {
		r, err := receipt.ParseRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, r.Event)
	}
	want := []receipt.Event{
		receipt.Rejected, receipt.TakenBack, receipt.Answered, receipt.TakenBack, receipt.Rejected, receipt.TakenBack, receipt.Edited,
	}
	if !slices.Equal(events, want) {
		t.Errorf("the trail has %q, want %q", events, want)
	}
	if err := out.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	if code := a.run(t.Context(), []string{"audit", "export"}); code != exitDone {
		t.Fatalf("export: exit %d", code)
	}
	exported, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	got, err := audit.Read(bytes.NewReader(exported))
	if err != nil {
		t.Fatal(err)
	}
	if r := audit.Check(got, audit.Ask{}); !r.OK() || r.Decisions != len(want) {
		t.Errorf("the exported trail: %+v", r)
	}
}

// A view that is open, and a page, see that a replay in another terminal has died.
func TestDeadReplayIsSeenWhileOpen(t *testing.T) {
	a, _ := appIn(t)
	store, _ := waiting(t, a)
	w, err := a.workspace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(a, w, store, report.Options{})
	status := func() (status []queue.Status) {
		t.Helper()
		list, err := d.Actions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			status = append(status, x.Status)
		}
		return status
	}
	if got := status(); !slices.Equal(got, []queue.Status{queue.Pending}) {
		t.Fatal(got)
	}
	other, err := queue.Open(w.State, queue.Options{Now: time.Now, Self: queue.Owner{Pid: os.Getpid(), Start: "another", Boot: "another"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, look := range []func() queue.Status{
		func() queue.Status { return status()[0] },
		func() queue.Status {
			x, err := webDesk{d}.Get(t.Context(), "1")
			if err != nil {
				t.Fatal(err)
			}
			return x.Status
		},
	} {
		if _, err := other.BeginReplay(t.Context(), "1", nil, queue.Decision{Who: "ann"}, true); err != nil {
			t.Fatal(err)
		}
		if got := look(); got != queue.Unknown {
			t.Errorf("a dead replay is shown as %s", got)
		}
		if x, err := store.Get(t.Context(), "1"); err != nil || x.Status != queue.Unknown {
			t.Errorf("and noted as %s, %v", x.Status, err)
		}
	}
}

// A rule for good is for one form of an action: the person's is allowed, the
// agent's is refused, and which it is is said.
func TestRuleForGoodOfAnEditedAction(t *testing.T) {
	a, _ := appIn(t)
	a.env = append(a.env, "XDG_CONFIG_HOME="+t.TempDir())
	store, _ := waiting(t, a)
	w, err := a.workspace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(a, w, store, report.Options{})
	own, err := store.Get(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	edited, err := d.Edit(t.Context(), own, "git push origin HEAD:next")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		x           queue.Action
		verb        string
		line, about string
	}{
		{own, queue.Approve, `line = ["git push"]`, ""},
		{own, queue.Reject, `line = ["git push"]`, ""},
		{edited, queue.Approve, `line = ["git push origin HEAD:next"]`, "in the form that"},
		{edited, queue.Reject, `line = ["git push"]`, "as the agent called it, not about the form that"},
	} {
		r, err := d.Rule(t.Context(), tt.x, tt.verb, "")
		if err != nil || !strings.Contains(r.Text, tt.line) || !strings.Contains(r.About, tt.about) || (r.About == "") != (tt.about == "") {
			t.Errorf("%s, edited %v: %v\n%s\n%s", tt.verb, tt.x.Edited != nil, err, r.Text, r.About)
		}
	}
	if x, err := store.Get(t.Context(), "1"); err != nil || x.Command != "git push" || x.AsRun().Command != "git push origin HEAD:next" {
		t.Errorf("the forms that are kept are %q and %q, %v", x.Command, x.AsRun().Command, err)
	}
}

// A file that is damaged is told as that by each command that reads a trail.
func TestDamagedQueueIsSaid(t *testing.T) {
	a, out := appIn(t)
	store, _ := waiting(t, a)
	if err := os.WriteFile(store.Path(), []byte(strings.Repeat("no queue ", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"receipts"}, {"audit", "verify"}, {"audit", "export"}, {"receipts", "verify", "zc-receipt-1774608600-1XtPXYvlaO_jajLo6iGoZzQ4oQdVlHqDYIJFbZDyXkE"}} {
		if err := out.Truncate(0); err != nil {
			t.Fatal(err)
		}
		code := a.run(t.Context(), args)
		printed, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		if code != exitFailed || !strings.Contains(string(printed), "not a queue of loop, or damaged") {
			t.Errorf("%q: exit %d\n%s", args, code, printed)
		}
	}
}

// A session without a trail is said to have none.
func TestNoTrailIsSaid(t *testing.T) {
	a, out := appIn(t)
	_, store, err := a.openStore(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.PutSession(t.Context(), queue.Session{ID: uuid.Must(uuid.NewV7()).String(), Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"receipts"}, {"audit", "verify"}, {"audit", "export"}} {
		if code := a.run(t.Context(), args); code != exitFailed {
			t.Errorf("%q: exit %d", args, code)
		}
	}
	printed, err := os.ReadFile(out.Name())
	if err != nil || strings.Count(string(printed), "has no receipts and no audit trail") != 3 {
		t.Errorf("%v\n%s", err, printed)
	}
}
