package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

const (
	bashTimeout = 2 * time.Minute
	bashShown   = 30000 // characters of output in a result; the rest goes to a file with the client, and away here
)

// bash runs a command line as the client does: in a session of its own, with
// nothing on standard input, both outputs in one, the folder kept for the
// next call.
func (s *session) bash(ctx context.Context, c call) (outcome, error) {
	var in struct {
		Command *string `json:"command"`
		Timeout float64 `json:"timeout"` // milliseconds
		Bg      bool    `json:"run_in_background"`
	}
	if err := json.Unmarshal(c.input, &in); err != nil || in.Command == nil {
		return invalid("Bash", "The required parameter `command` is missing"), nil
	}
	if in.Bg && getenv(s.inv.Env, "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS") == "1" {
		return invalid("Bash", "An unexpected parameter `run_in_background` was provided"), nil
	}
	limit := bashTimeout
	if in.Timeout > 0 {
		limit = time.Duration(in.Timeout * float64(time.Millisecond))
	}
	runCtx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, code, err := s.shell(runCtx, *in.Command)
	if err != nil {
		return outcome{text: err.Error(), failed: true}, nil
	}
	timedOut := errors.Is(runCtx.Err(), context.DeadlineExceeded) && context.Cause(ctx) == nil
	if timedOut {
		code, out = 143, fmt.Sprintf("Command timed out after %s", limit)+sep(out)+out
	}
	if code != 0 {
		return outcome{text: fmt.Sprintf("Exit code %d", code) + sep(out) + out, failed: true}, nil
	}
	result := object{
		"stdout": out, "stderr": "", "interrupted": false, "isImage": false,
		"noOutputExpected": silentCommand().MatchString(*in.Command),
	}
	s.noticeGit(c, out, result)
	if out == "" {
		out = "(Bash completed with no output)"
	}
	return outcome{text: out, result: result, flagged: true}, nil
}

func sep(s string) string {
	if s == "" {
		return ""
	}
	return "\n"
}

var (
	silentCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(mkdir|cp|mv|rm|touch|chmod|ln)\s[^;&|]*$`) })
	gitCommitted  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\[(\S+) (?:\(root-commit\) )?([0-9a-f]{7,})\]`) })
	gitPushed     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^To .*\n(?:.*\n)*? . .*-> (\S+)`) })
)

// noticeGit is the client's own detection: by what git prints.
func (s *session) noticeGit(c call, out string, result object) {
	if m := gitPushed().FindStringSubmatch(out); m != nil {
		s.emit(object{"type": "system", "subtype": "vcs_state_changed", "kind": "push", "branch": m[1], "cwd": s.cwd})
		result["gitOperation"] = object{"push": object{"branch": m[1]}}
	} else if m := gitCommitted().FindStringSubmatch(out); m != nil {
		s.emit(object{"type": "system", "subtype": "vcs_state_changed", "kind": "commit", "branch": m[1], "cwd": s.cwd})
		result["gitOperation"] = object{"commit": object{"sha": m[2], "kind": "committed", "branch": m[1]}}
	}
}

// shell runs command and takes over the folder it ends in.
func (s *session) shell(ctx context.Context, command string) (out string, code int, err error) {
	tmp := getenv(s.inv.Env, "TMPDIR")
	if tmp == "" {
		tmp = "/tmp"
	}
	dir, err := os.MkdirTemp(tmp, "sim-")
	if err != nil {
		return "", 0, err
	}
	defer os.RemoveAll(dir)
	where := filepath.Join(dir, "cwd")
	cmd := exec.Command(s.shellPath(), "-c", command+"\n__sim=$?; pwd -P >| '"+where+"'; exit $__sim")
	cmd.Dir, cmd.Env = s.cwd, s.toolEnv()
	ownSession(cmd)
	r, w, err := os.Pipe()
	if err != nil {
		return "", 0, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		return "", 0, errors.Join(err, r.Close(), w.Close())
	}
	_ = w.Close()
	text := gather(r)
	code = waitFor(ctx, cmd)
	if b, err := os.ReadFile(where); err == nil {
		s.cwd = strings.TrimSuffix(string(b), "\n")
	}
	return strings.TrimRight(text(), "\n"), code, nil
}

// shellPath is the bash of the PATH that was given, or the system's sh.
func (s *session) shellPath() string {
	for _, dir := range filepath.SplitList(getenv(s.inv.Env, "PATH")) {
		path := filepath.Join(dir, "bash")
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 && filepath.IsAbs(dir) {
			return path
		}
	}
	return "/bin/sh"
}

// waitFor waits for the command and kills its session when ctx ends.
func waitFor(ctx context.Context, cmd *exec.Cmd) int {
	stop := context.AfterFunc(ctx, func() { killSession(cmd) })
	defer stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exitCode(exit)
	case err != nil:
		return 1
	}
	return 0
}

// gather reads r; the function it gives waits for the end, and not long for
// one who only holds the pipe.
func gather(r *os.File) func() string {
	var b bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(&b, io.LimitReader(r, bashShown))
		_, _ = io.Copy(io.Discard, r)
	}()
	return func() string {
		t := time.AfterFunc(200*time.Millisecond, func() { _ = r.SetReadDeadline(time.Unix(1, 0)) })
		defer t.Stop()
		<-done
		_ = r.Close()
		return b.String()
	}
}
