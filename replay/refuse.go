package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// maxCommand is what Linux takes as one argument, less its final NUL.
const maxCommand = 128<<10 - 1

// RefusedError says why nothing was run. The action is as it was.
type RefusedError struct {
	Action uint64 // its number; 0 when it was not looked at
	Reason string // for a person
	Advice string // what to type next
	Err    error  // the queue's error, if it was that

	Stale []string // why a push is not what was deferred, where Anyway would run it all the same
}

func (e *RefusedError) Error() string {
	if e.Action == 0 {
		return "not replayed: " + e.Reason
	}
	return fmt.Sprintf("action #%d not replayed: %s", e.Action, e.Reason)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// Hint says what to type next.
func (e *RefusedError) Hint() string { return e.Advice }

// FailedError says that a replay was begun and did not end well. The action is
// failed, with all that was printed.
type FailedError struct {
	Action   uint64
	ExitCode int
	Reason   string // "" = the exit code says it all
	Err      error  // the context's error when it was interrupted
}

func (e *FailedError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("action #%d failed: exit %d", e.Action, e.ExitCode)
	}
	return fmt.Sprintf("action #%d failed: %s", e.Action, term.Quote(e.Reason))
}

func (e *FailedError) Unwrap() error { return e.Err }

// Hint says what to type next.
func (e *FailedError) Hint() string {
	return fmt.Sprintf("loop show %d has its output; loop approve %d --again runs it again", e.Action, e.Action)
}

// refuse says why an action cannot be replayed, whatever the person says.
func refuse(a queue.Action, again bool) error {
	no := func(reason, advice string, args ...any) error {
		return &RefusedError{Action: a.Number, Reason: reason, Advice: fmt.Sprintf(advice, args...)}
	}
	if err := queue.MayReplay(a, again); err != nil {
		return asRefused(a, err)
	}
	if isMCP(a.Tool) {
		var object map[string]json.RawMessage
		if input := a.AsRun().Input; len(input) > 0 && json.Unmarshal(input, &object) != nil {
			return no("its input is no JSON object, so no server can be given it", "loop show %d has it; loop reject %d closes it", a.Number, a.Number)
		}
		return nil
	}
	if a.Tool != "Bash" || a.Kind != "call" {
		reason, instead := notReplayed(a.Tool)
		return no(reason, "loop show %d has the exact input; %s, then loop reject %d --reason done-by-hand", a.Number, instead, a.Number)
	}
	command := commandOf(a.AsRun())
	byHand := fmt.Sprintf("do it by hand, then loop reject %d --reason done-by-hand", a.Number)
	switch {
	case strings.TrimSpace(command) == "":
		return no("the command is empty", "loop reject %d", a.Number)
	case strings.IndexByte(command, 0) >= 0:
		return no("the command holds a NUL byte, which no program can be given", "loop reject %d", a.Number)
	case len(command) > maxCommand:
		return no("the command is longer than the system can start", "%s", byHand)
	case a.Cwd == "":
		return no("the folder in which it was to run is not known", "%s", byHand)
	case !filepath.IsAbs(a.Cwd):
		return no(fmt.Sprintf("its folder %s is not a full path", term.Command(a.Cwd)), "%s", byHand)
	}
	return nil
}

// notReplayed says why a call of one of the client's own tools is not made by
// loop, and what a person can do.
func notReplayed(tool string) (reason, instead string) {
	switch tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		return "it changes a file, which only the client does; loop writes none for it", "change the file yourself if it is right"
	case "WebFetch", "WebSearch":
		return "it reads the web for an agent that is gone, so there is nobody to give the answer to",
			"look it up yourself, and tell the next run in the story's text"
	case "Agent", "Task", "Skill", "SlashCommand", "Workflow":
		return "it starts an agent, which only the client does", "ask the client for it at its prompt"
	case "Monitor", "PowerShell", "REPL":
		return fmt.Sprintf("%s runs code in the client, and loop has no such tool", tool), "run what it holds in a shell of your own"
	}
	return fmt.Sprintf("%q is a tool of the client's own, which loop cannot call", tool), "do it by hand"
}

// asRefused says in a person's words why the queue did not give the action
// out. Other errors stay as they are.
func asRefused(a queue.Action, err error) error {
	e := &RefusedError{Action: a.Number, Err: err, Advice: fmt.Sprintf("loop show %d tells the whole story", a.Number)}
	switch {
	case errors.Is(err, queue.ErrQuestion):
		e.Reason = "it is a question, so there is nothing to run"
		e.Advice = fmt.Sprintf("loop answer %d \"...\" answers it; loop reject %d says that it will not be answered", a.Number, a.Number)
	case errors.Is(err, queue.ErrMention):
		e.Reason = "it was only mentioned, so there is nothing to replay"
		e.Advice = fmt.Sprintf("loop reject %d closes it", a.Number)
	case errors.Is(err, queue.ErrWritten):
		e.Reason = "it was only written into a file and not called, so there is nothing to replay"
		e.Advice = fmt.Sprintf("loop show %d says where; loop reject %d closes it", a.Number, a.Number)
	case errors.Is(err, queue.ErrExecuted):
		e.Reason = "it has already run" + outcome(a)
		e.Advice = fmt.Sprintf("loop approve %d --again runs it once more; loop reject %d closes it", a.Number, a.Number)
	case errors.Is(err, queue.ErrAsked):
		e.Reason = "it was asked at the prompt, and nobody noted whether it ran then"
		e.Advice = fmt.Sprintf("loop approve %d --again runs it all the same; loop reject %d closes it", a.Number, a.Number)
	case errors.Is(err, queue.ErrStatus):
		e.Reason = standing(a, err)
		if a.Status == queue.Failed || a.Status == queue.Unknown {
			e.Advice = fmt.Sprintf("loop approve %d --again runs it once more", a.Number)
		}
	default:
		return err
	}
	return e
}

func outcome(a queue.Action) string {
	switch a.Outcome {
	case "ok":
		return ", and succeeded"
	case "failed":
		return ", and failed"
	}
	return ""
}

// standing says what was done with an action that no longer waits, and by whom.
func standing(a queue.Action, err error) string {
	text := standingText(a, err)
	if who := a.LastDecision(time.RFC3339); who != "" && text != err.Error() {
		text += " (" + term.Quote(who) + ")"
	}
	return text
}

func standingText(a queue.Action, err error) string {
	switch a.Status {
	case queue.Replayed:
		return "it was replayed already"
	case queue.Failed:
		return "it was replayed already, and failed"
	case queue.Unknown:
		return "a replay of it died, and may have taken effect"
	case queue.Rejected:
		return "it was rejected"
	case queue.Superseded:
		return "a later one took its place"
	case queue.Replaying:
		return "it is being replayed right now"
	}
	return err.Error()
}

// commandOf is what runs. The input is what the client would have run; the
// command beside it is what lists show. Keys are compared exactly, as the
// client does: a "Command" beside "command" means nothing.
func commandOf(a queue.Action) string {
	var input map[string]json.RawMessage
	var command string
	if json.Unmarshal(a.Input, &input) == nil && input["command"] != nil {
		if json.Unmarshal(input["command"], &command) == nil {
			return command
		}
	}
	return a.Command
}

// findShell is the shell that runs the command.
func findShell(shell string, env []string) (string, error) {
	if shell != "" {
		return shell, nil
	}
	path := proc.Getenv(env, "PATH")
	for _, name := range []string{"bash", "sh"} {
		for _, dir := range filepath.SplitList(path) {
			if !filepath.IsAbs(dir) {
				continue // a folder of the repository is no place for a shell
			}
			if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return p, nil
			}
		}
	}
	return "", &RefusedError{Reason: "neither bash nor sh is in your PATH", Advice: "set PATH"}
}

// evidenceText says what is known, for a person.
func evidenceText(a queue.Action) string {
	if a.Asked && a.Evidence == policy.Blocked {
		return "asked at the prompt: whether it ran then is not known"
	}
	switch a.Evidence {
	case policy.Executed:
		return "executed: it has already run" + outcome(a) + "; this would be once more"
	case policy.Blocked:
		return "blocked: it was stopped before it ran"
	case policy.Written:
		return "written: only put into a file"
	case policy.Mentioned:
		return "mentioned: only words"
	}
	return term.Quote(string(a.Evidence))
}
