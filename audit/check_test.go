package audit

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/receipt"
)

func TestCheckOfAWholeTrail(t *testing.T) {
	n := newNight(t)
	n.story("a")
	n.story("b")
	r := Check(n.trail(), Ask{Known: n.known()})
	if !r.OK() || r.Status != Complete || r.Records != 8 || len(r.States) != 2 || r.Signed.Size != 8 || len(r.Open) != 0 {
		t.Errorf("%+v", r)
	}
	// The same, where only the file is there: nobody knows whether more came.
	if r := Check(n.trail(), Ask{}); !r.OK() || r.Status != Unknown {
		t.Errorf("%+v", r)
	}
	// A root that was kept elsewhere says so; an early one says less.
	for i, want := range []Status{Unknown, Complete} {
		root := r.States[i].Root
		got := Check(n.trail(), Ask{Root: &root, Key: n.session.AuditKey})
		if !got.OK() || got.Status != want || got.Rooted == nil || got.Rooted.Size != int64(4*(i+1)) {
			t.Errorf("root %d: %+v", i, got)
		}
	}
}

// Whatever is done to a trail is found, and the record is named.
func TestCheckFindsDamage(t *testing.T) {
	n, other := newNight(t), newNight(t)
	n.story("a")
	n.story("b")
	other.story("a")
	whole := n.trail()
	for _, tt := range []struct {
		name   string
		do     func(*Trail)
		record int
		text   string
	}{
		{"a changed record", func(t *Trail) {
			t.Records[2] = bytes.Replace(t.Records[2], []byte(`"Bash"`), []byte(`"Read"`), 1)
		}, 2, "record 2 was changed: record 3 was written after another one"},
		{"a record that is none", func(t *Trail) { t.Records[2] = []byte("{}") }, 2, "record 2 was changed: "},
		{"a record in another spelling", func(t *Trail) { t.Records[2] = append([]byte(" "), t.Records[2]...) }, 2, "record 2 was changed: "},
		{"a changed first record", func(t *Trail) {
			t.Records[0] = bytes.Replace(t.Records[0], []byte(`"prev":"0`), []byte(`"prev":"1`), 1)
		}, 0, "record 0 was changed"},
		{"a changed last record", func(t *Trail) {
			t.Records[7] = bytes.Replace(t.Records[7], []byte("story_close"), []byte("rejected"), 1)
		}, 4, "signed state 2: the first 8 records do not have its root: one of the records 4 to 7 was changed"},
		{"a removed record", func(t *Trail) { t.Records = slices.Delete(t.Records, 2, 3) }, 2, "record 2 is missing: record 3 stands in its place"},
		{"an added record", func(t *Trail) { t.Records = slices.Insert(t.Records, 2, t.Records[1]) }, 2, "record 2 is not in its place: record 1 stands there"},
		{"swapped records", func(t *Trail) { t.Records[1], t.Records[2] = t.Records[2], t.Records[1] }, 1, "record 1 is not in its place: record 2 stands there, and record 1 stands where number 2 belongs"},
		{"a cut tail", func(t *Trail) { t.Records = t.Records[:5] }, 5, "signed state 2: it stands for 8 records, and there are 5: records 5 to 7 were cut off the end"},
		{"everything cut", func(t *Trail) { t.Records = nil }, 0, "records 0 to 3 were cut off"},
		{"swapped states", func(t *Trail) { t.Checkpoints[0], t.Checkpoints[1] = t.Checkpoints[1], t.Checkpoints[0] }, -1, "signed state 2: it is not in its place"},
		{"a state of another key", func(t *Trail) { t.Checkpoints[1] = other.trail().Checkpoints[0] }, -1, "signed state 2: it is not signed by this session's key"},
		{"a changed state", func(t *Trail) {
			t.Checkpoints[1] = bytes.Replace(t.Checkpoints[1], []byte("\n8\n"), []byte("\n7\n"), 1)
		}, -1, "signed state 2: it is not signed by this session's key"},
		{"the key of another session", func(t *Trail) { t.PublicKey = other.session.AuditKey }, -1, "the public key is not of this session"},
		{"no key", func(t *Trail) { t.PublicKey = "" }, -1, "there is no public key"},
		{"all states taken away", func(t *Trail) { t.Checkpoints = nil }, 3, "record 3 ends attempt"},
		{"the last state taken away", func(t *Trail) { t.Checkpoints = t.Checkpoints[:1] }, 7, "and no signed state covers it"},
		{"records of another session", func(t *Trail) { t.Records, t.Checkpoints = other.trail().Records, nil }, 0, "record 0 is of another session"},
		{"a record of another session", func(t *Trail) {
			r, err := receipt.Record{Event: receipt.StoryOpen, Scope: other.session.ID + "/a-1"}.Next(8, t.Records[7])
			if err != nil {
				panic(err)
			}
			t.Records = append(t.Records, r)
		}, 8, "record 8 is of another session"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trail := whole
			trail.Records, trail.Checkpoints = slices.Clone(whole.Records), slices.Clone(whole.Checkpoints)
			tt.do(&trail)
			r := Check(trail, Ask{})
			found := slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Record == tt.record && strings.Contains(p.Text, tt.text) })
			if !found {
				t.Errorf("%+v\nwant record %d, %q", r.Problems, tt.record, tt.text)
			}
		})
	}
}

// Records cut off together with the states that stood for them, and a trail
// that was made anew, show only against what was kept elsewhere.
func TestCheckAgainstWhatWasKeptElsewhere(t *testing.T) {
	n := newNight(t)
	n.story("a")
	n.story("b")
	cut := n.trail()
	root := Check(cut, Ask{}).Signed.Root
	cut.Records, cut.Checkpoints = cut.Records[:4], cut.Checkpoints[:1]
	if r := Check(cut, Ask{}); !r.OK() || r.Status != Unknown {
		t.Errorf("alone: %+v", r)
	}
	if r := Check(cut, Ask{Root: &root}); r.OK() || r.Rooted != nil || !strings.Contains(r.Problems[0].Text, "cut off the end") {
		t.Errorf("with a root: %+v", r)
	}
	if r := Check(cut, Ask{Known: n.known()}); r.OK() || !strings.Contains(r.Problems[0].Text, n.attempts[1].Scope()) {
		t.Errorf("with the queue's attempts: %+v", r)
	}
	anew := nightIn(t, n.store, n.dir)
	anew.story("a")
	forged := anew.trail()
	if r := Check(forged, Ask{}); !r.OK() {
		t.Errorf("alone: %+v", r)
	}
	if r := Check(forged, Ask{Key: n.session.AuditKey}); r.OK() {
		t.Errorf("with a key: %+v", r)
	}
}

// Decisions come after the key is gone: they are chained, and said not to be
// signed. A call after it is none of loop's.
func TestCheckOfWhatComesAfterTheLastSignedState(t *testing.T) {
	n := newNight(t)
	n.story("a")
	n.add(receipt.Record{Event: receipt.Approved, Scope: n.attempts[0].Scope()})
	n.add(receipt.Record{Event: receipt.Replayed, Scope: n.attempts[0].Scope()})
	r := Check(n.trail(), Ask{Known: n.known()})
	if !r.OK() || r.Decisions != 2 || r.Unsigned != 0 || r.Status != Complete {
		t.Errorf("%+v", r)
	}
	n.add(receipt.Record{Event: receipt.CallOK, Scope: n.attempts[0].Scope(), Tool: "Bash"})
	r = Check(n.trail(), Ask{Known: n.known()})
	want := []Problem{{6, `record 6 (call_ok of "` + n.attempts[0].Scope() + `") was added after the end of its attempt was signed`}}
	if diff := cmp.Diff(want, r.Problems); diff != "" {
		t.Error(diff)
	}
}

// An attempt that did not end leaves its records chained and its scope open.
func TestCheckOfAnInterruptedNight(t *testing.T) {
	n := newNight(t)
	n.story("a")
	a := n.open("b")
	n.call(a, "x", "Bash")
	for _, tt := range []struct {
		known Known
		want  Status
	}{{Known{Ended: true, Attempts: n.attempts}, Interrupted}, {Known{Running: true, Attempts: n.attempts}, Running}} {
		r := Check(n.trail(), Ask{Known: &tt.known})
		if !r.OK() || r.Status != tt.want || r.Unsigned != 2 || !slices.Equal(r.Open, []string{a.Scope()}) {
			t.Errorf("%+v", r)
		}
	}
	// Died between the last record and its signature.
	n.add(receipt.Record{Event: receipt.StoryClose, Scope: a.Scope()})
	known := Known{Ended: true, Attempts: n.attempts}
	for _, change := range []func(){func() {}, func() { a.Ended, a.Recovered = now, true }} {
		change()
		if r := Check(n.trail(), Ask{Known: &known}); !r.OK() || r.Status != Interrupted || len(r.Open) != 0 {
			t.Errorf("%+v", r)
		}
	}
	// It did not die, and so had signed.
	a.Recovered = false
	if r := Check(n.trail(), Ask{Known: &known}); r.OK() {
		t.Errorf("%+v", r)
	}
}

// An attempt that somebody adds to a trail is none, however well it is chained.
func TestCheckFindsAnAddedAttempt(t *testing.T) {
	n := newNight(t)
	n.story("a")
	known := n.known()
	a := n.open("b") // not in the queue
	token := n.call(a, "x", "Bash")
	for _, running := range []bool{false, true} {
		known.Running, known.Ended = running, !running
		if r := Check(n.trail(), Ask{Known: known}); r.OK() != running {
			t.Errorf("running: %t, %+v", running, r.Problems)
		}
	}
	if r := Check(n.trail(), Ask{}); !r.OK() || r.Status != Interrupted {
		t.Errorf("alone: %+v", r)
	}
	j := Judge{Store: n.store}
	got, err := j.Rule(t.Context(), receipt.Candidate{Text: token.String(), Token: token, Strict: true})
	if err != nil || got.Good() || !strings.Contains(got.Damage, "the queue knows nothing") {
		t.Errorf("%+v, %v", got, err)
	}
}

// A trail that is damaged says what is not known of it.
func TestDamageSaysNothingOfTheEnd(t *testing.T) {
	n := newNight(t)
	n.story("a")
	n.story("b")
	trail := n.trail()
	trail.Records = slices.Delete(trail.Records, 1, 2)
	r := Check(trail, Ask{})
	if r.Status != Unknown || r.Unsigned != 0 || len(r.States) != 2 || !r.States[0].Unchecked || !r.States[1].Unchecked {
		t.Errorf("%+v", r)
	}
}

func TestCalls(t *testing.T) {
	n := newNight(t)
	a := n.open("a")
	scope := a.Scope()
	token := n.call(a, "1", "Bash")
	n.add(receipt.Record{Event: receipt.CallFail, Scope: scope, Tool: "Bash", ToolUseID: "2"})
	n.add(receipt.Record{Event: receipt.CallDenied, Scope: scope, Tool: "Write", ToolUseID: "3"})
	n.add(receipt.Record{Event: receipt.Deferred, Scope: scope, Tool: "Bash", ToolUseID: "4"})
	n.add(receipt.Record{Event: receipt.CallRevoked, Scope: scope, ToolUseID: "1"})
	n.add(receipt.Record{Event: receipt.CallFail, Scope: scope, Tool: "Bash", ToolUseID: "5", ResultSHA256: receipt.SumHex([]byte(receipt.CutOff))})
	trail := n.trail()
	trail.Records = append(trail.Records, []byte("damaged"))
	ts := now.Unix()
	want := []Call{
		{Record: 1, TS: ts, Scope: scope, Tool: "Bash", ToolUseID: "1", Outcome: "ok", Receipt: token, Revoked: true},
		{Record: 2, TS: ts, Scope: scope, Tool: "Bash", ToolUseID: "2", Outcome: "failed"},
		{Record: 3, TS: ts, Scope: scope, Tool: "Write", ToolUseID: "3", Outcome: "refused"},
		{Record: 4, TS: ts, Scope: scope, Tool: "Bash", ToolUseID: "4", Outcome: "deferred"},
		{Record: 6, TS: ts, Scope: scope, Tool: "Bash", ToolUseID: "5", Outcome: "cut off"},
	}
	if diff := cmp.Diff(want, Calls(trail.Records), cmp.Comparer(func(a, b receipt.Token) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}
