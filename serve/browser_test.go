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
	if bad := b.Eval(accessScript); bad != "[]" {
		b.t.Errorf("%s: without a name, or a heading of the wrong level: %s", name, bad)
	}
}

// accessScript gives what a screen reader has no name for, and headings that
// skip a level.
const accessScript = `(() => {
  const bad = [];
  let level = 0;
  for (const e of document.querySelectorAll('a, button, input:not([type=hidden]), section, article, h1, h2, h3')) {
    const name = e.ariaLabel || (e.getAttribute('aria-labelledby') ? document.getElementById(e.getAttribute('aria-labelledby'))?.textContent : '') ||
      (e.labels && e.labels.length ? e.labels[0].textContent : '') || e.textContent;
    if (!name.trim()) bad.push(e.outerHTML.slice(0, 80));
    const at = /^H([1-6])$/.exec(e.tagName);
    if (at) { if (Number(at[1]) > level + 1) bad.push(e.textContent); level = Number(at[1]) }
  }
  return document.querySelectorAll('h1').length === 1 ? bad : bad.concat('h1');
})()`

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
	x.status(ran, queue.Replayed)
	if n := x.ran(ran); n != 1 {
		t.Errorf("it ran %d times", n)
	}
	b.follow("2 waiting", b.click("nav a"))
	b.follow("#2 is pending", b.click(`a[href="action/2"]`))
	b.look("action")
	b.Eval(`document.querySelector('#reason').value = 'not <b>so</b>'`)
	b.follow("#2 is rejected", b.click("button"))
	if now := x.status(rejected, queue.Rejected); now.Decisions[0].Reason != "not <b>so</b>" {
		t.Errorf("reason %q", now.Decisions[0].Reason)
	}
	if got := b.Eval("document.scripts.length + document.images.length"); got != "0" {
		t.Errorf("%s scripts and images", got)
	}
	for _, e := range b.Events {
		said := e.Method == "Log.entryAdded" || e.Method == "Runtime.consoleAPICalled" || e.Method == "Runtime.exceptionThrown"
		// A browser asks for an icon at the root, where nobody is let in.
		if said && !strings.Contains(string(e.Params), "favicon.ico") {
			t.Errorf("a page has something to say: %s", e.Params)
		}
	}
}
