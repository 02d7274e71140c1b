package serve

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/queue"
)

// question is an action that asks and calls nothing.
func question(checkpoint string) func(*queue.Action) {
	return func(a *queue.Action) {
		a.Kind, a.Checkpoint, a.Tool, a.Input = queue.KindQuestion, checkpoint, "", nil
	}
}

// A question is answered as `loop answer` does, once for each form.
func TestAnswer(t *testing.T) {
	x := newSite(t).open()
	a := x.add("which database?", question(""))
	if page := x.get("", 200); !strings.Contains(page, "Answer #1, or reject it") {
		t.Errorf("the list: %s", page)
	}
	page := x.get("action/1", 200)
	if !strings.Contains(page, "<textarea") || !strings.Contains(page, " required>") || strings.Contains(page, "approve/1") {
		t.Errorf("a question: %s", page)
	}
	path, form := x.fill(page, "answer")
	form.Set("answer", " \r\n ")
	x.post(path, form, http.StatusBadRequest)
	form.Set("answer", strings.Repeat("x", maxAnswer+1))
	x.post(path, form, http.StatusBadRequest)
	x.status(a, queue.Pending)
	form.Set("answer", "SQLite, <b>not</b>\r\nPostgres \xff")
	x.post(path, form, http.StatusSeeOther)
	if now := x.status(a, queue.Answered); now.AnswerText() != "SQLite, <b>not</b>\nPostgres \ufffd" || len(now.Decisions) != 1 {
		t.Errorf("answered %q, %d decisions", now.AnswerText(), len(now.Decisions))
	}
	page = x.get("action/1", 200)
	for _, want := range []string{"Answered by mara at 2026-02-23T08:15:00Z; it is answered now.", "SQLite, &lt;b&gt;not", `action="../undo/1"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	// The same form again, or one of a tab that shows the question still.
	form.Set("answer", "Postgres")
	got := x.post(path, form, http.StatusConflict)
	if !strings.Contains(got, "answer by mara") || !strings.Contains(got, "<code>Postgres</code>") {
		t.Errorf("who answered, or what was written, is not told: %s", got)
	}
	path, form = x.fill(page, "answer")
	form.Set("answer", "Postgres")
	x.post(path, form, http.StatusSeeOther)
	if now := x.status(a, queue.Answered); now.AnswerText() != "Postgres" {
		t.Errorf("the last word is %q", now.AnswerText())
	}
	// What is no question is not answered, even by a form that is signed for it.
	b := x.add("git push", nil)
	shown, err := x.s.actionSeen(b)
	if err != nil {
		t.Fatal(err)
	}
	form.Set("token", x.s.keyed("form", "answer/2"))
	form.Set("shown", shown)
	if w := x.send(x.form("answer/2", form)); w.Code == http.StatusSeeOther {
		t.Error("a call was answered")
	}
	x.status(b, queue.Pending)
}

// A checkpoint is let go without a word, or held.
func TestCheckpoint(t *testing.T) {
	x := newSite(t).open()
	for _, kind := range []string{queue.CheckpointAfter, queue.CheckpointBefore} {
		a := x.add("look at the schema "+kind, question(kind))
		n := "action/" + map[string]string{queue.CheckpointAfter: "1", queue.CheckpointBefore: "2"}[kind]
		page := x.get(n, 200)
		if !strings.Contains(page, "Let the stories go on</button>") || strings.Contains(page, " required>") {
			t.Errorf("a checkpoint: %s", page)
		}
		path, form := x.fill(page, "reject")
		x.post(path, form, http.StatusSeeOther)
		x.status(a, queue.Rejected)
		path, form = x.fill(x.get(n, 200), "answer")
		x.post(path, form, http.StatusSeeOther)
		x.status(a, queue.Answered)
		if page := x.get(n, 200); !strings.Contains(page, "Let go on by mara") {
			t.Errorf("what came of it: %s", page)
		}
	}
}

// A decision of which nothing has come is taken back; a replay is not.
func TestUndo(t *testing.T) {
	x := newSite(t).open()
	a := x.add("echo x >> ran-3", nil)
	if page := x.get("action/1", 200); strings.Contains(page, "undo/1") {
		t.Error("what nobody has decided can be taken back")
	}
	path, form := x.fill(x.get("action/1", 200), "reject")
	x.post(path, form, http.StatusSeeOther)
	path, form = x.fill(x.get("action/1", 200), "undo")
	x.post(path, form, http.StatusSeeOther)
	if now := x.status(a, queue.Pending); len(now.Decisions) != 2 {
		t.Errorf("%d decisions", len(now.Decisions))
	}
	if page := x.get("action/1", 200); !strings.Contains(page, "Taken back by mara at 2026-02-23T08:15:00Z; it is pending now.") {
		t.Errorf("what came of it: %s", page)
	}
	x.post(path, form, http.StatusConflict)
	run, yes := x.fill(x.get("approve/1", 200), "approve")
	x.post(run, yes, http.StatusSeeOther)
	now := x.status(a, queue.Replayed)
	page := x.get("action/1", 200)
	if strings.Contains(page, "undo/1") || strings.Contains(page, "reject/1") {
		t.Errorf("after the replay there is a form: %s", page)
	}
	var err error
	if form["shown"][0], err = x.s.actionSeen(now); err != nil {
		t.Fatal(err)
	}
	x.post(path, form, http.StatusConflict)
	x.status(a, queue.Replayed)
}

// What somebody has decided in a terminal or another tab is not decided again,
// and the page says who it was.
func TestSomebodyElseWasQuicker(t *testing.T) {
	x := newSite(t).open()
	a, q := x.add("echo x >> ran-3", nil), x.add("which database?", question(""))
	forms := map[string]func(){}
	for _, at := range [][2]string{{"approve/1", "approve"}, {"action/1", "reject"}, {"action/2", "answer"}, {"action/2", "reject"}} {
		path, form := x.fill(x.get(at[0], 200), at[1])
		form.Set("answer", "SQLite")
		forms[path] = func() {
			t.Helper()
			page := x.post(path, form, http.StatusConflict)
			if !strings.Contains(page, "reject by bob at 2026-02-23T08:15:00Z") || !strings.Contains(page, "as it is now") {
				t.Errorf("%s: %s", path, page)
			}
		}
	}
	for _, seen := range []queue.Action{a, q} {
		if _, err := x.d.Store.Decide(t.Context(), seen.ID, queue.Decision{Verb: queue.Reject, Who: "bob"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, send := range forms {
		send()
	}
	for _, seen := range []queue.Action{a, q} {
		if now := x.status(seen, queue.Rejected); len(now.Decisions) != 1 {
			t.Errorf("#%d has %d decisions", now.Number, len(now.Decisions))
		}
	}
	// Their decision is taken back in one tab, and the other has it no longer.
	path, form := x.fill(x.get("action/1", 200), "undo")
	x.post(path, form, http.StatusSeeOther)
	x.post(path, form, http.StatusConflict)
	if x.ran(a) != 0 {
		t.Error("it was run")
	}
}

// Each form is of its action and its verb, and is no address.
func TestFormsOfDecisions(t *testing.T) {
	x := newSite(t).open()
	q := x.add("which database?", question(""))
	page := x.get("action/1", 200)
	for _, verb := range []string{"answer", "reject"} {
		path, form := x.fill(page, verb)
		form.Set("answer", "SQLite")
		for _, other := range []string{"answer/1", "reject/1", "undo/1", "answer/2", "approve/1"} {
			if other != path {
				x.post(other, form, http.StatusForbidden)
			}
		}
		x.get(path+"?"+form.Encode(), http.StatusMethodNotAllowed)
		for name, value := range map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", "Cookie": ""} {
			r := x.form(path, form)
			r.Header.Set("Cookie", cookieName+"="+x.cookie)
			r.Header.Set(name, value)
			cookie := x.cookie
			x.cookie = ""
			if w := x.send(r); w.Code != http.StatusForbidden {
				t.Errorf("%s with another %s: %d", path, name, w.Code)
			}
			x.cookie = cookie
		}
	}
	if now := x.status(q, queue.Pending); len(now.Decisions) != 0 {
		t.Errorf("%d decisions", len(now.Decisions))
	}
}

// rewritten makes a push whose branch is not what it was.
func (x *site) rewritten() queue.Action {
	x.t.Helper()
	git := func(args ...string) string {
		x.t.Helper()
		cmd := exec.CommandContext(x.t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir, cmd.Env = x.dir, x.d.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			x.t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	remote := filepath.Join(x.dir, "remote.git")
	git("init", "-q", "--bare", "-b", "main", remote)
	git("init", "-q", "-b", "main", ".")
	git("commit", "-q", "--allow-empty", "-m", "as it was deferred")
	git("remote", "add", "origin", remote)
	head := git("rev-parse", "HEAD")
	git("commit", "-q", "--allow-empty", "--amend", "-m", "as it is now")
	return x.add("git push origin main", func(a *queue.Action) { a.GitHead, a.GitBranch = head, "main" })
}

func (x *site) pushed() bool {
	cmd := exec.CommandContext(x.t.Context(), "git", "-C", filepath.Join(x.dir, "remote.git"), "rev-parse", "-q", "--verify", "main")
	cmd.Env = x.d.env
	return cmd.Run() == nil
}

// A push that is not what was deferred is run after a word of its own about what
// has changed, and by nothing else.
func TestAnyway(t *testing.T) {
	x := newSite(t).open()
	a := x.rewritten()
	page := x.get("approve/1", http.StatusConflict)
	for _, want := range []string{"#1 is not what was deferred", "which does not contain it", `href="../approve/1?anyway=1"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	if strings.Contains(page, "<form") {
		t.Error("there is a form to run it")
	}
	page = x.get("approve/1?anyway=1", 200)
	box := strings.Index(page, `<input type="checkbox" id="anyway" name="anyway" value="1" required`)
	if named := strings.Index(page, "which does not contain it</li>"); named < 0 || box < named || strings.Contains(page, "checked") {
		t.Errorf("it does not name what has changed before a box that is not ticked: %s", page)
	}
	path, form := x.fill(page, "approve")
	if form.Get("anyway") != "" {
		t.Error("the form says yes by itself")
	}
	for _, word := range []string{"", "0", "yes", "on"} { // what the box gives is 1
		form.Set("anyway", word)
		if page := x.post(path, form, http.StatusConflict); !strings.Contains(page, "not what was deferred") {
			t.Errorf("%q: %s", word, page)
		}
	}
	x.status(a, queue.Pending)
	form.Set("anyway", "1")
	// Something else has changed since the page named what had.
	cmd := exec.CommandContext(t.Context(), "git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "--amend", "-m", "and again")
	cmd.Dir, cmd.Env = x.dir, x.d.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	x.post(path, form, http.StatusConflict)
	if x.status(a, queue.Pending); x.pushed() {
		t.Fatal("it was pushed")
	}
	path, form = x.fill(x.get("approve/1?anyway=1", 200), "approve")
	form.Set("anyway", "1")
	x.post(path, form, http.StatusSeeOther)
	x.status(a, queue.Replayed)
	if !x.pushed() {
		t.Error("it was not pushed")
	}
	x.post(path, form, http.StatusConflict)
}

// One that has run and is not what was deferred needs both words.
func TestAgainAndAnyway(t *testing.T) {
	x := newSite(t).open()
	a := x.rewritten()
	if _, err := x.d.BeginReplay(t.Context(), a.ID, nil, queue.Decision{Who: "mara"}, false); err != nil {
		t.Fatal(err)
	}
	if _, err := x.d.EndReplay(t.Context(), a.ID, queue.Replay{ExitCode: 1}); err != nil {
		t.Fatal(err)
	}
	page := x.get("approve/1?again=1", http.StatusConflict)
	if strings.Contains(page, "<form") || !strings.Contains(page, `href="../approve/1?again=1&amp;anyway=1"`) {
		t.Errorf("running it again: %s", page)
	}
	x.get("approve/1?anyway=1", http.StatusConflict)
	path, form := x.fill(x.get("approve/1?again=1&anyway=1", 200), "approve")
	x.post(path, form, http.StatusConflict)
	x.status(a, queue.Failed)
	form.Set("anyway", "1")
	x.post(path, form, http.StatusSeeOther)
	x.status(a, queue.Replayed)
}
