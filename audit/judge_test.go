package audit

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
)

func rule(t *testing.T, j *Judge, text string) Answer {
	t.Helper()
	c := receipt.Find(text)
	if len(c) != 1 {
		t.Fatalf("%q: %d candidates", text, len(c))
	}
	a, err := j.Rule(t.Context(), c[0])
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestJudge(t *testing.T) {
	n := newNight(t)
	signed := n.story("a")
	b := n.open("b")
	unsigned, withdrawn := n.call(b, "x", "Read"), n.call(b, "y", "Bash")
	n.add(receipt.Record{Event: receipt.CallRevoked, Scope: b.Scope(), ToolUseID: "y"})
	if err := n.store.PutAttempt(t.Context(), *b); err != nil {
		t.Fatal(err)
	}
	other := nightIn(t, n.store, n.dir)
	elsewhere := other.story("a")[0]
	id := n.session.ID
	const nobody = "zc-receipt-1774608600-1XtPXYvlaO_jajLo6iGoZzQ4oQdVlHqDYIJFbZDyXkE"
	for _, tt := range []struct {
		name           string
		session, story string
		text           string
		want           receipt.Verdict
		signed         bool
	}{
		{"signed", "", "", signed[1].String(), receipt.VerdictValid, true},
		{"not signed yet", "", "", unsigned.String(), receipt.VerdictValid, false},
		{"withdrawn", "", "", withdrawn.String(), receipt.VerdictRevoked, false},
		{"any session counts", "", "", elsewhere.String(), receipt.VerdictValid, true},
		{"of this session", id, "", signed[0].String(), receipt.VerdictValid, true},
		{"of another session", id, "", elsewhere.String(), receipt.VerdictReplayed, true},
		{"of this story", "", "a", elsewhere.String(), receipt.VerdictValid, true},
		{"of another story", id, "b", signed[0].String(), receipt.VerdictReplayed, true},
		{"withdrawn, and of another story", id, "a", withdrawn.String(), receipt.VerdictRevoked, false},
		{"nobody's", "", "", nobody, receipt.VerdictForged, false},
		{"nobody's, narrowed", id, "a", nobody, receipt.VerdictForged, false},
		{"not one", "", "", "zc-receipt-1-SECRET", receipt.VerdictMalformed, false},
		{"one with more behind it", "", "", signed[0].String() + "x", receipt.VerdictMalformed, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := rule(t, &Judge{Store: n.store, Session: tt.session, Story: tt.story}, tt.text)
			if a.Verdict != tt.want || (a.Signed != nil) != tt.signed || a.Damage != "" || a.Good() != (tt.want == receipt.VerdictValid) {
				t.Errorf("%+v", a)
			}
		})
	}
	a := rule(t, &Judge{Store: n.store}, unsigned.String())
	if a.Session != id || a.Story != "b" || a.Call.Tool != "Read" || a.Call.ToolUseID != "x" || a.Call.TS != now.Unix() {
		t.Errorf("%+v, %+v", a, a.Call)
	}
}

// damage opens the queue's file as somebody would who wants to change the
// trail of a session.
func damage(t *testing.T, n *night, do func(records *bolt.Bucket) error) {
	t.Helper()
	db, err := bolt.Open(n.store.Path(), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *bolt.Tx) error {
		return do(tx.Bucket([]byte("audit")).Bucket([]byte(n.session.ID)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func place(i uint64) []byte { return binary.BigEndian.AppendUint64(nil, i) }

// A receipt is not vouched for by a trail that was tampered with before it;
// one that is proved to stand under a signed state is, whatever came later.
func TestJudgeOfADamagedTrail(t *testing.T) {
	change := func(i uint64) func(*bolt.Bucket) error {
		return func(b *bolt.Bucket) error {
			return b.Put(place(i), bytes.Replace(b.Get(place(i)), []byte(`"Bash"`), []byte(`"Read"`), 1))
		}
	}
	for _, tt := range []struct {
		name    string
		do      func(*bolt.Bucket) error
		first   string // damage of the receipt in record 1
		last    string // of that in record 6
		problem string
	}{
		{"a changed record", change(2), "record 2 was changed", "record 2 was changed", "record 2 was changed"},
		{"the record itself", change(1), "record 1 was changed", "record 1 was changed", "record 1 was changed"},
		{"a removed record", func(b *bolt.Bucket) error { return b.Delete(place(5)) }, "", "record 5 is missing", "record 5 is missing"},
		{"the record removed", func(b *bolt.Bucket) error { return b.Delete(place(6)) }, "", "record 6 of session", "record 6 is missing"},
		{"a cut tail", func(b *bolt.Bucket) error { return b.Delete(place(7)) }, "", "were cut off the end", "records 7 to 7 were cut off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newNight(t)
			first, last := n.story("a")[0], n.story("b")[1]
			damage(t, n, tt.do)
			j := &Judge{Store: n.store}
			for token, want := range map[receipt.Token]string{first: tt.first, last: tt.last} {
				a := rule(t, j, token.String())
				if !strings.Contains(a.Damage, want) || (want == "") != a.Good() {
					t.Errorf("%+v, want %q", a, want)
				}
			}
			r := Check(n.trail(), Ask{Known: n.known()})
			if r.OK() || !strings.Contains(r.Problems[0].Text, tt.problem) {
				t.Errorf("%+v", r.Problems)
			}
		})
	}
}

// A file that is damaged as a whole is told as that, not as a broken chain.
func TestLoadFromADamagedFile(t *testing.T) {
	n := newNight(t)
	n.story("a")
	if err := os.WriteFile(filepath.Join(n.dir, "queue.db"), []byte(strings.Repeat("no queue ", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(t.Context(), n.store, n.session)
	if err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), "queue.db") {
		t.Error(err)
	}
}

// An answer stands in the trail by its hash, beside that of the question.
func TestDecisionOfAnAnswer(t *testing.T) {
	x := queue.Action{
		Kind: queue.KindQuestion, Command: "Which port?", Status: queue.Answered,
		Decisions: []queue.Decision{{Verb: queue.Answer, Reason: "80"}, {Verb: queue.Answer, Reason: "8080"}},
	}
	want := receipt.Record{
		Event: receipt.Answered, Scope: "s/a-1", TS: now.Unix(), ArgsSHA256: receipt.SumHex([]byte("Which port?")), ResultSHA256: receipt.SumHex([]byte("8080")),
	}
	if got := Decision(x, "s/a-1", now); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// What is done with an action is told by its last decision, and an undo stands
// in the trail beside what it takes back.
func TestDecisionsAreInTheTrail(t *testing.T) {
	n := newNight(t)
	n.story("a")
	x, _, err := n.store.Add(t.Context(), queue.Action{
		Session: n.session.ID, Attempt: n.attempts[0].ID, Story: "a", Tool: "Bash", ToolUseID: "toolu_9", Command: "git push",
		Input: []byte(`{"command":"git push"}`), Tier: policy.External, Evidence: policy.Blocked,
	})
	if err != nil {
		t.Fatal(err)
	}
	own, form := receipt.SumHex([]byte(`{"command":"git push"}`)), &queue.Edited{Command: "git push x", Input: []byte(`{"command":"git push x"}`)}
	decide := func(verb string) func() (queue.Action, error) {
		return func() (queue.Action, error) {
			return n.store.DecideSeen(t.Context(), x, queue.Decision{Verb: verb, Who: "ann"})
		}
	}
	edited := receipt.SumHex(form.Input)
	steps := []struct {
		do           func() (queue.Action, error)
		event        receipt.Event
		args, result string
	}{
		{decide(queue.Reject), receipt.Rejected, own, ""},
		{decide(queue.Undo), receipt.TakenBack, own, receipt.SumHex([]byte("reject"))},
		{decide(queue.Approve), receipt.Approved, own, ""},
		{decide(queue.Undo), receipt.TakenBack, own, receipt.SumHex([]byte("approve"))},
		{func() (queue.Action, error) { return n.store.Edit(t.Context(), x.ID, form, queue.Decision{Who: "ann"}) }, receipt.Edited, edited, ""},
		{func() (queue.Action, error) {
			return n.store.BeginReplay(t.Context(), x.ID, form, queue.Decision{Who: "ann"}, false)
		}, receipt.Approved, edited, ""},
		{func() (queue.Action, error) {
			return n.store.EndReplay(t.Context(), x.ID, queue.Replay{ExitCode: 1, Output: "no\n"})
		}, receipt.Replayed, edited, receipt.SumHex([]byte("no\n"))},
		{decide(queue.Reject), receipt.Rejected, edited, ""},
		{decide(queue.Undo), receipt.TakenBack, edited, receipt.SumHex([]byte("reject"))},
	}
	old := n.trail()
	for i, s := range steps {
		if x, err = s.do(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		trail := n.trail()
		r, err := receipt.ParseRecord(trail.Records[len(trail.Records)-1])
		if err != nil || r.Event != s.event || r.ArgsSHA256 != s.args || r.ResultSHA256 != s.result || r.Scope != n.attempts[0].Scope() || r.ToolUseID != "toolu_9" {
			t.Errorf("step %d: %+v, %v; want %s", i, r, err, s.event)
		}
	}
	if r := Check(n.trail(), Ask{Known: n.known()}); !r.OK() || r.Decisions != len(steps) || r.Status != Complete {
		t.Errorf("%+v", r)
	}
	// The trail as it was before is the beginning of this one.
	root := Check(old, Ask{Known: n.known()})
	if r := Check(n.trail(), Ask{Root: &root.Signed.Root}); !root.OK() || !r.OK() || r.Rooted == nil {
		t.Errorf("before: %+v\nafter: %+v", root, r)
	}
}

// Sessions without a trail get none by a decision.
func TestDecisionWithoutATrail(t *testing.T) {
	n := newNight(t)
	bare := queue.Session{ID: uuid.Must(uuid.NewV7()).String(), Started: now}
	if err := n.store.PutSession(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{bare.ID, uuid.Must(uuid.NewV7()).String(), "from-a-scan"} {
		x, _, err := n.store.Add(t.Context(), queue.Action{Session: session, Tool: "Bash", ToolUseID: session, Command: "git push", Tier: policy.External, Evidence: policy.Blocked})
		if err == nil {
			_, err = n.store.Decide(t.Context(), x.ID, queue.Decision{Verb: queue.Reject})
		}
		if err != nil {
			t.Errorf("%q: %v", session, err)
		}
		if got, err := n.store.Audit(t.Context(), session); err != nil || len(got.Records) != 0 {
			t.Errorf("%q: %+v, %v", session, got, err)
		}
	}
}
