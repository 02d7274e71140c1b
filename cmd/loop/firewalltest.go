package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
)

func newFirewallTest(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "test", Short: "Put some calls through the installed firewall, as the client does", Args: args(cobra.NoArgs),
		Long: "Call the installed hook with some tool calls, as the client does, and show what it answers. Nothing is\n" +
			"run, and what is queued goes into a folder that is thrown away. Exit code 1 when an answer differs\n" +
			"from what the level says.\n\n  loop firewall test\n\n" + exitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.testFirewall(cmd.Context()) },
	}
}

// probe is one call of the dry run, with how far it reaches.
type probe struct {
	tool  string
	input map[string]any
	tier  policy.Tier
	net   bool
}

func probes(root string) []probe {
	bash := func(tier policy.Tier, command string) probe {
		return probe{tool: "Bash", input: map[string]any{"command": command}, tier: tier}
	}
	fetch := bash(policy.Local, "curl -sSO https://example.com/data.json")
	fetch.net = true
	return []probe{
		bash(policy.Local, "ls -la"),
		bash(policy.Local, "go test ./..."),
		bash(policy.Local, "git status --short && git add -A"),
		{tool: "Read", input: map[string]any{"file_path": filepath.Join(root, "README.md")}},
		{tool: "Write", input: map[string]any{"file_path": filepath.Join(root, "notes.md"), "content": "git push comes later"}},
		fetch,
		bash(policy.Shared, "git commit -m 'before the git push'"),
		bash(policy.External, "git push origin main"),
		bash(policy.External, "cd docs && git -C .. push --tags"),
		bash(policy.External, "sh -c 'gh pr create --fill'"),
		bash(policy.External, "npm publish --access public"),
		bash(policy.External, "curl -X POST -d @report.json https://example.com/api"),
		{tool: "mcp__slack__post_message", input: map[string]any{"channel": "general", "text": "done"}, tier: policy.External},
	}
}

func (p probe) text() string {
	if c, ok := p.input["command"].(string); ok {
		return p.tool + " " + c
	}
	if f, ok := p.input["file_path"].(string); ok {
		return p.tool + " " + filepath.Base(f)
	}
	return p.tool
}

func (a *app) testFirewall(ctx context.Context) error {
	w, err := a.workspace(ctx)
	if err != nil {
		return err
	}
	places, err := a.settingsPlaces(w)
	if err != nil {
		return err
	}
	hooks := slices.Compact(places.installedHooks())
	if len(hooks) == 0 {
		return &hintedError{err: errors.New("the firewall is not installed here"), hint: "loop firewall install"}
	}
	wrong := 0
	for _, h := range hooks {
		n, err := a.testHook(ctx, w.Root, h)
		if err != nil {
			return err
		}
		wrong += n
	}
	a.warnSwitchedOff(places)
	if wrong > 0 {
		return &codeError{code: exitFailed, err: fmt.Errorf("%d of the answers differ from what the level says", wrong)}
	}
	return nil
}

// testHook puts the probes through one installed hook and counts the wrong
// answers.
func (a *app) testHook(ctx context.Context, root string, h firewall.PromptHook) (wrong int, err error) {
	if state, ok := programState(h.Program); !ok {
		return 0, &hintedError{err: fmt.Errorf("program %q: %s", h.Program, state), hint: "loop firewall install"}
	}
	state, err := os.MkdirTemp("", "loop-firewall-test-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(state)
	ro, err := a.reportOptions()
	if err != nil {
		return 0, err
	}
	styles := term.NewStyles(ro.Color)
	a.printf("%s at level %s\n", term.Quote(h.Program), h.Level)
	a.printf("%s  %s  %s\n", term.Pad("expected", 8), term.Pad("got", 8), "call")
	for i, p := range probes(root) {
		want := firewall.Answer(h.Level, policy.Result{Tier: p.tier, Net: p.net}).String()
		got := a.callHook(ctx, h, state, root, i, p)
		style := styles.Ok
		if got != want {
			wrong++
			style = styles.Danger
		}
		a.printf("%s  %s  %s\n", term.Pad(want, 8), style.Render(term.Pad(term.Line(got), 8)), term.Command(p.text()))
	}
	return wrong, nil
}

// callHook calls the hook as the client does and says what it answers.
func (a *app) callHook(ctx context.Context, h firewall.PromptHook, state, root string, i int, p probe) string {
	input, err := json.Marshal(map[string]any{
		"hook_event_name": firewall.EventPreToolUse, "session_id": "firewall-test", "cwd": root,
		"tool_name": p.tool, "tool_input": p.input, "tool_use_id": fmt.Sprintf("test-%d", i),
	})
	if err != nil {
		return err.Error()
	}
	env := slices.DeleteFunc(slices.Clone(a.env), func(kv string) bool { return strings.HasPrefix(kv, "LOOP_HOME=") })
	return answerOf(proc.Run(ctx, proc.RunOptions{
		Argv: h.Argv(), Dir: root, Env: append(env, "LOOP_HOME="+state), Stdin: input,
		Timeout: firewall.AloneTimeout * time.Second, Separate: true,
	}))
}

// answerOf reads a hook's answer in the words of the table of levels.
func answerOf(out proc.Output) string {
	switch {
	case out.ExitCode == 2:
		return "refused: " + strings.TrimSpace(string(out.Stderr))
	case out.TimedOut:
		return "no answer in time"
	case !out.OK():
		return fmt.Sprintf("failed: exit code %d %v", out.ExitCode, out.Err)
	case len(bytes.TrimSpace(out.Tail)) == 0:
		return firewall.Run.String()
	}
	var o struct {
		Answer struct {
			Decision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out.Tail, &o); err != nil {
		return "no answer: " + err.Error()
	}
	switch o.Answer.Decision {
	case "ask":
		return firewall.Ask.String()
	case "deny":
		return firewall.Defer.String()
	}
	return "no answer: " + o.Answer.Decision
}
