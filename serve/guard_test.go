package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/queue"
)

// The link is good once, and its token is neither in the address nor in a page
// afterwards.
func TestTheLinkIsUsedOnce(t *testing.T) {
	x := newSite(t)
	x.get("", http.StatusForbidden)
	for _, token := range []string{"x", x.s.link[:len(x.s.link)-1], strings.ToLower(x.s.link), x.s.session} {
		x.get("?token="+token, http.StatusForbidden)
	}
	w := x.send(httptest.NewRequest("GET", x.s.Link(), nil))
	c := w.Result().Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != x.s.base || c.Value == x.s.link {
		t.Errorf("the cookie is %+v", c)
	}
	if w := x.send(httptest.NewRequest("GET", x.s.Link(), nil)); w.Code != http.StatusForbidden {
		t.Errorf("another browser is let in by a used link: %d", w.Code)
	}
	x.cookie = c.Value
	if page := x.get("", 200); strings.Contains(page, x.s.link) || strings.Contains(page, x.s.session) {
		t.Error("a secret stands in the page")
	}
	if w := x.send(httptest.NewRequest("GET", x.s.Link(), nil)); w.Code != http.StatusSeeOther {
		t.Errorf("the link, in the browser that has used it: %d", w.Code)
	}
	for _, cookie := range []string{"x", x.s.link, c.Value + "x"} {
		x.cookie = cookie
		x.get("", http.StatusForbidden)
	}
}

// What reads or changes something must be asked by this page, at this address.
func TestStrangers(t *testing.T) {
	x := newSite(t).open()
	a := x.add("echo x >> ran-3", nil)
	path, form := x.fill(x.get("approve/1", 200), "approve")
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(h string) func(*http.Request) {
		return func(r *http.Request) { r.Host = h; r.Header.Set("Origin", "http://"+h) }
	}
	changes := map[string]func(*http.Request){
		"no origin":            func(r *http.Request) { r.Header.Del("Origin"); r.Header.Del("Sec-Fetch-Site") },
		"null origin":          set("Origin", "null"),
		"foreign origin":       set("Origin", "https://evil.example"),
		"another port":         set("Origin", "http://127.0.0.1:3000"),
		"cross-site":           set("Sec-Fetch-Site", "cross-site"),
		"same-site":            set("Sec-Fetch-Site", "same-site"),
		"no cookie":            func(r *http.Request) { r.Header.Set("Cookie", "") },
		"rebound":              host("evil.example:4711"),
		"rebound without port": host("evil.example"),
		"a name that ends so":  host("127.0.0.1:4711.evil.example"),
		"no port":              host("127.0.0.1"),
		"no host":              host(""),
		"another method":       func(r *http.Request) { r.Method = "PUT" },
		"above its path":       func(r *http.Request) { r.URL.Path = "/" + path },
	}
	for name, change := range changes {
		r := x.form(path, form)
		r.Header.Set("Cookie", cookieName+"="+x.cookie)
		change(r)
		w := httptest.NewRecorder()
		x.s.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden {
			t.Errorf("POST, %s: %d", name, w.Code)
		}
	}
	for _, name := range []string{"foreign origin", "cross-site", "same-site", "rebound", "rebound without port", "no host"} {
		r := httptest.NewRequest("GET", x.at("action/1"), nil)
		changes[name](r)
		if w := x.send(r); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "ran-3") {
			t.Errorf("GET, %s: %d", name, w.Code)
		}
	}
	for name, v := range map[string]url.Values{
		"no token":          {"shown": form["shown"]},
		"no fingerprint":    {"token": form["token"]},
		"exchanged":         {"shown": form["token"], "token": form["shown"]},
		"of another action": {"shown": form["shown"], "token": {x.s.keyed("form", "approve/2")}},
		"of rejecting":      {"shown": form["shown"], "token": {x.s.keyed("form", "reject/1")}},
		"too long":          {"shown": form["shown"], "token": form["token"], "x": {strings.Repeat("x", maxForm)}},
	} {
		if w := x.send(x.form(path, v)); w.Code != http.StatusForbidden && w.Code != http.StatusConflict {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	// A form's values in the address are no form.
	if w := x.send(x.form(path+"?"+form.Encode(), nil)); w.Code != http.StatusForbidden {
		t.Errorf("a form in the address: %d", w.Code)
	}
	// Reading changes nothing.
	x.get("approve/1?"+form.Encode(), 200)
	x.get("reject/1?"+form.Encode(), http.StatusMethodNotAllowed)
	x.status(a, queue.Pending)
	if x.ran(a) != 0 {
		t.Error("it was run")
	}
	if w := x.send(x.form(path, form)); w.Code != http.StatusSeeOther {
		t.Errorf("the form itself: %d", w.Code)
	}
}

// A refusal is as guarded as a page.
func TestHeaders(t *testing.T) {
	x := newSite(t)
	for _, code := range []int{http.StatusForbidden, http.StatusOK, http.StatusNotFound} {
		path := ""
		if code != http.StatusForbidden && x.cookie == "" {
			x.open()
		}
		if code == http.StatusNotFound {
			path = "action/9"
		}
		w := x.send(httptest.NewRequest("GET", x.at(path), nil))
		if w.Code != code {
			t.Fatalf("%d, want %d", w.Code, code)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'sha256-", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		} {
			if got := w.Header().Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%d: %s is %q", code, name, got)
			}
		}
		for _, want := range []string{"frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, want) {
				t.Errorf("%d: policy %q", code, got)
			}
		}
	}
}

func TestListenOnLoopbackOnly(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:0", "localhost.evil.example:0", "127.0.0.1", ""} {
		if l, err := Listen(t.Context(), addr); err == nil {
			l.Close()
			t.Errorf("it listens on %q", addr)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := Listen(t.Context(), addr)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}

// It ends by itself when nobody has asked for anything for the time that was
// given, and not before.
func TestEndsWhenIdle(t *testing.T) {
	x := newSite(t)
	timer, asked := make(chan time.Time), make(chan time.Duration)
	clock := make(chan time.Time, 1)
	clock <- testTime
	tick := func(d time.Duration) { clock <- (<-clock).Add(d) }
	x.s.o.Now = func() time.Time { now := <-clock; clock <- now; return now }
	x.s.o.After = func(d time.Duration) <-chan time.Time { asked <- d; return timer }
	idle := make(chan struct{})
	go x.s.waitIdle(t.Context(), idle)
	if d := <-asked; d != DefaultIdle {
		t.Errorf("it waits for %s", d)
	}
	tick(DefaultIdle - 10*time.Minute)
	x.open().get("", http.StatusOK)
	tick(5 * time.Minute)
	x.cookie = "" // somebody else keeps nothing open
	x.get("", http.StatusForbidden)
	tick(5 * time.Minute)
	timer <- testTime
	if d := <-asked; d != DefaultIdle-10*time.Minute {
		t.Errorf("after a click it waits for %s more", d)
	}
	// What still runs keeps it open.
	x.s.begin()
	tick(DefaultIdle)
	timer <- testTime
	if d := <-asked; d != DefaultIdle {
		t.Errorf("while something runs it looks again after %s", d)
	}
	x.s.end()
	tick(DefaultIdle)
	timer <- testTime
	<-idle
}

// Run prints the link, and a quiet end is no error.
func TestRunEndsByItself(t *testing.T) {
	x := newSite(t)
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	times := make(chan time.Time, 2)
	times <- testTime
	times <- testTime.Add(DefaultIdle)
	var out strings.Builder
	if err := Run(t.Context(), l, x.d, Options{Out: &out, Now: func() time.Time { return <-times }}); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(out.String(), "http://"+l.Addr().String()+"/") {
		t.Errorf("it prints %q", out.String())
	}
}

// The end of its context ends it, and a command that runs is ended and
// recorded.
func TestEndsWhenInterrupted(t *testing.T) {
	x := newSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	var err error
	if x.s, err = newServer(ctx, "127.0.0.1:4711", x.d, x.s.o); err != nil {
		t.Fatal(err)
	}
	a := x.open().add("echo x >> ran-3; sleep 600", nil)
	path, form := x.fill(x.get("approve/1", 200), "approve")
	code := make(chan int)
	go func() { code <- x.send(x.form(path, form)).Code }()
	for x.ran(a) == 0 {
		select {
		case c := <-code:
			t.Fatalf("it ended by itself: %d", c)
		default:
		}
	}
	x.add("echo y >> ran-3", nil)
	second, other := x.fill(x.get("approve/2", 200), "approve")
	if page := x.post(second, other, http.StatusConflict); !strings.Contains(page, "#1 is being run") {
		t.Errorf("while it runs another is told: %s", page)
	}
	cancel()
	<-code
	if now := x.status(a, queue.Failed); now.Replay.Error != "interrupted" {
		t.Errorf("recorded as %q", now.Replay.Error)
	}

	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	err = Run(ctx, l, x.d, Options{Out: io.Discard, Now: time.Now, After: time.After})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}
