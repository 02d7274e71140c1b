package report

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium that is spoken to over a pipe.
type browser struct {
	t      *testing.T
	to     *os.File
	from   *bufio.Reader
	id     int
	target string // the session of the page
	awake  bool   // it has answered
	events []notice
}

type notice struct {
	Method string
	Params json.RawMessage
}

// newBrowser starts a Chromium; without one the test is skipped, and says so.
// One that LOOP_CHROMIUM names must work.
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
		t.Skip("NOT RUN: no Chromium in the PATH (LOOP_CHROMIUM names one): nothing is known about the page in a browser")
	}
	childIn, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, childOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Its helpers may write until they are gone, so this is no folder of the test's.
	profile, err := os.MkdirTemp("", "loop-browser-")
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
		if b.target = ""; b.awake && !t.Failed() {
			b.call("Browser.close", nil, nil)
		} else {
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait()
		to.Close()
		from.Close()
		_ = os.RemoveAll(profile)
	})
	if err := from.SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	var made struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &attached)
	b.target = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log", "DOM", "Accessibility"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call sends one command and waits for its answer; events meanwhile are kept.
func (b *browser) call(method string, params map[string]any, into any) {
	b.t.Helper()
	b.id++
	if params == nil {
		params = map[string]any{}
	}
	msg := map[string]any{"id": b.id, "method": method, "params": params}
	if b.target != "" {
		msg["sessionId"] = b.target
	}
	raw, err := json.Marshal(msg)
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = b.to.Write(append(raw, 0))
	for {
		var line []byte
		if err == nil {
			line, err = b.from.ReadBytes(0)
		}
		if err != nil && !b.awake && os.Getenv("LOOP_CHROMIUM") == "" {
			b.t.Skipf("NOT RUN: the browser does not answer (%v): nothing is known about the page in one", err)
		}
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Error  *struct{ Message string }
			Result json.RawMessage
			notice
		}
		if err := json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &answer); err != nil {
			b.t.Fatal(err)
		}
		b.awake = true
		if answer.ID != b.id {
			b.events = append(b.events, answer.notice)
			continue
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		if into != nil {
			if err := json.Unmarshal(answer.Result, into); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// open shows a page that is a file, as wide and in the colours that are asked
// for.
func (b *browser) open(page []byte, width int, scheme, media string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": media, "features": []map[string]any{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	for range 200 { // each look is answered when the page has got further
		if b.eval("document.readyState") == `"complete"` && strings.Contains(b.eval("location.href"), file) {
			return
		}
	}
	b.t.Fatal("the page does not come to its end")
}

// eval is the value of an expression, as JSON. The page's own policy is no
// hindrance to it.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var out struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &out)
	if e := out.ExceptionDetails; e != nil {
		b.t.Fatalf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	return string(out.Result.Value)
}

// picture keeps a screenshot where LOOP_SCREENSHOTS says.
func (b *browser) picture(name string) {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil || !bytes.HasPrefix(png, []byte("\x89PNG")) {
		b.t.Fatalf("no picture: %v", err)
	}
	if dir := os.Getenv("LOOP_SCREENSHOTS"); dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

// press presses and releases a key.
func (b *browser) press(key string, code int) {
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}, nil)
	}
}

// quiet: the page asked for nothing but itself, and broke no policy.
func (b *browser) quiet() {
	b.t.Helper()
	for _, e := range b.events {
		switch e.Method {
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			if json.Unmarshal(e.Params, &p) == nil && !strings.HasPrefix(p.Request.URL, "file://") {
				b.t.Errorf("the page asked for %s", p.Request.URL)
			}
		case "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown":
			b.t.Errorf("the page has something to say: %s", e.Params)
		}
	}
}

func pageOf(t *testing.T, night string) []byte {
	t.Helper()
	var b bytes.Buffer
	o := options(0, false)
	o.Earlier = 2
	if err := HTML(&b, nights()[night], o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
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
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2) + ' ' + e.textContent.slice(0, 30));
  }
  return bad;
})()`

// The page as a browser shows it: legible in both colours, on paper and on a
// small screen, and at rest.
func TestPageInABrowser(t *testing.T) {
	b := newBrowser(t)
	for _, night := range []string{"bad", "good", "hostile"} {
		page := pageOf(t, night)
		grounds := map[string]bool{}
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{360, 1100} {
				b.open(page, width, scheme, "screen")
				if got := b.eval("document.documentElement.scrollWidth > innerWidth"); got != "false" {
					t.Errorf("%s, %s: wider than a screen of %d", night, scheme, width)
				}
				if bad := b.eval(contrastScript); bad != "[]" {
					t.Errorf("%s, %s at %d: hard to read: %s", night, scheme, width, bad)
				}
				b.picture(fmt.Sprintf("report-%s-%s-%d", night, scheme, width))
			}
			grounds[b.eval("getComputedStyle(document.documentElement).backgroundColor")] = true
		}
		if len(grounds) != 2 {
			t.Errorf("%s: light and dark have the ground %v", night, grounds)
		}
		b.open(page, 800, "light", "print")
		if got := b.eval(`getComputedStyle(document.querySelector('nav')).display`); got != `"none"` {
			t.Errorf("%s: the links to sections are printed: %s", night, got)
		}
		if got := b.eval(`[...document.querySelectorAll('details > *:not(summary)')].filter(e => e.getBoundingClientRect().height < 5).length`); got != "0" {
			t.Errorf("%s: %s closed parts are not printed", night, got)
		}
		b.picture("report-" + night + "-print")
	}
	b.quiet()
}

// No element or attribute of the page comes from a text of an agent's, as the
// browser reads it.
func TestHostilePagesInABrowser(t *testing.T) {
	b := newBrowser(t)
	tags, attrs := vocabulary()
	names := func(m map[string]bool) string {
		list := []string{}
		for k := range m {
			list = append(list, k)
		}
		raw, err := json.Marshal(append(list, "html", "head", "body"))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	script := `(() => {
  const tags = new Set(` + names(tags) + `), attrs = new Set(` + names(attrs) + `.concat(['open'])), bad = [];
  for (const e of document.querySelectorAll('*')) {
    if (!tags.has(e.localName)) bad.push('<' + e.localName + '>');
    for (const a of e.attributes) if (!attrs.has(a.name)) bad.push(e.localName + ' ' + a.name);
    if (e.href && !e.getAttribute('href').startsWith('#')) bad.push(e.href);
  }
  return bad.concat(document.images.length ? ['images'] : [], document.scripts.length ? ['scripts'] : []);
})()`
	for name, h := range hostileTexts() {
		var page bytes.Buffer
		if err := HTML(&page, snapshotOf(h), options(0, false)); err != nil {
			t.Fatal(err)
		}
		b.open(page.Bytes(), 1100, "light", "screen")
		if bad := b.eval(script); bad != "[]" {
			t.Errorf("%s: not of the page's own: %.500s", name, bad)
		}
	}
	b.quiet()
}

// The accessibility tree: everything that can be operated or jumped to has a
// name, and headings do not skip a level.
func TestPageForAScreenReader(t *testing.T) {
	b := newBrowser(t)
	for _, night := range []string{"bad", "good", "running", "empty"} {
		b.open(pageOf(t, night), 1100, "light", "screen")
		var tree struct {
			Nodes []struct {
				Ignored    bool
				Role, Name struct{ Value any }
				Properties []struct {
					Name  string
					Value struct{ Value any }
				}
			}
		}
		b.call("Accessibility.getFullAXTree", nil, &tree)
		count := map[string]int{}
		level := 0
		for _, n := range tree.Nodes {
			if n.Ignored {
				continue
			}
			role := fmt.Sprint(n.Role.Value)
			count[role]++
			switch role {
			case "link", "button", "DisclosureTriangle", "heading", "region", "navigation", "article", "table", "columnheader", "rowheader":
				if n.Name.Value == nil || strings.TrimSpace(fmt.Sprint(n.Name.Value)) == "" {
					t.Errorf("%s: a %s without a name", night, role)
				}
			}
			for _, p := range n.Properties {
				if role != "heading" || p.Name != "level" {
					continue
				}
				now := int(p.Value.Value.(float64))
				if now > level+1 {
					t.Errorf("%s: a heading of level %d after one of level %d: %v", night, now, level, n.Name.Value)
				}
				level = now
			}
		}
		for _, role := range []string{"banner", "navigation", "main", "contentinfo", "heading"} {
			if count[role] == 0 {
				t.Errorf("%s: no %s", night, role)
			}
		}
		if night == "bad" && (count["table"] < 3 || count["rowheader"] < 7 || count["article"] < 4) {
			t.Errorf("%s: tables, their heads or articles are missing: %v", night, count)
		}
	}
}

// A keyboard gets everywhere, and sees where it is.
func TestPageWithAKeyboard(t *testing.T) {
	b := newBrowser(t)
	b.open(pageOf(t, "bad"), 1100, "light", "screen")
	want := b.eval(`document.querySelectorAll('a[href], summary').length`)
	seen := 0
	for range 200 {
		b.press("Tab", 9)
		where := b.eval(`(() => { const e = document.activeElement, r = e.getBoundingClientRect(), s = getComputedStyle(e);
			return e === document.body ? null : { text: e.textContent.trim(), visible: r.width > 0 && r.right > 0, outline: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 } })()`)
		var at *struct {
			Text             string
			Visible, Outline bool
		}
		if err := json.Unmarshal([]byte(where), &at); err != nil {
			t.Fatal(err)
		}
		if at == nil {
			break
		}
		if seen++; seen == 1 && !strings.HasPrefix(at.Text, "Skip to") {
			t.Errorf("the first thing that a keyboard reaches is %q", at.Text)
		}
		if at.Text == "" || !at.Visible || !at.Outline {
			t.Errorf("a keyboard cannot see where it is: %s", where)
		}
	}
	if fmt.Sprint(seen) != want {
		t.Errorf("a keyboard reaches %d of %s links and closed parts", seen, want)
	}
}
