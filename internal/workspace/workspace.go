// Package workspace finds the repository that a command works in, and where
// loop keeps what belongs to it.
package workspace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
)

// ErrNoState is the error when nothing says where loop may keep its state.
var ErrNoState = errors.New("no place for loop's state: neither LOOP_HOME, XDG_STATE_HOME nor HOME is set")

// gitTimeout bounds a question to git; a hook waits for the answer.
const gitTimeout = 5 * time.Second

// Programs are the names of loop's own programs; they lie beside each other.
var Programs = []string{"loop", "loop-hook"}

// Workspace is where a command works: a repository and its state folder.
type Workspace struct {
	Root  string // top folder of the work tree, or the folder asked about outside git
	State string // state folder of this repository
	User  string // folder of the user's own configuration
	Git   bool   // whether Root is a git work tree
}

// Finder finds workspaces with the environment of one process.
type Finder struct {
	Env   []string
	Now   func() time.Time
	Links func(name string) (string, error) // filepath.EvalSymlinks, or Links; nil = the former
	Until time.Time                         // when git is asked no more; zero = never
}

func (f Finder) real(name string) (string, error) {
	if f.Links == nil {
		return filepath.EvalSymlinks(name)
	}
	return f.Links(name)
}

// At is the workspace that a folder belongs to.
func (f Finder) At(ctx context.Context, dir string) (Workspace, error) {
	return f.Workspace(ctx, f.Repository(dir))
}

// Workspace is the workspace of a repository. Where its files do not say what it
// is, git is asked.
func (f Finder) Workspace(ctx context.Context, r Repository) (Workspace, error) {
	seen := cmp.Or(r.Top, r.Dir)
	if !r.sure() {
		r = Repository{Dir: r.Dir}
		if out := f.askGit(ctx, r.Dir, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"); len(out) == 2 {
			r.Top, r.Common = out[0], out[1]
		}
	}
	w := Workspace{Root: r.Dir}
	home, homeErr := f.StateHome()
	common := r.Dir
	if r.Top != "" {
		w.Root, common, w.Git = r.Top, r.Common, true
	} else if top, err := f.real(seen); err == nil && homeErr == nil {
		// Where loop keeps state for a repository that git knows no more, an agent may
		// have taken git's folder away: what is known of that night is to be found.
		if _, err := os.Lstat(stateOf(home, filepath.Join(top, ".git"))); err == nil {
			w.Root, common = seen, filepath.Join(top, ".git")
		}
	}
	// Worktrees of one repository share its common folder and so one queue.
	if real, err := f.real(common); err == nil {
		common = real
	}
	if homeErr != nil {
		return w, homeErr
	}
	w.State = stateOf(home, common)
	w.User = f.UserDir()
	return w, nil
}

// stateOf is the state folder of what has this common folder.
func stateOf(home, common string) string {
	base := filepath.Base(common)
	if base == ".git" {
		base = filepath.Base(filepath.Dir(common))
	}
	sum := sha256.Sum256([]byte(common))
	return filepath.Join(home, base+"-"+hex.EncodeToString(sum[:4]))
}

// askGit gives the lines that git answers in a folder, nil when it has none.
func (f Finder) askGit(ctx context.Context, dir string, args ...string) []string {
	timeout := gitTimeout
	if !f.Until.IsZero() {
		if timeout = min(timeout, f.Until.Sub(f.Now())); timeout <= 0 {
			return nil
		}
	}
	out := proc.Run(ctx, proc.RunOptions{
		Argv: append([]string{"git"}, args...),
		Dir:  dir, Env: f.Env, Plain: true, Timeout: timeout, Separate: true, Now: f.Now,
	})
	if !out.OK() {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(out.Tail)), "\n")
}

// Top is the top folder of a work tree, else the folder asked about. Asking git
// is a process more, so it is asked only where its environment says more than
// the folders do.
func (f Finder) Top(ctx context.Context, r Repository) string {
	if f.elsewhere() {
		if w, err := f.Workspace(ctx, r); err == nil {
			return w.Root
		}
	}
	return cmp.Or(r.Top, r.Dir)
}

// StateHome is $LOOP_HOME, else loop's folder in the XDG state directory. A
// relative one would let the place of the queue follow the current folder.
func (f Finder) StateHome() (string, error) {
	if dir := proc.Getenv(f.Env, "LOOP_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := proc.Getenv(f.Env, "XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "loop"), nil
	}
	if home := proc.Home(f.Env); home != "" {
		return filepath.Join(home, ".local", "state", "loop"), nil
	}
	return "", ErrNoState
}

// UserDir is the folder of the user's own configuration, "" without a home.
func (f Finder) UserDir() string {
	if dir := proc.Getenv(f.Env, "XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "loop")
	}
	if home := proc.Home(f.Env); home != "" {
		return filepath.Join(home, ".config", "loop")
	}
	return ""
}

// Own are loop's own files, which no agent may change: its configuration, its
// state and its programs.
func (f Finder) Own() []string {
	own := []string{f.UserDir()}
	if dir, err := f.StateHome(); err == nil {
		own = append(own, dir)
	}
	self, err := os.Executable()
	if err != nil {
		return own
	}
	own = append(own, self)
	for _, name := range Programs {
		own = append(own, filepath.Join(filepath.Dir(self), Executable(name)))
	}
	return own
}

// Executable is the file name of a program on this system.
func Executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
