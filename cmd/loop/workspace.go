package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// workspace is where a command works: a repository and its state folder.
type workspace struct {
	Root  string // top folder of the work tree, or the current folder outside git
	State string // state folder of this repository
	User  string // folder of the user's own configuration
	Git   bool   // whether Root is a git work tree
}

func (a *app) workspace(ctx context.Context) (workspace, error) {
	dir, err := os.Getwd()
	if err != nil {
		return workspace{}, err
	}
	return a.workspaceAt(ctx, dir)
}

// workspaceAt is the workspace that a folder belongs to.
func (a *app) workspaceAt(ctx context.Context, dir string) (workspace, error) {
	return a.workspaceOf(dir, a.askGit(ctx, dir, "--show-toplevel", "--git-common-dir"))
}

// askGit gives the lines that git rev-parse answers in a folder, nil when it
// has no answer to everything.
func (a *app) askGit(ctx context.Context, dir string, args ...string) []string {
	out := proc.Run(ctx, proc.RunOptions{
		Argv: append([]string{"git", "rev-parse", "--path-format=absolute"}, args...),
		Dir:  dir, Env: a.env, Plain: true, Timeout: 10 * time.Second, Separate: true, Now: a.now,
	})
	if !out.OK() {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(out.Tail)), "\n")
}

// workspaceOf is the workspace of a folder of which git says top and common
// folder.
func (a *app) workspaceOf(dir string, lines []string) (workspace, error) {
	w := workspace{Root: dir}
	common := dir
	if len(lines) == 2 {
		w.Root, common, w.Git = lines[0], lines[1], true
	}
	// Worktrees of one repository share its common folder and so one queue.
	if real, err := filepath.EvalSymlinks(common); err == nil {
		common = real
	}
	home, err := a.stateHome()
	if err != nil {
		return w, err
	}
	base := filepath.Base(common)
	if base == ".git" {
		base = filepath.Base(filepath.Dir(common))
	}
	sum := sha256.Sum256([]byte(common))
	w.State = filepath.Join(home, base+"-"+hex.EncodeToString(sum[:4]))
	w.User = a.userDir()
	return w, nil
}

// stateHome is $LOOP_HOME, else loop's folder in the XDG state directory. A
// relative one would let the place of the queue follow the current folder.
func (a *app) stateHome() (string, error) {
	if dir := a.getenv("LOOP_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := a.getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "loop"), nil
	}
	if home := a.home(); home != "" {
		return filepath.Join(home, ".local", "state", "loop"), nil
	}
	return "", &usageError{err: errors.New("no place for loop's state: neither LOOP_HOME, XDG_STATE_HOME nor HOME is set"), hint: "export LOOP_HOME=/a/folder/of/yours"}
}

func (a *app) userDir() string {
	if dir := a.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "loop")
	}
	if home := a.home(); home != "" {
		return filepath.Join(home, ".config", "loop")
	}
	return ""
}

func (a *app) home() string {
	if home := a.getenv("HOME"); home != "" {
		return home
	}
	return a.getenv("USERPROFILE")
}

// store opens the queue of the workspace; reading makes nothing.
func (a *app) store(w workspace, readOnly bool) (*queue.Store, error) {
	self := proc.Self()
	s, err := queue.Open(w.State, queue.Options{
		Now: a.now, ReadOnly: readOnly,
		Self:  queue.Owner{Pid: self.Pid, Start: self.Start, Boot: proc.BootID()},
		Alive: func(o queue.Owner) bool { return proc.Running(o.Pid, o.Start, o.Boot) },
	})
	if err == nil && readOnly && s.Spooled() {
		// Who only reads wants to see what waits beside the queue too.
		return a.store(w, false)
	}
	return s, err
}

// openStore is workspace and store in one, for the commands of the queue.
func (a *app) openStore(ctx context.Context, readOnly bool) (workspace, *queue.Store, error) {
	w, err := a.workspace(ctx)
	if err != nil {
		return w, nil, err
	}
	s, err := a.store(w, readOnly)
	return w, s, err
}

// configured is the workspace, its configuration and its rules in one.
func (a *app) configured(ctx context.Context) (workspace, config.Config, *policy.Set, error) {
	w, err := a.workspace(ctx)
	if err != nil {
		return w, config.Config{}, nil, err
	}
	c, set, err := a.loadConfig(w)
	return w, c, set, err
}

// loadConfig reads the configuration and the rules it names.
func (a *app) loadConfig(w workspace) (config.Config, *policy.Set, error) {
	c, err := config.Load(w.User, w.Root)
	if err != nil {
		return c, nil, err
	}
	set, err := loadRules(c)
	return c, set, err
}

func loadRules(c config.Config) (*policy.Set, error) {
	o, err := rulesOf(c)
	if err != nil {
		return nil, err
	}
	return policy.Load(o)
}

// rulesOf reads the rule packs that a configuration names.
func rulesOf(c config.Config) (policy.LoadOptions, error) {
	o := policy.LoadOptions{Patterns: c.Patterns}
	for i, path := range slices.Concat(c.OwnRules, c.Rules) {
		data, err := os.ReadFile(path)
		if err != nil {
			return o, fmt.Errorf("read rules: %w", err)
		}
		o.Packs = append(o.Packs, policy.PackFile{Name: path, Data: data, Own: i < len(c.OwnRules)})
	}
	return o, nil
}
