package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
	"github.com/seed-b23e517c/loop/report"
)

var testTime = time.Date(2026, 2, 23, 8, 15, 0, 0, time.UTC)

// testDesk is a queue in a folder, decided as cmd/loop does.
type testDesk struct {
	*queue.Store
	env    []string
	inside string
}

func (d *testDesk) Actions(ctx context.Context) ([]queue.Action, error) {
	return d.Store.Actions(ctx, queue.Filter{})
}

func (d *testDesk) Options(context.Context, queue.Action) (report.Options, error) {
	return report.Options{Now: testTime}, nil
}

func (d *testDesk) Decide(ctx context.Context, seen queue.Action, verb, reason string) (queue.Action, error) {
	return d.DecideSeen(ctx, seen, queue.Decision{Verb: verb, Who: "mara", Reason: reason})
}

func (d *testDesk) Replay(ctx context.Context, seen queue.Action, insist replay.Insist, w io.Writer, agree Agree) (replay.Result, error) {
	return replay.Run(ctx, replay.Request{
		Store: d.Store, Ref: seen.ID, Out: w, Again: insist.Again, Anyway: insist.Anyway, Who: "mara", Now: func() time.Time { return testTime }, Env: d.env,
		InsideAgent: d.inside, Agree: agree,
	})
}

// site is a server over a queue, and a browser's part: its cookie.
type site struct {
	t      *testing.T
	s      *server
	d      *testDesk
	dir    string
	cookie string
}

func newSite(t *testing.T) *site {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	x := &site{t: t, dir: t.TempDir()}
	store, err := queue.Open(filepath.Join(x.dir, "state"), queue.Options{
		Now: func() time.Time { return testTime }, Alive: func(queue.Owner) bool { return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	x.d = &testDesk{Store: store, env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + x.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(x.dir)}}
	x.s, err = newServer(t.Context(), "127.0.0.1:4711", x.d, Options{Dir: x.dir, Now: func() time.Time { return testTime }})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// add puts a refused command into the queue, changed by edit.
func (x *site) add(command string, edit func(*queue.Action)) queue.Action {
	x.t.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		x.t.Fatal(err)
	}
	a := queue.Action{
		Kind: queue.KindCall, Session: "s", Story: "3", Attempt: "t", Tool: "Bash", ToolUseID: uuid.NewString(), Input: input,
		Command: command, Cwd: x.dir, Rules: []string{"git-push"}, Why: "it sends commits", Tier: policy.External,
		Evidence: policy.Blocked, DetectedAt: testTime, FoundBy: queue.ByHook,
	}
	if edit != nil {
		edit(&a)
	}
	stored, _, err := x.d.Add(x.t.Context(), a)
	if err != nil {
		x.t.Fatal(err)
	}
	return stored
}

func (x *site) send(r *http.Request) *httptest.ResponseRecorder {
	x.t.Helper()
	if x.cookie != "" {
		r.Header.Set("Cookie", cookieName+"="+x.cookie)
	}
	w := httptest.NewRecorder()
	x.s.ServeHTTP(w, r)
	return w
}

// open enters by the link.
func (x *site) open() *site {
	x.t.Helper()
	w := x.send(httptest.NewRequest("GET", x.s.Link(), nil))
	for _, c := range w.Result().Cookies() {
		x.cookie = c.Value
	}
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != x.s.base || x.cookie == "" {
		x.t.Fatalf("the link leads to %d %q", w.Code, w.Header().Get("Location"))
	}
	return x
}

func (x *site) at(path string) string { return "http://" + x.s.host + x.s.base + path }

func (x *site) read(path string) *http.Request { return httptest.NewRequest("GET", x.at(path), nil) }

// get is a page, which must come with this code.
func (x *site) get(path string, code int) string {
	x.t.Helper()
	w := x.send(x.read(path))
	if w.Code != code {
		x.t.Fatalf("GET %s: %d, want %d: %s", path, w.Code, code, w.Body)
	}
	return w.Body.String()
}

var (
	hiddenForm = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([0-9a-f]+)">`)
	actionForm = regexp.MustCompile(`(?s)<form method="post" action="\.\./([a-z]+/\d+)"[^>]*>(.*?)</form>`)
)

// fill is what a form of a page holds before a person has touched it.
func (x *site) fill(page, verb string) (path string, v url.Values) {
	x.t.Helper()
	for _, m := range actionForm.FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], verb+"/") {
			continue
		}
		v = url.Values{}
		for _, h := range hiddenForm.FindAllStringSubmatch(m[2], -1) {
			v.Set(h[1], h[2])
		}
		return m[1], v
	}
	x.t.Fatalf("no form to %s in %s", verb, page)
	return "", nil
}

func (x *site) form(path string, v url.Values) *http.Request {
	r := httptest.NewRequest("POST", x.at(path), strings.NewReader(v.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+x.s.host)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return r
}

func (x *site) post(path string, v url.Values, code int) string {
	x.t.Helper()
	w := x.send(x.form(path, v))
	if w.Code != code {
		x.t.Fatalf("POST %s: %d, want %d: %s", path, w.Code, code, w.Body)
	}
	return w.Body.String()
}

func (x *site) status(a queue.Action, want queue.Status) queue.Action {
	x.t.Helper()
	now, err := x.d.Get(x.t.Context(), a.ID)
	if err != nil {
		x.t.Fatal(err)
	}
	if now.Status != want {
		x.t.Errorf("#%d is %s, want %s", a.Number, now.Status, want)
	}
	return now
}

func (x *site) ran(a queue.Action) int {
	raw, err := os.ReadFile(filepath.Join(x.dir, fmt.Sprintf("ran-%s", a.Story)))
	if err != nil {
		return 0
	}
	return strings.Count(string(raw), "\n")
}

// Approve is two steps, runs what was shown, and shows what came of it.
func TestApprove(t *testing.T) {
	x := newSite(t).open()
	a := x.add("echo it went; echo x >> ran-3", nil)
	if page := x.get("", 200); !strings.Contains(page, "1 waiting") || !strings.Contains(page, `href="approve/1"`) {
		t.Errorf("the list: %s", page)
	}
	page := x.get("approve/1", 200)
	for _, want := range []string{"1 | echo it went; echo x &gt;&gt; ran-3", "since then", "Run #1</button>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on the page that asks: %s", want, page)
		}
	}
	if x.ran(a) != 0 {
		t.Fatal("the page that asks ran it")
	}
	path, form := x.fill(page, "approve")
	x.post(path, form, http.StatusSeeOther)
	x.status(a, queue.Replayed)
	if page := x.get("action/1", 200); !strings.Contains(page, "exit 0") || !strings.Contains(page, "it went") {
		t.Errorf("what came of it is not told: %s", page)
	}
	// The same form once more, as a double click or the back button sends it.
	x.post(path, form, http.StatusConflict)
	if n := x.ran(a); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

// Two clicks at the same time are one.
func TestApproveAtTheSameTime(t *testing.T) {
	x := newSite(t).open()
	a := x.add("echo x >> ran-3", nil)
	path, form := x.fill(x.get("approve/1", 200), "approve")
	codes := make(chan int)
	for range 8 {
		go func() { codes <- x.send(x.form(path, form)).Code }()
	}
	count := map[int]int{}
	for range 8 {
		count[<-codes]++
	}
	if count[http.StatusSeeOther] != 1 || count[http.StatusConflict] != 7 || x.ran(a) != 1 {
		t.Errorf("codes %v, run %d times", count, x.ran(a))
	}
}

// A command that fails is failed, with its output, and needs the second way.
func TestApproveWhatFails(t *testing.T) {
	x := newSite(t).open()
	a := x.add("echo broken >&2; exit 7", nil)
	path, form := x.fill(x.get("approve/1", 200), "approve")
	x.post(path, form, http.StatusSeeOther)
	x.status(a, queue.Failed)
	page := x.get("action/1", 200)
	if !strings.Contains(page, "exit 7") || !strings.Contains(page, "broken") || !strings.Contains(page, "approve/1?again=1") {
		t.Errorf("a failure is told as %s", page)
	}
	x.get("approve/1", http.StatusConflict)
	path, form = x.fill(x.get("approve/1?again=1", 200), "approve")
	if form.Get("again") != "1" {
		t.Error("the form for once more does not say so")
	}
	x.post(path, form, http.StatusSeeOther)
	if now := x.status(a, queue.Failed); len(now.Earlier) != 1 {
		t.Errorf("%d earlier replays, want 1", len(now.Earlier))
	}
}

// What has changed since the form was shown is not run.
func TestStaleForms(t *testing.T) {
	for name, change := range map[string]func(*site, queue.Action){
		"another form": func(x *site, a queue.Action) {
			e := queue.Edited{Command: "echo x >> ran-3; echo evil", Input: json.RawMessage(`{"command":"echo x >> ran-3; echo evil"}`)}
			if _, err := x.d.Edit(x.t.Context(), a.ID, &e, queue.Decision{Who: "mara"}); err != nil {
				x.t.Fatal(err)
			}
		},
		"a file that it names": func(x *site, _ queue.Action) {
			if err := os.WriteFile(filepath.Join(x.dir, "ran-3"), nil, 0o600); err != nil {
				x.t.Fatal(err)
			}
		},
		"rejected": func(x *site, a queue.Action) {
			if _, err := x.d.Decide(x.t.Context(), a, queue.Reject, ""); err != nil {
				x.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newSite(t).open()
			a := x.add("echo x >> ran-3", nil)
			path, form := x.fill(x.get("approve/1", 200), "approve")
			_, reject := x.fill(x.get("action/1", 200), "reject")
			change(x, a)
			if page := x.post(path, form, http.StatusConflict); !strings.Contains(page, "action/1") {
				t.Errorf("no way to what is now: %s", page)
			}
			if x.ran(a) != 0 {
				t.Error("it was run all the same")
			}
			if name != "a file that it names" {
				x.post("reject/1", reject, http.StatusConflict)
			}
		})
	}
}

func TestReject(t *testing.T) {
	x := newSite(t).open()
	a := x.add("git push", nil)
	path, form := x.fill(x.get("action/1", 200), "reject")
	form.Set("reason", "  the number is <b>invented</b>\x1b[2J ")
	x.post(path, form, http.StatusSeeOther)
	now := x.status(a, queue.Rejected)
	if got := now.Decisions[0].Reason; got != "the number is <b>invented</b>\x1b[2J" {
		t.Errorf("reason %q", got)
	}
	if page := x.get("action/1", 200); strings.Contains(page, "<b>") || strings.Contains(page, "\x1b") || strings.Contains(page, "reject/1") || !strings.Contains(page, "Rejected by mara at 2026-02-23T08:15:00Z; it is rejected now.") {
		t.Errorf("after a rejection: %s", page)
	}
	x.post(path, form, http.StatusConflict)
}

// What is nobody's to run here offers no form.
func TestWhatCannotBeRun(t *testing.T) {
	x := newSite(t).open()
	x.add("which database?", func(a *queue.Action) { a.Kind, a.Tool, a.Input = queue.KindQuestion, "", nil })
	x.add("git push --mentioned", func(a *queue.Action) { a.Evidence = policy.Mentioned })
	x.add("git push --ran", func(a *queue.Action) { a.Evidence, a.Outcome = policy.Executed, "ok" })
	if page := x.get("action/1", 200); !strings.Contains(page, `action="../answer/1"`) || strings.Contains(page, "approve/1") {
		t.Errorf("a question: %s", page)
	}
	for _, path := range []string{"approve/1", "approve/2", "approve/3"} {
		if page := x.get(path, http.StatusConflict); strings.Contains(page, "<form") {
			t.Errorf("%s has a form", path)
		}
	}
	page := x.get("", 200)
	ran, asked, words := strings.Index(page, "git push --ran"), strings.Index(page, "which database?"), strings.Index(page, "git push --mentioned")
	if ran < 0 || asked < ran || words < asked || !strings.Contains(page, "1 got past the firewall") {
		t.Errorf("what got out stands at %d, the question at %d, the mention at %d", ran, asked, words)
	}
	for _, path := range []string{"action/99", "action/0", "action/x", "action/1e1", "approve/99", "nothing"} {
		x.get(path, http.StatusNotFound)
	}
	x.d.inside = "CLAUDECODE is set"
	x.add("git push", nil)
	if page := x.get("approve/4", http.StatusConflict); strings.Contains(page, "<form") {
		t.Error("within an agent's session there is a form")
	}
}

// Long lists go by pages, and every action is on one of them.
func TestPages(t *testing.T) {
	x := newSite(t).open()
	const n = 2*onePage + 5
	for i := range n {
		x.add(fmt.Sprintf("git push %d", i), func(a *queue.Action) { a.Evidence = policy.Mentioned })
	}
	seen := map[string]bool{}
	next := regexp.MustCompile(`href="(\?from=\d+)">Further`)
	for path := ""; ; {
		page := x.get(path, 200)
		for _, m := range regexp.MustCompile(`href="action/(\d+)"`).FindAllStringSubmatch(page, -1) {
			seen[m[1]] = true
		}
		m := next.FindStringSubmatch(page)
		if m == nil {
			break
		}
		path = m[1]
	}
	if len(seen) != n {
		t.Errorf("the pages have %d of %d", len(seen), n)
	}
	x.get("?from=-1", 200)
	x.get("?from=100000", 200)
}
