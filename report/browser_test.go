package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/browser"
)

// viewer is a browser with the report's page in it.
type viewer struct {
	*browser.Browser
	t *testing.T
}

func newViewer(t *testing.T) *viewer { return &viewer{browser.New(t), t} }

// open shows a page that is a file, as wide and in the colours that are asked
// for.
func (b *viewer) open(page []byte, width int, scheme, media string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.Call("Emulation.setEmulatedMedia", map[string]any{"media": media, "features": []map[string]any{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	b.Call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	for range 200 { // each look is answered when the page has got further
		if b.Eval("document.readyState") == `"complete"` && strings.Contains(b.Eval("location.href"), file) {
			return
		}
	}
	b.t.Fatal("the page does not come to its end")
}

// press presses and releases a key.
func (b *viewer) press(key string, code int) {
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.Call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}, nil)
	}
}

// quiet: the page asked for nothing but itself, and broke no policy.
func (b *viewer) quiet() {
	b.t.Helper()
	for _, e := range b.Events {
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

// The page as a browser shows it: legible in both colours, on paper and on a
// small screen, and at rest.
func TestPageInABrowser(t *testing.T) {
	b := newViewer(t)
	for _, night := range []string{"bad", "good", "hostile"} {
		page := pageOf(t, night)
		grounds := map[string]bool{}
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{360, 1100} {
				b.open(page, width, scheme, "screen")
				if got := b.Eval("document.documentElement.scrollWidth > innerWidth"); got != "false" {
					t.Errorf("%s, %s: wider than a screen of %d", night, scheme, width)
				}
				if bad := b.Eval(browser.ContrastScript); bad != "[]" {
					t.Errorf("%s, %s at %d: hard to read: %s", night, scheme, width, bad)
				}
				b.Picture(fmt.Sprintf("report-%s-%s-%d", night, scheme, width))
			}
			grounds[b.Eval("getComputedStyle(document.documentElement).backgroundColor")] = true
		}
		if len(grounds) != 2 {
			t.Errorf("%s: light and dark have the ground %v", night, grounds)
		}
		b.open(page, 800, "light", "print")
		if got := b.Eval(`getComputedStyle(document.querySelector('nav')).display`); got != `"none"` {
			t.Errorf("%s: the links to sections are printed: %s", night, got)
		}
		if got := b.Eval(`[...document.querySelectorAll('details > *:not(summary)')].filter(e => e.getBoundingClientRect().height < 5).length`); got != "0" {
			t.Errorf("%s: %s closed parts are not printed", night, got)
		}
		b.Picture("report-" + night + "-print")
	}
	b.quiet()
}

// No element or attribute of the page comes from a text of an agent's, as the
// browser reads it.
func TestHostilePagesInABrowser(t *testing.T) {
	b := newViewer(t)
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
		if bad := b.Eval(script); bad != "[]" {
			t.Errorf("%s: not of the page's own: %.500s", name, bad)
		}
	}
	b.quiet()
}

// The accessibility tree: nothing in it would hinder a screen reader or somebody
// with only a keyboard.
func TestPageForAScreenReader(t *testing.T) {
	b := newViewer(t)
	for _, night := range []string{"bad", "good", "running", "empty"} {
		b.open(pageOf(t, night), 1100, "light", "screen")
		tree := b.Tree()
		for _, bad := range browser.Hinders(tree) {
			if bad != "a group without a name" { // what folds: its summary has one
				t.Errorf("%s: %s", night, bad)
			}
		}
		count := map[string]int{}
		for _, n := range tree {
			if count[n.Role]++; n.Name == "" && slices.Contains([]string{"table", "columnheader", "rowheader"}, n.Role) {
				t.Errorf("%s: a %s without a name", night, n.Role)
			}
		}
		if count["navigation"] == 0 || count["heading"] == 0 {
			t.Errorf("%s: no navigation or no heading: %v", night, count)
		}
		if night == "bad" && (count["table"] < 3 || count["rowheader"] < 7 || count["article"] < 4) {
			t.Errorf("%s: tables, their heads or articles are missing: %v", night, count)
		}
	}
}

// A keyboard gets everywhere, and sees where it is.
func TestPageWithAKeyboard(t *testing.T) {
	b := newViewer(t)
	b.open(pageOf(t, "bad"), 1100, "light", "screen")
	want := b.Eval(`document.querySelectorAll('a[href], summary').length`)
	seen := 0
	for range 200 {
		b.press("Tab", 9)
		where := b.Eval(`(() => { const e = document.activeElement, r = e.getBoundingClientRect(), s = getComputedStyle(e);
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
