package serve

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// hostileTexts stand in every field of an action that can hold a text.
func hostileTexts() map[string]string {
	return map[string]string{
		"script":              `<script>alert(1)</script><img src=x onerror=alert(1)><svg/onload=alert(1)>`,
		"out of an element":   `</code></pre></q></section></main></style></title><base href=//evil.example><meta http-equiv=refresh content=0>`,
		"a form of its own":   `</code></pre><form method="post" action="../approve/1"><button type="submit">Reject</button></form>`,
		"out of an attribute": `" onmouseover="alert(1)" x="' onfocus='alert(1)' autofocus x=` + "`x`",
		"comments and cdata":  `--> <!-- ]]> <![CDATA[ <!doctype html> <?php ?> &#60;script&#62; &lt;b&gt;`,
		"templates":           `{{.}} {{template "page"}} ${7*7} <%= 7*7 %>`,
		"links":               "https://evil.example javascript:alert(1) data:text/html,x",
		"escape sequences":    "\x1b[2J\x1b]0;t\x07\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\\x9b31m",
		"carriage return":     "git status\rgit push\r\n\x08\x08\x7f",
		"forged lines":        "x\n\nsince then\n  git HEAD is the same\n\nRun #1 it is safe",
		"bidi and invisible":  "a\u202eevil\u202c \u2066x\u2069 a\u200b\u200d\ufeff\u2060\U000e0041",
		"homoglyphs":          "git push https://ex\u0430mple.com/ \u0440\u0430\u0443\u0440\u0430l",
		"invalid UTF-8":       "\xff\xfe\xc0\xaf \xed\xa0\x80 abc\xe2\x82",
		"a very long line":    strings.Repeat("git push <b>\x1b[31m\u202e", 1<<18/16),
	}
}

var (
	tagForm  = regexp.MustCompile(`^</?([a-z][a-z0-9]*|!doctype)((?: [a-z-]+(?:="[^"<>]*")?)*)>`)
	attrForm = regexp.MustCompile(` ([a-z-]+)="([^"]*)"`)
	attrSafe = regexp.MustCompile(`^[A-Za-z0-9 #:_.,;='/+?%&-]*$`)
	hrefSafe = regexp.MustCompile(`^(?:#main|\.\./|action/\d+|approve/\d+|\.\./(?:action|approve)/\d+(?:\?again=1|\?anyway=1|\?again=1&amp;anyway=1)?|\?from=\d+|/[A-Z0-9]+/(?:action/\d+)?)$`)
)

// vocabulary is the elements and attributes of the pages: of a page about harmless texts.
func vocabulary(t *testing.T) map[string]bool {
	words := map[string]bool{}
	for _, page := range pagesOf(t, "harmless") {
		for _, m := range regexp.MustCompile(`<(!?[a-z][a-z0-9]*)`).FindAllStringSubmatch(page, -1) {
			words["<"+m[1]] = true
		}
		for _, m := range attrForm.FindAllStringSubmatch(page, -1) {
			words[m[1]] = true
		}
	}
	return words
}

// pagesOf is every page of a queue in which h stands everywhere.
func pagesOf(t *testing.T, h string) map[string]string {
	t.Helper()
	x := newSite(t).open()
	for _, e := range []policy.Evidence{policy.Blocked, policy.Executed, policy.Written, policy.Mentioned, policy.Blocked} {
		x.add(h, func(a *queue.Action) { fillWith(a, h); a.Evidence = e })
	}
	x.add(h, func(a *queue.Action) { fillWith(a, h); a.Kind = queue.KindQuestion })
	ran := x.add("printf '%s\\n' \"$1\"; cat ran-3; exit 1", nil)
	out := map[string]string{}
	fetch := func(path string) {
		w := x.send(x.read(path))
		if w.Code != http.StatusOK && w.Code != http.StatusConflict {
			t.Errorf("GET %s: %d", path, w.Code)
		}
		out[path] = w.Body.String()
	}
	path, form := x.fill(x.get("approve/7", 200), "approve")
	x.post(path, form, http.StatusSeeOther)
	x.status(ran, queue.Failed)
	path, form = x.fill(x.get("action/5", 200), "reject")
	form.Set("reason", h[:min(len(h), 4096)])
	x.post(path, form, http.StatusSeeOther)
	x.add(h, func(a *queue.Action) {
		fillWith(a, h)
		a.Kind, a.Checkpoint = queue.KindQuestion, queue.CheckpointAfter
	})
	path, form = x.fill(x.get("action/8", 200), "answer")
	form.Set("answer", h[:min(len(h), 4096)])
	x.post(path, form, http.StatusSeeOther)
	// Once more: what was written is shown, and was not done.
	out[path] = x.post(path, form, http.StatusConflict)
	path, form = x.fill(x.get("action/5", 200), "undo")
	x.post(path, form, http.StatusSeeOther)
	path, form = x.fill(x.get("action/5", 200), "reject")
	form.Set("reason", h[:min(len(h), 4096)])
	x.post(path, form, http.StatusSeeOther)
	for _, p := range []string{"", "action/1", "action/2", "action/3", "action/4", "action/5", "action/6", "action/7", "action/8",
		"approve/1", "approve/2", "approve/2?again=1", "approve/3", "approve/4", "approve/6", "approve/7?again=1"} {
		fetch(p)
	}
	beginning := h[:min(len(h), 200)]
	for _, p := range []string{"action/" + url.PathEscape(beginning), "?from=" + url.QueryEscape(beginning)} {
		out[p] = x.send(x.read(p)).Body.String()
	}
	x.cookie = ""
	p := "?token=" + url.QueryEscape(beginning)
	out[p] = x.send(x.read(p)).Body.String()
	return out
}

func fillWith(a *queue.Action, h string) {
	a.Session = a.ToolUseID // the same call again would be a repeat of the first
	input, err := json.Marshal(map[string]string{"command": h, "description": h})
	if err == nil {
		a.Input = input
	}
	a.Story, a.StoryTitle, a.Agent, a.Cwd, a.GitHead, a.GitBranch = h, h, h, h, h, h
	a.Rules, a.Why, a.Excerpt, a.Outcome, a.Target = []string{h}, h, h, h, h
	a.Said, a.Transcript, a.Line = &queue.Said{Text: h, Calls: 1}, h, 1
	if len(h) > 64<<10 {
		a.Story, a.StoryTitle, a.Agent, a.Cwd, a.GitHead, a.GitBranch, a.Rules, a.Why, a.Target, a.Transcript = "3", "", "", "/", "", "", nil, "", "", ""
	}
}

// No element and no attribute of any page is a text's, and nothing in it is
// invisible.
func TestHostileTextInEveryPage(t *testing.T) {
	known := vocabulary(t)
	for name, h := range hostileTexts() {
		for path, page := range pagesOf(t, h) {
			_, body, ok := strings.Cut(page, "</style>")
			if !ok || strings.Count(page, "</style>") != 1 {
				t.Fatalf("%s, %.40q: more or less than one style: %.300s", name, path, page)
			}
			checkTags(t, name+", "+path, body, known)
			for _, r := range body {
				if r != '\n' && (unicode.IsControl(r) || !term.Visible(r)) {
					t.Errorf("%s, %.40q: holds %U", name, path, r)
					break
				}
			}
		}
	}
}

func checkTags(t *testing.T, name, rest string, known map[string]bool) {
	t.Helper()
	for {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			return
		}
		rest = rest[i:]
		m := tagForm.FindStringSubmatch(rest)
		if m == nil || !known["<"+m[1]] {
			t.Fatalf("%.60q: not a tag of the page's: %.80s", name, rest)
		}
		for _, a := range attrForm.FindAllStringSubmatch(m[2], -1) {
			if !known[a[1]] || !attrSafe.MatchString(a[2]) || a[1] == "href" && !hrefSafe.MatchString(a[2]) {
				t.Fatalf("%.60q: not an attribute of the page's: %s", name, a[0])
			}
		}
		rest = rest[len(m[0]):]
	}
}
