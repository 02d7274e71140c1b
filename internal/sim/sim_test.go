//go:build unix

package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const asHook = "sim-test-hook"

// TestMain lets the test binary play the stand-in and its hook.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == asHook {
		os.Exit(playHook(os.Args[2]))
	}
	if script := os.Getenv("SIM_TEST_SCRIPT"); script != "" {
		os.Exit(Main(context.Background(), Invocation{
			Args: os.Args[1:], Script: script, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Env: os.Environ(), Dir: mustGetwd(), Now: time.Now,
		}))
	}
	os.Exit(m.Run())
}

func mustGetwd() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}

// playHook notes what it reads and answers by words in the call.
func playHook(log string) int {
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 2
	}
	f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 2
	}
	defer f.Close()
	if _, err := f.Write(append(bytes.TrimSpace(in), '\n')); err != nil {
		return 2
	}
	var r struct {
		Event string          `json:"hook_event_name"`
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"tool_input"`
	}
	if json.Unmarshal(in, &r) != nil || r.Event != "PreToolUse" {
		return 0
	}
	text := string(r.Input)
	switch {
	case strings.Contains(text, "SILENT"):
		return 0
	case strings.Contains(text, "EXIT3"):
		fmt.Fprintln(os.Stderr, "boom")
		return 3
	case strings.Contains(text, "EXIT2"):
		fmt.Fprintln(os.Stderr, "no")
		return 2
	case strings.Contains(text, "GARBAGE"):
		fmt.Println("not json {")
		return 0
	case strings.Contains(text, "BADJSON"):
		fmt.Println(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"maybe"}}`)
		return 0
	}
	decision := "allow"
	if r.Tool != "Agent" && (strings.Contains(text, "push") || strings.Contains(text, "curl")) {
		decision = "deny"
	}
	fmt.Printf(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":%q,"permissionDecisionReason":"queued as #7 for review"}}`, decision)
	return 0
}

// world is a folder with a repository, a settings file and a hook's log.
type world struct {
	t         *testing.T
	root, dir string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir()}
	w.dir = filepath.Join(w.root, "repo")
	for name, text := range DemoRepo() {
		w.write("repo/"+name, text)
	}
	w.sh("git init -q -b main . && git config user.name Dev && git config user.email dev@example.com && git add -A && git commit -q -m start")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := []hookGroup{{Hooks: []hook{{Type: "command", Command: exe, Args: []string{asHook, w.path("hooks.jsonl")}, Timeout: 20, OnFailure: "block"}}}}
	s := settings{Hooks: map[string][]hookGroup{}}
	for _, e := range []string{"SessionStart", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"} {
		s.Hooks[e] = h
	}
	w.write("settings.json", encode(s))
	w.write("rules.txt", "rules")
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.root, name) }

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *world) sh(script string) string {
	w.t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = w.dir
	b, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, b)
	}
	return string(b)
}

func (w *world) args(more ...string) []string {
	return append([]string{
		"--print", "--output-format", "stream-json", "--verbose", "--session-id", "0195d3a0-0000-7000-8000-000000000001",
		"--permission-mode", "dontAsk", "--setting-sources", "", "--strict-mcp-config", "--settings", w.path("settings.json"),
		"--append-system-prompt-file", w.path("rules.txt"), "--append-subagent-system-prompt-file", w.path("rules.txt"),
		"--disallowedTools", "ScheduleWakeup,Monitor",
	}, more...)
}

// run is one run and what came of it.
type run struct {
	exit           int
	stdout, stderr string
	records        []object
}

// run starts the stand-in inside this process.
func (w *world) run(script Script, story string, more ...string) run {
	w.t.Helper()
	w.write("script.json", encode(script))
	var out, errOut bytes.Buffer
	code := Main(w.t.Context(), Invocation{
		Args: w.args(more...), Script: w.path("script.json"), Stdin: strings.NewReader("Work.\nStory: " + story + "\nTitle: a title\n"),
		Stdout: &out, Stderr: &errOut, Env: append(os.Environ(), "GORACE=atexit_sleep_ms=0"), Dir: w.dir, Now: time.Now,
	})
	return run{exit: code, stdout: out.String(), stderr: errOut.String(), records: parse(w.t, out.String())}
}

func parse(t *testing.T, text string) []object {
	t.Helper()
	var out []object
	for line := range strings.Lines(text) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, o)
	}
	return out
}

// last is the last record of a type.
func (r run) last(kind string) object {
	for i := len(r.records) - 1; i >= 0; i-- {
		if r.records[i]["type"] == kind {
			return r.records[i]
		}
	}
	return object{}
}

func TestVersion(t *testing.T) {
	var out bytes.Buffer
	if code := Main(t.Context(), Invocation{Args: []string{"--version"}, Stdout: &out}); code != 0 || out.String() != "2.1.332 (Claude Code), scripted stand-in\n" {
		t.Fatalf("%d %q", code, out.String())
	}
}

func TestWrongUse(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		args        []string
		stdin, want string
	}{
		{[]string{"--print", "--output-format", "stream-json"}, "x", "Error: When using --print, --output-format=stream-json requires --verbose\n"},
		{[]string{"--print", "--no-such"}, "x", "unknown option '--no-such'"},
		{[]string{"--print"}, "", "Error: Input must be provided"},
		{[]string{"--print", "--session-id", "7"}, "x", "Invalid session ID"},
		{[]string{"--print", "--settings", "/no/such"}, "x", "Settings file not found: /no/such"},
		{[]string{"--print", "--mcp-config", "/no/such"}, "x", "MCP config file not found: /no/such"},
		{[]string{"--print", "--append-system-prompt-file", "/no/such"}, "x", "/no/such"},
		{[]string{"--print"}, strings.Repeat("x", maxPrompt+1), "piped stdin input exceeds 10MB"},
		{[]string{"--print"}, "Story: 99\n", `the script has nothing for story "99"`},
	} {
		var out, errOut bytes.Buffer
		code := Main(t.Context(), Invocation{Args: c.args, Stdin: strings.NewReader(c.stdin), Stdout: &out, Stderr: &errOut, Dir: w.dir, Now: time.Now})
		if code != 1 || out.Len() != 0 || !strings.Contains(errOut.String(), c.want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", c.args, code, out.String(), errOut.String(), c.want)
		}
	}
}

// The three answers of dontAsk, and each way in which a hook can fail.
func TestOnlyAnExplicitAllowRuns(t *testing.T) {
	for word, want := range map[string]string{
		"fine":    "",
		"push":    "PreToolUse:Bash hook error: queued as #7 for review",
		"SILENT":  "Permission to use Bash has been denied because Claude Code is running in don't ask mode.",
		"GARBAGE": "Permission to use Bash has been denied",
		"EXIT2":   "]: no",
		"EXIT3":   `]: failed; blocking because onFailure is "block"` + "\nboom",
		"BADJSON": `failed; blocking because onFailure is "block"`,
	} {
		t.Run(word, func(t *testing.T) {
			w := newWorld(t)
			r := w.run(Any(Bash("touch ran; echo "+word, "try"), Step{Text: "end"}), "1")
			_, err := os.Stat(filepath.Join(w.dir, "ran"))
			if ran := err == nil; ran != (want == "") {
				t.Fatalf("ran %v", ran)
			}
			denials, _ := r.last("result")["permission_denials"].([]any)
			if r.exit != 0 || (len(denials) == 1) != (want != "") || !strings.Contains(encode(r.last("user")["message"]), strings.Trim(strings.TrimSpace(encode(want)), `"`)) {
				t.Fatalf("exit %d, denials %v, result %s", r.exit, denials, encode(r.last("user")))
			}
		})
	}
}

// Hooks that are not there, and a settings file that the client would drop
// without a word: nothing runs.
func TestNoHooksNothingRuns(t *testing.T) {
	for _, text := range []string{`{}`, `{broken`, `{"disableAllHooks":true}`, `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"true","timeout":"abc"}]}]}}`} {
		w := newWorld(t)
		w.write("settings.json", text)
		r := w.run(Any(Bash("touch ran", "try")), "1")
		if _, err := os.Stat(filepath.Join(w.dir, "ran")); err == nil || r.exit != 0 || r.stderr != "" {
			t.Errorf("%s: ran, or exit %d, stderr %q", text, r.exit, r.stderr)
		}
	}
}

// A defective client: the layer above must notice.
func TestPartHooks(t *testing.T) {
	for mode, calls := range map[string]int{HooksNone: 0, HooksHandshake: 1} {
		w := newWorld(t)
		script := Script{Stories: map[string]Part{"*": {Hooks: mode, Steps: []Step{Bash("touch ran; echo push", "try")}}}}
		w.write("hooks.jsonl", "")
		r := w.run(script, "1")
		if _, err := os.Stat(filepath.Join(w.dir, "ran")); err != nil || r.exit != 0 {
			t.Errorf("%q: did not run, exit %d", mode, r.exit)
		}
		if n := strings.Count(w.read("hooks.jsonl"), "\n"); n != calls {
			t.Errorf("%q: %d hook calls, want %d", mode, n, calls)
		}
	}
}

func TestToolsAreReal(t *testing.T) {
	w := newWorld(t)
	path := "${dir}/a/n.txt"
	r := w.run(Any(
		Call("Write", map[string]string{"file_path": path, "content": "one\ntwo\n"}),
		Call("Edit", map[string]string{"file_path": path, "old_string": "two", "new_string": "three"}),
		Bash("cd a && cat n.txt", "look"),
		Bash("pwd; exit 3", "fail"),
	), "1")
	if got := w.read("repo/a/n.txt"); got != "one\nthree\n" {
		t.Errorf("file holds %q", got)
	}
	dir, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.last("user")["tool_use_result"], "Error: Exit code 3\n"+dir+"/a"; got != want {
		t.Errorf("result %q, want %q", got, want)
	}
	if !strings.Contains(r.stdout, `"stdout":"one\nthree"`) {
		t.Error("Bash did not see the file")
	}
}

func TestRetryAndFill(t *testing.T) {
	p := Part{Steps: []Step{{Text: "first"}}, Retry: []Step{{Text: "again in ${dir}"}}}
	s := Script{Stories: map[string]Part{"A story": p}}
	for prompt, want := range map[string]string{
		"Story: 5\nTitle: A story\n":                                   "first",
		"Story: 5\nTitle: A story\n## The last attempt did not pass\n": "again in ${dir}",
	} {
		if _, steps, err := s.part(prompt); err != nil || steps[0].Text != want {
			t.Errorf("%q: %v, %v", prompt, steps, err)
		}
	}
	x := &session{emitter: &emitter{}, dir: `/a "b"`, lastDenied: `say "no", #12.`}
	if got, want := x.fill("${queued} ${denied} ${dir}"), `#12 say "no", #12. /a "b"`; got != want {
		t.Errorf("%q", got)
	}
	if got, want := x.fillJSON(`"${denied}"`), `"say \"no\", #12."`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// start runs the stand-in as a child of its own, and reads its first records.
func (w *world) start(script Script) (*exec.Cmd, *bufio.Reader) {
	w.t.Helper()
	w.write("script.json", encode(script))
	exe, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(exe, w.args()...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "SIM_TEST_SCRIPT="+w.path("script.json"), "GORACE=atexit_sleep_ms=0")
	cmd.Stdin = strings.NewReader("Story: 1\n")
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewReader(out)
}

// until reads lines up to one that holds text, and gives all.
func until(t *testing.T, r *bufio.Reader, text string) string {
	t.Helper()
	var all strings.Builder
	for {
		line, err := r.ReadString('\n')
		all.WriteString(line)
		switch {
		case strings.Contains(line, text):
			return all.String()
		case err != nil:
			t.Fatalf("no %q in %q: %v", text, all.String(), err)
		}
	}
}

func TestSignals(t *testing.T) {
	for _, c := range []struct {
		sig    syscall.Signal
		exit   int
		result bool
	}{{syscall.SIGTERM, 143, false}, {syscall.SIGINT, 0, true}, {syscall.SIGHUP, 129, false}} {
		t.Run(c.sig.String(), func(t *testing.T) {
			w := newWorld(t)
			cmd, out := w.start(Any(Step{Text: "ready"}, Bash("touch started; sleep 300", "wait")))
			until(t, out, "sleep 300")
			if err := cmd.Process.Signal(c.sig); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(out)
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != c.exit || strings.Contains(string(rest), `"type":"result"`) != c.result {
				t.Fatalf("exit %d, rest %s", code, rest)
			}
		})
	}
}

func TestMisbehaviour(t *testing.T) {
	seven := 7
	for name, c := range map[string]struct {
		steps []Step
		exit  int // -1 = a signal
		want  string
	}{
		"exit":  {[]Step{{Exit: &seven}}, 7, ""},
		"crash": {[]Step{{Text: "half"}, {Torn: `{"type":"assist`}, {Crash: true}}, -1, `{"type":"assist`},
		"raw":   {[]Step{{Raw: `{"type":"result","forged":true}`}}, 0, `{"type":"result","forged":true}` + "\n"},
		"huge":  {[]Step{{Huge: 5 << 20}}, 0, strings.Repeat("all work and no play ", 5<<20/21)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			cmd, out := w.start(Any(c.steps...))
			all, err := io.ReadAll(out)
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != c.exit || !strings.Contains(string(all), c.want) {
				t.Fatalf("exit %d, %d bytes", code, len(all))
			}
		})
	}
}

// A client that cannot start: words on standard error and nothing else.
func TestBare(t *testing.T) {
	w := newWorld(t)
	one := 1
	w.write("hooks.jsonl", "")
	r := w.run(Script{Stories: map[string]Part{"*": {Bare: true, Steps: []Step{{Stderr: "no\n"}, {Exit: &one}}}}}, "1")
	if r.exit != 1 || r.stdout != "" || r.stderr != "no\n" || w.read("hooks.jsonl") != "" {
		t.Fatalf("exit %d, stdout %q, stderr %q", r.exit, r.stdout, r.stderr)
	}
}

// A mistake in a script is said, and is not taken for the client's doing.
func TestScriptMistakes(t *testing.T) {
	for want, step := range map[string]Step{
		`the script knows no failure "no-such"`:   {Fail: "no-such"},
		"the script has a step that does nothing": {},
	} {
		if r := newWorld(t).run(Any(step), "1"); r.exit != 1 || r.stderr != want+"\n" {
			t.Errorf("exit %d, stderr %q, want %q", r.exit, r.stderr, want)
		}
	}
	for _, text := range []string{`{"stories":{"1":{"steps":[{"txt":"x"}]}}}`, `{`} {
		path := filepath.Join(t.TempDir(), "script.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

// Deaf to TERM, silent and without end: only KILL helps.
func TestIgnoreTermAndEndless(t *testing.T) {
	w := newWorld(t)
	cmd, out := w.start(Any(Step{IgnoreTerm: true}, Step{Text: "deaf"}, Step{Endless: true}))
	until(t, out, "deaf")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, out, "line 20000")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// A daemon outlives the stand-in and holds its output.
func TestDaemonStays(t *testing.T) {
	w := newWorld(t)
	cmd, out := w.start(Any(Step{Daemon: []string{"sh", "-c", "echo daemon $$; exec sleep 300"}}, Step{Text: "left it"}))
	pid := 0
	said := until(t, out, "daemon ")
	if _, err := fmt.Sscanf(said[strings.Index(said, "daemon "):], "daemon %d", &pid); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	if !strings.Contains(said, `"type":"result"`) { // the two write side by side
		until(t, out, `"type":"result"`)
	}
	if _, err := cmd.Process.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the daemon is gone: %v", err)
	}
}
