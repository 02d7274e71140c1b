package replay

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// Everything that is refused: nothing runs, and the action stays as it was.
func TestRefused(t *testing.T) {
	rejected := func(b *bench, a queue.Action) {
		if _, err := b.store.Decide(b.t.Context(), a.ID, queue.Decision{Verb: queue.Reject}); err != nil {
			b.t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		change func(*queue.Action)
		after  func(*bench, queue.Action)
		ask    func(*Request)
		reason string
		hint   string
	}{
		{name: "inside an agent", ask: func(r *Request) { r.InsideAgent = "CLAUDECODE is set" }, reason: "an agent's own session: CLAUDECODE is set", hint: "a terminal of your own"},
		{name: "mentioned", change: func(a *queue.Action) { a.Evidence = policy.Mentioned }, reason: "only mentioned, so there is nothing to replay", hint: "loop reject 1"},
		{name: "mentioned, again", change: func(a *queue.Action) { a.Evidence = policy.Mentioned }, ask: func(r *Request) { r.Again = true }, reason: "only mentioned", hint: "loop reject 1"},
		{name: "written", change: func(a *queue.Action) { a.Evidence = policy.Written }, reason: "only written into a file", hint: "loop show 1"},
		{name: "executed", change: func(a *queue.Action) { a.Evidence, a.Outcome = policy.Executed, "ok" }, reason: "already run, and succeeded", hint: "loop approve 1 --again"},
		{name: "rejected", after: rejected, reason: "it was rejected", hint: "loop show 1"},
		{name: "rejected, again", after: rejected, ask: func(r *Request) { r.Again = true }, reason: "it was rejected", hint: "loop show 1"},
		{name: "mcp", change: func(a *queue.Action) { a.Tool = "mcp__slack__post" }, reason: `the MCP server "slack": no configuration has the server`, hint: "do it by hand, then loop reject 1 --reason done-by-hand"},
		{name: "mcp, no object", change: func(a *queue.Action) { a.Tool, a.Input = "mcp__slack__post", []byte("[1]") }, reason: "no JSON object", hint: "loop show 1"},
		{name: "a look-up", change: func(a *queue.Action) { a.Tool = "WebFetch" }, reason: "nobody to give the answer to", hint: "look it up yourself"},
		{name: "write", change: func(a *queue.Action) { a.Tool = "Write" }, reason: "loop writes none for it", hint: "loop show 1"},
		{name: "edit", change: func(a *queue.Action) { a.Tool = "Edit" }, reason: "loop writes none for it", hint: "loop show 1"},
		{name: "another tool", change: func(a *queue.Action) { a.Tool = "WebFetch\x1b[2J" }, reason: `"WebFetch\x1b[2J" is a tool of the client's own`, hint: "by hand"},
		{name: "a question", change: func(a *queue.Action) { a.Kind = "question" }, reason: "is a question", hint: "loop answer 1"},
		{name: "no command", change: func(a *queue.Action) { a.Input, a.Command = []byte(`{"command":" \n"}`), "" }, reason: "the command is empty", hint: "loop reject 1"},
		{name: "a NUL byte", change: func(a *queue.Action) { a.Input = []byte(`{"command":"touch ran\u0000x"}`) }, reason: "NUL byte", hint: "loop reject 1"},
		{name: "too long", change: func(a *queue.Action) {
			a.Input = []byte(`{"command":"touch ran #` + strings.Repeat("x", 128<<10) + `"}`)
		}, reason: "longer than the system can start", hint: "by hand"},
		{name: "no folder", change: func(a *queue.Action) { a.Cwd = "" }, reason: "folder in which it was to run is not known", hint: "by hand"},
		{name: "relative folder", change: func(a *queue.Action) { a.Cwd = "repo" }, reason: "folder repo is not a full path", hint: "by hand"},
		{name: "folder is gone", change: func(a *queue.Action) { a.Cwd += "-gone" }, reason: "cannot be used: it is gone", hint: "bring the folder back"},
		{name: "no terminal", ask: func(r *Request) { r.Yes = false }, reason: "no terminal to ask at", hint: "loop approve 1 --yes"},
		{name: "no shell", ask: func(r *Request) { r.Env = []string{"PATH=.:/nowhere"} }, reason: "neither bash nor sh", hint: "PATH"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			a := b.action("touch ran")
			if c.change != nil {
				c.change(&a)
			}
			a = b.add(a)
			if c.after != nil {
				c.after(b, a)
			}
			before := b.stored(a)
			r := b.request(a)
			if c.ask != nil {
				c.ask(&r)
			}
			res, err := Run(t.Context(), r)
			var refused *RefusedError
			if !errors.As(err, &refused) {
				t.Fatalf("Run = %+v, %v; want a RefusedError", res, err)
			}
			if !strings.Contains(err.Error(), c.reason) || !strings.Contains(refused.Hint(), c.hint) {
				t.Errorf("reason %q, hint %q", err, refused.Hint())
			}
			if _, err := os.Stat(filepath.Join(b.repo, "ran")); !os.IsNotExist(err) || res.Ran {
				t.Errorf("it ran all the same (%v)", err)
			}
			if d := cmp.Diff(before, b.stored(a)); d != "" {
				t.Errorf("the action was changed:\n%s", d)
			}
		})
	}
}

func TestUnknownReference(t *testing.T) {
	b := newBench(t)
	r := b.request(queue.Action{Number: 9})
	if _, err := Run(t.Context(), r); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("Run: %v, want ErrNotFound", err)
	}
}

func TestExecutedRunsAgainWhenTold(t *testing.T) {
	b := newBench(t)
	a := b.action("touch ran")
	a.Evidence = policy.Executed
	a = b.add(a)
	r := b.request(a)
	r.Again = true
	if res, err := Run(t.Context(), r); err != nil || !res.Ran {
		t.Errorf("Run = %+v, %v", res, err)
	}
}

func TestDryRunShowsAndStops(t *testing.T) {
	b := newBench(t)
	a := b.add(b.action("touch ran"))
	r := b.request(a)
	r.DryRun, r.Yes = true, false
	res, err := Run(t.Context(), r)
	if err != nil || res.Ran || !strings.Contains(b.out.String(), "1 | touch ran\n") {
		t.Errorf("Run = %+v, %v\n%s", res, err, b.out.String())
	}
	if got := b.stored(a); got.Status != queue.Pending || strings.Contains(b.out.String(), "[y/N]") {
		t.Errorf("status %s\n%s", got.Status, b.out.String())
	}
}

func TestAnswers(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "Y\n": true, "yes\n": true, " YES \r\n": true,
		"\n": false, "n\n": false, "no\n": false, "yess\n": false, "y": false, "": false,
		strings.Repeat("y", 5000) + "\n": false,
	} {
		b := newBench(t)
		a := b.add(b.action("true"))
		r := b.request(a)
		r.Yes, r.IsTerminal, r.In = false, true, strings.NewReader(answer)
		res, err := Run(t.Context(), r)
		if err != nil || res.Ran != want || res.Declined == want {
			t.Errorf("answer %.10q: %+v, %v; want ran %v", answer, res, err, want)
		}
		if !want && b.stored(a).Status != queue.Pending {
			t.Errorf("answer %.10q: status %s", answer, b.stored(a).Status)
		}
	}
}

// The answer to the second question must still be there after the first.
func TestAnswerIsReadToItsLineEnd(t *testing.T) {
	b := newBench(t)
	in := strings.NewReader("y\nn\n")
	for i, want := range []bool{true, false} {
		r := b.request(b.add(b.action("true " + strings.Repeat("x", i))))
		r.Yes, r.IsTerminal, r.In = false, true, in
		if res, err := Run(t.Context(), r); err != nil || res.Ran != want {
			t.Errorf("question %d: %+v, %v", i+1, res, err)
		}
	}
}

// Ctrl-C at the question leaves at once, though nothing was typed.
func TestInterruptedQuestion(t *testing.T) {
	b := newBench(t)
	a := b.add(b.action("touch ran"))
	in, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := b.request(a)
	r.Yes, r.IsTerminal, r.In, r.Out = false, true, in, &cancelOn{text: "[y/N]", cancel: cancel}
	if res, err := Run(ctx, r); !errors.Is(err, context.Canceled) || res.Ran {
		t.Errorf("Run = %+v, %v", res, err)
	}
	if got := b.stored(a); got.Status != queue.Pending {
		t.Errorf("status %s", got.Status)
	}
}

// answer says yes, after doing something first.
type answer struct {
	first func()
	in    io.Reader
}

func (a *answer) Read(p []byte) (int, error) {
	if a.first != nil {
		a.first()
		a.first = nil
	}
	return a.in.Read(p)
}

func TestChangeWhileTheQuestionStands(t *testing.T) {
	for name, change := range map[string]func(*bench){
		"a commit": func(b *bench) { b.git("commit", "-q", "--allow-empty", "-m", "more") },
		"a file":   func(b *bench) { touch(b.t, filepath.Join(b.repo, "x.sh"), "touch ran", testTime) },
		"a branch": func(b *bench) { b.git("checkout", "-q", "-b", "other") },
		"a folder": func(b *bench) {
			if err := os.Rename(b.repo, b.repo+"-gone"); err != nil {
				b.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			touch(t, filepath.Join(b.repo, "x.sh"), "true", testTime.Add(-24*time.Hour))
			a := b.add(b.action("sh x.sh"))
			r := b.request(a)
			r.Yes, r.IsTerminal = false, true
			r.In = &answer{func() { change(b) }, strings.NewReader("y\n")}
			res, err := Run(t.Context(), r)
			wantRefused(t, err, "something changed while the question stood")
			if got := b.stored(a); res.Ran || got.Status != queue.Pending {
				t.Errorf("ran %v, status %s", res.Ran, got.Status)
			}
		})
	}
}

func touch(t *testing.T, path, text string, at time.Time) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// What the client runs is the value of "command". A key that only a lenient
// reader takes for it, or a line that a list shows, does not count.
func TestCommandIsTheInputs(t *testing.T) {
	for input, want := range map[string]string{
		`{"command":"git push","Command":"rm -rf /","COMMAND":"x"}`: "git push",
		`{"command":"first","command":"last"}`:                      "last",
		`{"command":7}`:                                             "listed",
		`{"other":"x"}`:                                             "listed",
		`"torn`:                                                     "listed",
		``:                                                          "listed",
		`{"command":"\u001b[2Jx"}`:                                  "\x1b[2Jx",
	} {
		if got := commandOf(queue.Action{Command: "listed", Input: []byte(input)}); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}
