package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// session is one run of the stand-in.
type session struct {
	*emitter
	inv      Invocation
	flags    flags
	settings settings
	part     Part
	steps    []Step
	prompt   string
	promptID string
	dir      string // where it was started
	cwd      string // where Bash is now
	servers  []string
	began    time.Time

	turns   int // tool results of the main agent
	in, out int // tokens
	cost    float64
	denials []object
	spawned int // subagents
	results int // result records so far

	lastText   string
	lastDenied string
}

// leave ends the run with an exit code.
type leave struct{ code int }

func (l leave) Error() string { return "exit " + strconv.Itoa(l.code) }

func newSession(inv Invocation, f flags) (*session, error) {
	set, err := readSettings(f.settings)
	if err != nil {
		return nil, err
	}
	servers, err := readServers(f.mcp)
	if err != nil {
		return nil, err
	}
	prompt, err := readPrompt(inv.Stdin, f.prompt)
	if err != nil {
		return nil, err
	}
	script, err := Load(inv.Script)
	if err != nil {
		return nil, err
	}
	part, steps, err := script.part(prompt)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(inv.Dir)
	if err != nil {
		return nil, err
	}
	s := &session{
		emitter: &emitter{w: inv.Stdout, session: f.session, now: inv.Now, silent: f.format != "stream-json"},
		inv:     inv, flags: f, settings: set, part: part, steps: steps, prompt: prompt, promptID: uuid.NewString(),
		dir: dir, cwd: dir, servers: servers, began: inv.Now(), denials: []object{},
	}
	return s, nil
}

func readPrompt(r io.Reader, args []string) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxPrompt+1))
	if err != nil {
		return "", fmt.Errorf("Error: read stdin: %w", err) //nolint:staticcheck // the client's own words
	}
	if len(b) > maxPrompt {
		return "", errors.New("Error: piped stdin input exceeds 10MB") //nolint:staticcheck // the client's own words
	}
	if len(b) > 0 {
		args = append(args, string(b))
	}
	prompt := strings.Join(args, "\n")
	if strings.TrimSpace(prompt) == "" {
		return "", errors.New("Error: Input must be provided either through stdin or as a prompt argument when using --print") //nolint:staticcheck // the client's own words
	}
	return prompt, nil
}

// readServers gives the names of the MCP servers of the --mcp-config files.
func readServers(files []string) ([]string, error) {
	var names []string
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("Error: Invalid MCP configuration:\nMCP config file not found: %s", name) //nolint:staticcheck // the client's own words
		}
		var c struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		}
		if err := json.Unmarshal(b, &c); err != nil {
			return nil, fmt.Errorf("Error: Invalid MCP configuration:\n%w", err) //nolint:staticcheck // the client's own words
		}
		for server := range c.Servers {
			names = append(names, server)
		}
	}
	slices.Sort(names)
	return names, nil
}

// run plays the steps and gives the exit code.
func (s *session) run(ctx context.Context) int {
	if !s.part.Bare {
		s.startHooks(ctx)
		s.emit(s.initRecord())
	}
	err := s.play(ctx, nil, s.steps)
	if err == nil {
		err = s.finish(ctx)
	}
	var l leave
	switch {
	case errors.As(err, &l):
		return l.code
	case errors.Is(err, errInterrupted):
		s.conclude(broken("error_during_execution", "aborted_tools", "tool_use",
			"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use"))
		s.endHooks(ctx)
		return 0
	case errors.Is(err, errHungUp):
		return 129
	case errors.Is(err, errTerminated):
		s.endHooks(ctx)
		return 143
	case err != nil:
		return complain(s.inv.Stderr, err)
	}
	return 0
}

// finish is the good end: the Stop hooks, then the result.
func (s *session) finish(ctx context.Context) error {
	if s.part.Hooks == HooksRun {
		s.fire(ctx, nil, "Stop", "", object{
			"stop_hook_active": false, "last_assistant_message": s.lastText, "background_tasks": []any{}, "session_crons": []any{},
		})
	}
	if s.results == 0 {
		s.conclude(nil)
	}
	s.endHooks(ctx)
	return nil
}

// conclude writes the result record, and in the other formats the result.
func (s *session) conclude(changes object) {
	r := s.result(changes)
	s.results++
	switch s.flags.format {
	case "text":
		text, _ := r["result"].(string)
		s.line(text + "\n")
	case "json":
		s.silent = false
		s.emit(r)
		s.silent = true
	default:
		s.emit(r)
	}
}

// play does steps in order. a is the subagent that does them, nil for the
// main agent.
func (s *session) play(ctx context.Context, a *agent, steps []Step) error {
	for i := range steps {
		if err := s.step(ctx, a, &steps[i]); err != nil {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) step(ctx context.Context, a *agent, st *Step) error {
	switch {
	case st.Text != "":
		return s.say(a, s.fill(st.Text))
	case st.Tool != "":
		return s.call(ctx, a, st)
	case st.Fail != "":
		return s.fail(st)
	case st.RateLimit != "":
		s.rateLimit(st.RateLimit, st.resets(s.now()))
	case st.SleepMS > 0:
		return wait(ctx, time.Duration(st.SleepMS)*time.Millisecond)
	case st.Hang:
		<-ctx.Done()
		return context.Cause(ctx)
	case st.Huge > 0:
		return s.say(a, strings.Repeat("all work and no play ", st.Huge/21+1)[:st.Huge])
	case st.Endless:
		return s.endless(ctx, a)
	case st.Result != nil:
		s.conclude(st.Result)
	default:
		return s.misbehave(st)
	}
	return nil
}

// misbehave does what a sound client does not.
func (s *session) misbehave(st *Step) error {
	switch {
	case st.Exit != nil:
		return leave{*st.Exit}
	case st.Crash:
		return crash()
	case st.IgnoreTerm:
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	case st.Raw != "":
		s.line(s.fill(st.Raw) + "\n")
	case st.Torn != "":
		s.line(s.fill(st.Torn))
	case st.Stderr != "":
		_, _ = io.WriteString(s.inv.Stderr, st.Stderr)
	case len(st.Daemon) > 0:
		return leaveBehind(st.Daemon, s.inv.Env, s.cwd)
	default:
		return errors.New("the script has a step that does nothing")
	}
	return nil
}

func (s *session) endless(ctx context.Context, a *agent) error {
	for n := 1; context.Cause(ctx) == nil && !s.gone; n++ {
		if err := s.say(a, "still thinking, line "+strconv.Itoa(n)); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// fill puts what the agent was told into its text.
func (s *session) fill(text string) string {
	return s.fillWith(text, func(v string) string { return v })
}

// fillJSON is fill for text that stands in a JSON string.
func (s *session) fillJSON(text string) string {
	return s.fillWith(text, func(v string) string {
		quoted := strings.TrimSpace(encode(v))
		return quoted[1 : len(quoted)-1]
	})
}

func (s *session) fillWith(text string, quote func(string) string) string {
	number := "nothing"
	if _, after, ok := strings.Cut(s.lastDenied, "#"); ok {
		digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
		number = "#" + after[:digits]
	}
	return strings.NewReplacer(
		"${queued}", number, "${denied}", quote(s.lastDenied), "${dir}", quote(s.dir), "${session}", s.flags.session,
	).Replace(text)
}

func (st *Step) resets(now time.Time) int64 {
	if st.ResetsAt != 0 {
		return st.ResetsAt
	}
	return now.Add(2 * time.Hour).Unix()
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// transcriptPath is where the client would keep the session.
func (s *session) transcriptPath() string {
	slug := strings.NewReplacer("/", "-", ".", "-").Replace(s.dir)
	return filepath.Join(getenv(s.inv.Env, "HOME"), ".claude", "projects", slug, s.flags.session+".jsonl")
}
