package replay

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

func builtin(t *testing.T) *policy.Set {
	t.Helper()
	set, err := policy.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestNewFormIsClassified(t *testing.T) {
	set := builtin(t)
	a := queue.Action{Tool: "Bash", Input: []byte(`{"command":"git push origin main","description":"d"}`), Command: "git push origin main", Cwd: "/w"}
	for text, want := range map[string]queue.Edited{
		"git push origin next && echo '<&>'": {
			Input: []byte(`{"command":"git push origin next && echo '<&>'","description":"d"}`), Command: "git push origin next && echo '<&>'",
			Tier: policy.External, Rules: []string{"git-push"},
		},
		"git status": {Input: []byte(`{"command":"git status","description":"d"}`), Command: "git status"},
	} {
		form, err := NewForm(a, text, set)
		if err != nil || form == nil {
			t.Fatalf("%s: %v, %v", text, form, err)
		}
		got := *form
		got.Why, got.Undo = "", ""
		if !slices.Contains(got.Rules, "git-push") {
			got.Rules = nil
		} else {
			got.Rules = []string{"git-push"}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s:\n%s", text, d)
		}
	}
	a.Edited = &queue.Edited{Input: []byte(`{"command":"x"}`), Command: "x"}
	if form, err := NewForm(a, "git push origin main", set); form != nil || err != nil {
		t.Errorf("the agent's own again: %+v, %v", form, err)
	}
	if _, err := NewForm(a, " \n", set); err == nil {
		t.Error("an empty command is a form")
	}
}

func TestFormOfAnotherTool(t *testing.T) {
	a := queue.Action{Tool: "mcp__chat__post_message", Input: []byte(`{"text":"we shipped","n":12345678901234567890}`)}
	if got := EditText(a); got != "{\n  \"text\": \"we shipped\",\n  \"n\": 12345678901234567890\n}" {
		t.Errorf("to edit: %s", got)
	}
	form, err := NewForm(a, strings.Replace(EditText(a), "we shipped", "not yet", 1), builtin(t))
	if err != nil || string(form.Input) != `{"text":"not yet","n":12345678901234567890}` || form.Tier != policy.External {
		t.Errorf("%+v, %v", form, err)
	}
	if form, err := NewForm(a, EditText(a)+"\n", builtin(t)); form != nil || err != nil {
		t.Errorf("white space: %+v, %v", form, err)
	}
	for _, text := range []string{"{", "[1]", `"x"`} {
		if _, err := NewForm(a, text, builtin(t)); err == nil {
			t.Errorf("%s is a form", text)
		}
	}
}

func TestFormDiff(t *testing.T) {
	for _, c := range []struct{ own, edited, want string }{
		{"a", "b", "-a +b"},
		{"a\nb\nc", "a\nc", " a -b  c"},
		{"a\nc", "a\nb\nc", " a +b  c"},
		{"x\na\ny\nb\nz", "x\na2\ny\nb2\nz", " x -a +a2  y -b +b2  z"},
		{strings.Repeat("a\n", 2000), strings.Repeat("b\n", 2), ""},
	} {
		a := queue.Action{Tool: "Bash", Command: c.own, Edited: &queue.Edited{Command: c.edited}}
		var got []string
		back := map[byte][]string{}
		for _, d := range FormDiff(a) {
			got = append(got, string(d.Sign)+d.Text)
			if d.Sign != '+' {
				back['-'] = append(back['-'], d.Text)
			}
			if d.Sign != '-' {
				back['+'] = append(back['+'], d.Text)
			}
		}
		if c.want != "" && strings.Join(got, " ") != c.want {
			t.Errorf("%q to %q: %q, want %q", c.own, c.edited, strings.Join(got, " "), c.want)
		}
		if strings.Join(back['-'], "\n") != c.own || strings.Join(back['+'], "\n") != c.edited {
			t.Errorf("%.20q to %.20q: the diff loses lines", c.own, c.edited)
		}
	}
}

// What runs is the person's form; what is kept is both.
func TestEditedActionRunsAsEdited(t *testing.T) {
	b := newBench(t)
	set := builtin(t)
	a := b.add(b.action("echo theirs > out"))
	r := b.request(a)
	r.Yes, r.IsTerminal, r.In = false, true, strings.NewReader("n\n")
	r.Edit = func(_ context.Context, a queue.Action) (*queue.Edited, error) {
		return NewForm(a, "echo mine > out", set)
	}
	if res, err := Run(t.Context(), r); err != nil || !res.Declined || b.stored(a).Edited != nil {
		t.Fatalf("declined: %+v, %v", b.stored(a).Edited, err)
	}
	if !strings.Contains(b.out.String(), "  - echo theirs > out\n  + echo mine > out\n") {
		t.Errorf("screen:\n%s", b.out.String())
	}
	r.In = strings.NewReader("y\n")
	if _, err := Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := b.read("out"); got != "mine\n" {
		t.Errorf("out: %q", got)
	}
	got := b.stored(a)
	if got.Command != "echo theirs > out" || got.Edited == nil || got.Edited.Who != "ann" || string(got.Replay.Ran) != string(got.Edited.Input) {
		t.Errorf("stored: %+v", got)
	}
}

func TestEditThatFailsRunsNothing(t *testing.T) {
	b := newBench(t)
	a := b.add(b.action("echo theirs > out"))
	r := b.request(a)
	cause := errors.New("no editor")
	r.Edit = func(context.Context, queue.Action) (*queue.Edited, error) { return nil, cause }
	if _, err := Run(t.Context(), r); !errors.Is(err, cause) || b.stored(a).Status != queue.Pending {
		t.Errorf("Run: %v, status %s", err, b.stored(a).Status)
	}
}
