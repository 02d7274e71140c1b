package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
	"github.com/seed-b23e517c/loop/runner"
)

const demoLong = `Play the whole cycle in a temporary repository, offline and without an account: a
scripted agent works through four stories, the report says what it did and what
waits, and one waiting push is replayed into a local bare repository.

` + exitHelp

func newDemo(a *app) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use: "demo", Short: "Play the whole cycle with a scripted agent, offline, in seconds", Long: demoLong,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the temporary folder")
	return cmd
}

// demo is one play of the cycle.
type demo struct {
	a      *app
	dir    string
	remote string
	w      workspace.Workspace
	env    []string
}

func (a *app) demo(ctx context.Context, keep bool) (err error) {
	a.printf("The agent in this demo is scripted: no model, no account, no network. Everything else is real.\n\n")
	dir, err := os.MkdirTemp("", "loop-demo-")
	if err != nil {
		return err
	}
	if keep {
		defer a.printf("\nKept in %s. To go on with it, as in the morning:\n  cd %[1]s/slug; export LOOP_HOME=%[1]s/state\n  loop review\n", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	d := &demo{a: a, dir: dir, remote: filepath.Join(dir, "remote.git")}
	d.w.Root = filepath.Join(dir, "slug")
	d.env = demoEnv(a.env, dir)
	if err := d.repository(ctx); err != nil {
		return err
	}
	if d.w, err = (workspace.Finder{Env: d.env, Now: a.now}).At(ctx, d.w.Root); err != nil {
		return err
	}
	store, err := a.store(d.w, false)
	if err != nil {
		return err
	}
	s, err := d.night(ctx, store)
	if err != nil {
		return err
	}
	snap, err := store.Snapshot(ctx, s.ID)
	if err != nil {
		return err
	}
	a.printf("\n$ loop report\n\n")
	if err := a.printReport(ctx, store, snap, false); err != nil {
		return err
	}
	return d.morning(ctx, store, snap)
}

// demoEnv is the person's environment with nothing of the person's own git,
// home and credentials in it.
func demoEnv(env []string, dir string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if name == "PATH" || name == "TMPDIR" || name == "LANG" || name == "SystemRoot" {
			out = append(out, kv)
		}
	}
	return append(out, "HOME="+dir, "LOOP_HOME="+filepath.Join(dir, "state"), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=demo", "GIT_AUTHOR_EMAIL=demo@example.com",
		"GIT_COMMITTER_NAME=demo", "GIT_COMMITTER_EMAIL=demo@example.com")
}

// repository makes the work tree and the bare repository it pushes to.
func (d *demo) repository(ctx context.Context) error {
	for name, text := range sim.DemoRepo() {
		path := filepath.Join(d.w.Root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", d.remote},
		{"init", "--quiet", "--initial-branch=main", "."},
		{"add", "--all"},
		{"commit", "--quiet", "--message", "A slug maker"},
		{"remote", "add", "origin", d.remote},
		{"push", "--quiet", "origin", "main"},
	} {
		if _, err := d.git(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) git(ctx context.Context, args ...string) (string, error) {
	out := proc.Run(ctx, proc.RunOptions{
		Argv: append([]string{"git"}, args...), Dir: d.w.Root, Env: d.env, Timeout: time.Minute, Now: d.a.now,
	})
	if !out.OK() {
		return "", fmt.Errorf("git %s: exit %d: %w: %s", args[0], out.ExitCode, errors.Join(out.Err), out.Tail)
	}
	return string(out.Tail), nil
}

// night runs the four stories.
func (d *demo) night(ctx context.Context, store *queue.Store) (queue.Session, error) {
	c, set, err := d.a.loadConfig(d.w)
	if err != nil {
		return queue.Session{}, err
	}
	c.Git.Branch = config.BranchNone // its push is one of main
	ro, err := d.a.runnerOptions(d.w, c, set, "")
	if err != nil {
		return queue.Session{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return queue.Session{}, err
	}
	ro.Client = []string{self, simCommand}
	ro.Env, ro.Store = d.env, store
	p := newProgress(d.a)
	ro.Progress = p
	d.a.printf("$ loop run\n")
	s, err := runner.Run(ctx, ro)
	p.close()
	return s, err
}

// morning replays the one push and shows that it arrived.
func (d *demo) morning(ctx context.Context, store *queue.Store, snap queue.Snapshot) error {
	for _, x := range snap.Actions {
		if x.Command != sim.DemoPush || x.Evidence != policy.Blocked {
			continue
		}
		d.a.printf("\n$ loop approve %d --yes\n\n", x.Number)
		_, err := replay.Run(ctx, replay.Request{
			Store: store, Ref: x.ID, Out: d.a.stdout, Yes: true, Who: d.a.who(), Now: d.a.now, Env: d.env,
		})
		if err != nil {
			return err
		}
		log, err := d.git(ctx, "--git-dir", d.remote, "log", "--oneline", "main")
		if err != nil {
			return err
		}
		d.a.printf("\n$ git -C remote.git log --oneline main     # it arrived\n%s", term.QuoteLines(log))
		return nil
	}
	return errors.New("the demo's push did not reach the queue")
}
