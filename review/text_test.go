package review

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// Nothing is lost where a line is broken, and no piece is wider than the pane.
func FuzzWrap(f *testing.F) {
	f.Add("  1 | git push origin main && curl -d @x https://example.com", 20)
	f.Add("    世界世界世界 a\u0301b", 12)
	f.Add(strings.Repeat(" ", 90)+"; rm -rf ~", 40)
	f.Fuzz(func(t *testing.T, s string, width int) {
		s = term.Quote(s)
		width = 16 + max(width, -width)%100
		var b strings.Builder
		for i, r := range wrapped(s, width, 0) {
			text := r.text
			if i > 0 {
				_, rest, ok := strings.Cut(text, "↳ ")
				if !ok || strings.Trim(text[:len(text)-len(rest)-len("↳ ")], " ") != "" {
					t.Fatalf("%q goes on with %q", s, text)
				}
				text = rest
			}
			if term.Cells(r.text) > width {
				t.Errorf("%q is wider than %d", r.text, width)
			}
			b.WriteString(text)
		}
		if b.String() != s {
			t.Errorf("%q became %q", s, b.String())
		}
	})
}

// A command of a megabyte is laid out at once: twice the length takes about twice
// as long, and not four times.
func BenchmarkWrap(b *testing.B) {
	for _, n := range []int{1, 2, 4} {
		text := strings.Repeat(`x\x1b[31m \u202e `, n*50_000)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				wrapped(text, 70, 0)
			}
		})
	}
}

func TestPager(t *testing.T) {
	var p pager
	p.size(20, 3)
	p.set("one\ntwo\nthree\n" + strings.Repeat("wide ", 10) + "\nfive\nsix")
	p.scroll(0)
	if p.lines != 6 || p.unseen() != 3 {
		t.Errorf("%d lines, %d unseen", p.lines, p.unseen())
	}
	p.scroll(1)
	if p.unseen() != 3 {
		t.Errorf("a line of which one row of several was seen counts: %d unseen", p.unseen())
	}
	p.size(60, 3)
	p.next()
	if p.unseen() != 0 {
		t.Errorf("%d unseen, rows from %d", p.unseen(), p.top)
	}
	p.set("x")
	if p.unseen() != 1 {
		t.Error("another text counts as seen")
	}
	p.size(60, 30)
	p.key("home")
	p.key("end")
	if p.unseen() != 0 || p.key("y") {
		t.Error("a text that fits is not seen, or y scrolls")
	}
}

func TestField(t *testing.T) {
	f := newField("one two\nthree", false)
	for _, k := range []string{"up", "ctrl+e", "ctrl+w", "left", "delete", "home", "X", "down", "end", "backspace", "ctrl+j", "é", "ctrl+k", "right"} {
		typed := k
		if len(k) > 2 {
			typed = ""
		}
		f.key(k, typed)
	}
	if got := f.text(); got != "Xone\nthre\né" {
		t.Errorf("%q", got)
	}
	if f.key("f5", "") || f.key("pgup", "") {
		t.Error("it takes keys that mean nothing to it")
	}
	one := newField("a\r\nb", true)
	if one.text() != "a b" || one.key("ctrl+j", "") {
		t.Errorf("a field of one line holds %q", one.text())
	}
	rows, x, y := f.draw(80, 2)
	if diff := cmp.Diff([]string{"thre", "é"}, rows); diff != "" || x != 1 || y != 1 {
		t.Errorf("cursor at %d %d\n%s", x, y, diff)
	}
	h := newField("a\u202e\u0430dmin\tx", false)
	rows, _, _ = h.draw(80, 5)
	if got := strings.Join(rows, "\n"); got != `a\u202e\u0430dmin\tx` {
		t.Errorf("what hides is drawn as %q", got)
	}
}

func TestPayload(t *testing.T) {
	set, err := policy.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	files := func(name string) (string, bool) {
		return `{"n": 1}`, name == "body.json"
	}
	for command, want := range map[string]string{
		`curl -d '{"a":1}' https://example.com`:                "curl -d\n  {\n    \"a\": 1\n  }\n",
		`curl --json @body.json https://example.com`:           "curl --json body.json, as it is now\n  {\n    \"n\": 1\n  }\n",
		`curl -F f=@gone.bin https://example.com`:              "curl -F gone.bin\n  !! the file is not read here: look at it yourself\n",
		`curl --data=x=1 https://example.com`:                  "curl --data\n  x=1\n",
		"gh pr create --title T --body 'one\n\x1b[2Jtwo'":      "gh --title\n  T\ngh --body\n  one\n  \\x1b[2Jtwo\n",
		`git push origin main`:                                 "",
		`ls -d x`:                                              "",
		"curl -d @- https://example.com <<'E'\n{\"b\":[2]}\nE": "curl -d\n  @-\ntext in the command\n  {\n    \"b\": [\n      2\n    ]\n  }\n",
	} {
		a := queue.Action{Tool: "Bash", Command: command}
		if diff := cmp.Diff(want, Payload(a, set.Explain(command), files)); diff != "" {
			t.Errorf("%s\n%s", command, diff)
		}
	}
	mcp := queue.Action{Tool: "mcp__github__create_issue", Input: []byte(`{"title":"T","body":"one\ntwo \"x\": y\n","n":[1]}`)}
	want := "{\n  \"title\": \"T\",\n  \"body\": (text),\n    | one\n    | two \"x\": y\n  \"n\": [\n    1\n  ]\n}\n"
	if diff := cmp.Diff(want, Payload(mcp, policy.Explanation{}, nil)); diff != "" {
		t.Error(diff)
	}
}

func TestBelowCommand(t *testing.T) {
	screen := "action #1  x\n  status pending\n\nwill run\n  1 | x\n\n  !! hides\n\n  in  /repo\n\nsince then\n  same\n\n"
	want := "  !! hides\n\nsince then\n  same\n\n  in  /repo\n"
	if diff := cmp.Diff(want, BelowCommand(screen)); diff != "" {
		t.Error(diff)
	}
	if got := BelowCommand("action #1  x\n\nwill run\n  1 | x\n  !! hides\n\nsince then\n  same\n\nwould push\n  main\n"); got != "  !! hides\n\nwould push\n  main\n\nsince then\n  same\n" {
		t.Errorf("%q", got)
	}
	if got := BelowCommand(""); got != "" {
		t.Errorf("%q", got)
	}
}
