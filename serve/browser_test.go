package serve

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/browser"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// tab is a browser on the pages of a server.
type tab struct {
	*browser.Browser
	t *testing.T
}

func newTab(t *testing.T) *tab {
	b := browser.New(t)
	b.Moves = true
	return &tab{b, t}
}

// follow does something that leads to another page, and waits for that one, by
// its title.
func (b *tab) follow(title string, do func()) {
	b.t.Helper()
	do()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if b.Eval("document.readyState") == `"complete"` && b.Eval(fmt.Sprintf("document.title === %q", title+" · loop")) == "true" {
			return
		}
	}
	b.t.Fatalf("no page %q comes; there is %s at %s", title, b.Eval("document.title"), b.Eval("location.href"))
}

func (b *tab) click(selector string) func() {
	return func() { b.Eval(fmt.Sprintf("document.querySelector(%q).click()", selector)) }
}

// look judges the page that is open, in both colours and on a small screen.
func (b *tab) look(name string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{360, 1100} {
			b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
			b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
			if b.Eval("document.documentElement.scrollWidth > innerWidth") != "false" {
				b.t.Errorf("%s, %s: wider than a screen of %d", name, scheme, width)
			}
			if bad := b.Eval(browser.ContrastScript); bad != "[]" {
				b.t.Errorf("%s, %s at %d: hard to read: %s", name, scheme, width, bad)
			}
			b.Picture(fmt.Sprintf("serve-%s-%s-%d", name, scheme, width))
		}
	}
	for _, bad := range browser.Hinders(b.Tree()) {
		b.t.Errorf("%s: for who hears it: %s", name, bad)
	}
}

// live is what a screen reader is told of the outcome.
func (b *tab) live() (out []string) {
	for _, n := range b.Tree() {
		if n.Role == "status" && n.Live == "polite" {
			out = append(out, n.Name)
		}
	}
	return out
}

// focused is the name of what has the focus, as it is on the page.
func (b *tab) focused() string {
	return strings.Trim(b.Eval(`(e => (e.id || e.name || e.innerText || e.localName).trim())(document.activeElement)`), `"`)
}

// tabTo presses Tab until something has the focus, and looks whether that is seen.
func (b *tab) tabTo(name string) {
	b.t.Helper()
	var been []string
	for range 60 {
		b.Press("Tab")
		at := b.focused()
		if been = append(been, at); at != name {
			continue
		}
		if b.Eval(`(s => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0)(getComputedStyle(document.activeElement))`) != "true" {
			b.t.Errorf("that %s has the focus is not seen", name)
		}
		return
	}
	b.t.Fatalf("Tab does not lead to %q, but to %q", name, been)
}

// The morning in a browser: by the link, read, run, reject.
func TestServeInABrowser(t *testing.T) {
	x := newSite(t)
	web := httptest.NewServer(x.s)
	defer web.Close()
	x.s.host = web.Listener.Addr().String()
	ran := x.add("echo it went; echo x >> ran-3", nil)
	rejected := x.add("curl -d '<script>alert(1)</script>\x1b[2J\u202e' https://example.com", nil)
	x.add("git push origin main", func(a *queue.Action) { a.Evidence, a.Outcome = policy.Executed, "ok" })

	b := newTab(t)
	b.follow("3 waiting", func() { b.Call("Page.navigate", map[string]any{"url": x.s.Link()}, nil) })
	if at := b.Eval("location.href"); at != fmt.Sprintf("%q", x.at("")) {
		t.Errorf("the link leads to %s", at)
	}
	if got := b.Eval("document.cookie"); got != `""` {
		t.Errorf("a script could read the cookie %s", got)
	}
	b.look("list")
	b.follow("Run #1?", b.click(`a[href="approve/1"]`))
	b.look("ask")
	b.follow("#1 is replayed", b.click("button"))
	b.look("ran")
	if got := b.focused(); got != "outcome" || len(b.live()) != 1 {
		t.Errorf("after it has run the focus is on %q, and %q is told", got, b.live())
	}
	x.status(ran, queue.Replayed)
	if n := x.ran(ran); n != 1 {
		t.Errorf("it ran %d times", n)
	}
	b.follow("2 waiting", b.click("nav a"))
	b.follow("#2 is pending", b.click(`a[href="action/2"]`))
	b.look("action")
	b.Eval(`document.querySelector('#reason').value = 'not <b>so</b>'`)
	b.follow("#2 is rejected", b.click(`form[action="../reject/2"] button`))
	b.look("rejected")
	if now := x.status(rejected, queue.Rejected); now.Decisions[0].Reason != "not <b>so</b>" {
		t.Errorf("reason %q", now.Decisions[0].Reason)
	}
	b.quiet()
}

// quiet: no page has scripts or images, or breaks its policy.
func (b *tab) quiet() {
	b.t.Helper()
	if got := b.Eval("document.scripts.length + document.images.length"); got != "0" {
		b.t.Errorf("%s scripts and images", got)
	}
	for _, e := range b.Events {
		said := e.Method == "Log.entryAdded" || e.Method == "Runtime.consoleAPICalled" || e.Method == "Runtime.exceptionThrown"
		// A browser asks for an icon at the root, where nobody is let in.
		if said && !strings.Contains(string(e.Params), "favicon.ico") && !strings.Contains(string(e.Params), "409 (Conflict)") {
			b.t.Errorf("a page has something to say: %s", e.Params)
		}
	}
}

// With the keyboard alone: a question answered and taken back, a checkpoint let
// go, a push run although it has changed, which its box must be ticked for.
func TestServeByKeyboard(t *testing.T) {
	x := newSite(t)
	web := httptest.NewServer(x.s)
	defer web.Close()
	x.s.host = web.Listener.Addr().String()
	push := x.rewritten()
	asked := x.add("Should slugs keep umlauts, or write them as ae, oe and ue?", question(""))
	held := x.add("The schema has changed: look at it before the stories that write.", question(queue.CheckpointAfter))

	b := newTab(t)
	b.follow("3 waiting", func() { b.Call("Page.navigate", map[string]any{"url": x.s.Link()}, nil) })
	b.look("list-questions")
	enter := func() { b.Press("Enter") }

	b.tabTo("Answer #2, or reject it")
	b.follow("#2 is pending", enter)
	b.look("question")
	b.tabTo("answer")
	b.Type("Write them as ae, oe and ue.")
	b.tabTo("Answer")
	b.follow("#2 is answered", enter)
	b.look("answered")
	if got := b.live(); len(got) != 1 || b.focused() != "outcome" {
		t.Errorf("the outcome is told as %q, the focus is on %s", got, b.focused())
	}
	if now := x.status(asked, queue.Answered); now.AnswerText() != "Write them as ae, oe and ue." {
		t.Errorf("answered %q", now.AnswerText())
	}
	b.tabTo("Take the decision back")
	b.follow("#2 is pending", enter)
	b.look("taken-back")
	x.status(asked, queue.Pending)

	// Somebody answers in a terminal while the page is open.
	b.tabTo("answer")
	b.Type("Keep them.")
	if _, err := x.d.Store.Answer(t.Context(), asked.ID, queue.Decision{Who: "bob", Reason: "Drop them."}); err != nil {
		t.Fatal(err)
	}
	b.tabTo("Answer")
	b.follow("Nothing was done", enter)
	b.look("too-late")
	if got := b.live(); len(got) != 1 || !strings.Contains(b.Eval("document.body.innerText"), "answer by bob") || !strings.Contains(b.Eval("document.body.innerText"), "Keep them.") {
		t.Errorf("who was quicker, or what was written, is not told: %q", got)
	}
	b.tabTo("See #2 as it is now")
	b.follow("#2 is answered", enter)
	b.tabTo("Take the decision back")
	b.follow("#2 is pending", enter)

	b.tabTo("Skip to the content")
	b.tabTo("All actions")
	b.follow("3 waiting", enter)
	b.tabTo("Look at #3 and let its stories go on, or hold them")
	b.follow("#3 is pending", enter)
	b.look("checkpoint")
	b.tabTo("Let the stories go on")
	b.follow("#3 is answered", enter)
	x.status(held, queue.Answered)

	b.tabTo("All actions")
	b.follow("2 waiting", enter)
	b.tabTo("See what running #1 would do")
	b.follow("#1 is not what was deferred", enter)
	b.look("stale")
	b.tabTo("Go on to the question whether it is run all the same")
	b.follow("Run #1 although it has changed?", enter)
	b.look("anyway")
	b.tabTo("Run #1")
	enter() // the box is not ticked: the browser holds it back
	if got := b.Eval("document.title"); !strings.Contains(got, "although") || b.focused() != "anyway" {
		t.Errorf("without the box it leads to %s, the focus is on %s", got, b.focused())
	}
	x.status(push, queue.Pending)
	b.Press("Space")
	b.tabTo("Run #1")
	b.follow("#1 is replayed", enter)
	b.look("pushed")
	if x.status(push, queue.Replayed); !x.pushed() {
		t.Error("it was not pushed")
	}
	b.quiet()
}
