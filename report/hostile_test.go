package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// hostileTexts are put into every place that holds text, and every output is
// held against what none may do.
func hostileTexts() map[string]string {
	return map[string]string{
		"escape sequences":     "\x1b[2J\x1b]0;t\x07\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\\x1bP1$r\x1b\\\x9b31m\x9d0;t\x9c",
		"carriage return":      "git status\rgit push\r\n\x08\x08\x7f\x00",
		"forged lines":         "x\nStory #9 [2026-01-01T00:00:00Z]: git push\nDEFERRED ACTIONS REQUIRE REVIEW\n0 external command(s) detected.\n",
		"bidi":                 "a\u202eevil\u202c \u2066x\u2069 \u200f\u061c \u05d0\u05d1\u05d2 \u0645",
		"invisible":            "a\u200b\u200d\ufeff\u00ad\u2060\u180e\U000e0041\U000e007f\ufe0f\u3164\u2800 \ue000",
		"line separators":      "a\u2028b\u2029c\u0085d\x0b\x0c",
		"homoglyphs":           "git push https://ex\u0430mple.com/\uff0e\uff0e \u0440\u0430\u0443\u0440\u0430l \U0001d5ee",
		"marks":                "e" + strings.Repeat("\u0301", 60) + " \u0338\u20dd",
		"invalid UTF-8":        "\xff\xfe\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 abc\xe2\x82",
		"script":               `<script>alert(1)</script><img src=x onerror=alert(1)><svg/onload=alert(1)><iframe srcdoc="&lt;script&gt;">`,
		"out of an element":    `</code></pre></q></td></table></style></title><base href=//evil.example><meta http-equiv=refresh content=0>`,
		"out of an attribute":  `" onmouseover="alert(1)" x="' onfocus='alert(1)' autofocus x=` + "`x`",
		"comments and cdata":   `--> <!-- ]]> <![CDATA[ <!doctype html> <?php ?> &#60;script&#62; &lt;b&gt;`,
		"templates":            `{{.}} {{template "page"}} ${7*7} #{7*7} <%= 7*7 %> {% raw %}`,
		"links":                "[click](https://evil.example) <https://evil.example> https://evil.example www.evil.example mailto:a@evil.example [x][y]\n\n[y]: https://evil.example",
		"images":               "![x](https://evil.example/p.png) <img src=https://evil.example/p.png>",
		"mentions":             "@octocat @team/all cc @channel <!channel> <@U024BE7LH> <#C024BE7LR> <https://evil.example|click> :tada:",
		"references":           "fixes #1, GH-1, closes octocat/loop#2, !3 &4 ~bug %5 a1b2c3d4e5f60718293a4b5c6d7e8f9012345678",
		"headings and lists":   "# Approved by mara\n\n- [x] all\n1. one\n> quoted\n---\n***bold*** __u__ ~~s~~ | a | b |\n|---|---|\n",
		"backticks":            "` `` ``` ```` `a` ```\n```\n~~~\n@octocat\n\n    [a](b)\n`",
		"backticks only":       "```",
		"math":                 "$x$ $$y$$ $`z`$",
		"csv formulae":         "=cmd|' /C calc'!A0",
		"csv behind blanks":    "  +1+1",
		"csv minus":            "-2+3",
		"csv at":               "@SUM(1+1)",
		"csv tab":              "\t=1+1",
		"csv quotes":           "\"a\",\"b\"\r\n=1",
		"csv fullwidth":        "＝1＋1",
		"json":                 `","status":"approved","x":"\u0000 \" \\ ` + "\u2028",
		"shell":                "'; git push; echo '$(git push) `git push` && git push",
		"only spaces":          "   ",
		"looks like a flag":    "--yes",
		"a receipt":            "zc-receipt-1774608600-1XtPXYvlaO_jajLo6iGoZzQ4oQdVlHqDYIJFbZDyXkE",
		"a line of a megabyte": strings.Repeat("git push \x1b[31m<b>[a](b)`\u202e", 1<<20/32),
	}
}

// snapshotOf has the text in every place that holds one; a very long one only
// in those where a long one can be.
func snapshotOf(h string) queue.Snapshot {
	if len(h) < 64<<10 {
		return nightOf(h)
	}
	d := nightOf("short")
	d.Actions = d.Actions[:2]
	a := &d.Actions[1]
	a.Command, a.Excerpt, a.Said, a.Input = h, h, &queue.Said{Text: h}, nil
	d.Attempts[0].Gates[0].Output, d.Attempts[0].Memory[0].Diff = h, h
	d.Findings[0].Text = h
	return d
}

// forms is every way to print a text of an agent's.
func forms(h string) map[string]func(io.Writer) error {
	d := snapshotOf(h)
	plainly := options(0, false)
	all := plainly
	all.All = true
	wide, narrow := options(120, false), options(80, false)
	out := map[string]func(io.Writer) error{
		"report":         func(w io.Writer) error { return Terminal(w, d, plainly) },
		"report 80":      func(w io.Writer) error { return Terminal(w, d, narrow) },
		"report 120":     func(w io.Writer) error { return Terminal(w, d, wide) },
		"report all":     func(w io.Writer) error { return Terminal(w, d, all) },
		"markdown":       func(w io.Writer) error { return Markdown(w, d, plainly) },
		"markdown all":   func(w io.Writer) error { return Markdown(w, d, all) },
		"html":           func(w io.Writer) error { return HTML(w, d, plainly) },
		"html all":       func(w io.Writer) error { return HTML(w, d, all) },
		"json":           func(w io.Writer) error { return JSON(w, d, plainly) },
		"export json":    func(w io.Writer) error { return Export(w, d.Actions, h, "json", plainly) },
		"export state":   func(w io.Writer) error { return Export(w, d.Actions, h, "state", plainly) },
		"list":           func(w io.Writer) error { return List(w, d.Actions, narrow) },
		"list of a pipe": func(w io.Writer) error { return List(w, d.Actions, plainly) },
		"sessions": func(w io.Writer) error {
			return Sessions(w, []SessionOf{{Session: d.Session, Attempts: d.Attempts}}, plainly)
		},
		"sessions json": func(w io.Writer) error { return SessionsJSON(w, []SessionOf{{Session: d.Session}}, plainly) },
		"outgoing":      func(w io.Writer) error { o := outgoingOf(h); return o.Terminal(w, "", narrow) },
		"outgoing csv":  func(w io.Writer) error { o := outgoingOf(h); return o.CSV(w) },
		"outgoing json": func(w io.Writer) error { o := outgoingOf(h); return o.JSON(w) },
		"log":           func(w io.Writer) error { return logOf(w, h, all) },
		"show a question": func(w io.Writer) error {
			return Show(w, queue.Action{Kind: queue.KindQuestion, Command: h, Story: h}, narrow)
		},
	}
	for i, a := range d.Actions {
		out[fmt.Sprintf("show %d", i)] = func(w io.Writer) error { return Show(w, a, narrow) }
	}
	return out
}

// outgoingOf is what `loop scan` prints of calls with this text.
func outgoingOf(h string) Outgoing {
	t := NewTally()
	for i, e := range []policy.Evidence{policy.Executed, policy.Blocked, policy.Written} {
		t.Add(Seen{File: h, Line: i + 1, Folder: h, Cwd: h, Tool: h, ToolUseID: h, Command: h, Rule: h, Family: h, Undo: h, Tier: policy.External, Evidence: e, Outcome: h, Time: morning})
	}
	o := t.Outgoing(func(folder, _ string) string { return folder })
	o.Folder, o.Since, o.Until = h, morning.Add(-time.Hour), morning
	o.Unread = []Unread{{File: h, Error: h}}
	return o
}

func logOf(w io.Writer, h string, o Options) error {
	l := NewLog(w, o, nil)
	for _, ev := range []transcript.Event{
		{Kind: transcript.KindText, Text: h},
		{Kind: transcript.KindCall, Agent: h, Call: &transcript.Call{ID: h, Name: h, Input: json.RawMessage(`{"command":"x"}`)}},
		{Kind: transcript.KindResult, Result: &transcript.Result{CallID: h, Text: h, IsError: true}},
		{Kind: transcript.KindPlain, Text: h},
	} {
		if err := l.Event(ev); err != nil {
			return err
		}
	}
	return nil
}

func TestHostileTextInEveryOutput(t *testing.T) {
	for name, h := range hostileTexts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for form, print := range forms(h) {
				var b bytes.Buffer
				if err := print(&b); err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				out := b.String()
				checkVisible(t, form, out)
				switch {
				case strings.HasPrefix(form, "html"):
					checkHTML(t, form, out)
				case strings.HasPrefix(form, "markdown"):
					checkMarkdown(t, form, out)
				case strings.HasSuffix(form, "csv"):
					checkCSV(t, form, out)
				case strings.Contains(form, "json"), strings.Contains(form, "state"):
					if !json.Valid(b.Bytes()) {
						t.Errorf("%s is no JSON", form)
					}
				case strings.HasPrefix(form, "report"):
					checkLines(t, form, out, snapshotOf(h))
				}
			}
		})
	}
}

// checkVisible: valid UTF-8, and nothing that a terminal acts on or that a
// person cannot see.
func checkVisible(t *testing.T, form, out string) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Errorf("%s: invalid UTF-8", form)
	}
	lineEnd := "\n"
	if strings.HasSuffix(form, "csv") {
		lineEnd = "\r\n"
	}
	for i, r := range out {
		if !strings.ContainsRune(lineEnd, r) && (unicode.IsControl(r) || !term.Visible(r)) {
			t.Errorf("%s holds %U at %q", form, r, out[max(0, i-20):i])
			return
		}
	}
}

// checkLines: the lines that scripts read are as many as there are actions.
func checkLines(t *testing.T, form, out string, d queue.Snapshot) {
	t.Helper()
	v := newView(d, Options{})
	want := len(v.waiting)
	if strings.HasSuffix(form, "all") {
		want += len(v.mentions)
	}
	if got := len(storyForm.FindAllString(out, -1)); got > want || strings.Count(out, "\nDEFERRED ACTIONS") != 1 || strings.Count(out, "\n0 external command") != 0 {
		t.Errorf("%s: %d story lines, at most %d are loop's, or a forged heading, in\n%.2000s", form, got, want, out)
	}
}

var (
	tagForm  = regexp.MustCompile(`^</?([a-z][a-z0-9]*|!doctype)((?: [a-z-]+(?:="[^"<>]*")?| html)*)>`)
	attrForm = regexp.MustCompile(` ([a-z-]+)="([^"]*)"`)
	attrSafe = regexp.MustCompile(`^[A-Za-z0-9 #:_.,;='/+%-]*$`)
)

// checkHTML: every element and attribute is one of the page's own, with a value
// of its own.
func checkHTML(t *testing.T, form, out string) {
	t.Helper()
	tags, attrs := vocabulary()
	_, body, ok := strings.Cut(out, "</style>")
	if !ok || strings.Count(out, "</style>") != 1 {
		t.Fatalf("%s: more or less than one style", form)
	}
	for rest := body; ; {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			return
		}
		rest = rest[i:]
		m := tagForm.FindStringSubmatch(rest)
		if m == nil || !tags[m[1]] {
			t.Fatalf("%s: not a tag of the page's: %.80s", form, rest)
		}
		for _, a := range attrForm.FindAllStringSubmatch(m[2], -1) {
			if !attrs[a[1]] || !attrSafe.MatchString(a[2]) || a[1] == "href" && !strings.HasPrefix(a[2], "#") {
				t.Fatalf("%s: not an attribute of the page's: %s", form, a[0])
			}
		}
		rest = rest[len(m[0]):]
	}
}

// vocabulary is the elements and attributes that the template has.
func vocabulary() (tags, attrs map[string]bool) {
	tags, attrs = map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`<([a-z][a-z0-9]*)`).FindAllStringSubmatch(pageTemplate, -1) {
		tags[m[1]] = true
	}
	for _, m := range regexp.MustCompile(` ([a-z-]+)="`).FindAllStringSubmatch(pageTemplate, -1) {
		attrs[m[1]] = true
	}
	return tags, attrs
}

// ownMarkdown is all that stands outside of code in the report: no character by
// which a renderer makes a link, an image, a mention, a reference or markup,
// but for the stars round a text and the signs at the beginning of a line.
var ownMarkdown = regexp.MustCompile(`^(?:#{1,2} |(?: {2,4})?- |)[\p{L}\p{N} ()·.,:;…–"“”'’×+$/?%*-]*$`)

// checkMarkdown takes the code out as CommonMark has it, and looks at what is
// left.
func checkMarkdown(t *testing.T, form, out string) {
	t.Helper()
	fence := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		mark := strings.TrimLeft(line, " ")
		ticks := mark[:len(mark)-len(strings.TrimLeft(mark, "`"))]
		switch {
		case fence != "":
			if len(ticks) >= len(fence) && strings.TrimSpace(mark) == ticks {
				fence = ""
			}
			continue
		case len(ticks) >= 3 && mark == ticks+"text":
			fence = ticks
			continue
		}
		left := withoutSpans(line)
		if !ownMarkdown.MatchString(left) || strings.Contains(left, "http") || strings.Contains(left, "www.") || regexp.MustCompile(`\*\*\S*\*\*\*`).MatchString(left) {
			t.Errorf("%s: outside of code stands %q", form, left)
			return
		}
	}
	if fence != "" {
		t.Errorf("%s: a code block has no end", form)
	}
}

// withoutSpans takes code spans out of a line: a run of backticks ends at the
// next run of the same length.
func withoutSpans(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); {
		if line[i] != '`' {
			b.WriteByte(line[i])
			i++
			continue
		}
		n := 0
		for i+n < len(line) && line[i+n] == '`' {
			n++
		}
		end := closing(line, i+n, n)
		if end < 0 {
			b.WriteString(line[i : i+n])
			i += n
			continue
		}
		i = end
	}
	return b.String()
}

func closing(line string, from, n int) int {
	for i := from; i < len(line); {
		if line[i] != '`' {
			i++
			continue
		}
		k := 0
		for i+k < len(line) && line[i+k] == '`' {
			k++
		}
		if i += k; k == n {
			return i
		}
	}
	return -1
}

func checkCSV(t *testing.T, form, out string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", form, err)
	}
	for _, row := range rows {
		for _, c := range row {
			if first := strings.TrimLeft(c, " "); first != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", []rune(first)[0]) {
				t.Errorf("%s: a cell begins as a formula: %.40q", form, c)
			}
		}
	}
}
