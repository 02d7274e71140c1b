package replay

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

const (
	gitTimeout = 10 * time.Second
	maxWords   = 200 // of a command, looked at as paths
)

// Since is what a person must know beside the action itself: what runs it, and
// what has changed since it was recorded.
type Since struct {
	Now    time.Time
	Shell  string
	Cwd    string // why the folder cannot be used; "" = it can
	Head   string // commit now; "" = not known
	Branch string // branch now; "HEAD" when detached
	Git    string // why the two are not known; "" = they are
	Files  []FileChange
	Pushes []Push      // what its pushes would send now
	Call   *ServerCall // of an MCP tool; nil = it is a shell command
	Work   *queue.Work // where the work of the action's session is; nil = loop left git alone
}

// FileChange is a file that the command names and that is newer than the
// action.
type FileChange struct {
	Path     string // as the command names it
	Modified time.Time
}

// Look finds out what has changed. It runs git in the recorded folder and
// looks at the times of files; it changes nothing.
func Look(ctx context.Context, a queue.Action, shell string, env []string, now time.Time) Since {
	s := Since{Now: now, Shell: shell, Cwd: unusable(a.Cwd)}
	if s.Cwd != "" {
		return s
	}
	s.Head, s.Branch, s.Git = gitState(ctx, a.Cwd, env)
	s.Files = changedFiles(a)
	return s
}

// unusable says why a folder cannot be the working folder.
func unusable(dir string) string {
	info, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		return "it is gone"
	case err != nil:
		return err.Error()
	case !info.IsDir():
		return "it is no longer a folder"
	}
	return ""
}

// refuse says why what was found makes a replay impossible.
func (s Since) refuse(a queue.Action) error {
	if s.Call != nil {
		return s.Call.refuse(a)
	}
	if s.Cwd == "" {
		return nil
	}
	return &RefusedError{
		Action: a.Number,
		Reason: fmt.Sprintf("its folder %s cannot be used: %s", term.Command(a.Cwd), term.Quote(s.Cwd)),
		Advice: fmt.Sprintf("bring the folder back, or do it by hand, then loop reject %d --reason done-by-hand", a.Number),
	}
}

// Stale is why pushes are not what was deferred: what needs Insist.Anyway.
func (s Since) Stale() (why []string) {
	for _, p := range s.Pushes {
		why = append(why, p.Stale...)
	}
	return why
}

// Insist is what a person says beside a yes where a yes alone is not enough.
type Insist struct {
	Again  bool // it has run before, or may have
	Anyway bool // a push is not what was deferred
}

// Needs says which of the two an action needs as it stands and was shown.
func Needs(a queue.Action, s Since) Insist {
	return Insist{Again: queue.MayReplay(a, false) != nil, Anyway: len(s.Stale()) > 0}
}

// same reports whether two looks found the same.
func (s Since) same(o Since) bool {
	return s.Call.same(o.Call) && samePushes(s.Pushes, o.Pushes) && s.Cwd == o.Cwd && s.Head == o.Head && s.Branch == o.Branch && slices.EqualFunc(s.Files, o.Files,
		func(x, y FileChange) bool { return x.Path == y.Path && x.Modified.Equal(y.Modified) })
}

// Same reports whether two looks found the same; moved, when commits and what
// pushes would send of them may differ, because something else has run between.
func (s Since) Same(o Since, moved bool) bool {
	if moved {
		s.Head, s.Branch, s.Pushes = o.Head, o.Branch, o.Pushes
	}
	return s.same(o)
}

// gitState asks git for commit and branch. The repository's own settings must
// not make it run anything.
func gitState(ctx context.Context, dir string, env []string) (head, branch, problem string) {
	out := proc.Run(ctx, proc.RunOptions{
		Argv: []string{
			"git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull,
			"rev-parse", "HEAD", "--abbrev-ref", "HEAD",
		},
		Dir: dir, Env: env, Plain: true, Timeout: gitTimeout, Separate: true,
	})
	lines := strings.Fields(string(out.Tail))
	if out.OK() && len(lines) == 2 {
		return lines[0], lines[1], ""
	}
	problem, _, _ = strings.Cut(strings.TrimSpace(string(out.Stderr)), "\n")
	if out.Err != nil {
		problem = out.Err.Error()
	}
	if problem == "" {
		problem = fmt.Sprintf("git rev-parse ended with %d", out.ExitCode)
	}
	return "", "", problem
}

// changedFiles looks at the words of a command that name an existing file. A
// word that the shell would put together from pieces is not seen.
func changedFiles(a queue.Action) []FileChange {
	var out []FileChange
	seen := map[string]bool{}
	for _, w := range words(commandOf(a.AsRun())) {
		if seen[w] {
			continue
		}
		seen[w] = true
		path := w
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.Cwd, path)
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && info.ModTime().After(a.DetectedAt) {
			out = append(out, FileChange{Path: w, Modified: info.ModTime().UTC()})
		}
	}
	return out
}

// words are the pieces of a command that may be paths: also what stands behind
// the = of an option, and behind the @ with which curl names a file.
func words(command string) []string {
	pieces := strings.FieldsFunc(command, func(r rune) bool {
		return strings.ContainsRune(" \t\n\r\"'`;&|<>(){}$", r)
	})
	var out []string
	for _, p := range pieces[:min(len(pieces), maxWords)] {
		for _, w := range []string{p, after(p, "="), after(p, "@")} {
			if w != "" && !strings.HasPrefix(w, "-") && !strings.Contains(w, "://") {
				out = append(out, w)
			}
		}
	}
	return out
}

func after(s, sep string) string {
	_, rest, _ := strings.Cut(s, sep)
	return rest
}
