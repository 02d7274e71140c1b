package serve

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// browser is a headless Chromium that is spoken to over a pipe.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	id      int
	session string
	noise   []string // what the pages had to say
}

// newBrowser starts a Chromium; without one the test is skipped, and says so.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	program := ""
	for _, name := range []string{os.Getenv("LOOP_CHROMIUM"), "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && name != "" {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("NOT RUN: no Chromium in the PATH (LOOP_CHROMIUM names one): nothing is known about the pages in a browser")
	}
	childIn, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, childOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "loop-browser-") // its helpers may write until they are gone
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{childIn, childOut}
	if err := cmd.Start(); err != nil {
		t.Skipf("NOT RUN: %s does not start: %v", program, err)
	}
	childIn.Close()
	childOut.Close()
	b := &browser{t: t, to: to, from: bufio.NewReaderSize(from, 1<<20)}
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil, nil)
		_ = cmd.Wait()
		to.Close()
		from.Close()
		_ = os.RemoveAll(profile)
	})
	if err := from.SetReadDeadline(time.Now().Add(3 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	var made struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call sends one command and waits for its answer.
func (b *browser) call(method string, params map[string]any, into any) {
	b.t.Helper()
	b.id++
	msg := map[string]any{"id": b.id, "method": method, "params": params}
	if params == nil {
		msg["params"] = map[string]any{}
	}
	if b.session != "" {
		msg["sessionId"] = b.session
	}
	raw, err := json.Marshal(msg)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(raw, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		line, err := b.from.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Method string
			Params json.RawMessage
			Error  *struct{ Message string }
			Result json.RawMessage
		}
		if err := json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &answer); err != nil {
			b.t.Fatal(err)
		}
		switch {
		case answer.ID == b.id && answer.Error != nil && strings.Contains(answer.Error.Message, "navigated"):
			return // a page that goes away answers nothing
		case answer.ID == b.id && answer.Error != nil:
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		case answer.ID == b.id && into != nil:
			if err := json.Unmarshal(answer.Result, into); err != nil {
				b.t.Fatal(err)
			}
			return
		case answer.ID == b.id:
			return
		case answer.Method == "Log.entryAdded", answer.Method == "Runtime.consoleAPICalled", answer.Method == "Runtime.exceptionThrown":
			// A browser asks for an icon at the root, where nobody is let in.
			if !strings.Contains(string(answer.Params), "favicon.ico") {
				b.noise = append(b.noise, string(answer.Params))
			}
		}
	}
}

// eval is the value of an expression, as JSON.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var out struct {
		Result struct{ Value json.RawMessage }
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &out)
	return string(out.Result.Value)
}

// follow does something that leads to another page, and waits for that one, by
// its title.
func (b *browser) follow(title string, do func()) {
	b.t.Helper()
	do()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if b.eval("document.readyState") == `"complete"` && b.eval(fmt.Sprintf("document.title === %q", title+" · loop")) == "true" {
			return
		}
	}
	b.t.Fatalf("no page %q comes; there is %s at %s", title, b.eval("document.title"), b.eval("location.href"))
}

func (b *browser) click(selector string) func() {
	return func() { b.eval(fmt.Sprintf("document.querySelector(%q).click()", selector)) }
}

// picture keeps a screenshot where LOOP_SCREENSHOTS says.
func (b *browser) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("LOOP_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// look judges the page that is open, in both colours and on a small screen.
func (b *browser) look(name string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{360, 1100} {
			b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
			b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]any{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
			if b.eval("document.documentElement.scrollWidth > innerWidth") != "false" {
				b.t.Errorf("%s, %s: wider than a screen of %d", name, scheme, width)
			}
			if bad := b.eval(contrastScript); bad != "[]" {
				b.t.Errorf("%s, %s at %d: hard to read: %s", name, scheme, width, bad)
			}
			b.picture(fmt.Sprintf("serve-%s-%s-%d", name, scheme, width))
		}
	}
	if bad := b.eval(accessScript); bad != "[]" {
		b.t.Errorf("%s: without a name, or a heading of the wrong level: %s", name, bad)
	}
}

// contrastScript gives the texts of the page whose contrast is below 4.5.
const contrastScript = `(() => {
  const rgb = s => s.match(/[\d.]+/g).map(Number);
  const lum = c => { const f = c.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 }); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2] };
  const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c } return [255, 255, 255] };
  const bad = [];
  for (const e of document.body.querySelectorAll('*')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
    const a = lum(rgb(getComputedStyle(e).color)), b = lum(ground(e));
    if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) bad.push(e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 30));
  }
  return bad;
})()`

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

	b := newBrowser(t)
	b.follow("3 waiting", func() { b.call("Page.navigate", map[string]any{"url": x.s.Link()}, nil) })
	if at := b.eval("location.href"); at != fmt.Sprintf("%q", x.at("")) {
		t.Errorf("the link leads to %s", at)
	}
	if got := b.eval("document.cookie"); got != `""` {
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
	b.eval(`document.querySelector('#reason').value = 'not <b>so</b>'`)
	b.follow("#2 is rejected", b.click("button"))
	if now := x.status(rejected, queue.Rejected); now.Decisions[0].Reason != "not <b>so</b>" {
		t.Errorf("reason %q", now.Decisions[0].Reason)
	}
	if got := b.eval("document.scripts.length + document.images.length"); got != "0" {
		t.Errorf("%s scripts and images", got)
	}
	for _, n := range b.noise {
		t.Errorf("a page has something to say: %s", n)
	}
}
