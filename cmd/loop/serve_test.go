//go:build linux && (amd64 || arm64)

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/browser"
	"github.com/seed-b23e517c/loop/internal/sim"
)

// pages is a person's browser at a `loop serve` that runs.
type pages struct {
	t    testing.TB
	base string // without the token
	http http.Client
}

// servePages starts loop serve and opens its link.
func servePages(n *longNight) *pages {
	n.t.Helper()
	link := serveLink(n)
	jar, err := cookiejar.New(nil)
	if err != nil {
		n.t.Fatal(err)
	}
	p := &pages{t: n.t, http: http.Client{Jar: jar, Timeout: time.Minute}}
	var token string
	p.base, token, _ = strings.Cut(link, "?")
	p.get("?"+token, http.StatusOK)
	return p
}

// serveLink starts loop serve and gives its link.
func serveLink(n *longNight) string {
	n.t.Helper()
	like, errs := n.command("loop", "serve")
	// The test's own context is over before its end, and would kill it.
	cmd := exec.Command(like.Path, like.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = like.Dir, like.Env, like.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 130 {
			n.t.Errorf("loop serve ends with %d: %s", code, errs)
		}
	})
	link, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		n.t.Fatalf("%v: %s", err, errs)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return strings.TrimSpace(link)
}

func (p *pages) do(r *http.Request, code int) string {
	p.t.Helper()
	res, err := p.http.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		p.t.Fatal(err)
	}
	if res.StatusCode != code {
		p.t.Fatalf("%s %s: %d, want %d\n%s", r.Method, r.URL, res.StatusCode, code, body)
	}
	return string(body)
}

func (p *pages) get(path string, code int) string {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.base+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.do(r, code)
}

// form finds a form on a page, and gives what sends it with a person's own values.
func (p *pages) form(page, to string) func(code int, values ...string) string {
	p.t.Helper()
	re := regexp.MustCompile(`(?s)<form method="post" action="\.\./` + to + `".*?</form>`)
	form := re.FindString(page)
	v := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="(\w+)" value="(\w+)">`).FindAllStringSubmatch(form, -1) {
		v.Set(m[1], m[2])
	}
	if v.Get("token") == "" {
		p.t.Fatalf("no form to %s:\n%s", to, page)
	}
	return func(code int, values ...string) string {
		p.t.Helper()
		for i := 0; i < len(values); i += 2 {
			v.Set(values[i], values[i+1])
		}
		r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.base+to, strings.NewReader(v.Encode()))
		if err != nil {
			p.t.Fatal(err)
		}
		at, _ := url.Parse(p.base)
		r.Header.Set("Origin", "http://"+at.Host)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return p.do(r, code)
	}
}

// A morning by loop serve as it runs, with a terminal beside it: each decision is
// the commands' own, by a person who is named, and in the audit trail.
func TestServeDecides(t *testing.T) {
	n := newLongNight(t, sim.Script{Schema: 1, Stories: map[string]sim.Part{
		"1": {Steps: []sim.Step{write("s1.txt", "work\n"), sim.Bash("git push origin HEAD:refs/heads/night", ""), sim.Bash("npm publish", ""), {Text: "Both wait."}}},
		"2": {Steps: []sim.Step{{Text: "The story names none.\n\nQUESTION: SQLite or Postgres?"}}},
	}}, []string{"First", "Second"})
	n.do("loop", "run", "--no-branch")
	if _, out := n.do("loop", "list"); strings.Count(out, "pending") != 3 {
		t.Fatalf("what waits is\n%s", out)
	}
	wants := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			number, want, _ := strings.Cut(text, " ")
			if _, out := n.do("loop", "show", number); !strings.Contains(out, want) {
				t.Errorf("#%s: no %q in\n%s", number, want, out)
			}
		}
	}
	p := servePages(n)

	answer := p.form(p.get("action/3", 200), "answer/3")
	answer(200, "answer", "SQLite,\r\nit is there")
	wants("3 #3 answered", "3 SQLite,")
	p.form(p.get("action/3", 200), "undo/3")(200)
	wants("3 #3 pending")

	// Decided in a terminal while the page is open.
	reject, run := p.form(p.get("action/2", 200), "reject/2"), p.form(p.get("approve/2", 200), "approve/2")
	if code, out := n.do("loop", "reject", "2", "--reason", "not yet"); code != exitDone {
		t.Fatal(out)
	}
	for _, page := range []string{reject(http.StatusConflict, "reason", "because"), run(http.StatusConflict)} {
		if !strings.Contains(page, "reject by ") {
			t.Errorf("who was quicker is not told:\n%s", page)
		}
	}
	// And the other way round.
	p.form(p.get("action/2", 200), "undo/2")(200)
	if code, out := n.do("loop", "undo", "2"); code != exitFailed || !strings.Contains(out, "undo by ") {
		t.Errorf("exit %d: %s", code, out)
	}

	// The branch is not what it was when the push was deferred.
	if code, out := n.do("git", "commit", "-q", "--amend", "-m", "another"); code != 0 {
		t.Fatal(out)
	}
	page := p.get("approve/1", http.StatusConflict)
	if !strings.Contains(page, "not what was deferred") || strings.Contains(page, "<form") {
		t.Errorf("a push that has changed:\n%s", page)
	}
	anyway := p.form(p.get("approve/1?anyway=1", 200), "approve/1")
	anyway(http.StatusConflict)
	wants("1 #1 pending")
	anyway(200, "anyway", "1")
	wants("1 #1 replayed", "1 exit 0")
	if _, out := n.do("git", "-C", n.remote, "log", "-1", "--format=%s", "night"); strings.TrimSpace(out) != "another" {
		t.Errorf("the remote has %q", out)
	}

	_, trail := n.do("loop", "audit", "export")
	for event, times := range map[string]int{"answered": 1, "taken_back": 2, "rejected": 1, "approved": 1, "replayed": 1} {
		if got := strings.Count(trail, `"event":"`+event+`"`); got != times {
			t.Errorf("the trail has %d times %s, want %d", got, event, times)
		}
	}
	if code, out := n.do("loop", "audit", "verify"); code != exitDone {
		t.Errorf("exit %d: %s", code, out)
	}
}

// The pages of a real morning, as a browser shows them and as they are heard.
func TestServedMorningInABrowser(t *testing.T) {
	b := browser.New(t)
	b.Moves = true
	n := newLongNight(t, morningScript(), []string{"Print usage", "Note how fast it is", "Open a pull request", "Umlauts"})
	n.do("loop", "run", "--no-branch")
	link := serveLink(n)
	base, _, _ := strings.Cut(link, "?")
	open := func(url, title string) {
		t.Helper()
		b.Call("Page.navigate", map[string]any{"url": url}, nil)
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			if b.Eval("document.readyState") == `"complete"` && b.Eval(fmt.Sprintf("document.title === %q", title+" · loop")) == "true" {
				return
			}
		}
		t.Fatalf("%s is %s", url, b.Eval("document.title"))
	}
	look := func(name string) {
		t.Helper()
		for _, scheme := range []string{"light", "dark"} {
			b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": false}, nil)
			b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
			if b.Eval("document.documentElement.scrollWidth > innerWidth") != "false" {
				t.Errorf("%s, %s: wider than a small screen", name, scheme)
			}
			if bad := b.Eval(browser.ContrastScript); bad != "[]" {
				t.Errorf("%s, %s: hard to read: %s", name, scheme, bad)
			}
			b.Picture("morning-" + name + "-" + scheme)
		}
		for _, bad := range browser.Hinders(b.Tree()) {
			t.Errorf("%s: for who hears it: %s", name, bad)
		}
	}
	open(link, "7 waiting")
	look("list")
	for i := range 7 {
		open(fmt.Sprintf("%saction/%d", base, i+1), fmt.Sprintf("#%d is pending", i+1))
		look(fmt.Sprint("action-", i+1))
	}
	open(base+"approve/2", "Run #2?")
	look("push")
	open(base+"approve/4", "#4 cannot be run")
	look("server-gone")
}
