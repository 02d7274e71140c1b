// Package browser is a headless Chromium for tests that look at a page as a
// person's browser shows it. It is spoken to over a pipe, in the DevTools
// protocol.
package browser

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Browser is a headless Chromium that is spoken to over a pipe.
type Browser struct {
	// Moves says that what is asked may lead to another page: a page that goes
	// away answers nothing.
	Moves  bool
	Events []Notice // what came in between

	t      *testing.T
	to     *os.File
	from   *bufio.Reader
	id     int
	target string // the session of the page
	awake  bool   // it has answered
}

// Notice is an event of the protocol.
type Notice struct {
	Method string
	Params json.RawMessage
}

// New starts a Chromium; without one the test is skipped, and says so.
// One that LOOP_CHROMIUM names must work.
func New(t *testing.T) *Browser {
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
	b := &Browser{t: t, to: to, from: bufio.NewReaderSize(from, 1<<20)}
	t.Cleanup(func() {
		if b.target = ""; b.awake && !t.Failed() {
			b.Call("Browser.close", nil, nil)
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
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	var attached struct{ SessionID string }
	b.Call("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &attached)
	b.target = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log", "DOM", "Accessibility"} {
		b.Call(domain+".enable", nil, nil)
	}
	return b
}

// Call sends one command and waits for its answer; events meanwhile are kept.
func (b *Browser) Call(method string, params map[string]any, into any) {
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
			Notice
		}
		if err := json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &answer); err != nil {
			b.t.Fatal(err)
		}
		b.awake = true
		if answer.ID != b.id {
			b.Events = append(b.Events, answer.Notice)
			continue
		}
		if answer.Error != nil && b.Moves && strings.Contains(answer.Error.Message, "navigated") {
			return
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

// Eval is the value of an expression, as JSON. The page's own policy is no
// hindrance to it.
func (b *Browser) Eval(expression string) string {
	b.t.Helper()
	var out struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &out)
	if e := out.ExceptionDetails; e != nil {
		b.t.Fatalf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	return string(out.Result.Value)
}

// Picture keeps a screenshot where LOOP_SCREENSHOTS says.
func (b *Browser) Picture(name string) {
	b.t.Helper()
	var shot struct{ Data string }
	b.Call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
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

// ContrastScript gives the texts of the page whose contrast is below 4.5.
const ContrastScript = `(() => {
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
