package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// Names of the files in an attempt's folder.
const (
	promptName     = "prompt.md"
	rulesName      = "rules.md"
	settingsName   = "settings.json"
	transcriptName = "transcript.jsonl"
	stderrName     = "stderr.log"
)

// TranscriptName is the name of the transcript in an attempt's folder.
const TranscriptName = transcriptName

// attempt runs one client process on one story and judges it. An error is
// loop's own trouble; the agent's is in the attempt's outcome.
func (r *run) attempt(ctx context.Context, s stories.Story, number int) (queue.Attempt, error) {
	o := r.o
	// State is written even after a signal.
	keep := context.WithoutCancel(ctx)
	before, err := stories.Read(o.Stories)
	if err != nil {
		return queue.Attempt{}, err
	}
	a, err := r.open(keep, s, before, number)
	if err != nil {
		return a, err
	}
	if err := r.setUpLane(ctx, &a); err != nil || !a.Ended.IsZero() {
		return a, err
	}
	if err := r.rememberTree(keep, &a); err != nil {
		return a, r.broken(keep, &a, err)
	}
	was := earlier{stories: before, pushes: pushes(keep, o)}
	was.integrity, was.memory, was.tree = r.lookAround(keep)
	was.beside = r.beside.begin(a.ID, was.pushes)
	was.git = keepGit(keep, o)
	defer was.git.close()
	if was.worked, err = r.workLies(keep, s); err != nil {
		return a, r.broken(keep, &a, err)
	}
	guard := r.guard(keep, &a)
	was.cleared, was.guarded = guard.Cleared, Guarded(keep, o)
	guard.Protect(*was.guarded)
	sealed, release, err := r.seal(keep, &a)
	if err != nil {
		return a, r.broken(keep, &a, err)
	}
	defer release()
	if sealed != nil {
		guard.Seal = sealed
	}
	end, err := r.supervise(ctx, keep, s, &a, guard, sealed)
	if err != nil {
		return a, r.broken(keep, &a, err)
	}
	if err := r.account(keep, sealed, &a); err != nil {
		return a, err
	}
	if err := r.mendGit(keep, &a, was.git); err != nil {
		return a, r.withoutGit(keep, &a, was, err)
	}
	for _, c := range guard.AllowedCalls() {
		if err := addFinding(keep, o, &a, "allowed", fmt.Sprintf("your rule %q let run: %s", c.Rule, c.Command)); err != nil {
			return a, err
		}
	}
	if err := tellDenied(keep, o, &a, guard.DeniedCalls()); err != nil {
		return a, err
	}
	j := judge(end, o.Now())
	a.Outcome, a.Reason, a.Cause, a.ResetsAt = j.outcome, j.reason, j.cause, j.resetsAt
	a.CostUnknown = end.final == nil && end.started
	a.HeadAfter = place(keep, o, o.Root).Head
	if err := r.settle(ctx, keep, s, &a, was); err != nil {
		return a, err
	}
	return a, nil
}

// broken ends an attempt that an error of loop's own stopped before its client
// was started. One whose client has run gets no end record here: the next run
// scans what it did.
func (r *run) broken(ctx context.Context, a *queue.Attempt, err error) error {
	if a.ChildPid != 0 {
		return err
	}
	a.Outcome, a.Reason, a.Ended = queue.CouldNotStart, err.Error(), r.o.Now().UTC()
	return errors.Join(err, r.o.Store.PutAttempt(ctx, *a))
}

// open makes the attempt's folder. Its record is made when the work tree is
// known: until then nothing has been done.
func (r *run) open(ctx context.Context, s stories.Story, before *stories.File, number int) (queue.Attempt, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return queue.Attempt{}, err
	}
	a := queue.Attempt{
		ID: id.String(), Session: r.session.ID, Story: s.ID, StoryTitle: s.Title, StoryHash: s.Hash,
		Number: number, Level: r.o.Level.String(), Started: r.o.Now().UTC(), HeadBefore: place(ctx, r.o, r.o.Root).Head,
	}
	if r.lane != nil {
		a.Lane = &r.lane.where
	}
	for _, st := range before.Stories {
		if st.Done {
			a.DoneBefore = append(a.DoneBefore, st.ID)
		}
	}
	a.Dir = filepath.Join(r.o.State, "runs", r.session.ID, fmt.Sprintf("%s-%d", folderName(s), a.Number))
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return a, fmt.Errorf("make the attempt's folder: %w", err)
	}
	return a, nil
}

// folderName makes a folder name from a story's id, which is a stranger's
// text; the hash keeps two ids apart that look alike afterwards.
func folderName(s stories.Story) string {
	safe := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '_'
	}, clip(s.ID, 40))
	return safe + "-" + clipBytes(s.Hash, 8)
}

func clipBytes(s string, n int) string { return s[:min(n, len(s))] }

func (r *run) guard(ctx context.Context, a *queue.Attempt) *firewall.Guard {
	readable := firewall.FilesOf(r.o.Root, r.o.Env)
	return &firewall.Guard{
		Classifier: r.o.Set, Queue: r.o.Store, Level: r.o.Level, Now: r.o.Now,
		Base: queue.Action{
			Session: a.Session, Story: a.Story, StoryTitle: a.StoryTitle, Attempt: a.ID,
			Transcript: filepath.Join(a.Dir, transcriptName),
		},
		Place:     func(cwd string) firewall.Place { return place(ctx, r.o, cwd) },
		ReadFile:  readable.Read,
		ReadDir:   readable.List,
		ProgramOf: readable.Program, Builds: r.builds,
		Changed: func() []string { return r.agentFiles(ctx) },
		// The client reads its settings once, before the handshake; from then on
		// the token in them is for nobody.
		OnStart: func() {
			if err := os.Remove(filepath.Join(a.Dir, settingsName)); err != nil {
				r.o.Log.Warn("the client's settings could not be removed", "attempt", a.ID, "error", err)
			}
		},
		Decided: func(req firewall.Request, res policy.Result, deferred bool) {
			r.o.Log.Debug("call decided", "call", req.ToolUseID, "tool", req.Tool, "agent", req.AgentID,
				"tier", res.Tier.String(), "rules", res.Rules(), "deferred", deferred)
		},
	}
}

// prepare writes what the client reads.
func (r *run) prepare(ctx context.Context, s stories.Story, a *queue.Attempt, settings []byte) (prompt string, f files, err error) {
	told, err := r.tellIn(ctx, a, s)
	if err != nil {
		return "", f, err
	}
	told.Red = r.redGates()
	if r.checkout != nil && r.checkout.carried {
		told.Left = nil // it is in the work tree
	}
	prompt, err = Prompt(r.o, s, told)
	if err != nil {
		return "", f, err
	}
	f = files{settings: filepath.Join(a.Dir, settingsName), rules: filepath.Join(a.Dir, rulesName), mcp: r.mcp}
	if r.mcp != "" { // an attempt before may have changed it
		if err := os.WriteFile(r.mcp, r.mcpText, 0o600); err != nil {
			return "", f, err
		}
	}
	for path, data := range map[string][]byte{
		filepath.Join(a.Dir, promptName): []byte(prompt),
		f.rules:                          []byte(r.o.RulesText),
		f.settings:                       settings,
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return "", f, err
		}
	}
	return prompt, f, nil
}

// copyMCP takes the MCP configuration as it is at the start, so that an
// attempt cannot give the next one other servers.
func (r *run) copyMCP() error {
	if r.o.MCPConfig == "" {
		return nil
	}
	data, err := os.ReadFile(r.o.MCPConfig)
	if err != nil {
		return fmt.Errorf("read the MCP configuration: %w", err)
	}
	dir := filepath.Join(r.o.State, "runs", r.session.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	r.mcp, r.mcpText = filepath.Join(dir, "mcp.json"), data
	return os.WriteFile(r.mcp, data, 0o600)
}

// clientVersion asks the client for its version, which also finds out at the
// start, and not at the first story, that there is none.
func clientVersion(ctx context.Context, o *Options) (string, error) {
	out := proc.Run(ctx, proc.RunOptions{
		Argv: append(append([]string{}, o.Client...), "--version"), Dir: o.Root, Env: clientEnv(o, ""),
		Timeout: 30 * time.Second, Tail: 4 << 10, Now: o.Now,
	})
	version, _, _ := strings.Cut(strings.TrimSpace(string(out.Tail)), "\n")
	switch {
	case out.TimedOut:
		return "", &ClientError{Program: o.Client[0], Err: errors.New("no answer to --version after 30s")}
	case out.Err != nil:
		return "", &ClientError{Program: o.Client[0], Err: out.Err}
	case out.ExitCode != 0:
		return "", &ClientError{Program: o.Client[0], Err: fmt.Errorf("--version ended with exit code %d: %s", out.ExitCode, clip(version, 200))}
	}
	return clip(version, 100), nil
}

// ClientError says that the client cannot be started.
type ClientError struct {
	Program string
	Err     error
}

func (e *ClientError) Error() string {
	var start *proc.StartError
	if errors.As(e.Err, &start) {
		return start.Error()
	}
	return fmt.Sprintf("start %q: %v", e.Program, e.Err)
}

func (e *ClientError) Unwrap() error { return e.Err }
