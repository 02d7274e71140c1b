package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/selftest"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
	"github.com/seed-b23e517c/loop/stories"
)

// check is one thing that a night needs.
type check struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Text  string `json:"text"`          // may hold hostile text
	Fix   string `json:"fix,omitempty"` // what to do about a bad one
}

// The states of a check; only bad ones are to be mended.
const (
	checkOK   = "ok"
	checkNote = "note"
	checkBad  = "bad"
)

func okf(format string, args ...any) check {
	return check{State: checkOK, Text: fmt.Sprintf(format, args...)}
}

func notef(format string, args ...any) check {
	return check{State: checkNote, Text: fmt.Sprintf(format, args...)}
}

// bad is a check that failed; the error's own hint goes before fix.
func bad(err error, fix string) check {
	if hint := hintFor(err); hint != "" {
		fix = hint
	}
	return check{State: checkBad, Text: err.Error(), Fix: fix}
}

func firstBad(checks []check) *check {
	for i := range checks {
		if checks[i].State == checkBad {
			return &checks[i]
		}
	}
	return nil
}

// doctor is what the checks look at.
type doctor struct {
	a      *app
	w      workspace.Workspace
	c      config.Config
	set    *policy.Set
	err    error // of the configuration and the rules
	claude string
	client selftest.Client // found by the first check
}

// checkAll makes the checks, the first thing to mend first.
func (a *app) checkAll(ctx context.Context, o doctorOptions) ([]check, selftest.Client) {
	w, err := a.workspace(ctx)
	if err != nil {
		c := bad(err, "see the error")
		c.Name = "place"
		return []check{c}, selftest.Client{}
	}
	d := &doctor{a: a, w: w}
	d.c, d.set, d.err = a.loadConfig(w)
	if o.claude != "" {
		d.c.Claude = o.claude
	}
	var out []check
	for _, x := range []struct {
		name string
		make func(context.Context) check
	}{
		{"client", d.checkClient},
		{"self-test", d.checkTested},
		{"git", d.checkGit},
		{"configuration", d.checkConfig},
		{"stories", d.checkStories},
		{"gates", d.checkGates},
		{"state folder", d.checkState},
		{"free space", d.checkSpace},
		{"awake", d.checkAwake},
		{"told", d.checkTold},
		{"queue", d.checkQueue},
		{"estimate", d.checkEstimate},
		{"other run", d.checkRun},
		{"credentials", d.checkCredentials},
	} {
		c := x.make(ctx)
		c.Name = x.name
		out = append(out, c)
	}
	return out, d.client
}

func (d *doctor) checkClient(ctx context.Context) check {
	if d.c.Claude == "" {
		d.c.Claude = config.Default().Claude
	}
	client, err := selftest.Find(ctx, []string{d.c.Claude}, d.w.Root, d.a.env, d.a.now)
	if err != nil {
		return bad(err, "install Claude Code: "+selftest.Update)
	}
	d.client = client
	if err := selftest.Gate(client); err != nil {
		if d.c.OldClient {
			return notef("%v; you let it run all the same (firewall.old_client)", err)
		}
		return bad(err, "")
	}
	return okf("%s, %s", client.Name(), client.Path)
}

func (d *doctor) checkTested(context.Context) check {
	path, err := d.a.clientTests()
	if err != nil {
		return bad(err, "")
	}
	if !d.c.SelfTest {
		return notef("switched off: firewall.self_test is false in %s; every report says so", d.c.Source("firewall.self_test"))
	}
	if d.client.Path == "" {
		return notef("there is no client to test")
	}
	res, ok := selftest.Remembered(path, d.client, build())
	if !ok {
		return notef("this client has not been tested yet: loop doctor --live does it now, loop run before the first story")
	}
	when := res.When.Local().Format("2006-01-02 15:04")
	if d.c.OldClient && selftest.Gate(d.client) != nil && res.PassedOld() {
		return notef("what an old client can keep held when it was tested, %s", when)
	}
	if broken := res.Broken(); len(broken) > 0 {
		err := &selftest.BrokenError{Client: res.Client.Name(), Broken: broken}
		return bad(fmt.Errorf("tested %s: %w", when, err), "")
	}
	return okf("all that protects held when it was tested, %s", when)
}

func (d *doctor) checkGit(ctx context.Context) check {
	out := proc.Run(ctx, proc.RunOptions{Argv: []string{"git", "--version"}, Dir: d.w.Root, Env: d.a.env, Timeout: 10 * time.Second, Now: d.a.now})
	version, _, _ := strings.Cut(strings.TrimSpace(string(out.Tail)), "\n")
	switch {
	case !out.OK():
		return bad(errors.New("git does not start: "+strings.TrimSpace(errText(out.Err)+" "+version)), "install git")
	case !d.w.Git:
		return notef("%s; this folder is no repository, so commits and pushes cannot be followed", version)
	}
	if d.c.Parallel > 1 {
		merge := proc.Run(ctx, proc.RunOptions{
			Argv: []string{"git", "merge-tree", "--write-tree", "HEAD", "HEAD"}, Dir: d.w.Root, Env: d.a.env, Timeout: 10 * time.Second, Now: d.a.now,
		})
		if !merge.OK() {
			return bad(fmt.Errorf("%s cannot merge without a work tree, or there is no commit yet: parallel = %d needs git 2.38 or newer and a commit", version, d.c.Parallel), "install a newer git, or set parallel = 1")
		}
	}
	return okf("%s, repository %s", version, d.w.Root)
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (d *doctor) checkConfig(context.Context) check {
	if d.err != nil {
		return bad(d.err, "mend the file that the error names")
	}
	if d.c.Path == "" {
		return okf("no loop.toml; level %s", d.c.Level)
	}
	return okf("%s; level %s", rel(d.w.Root, d.c.Path), d.c.Level)
}

func (d *doctor) checkStories(context.Context) check {
	const mend = "mend the story file; `loop stories` shows how it is read"
	path, err := storyFile(d.w.Root, d.c)
	var many *stories.CandidatesError
	if errors.As(err, &many) {
		return bad(err, "`loop stories FILE` shows one of them; stories = \"FILE\" in loop.toml chooses")
	}
	if err != nil {
		return bad(err, "`loop init` writes an example story")
	}
	f, err := stories.Read(path)
	if err != nil {
		return bad(err, mend)
	}
	open, err := f.Order()
	if err != nil {
		return bad(err, mend)
	}
	if len(open) == 0 {
		return notef("%s: none of %d is open", rel(d.w.Root, path), len(f.Stories))
	}
	return okf("%s: %d of %d open", rel(d.w.Root, path), len(open), len(f.Stories))
}

func (d *doctor) checkGates(context.Context) check {
	if len(d.c.Gates) == 0 {
		return notef("none: a story that ends well will be called unproven (gates = [\"…\"] in loop.toml)")
	}
	return okf("%s", strings.Join(d.c.Gates, "; "))
}

// checkState looks whether the state can be written, and by nobody else.
func (d *doctor) checkState(context.Context) check {
	dir := d.w.State
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		return bad(fmt.Errorf("%s can be read by others (mode %#o)", dir, info.Mode().Perm()), "chmod 700 '"+dir+"'")
	}
	for ; !isDir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return bad(fmt.Errorf("%s is no folder", dir), "move it away, or name another place: export LOOP_HOME=/a/folder/of/yours")
		}
	}
	f, err := os.CreateTemp(dir, ".loop-doctor-")
	if err != nil {
		return bad(err, "name another place: export LOOP_HOME=/a/folder/of/yours")
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return bad(err, "name another place: export LOOP_HOME=/a/folder/of/yours")
	}
	return okf("%s", d.w.State)
}

func (d *doctor) checkQueue(ctx context.Context) check {
	store, err := d.a.store(d.w, true)
	if err != nil {
		return bad(err, "move queue.db away; the next run makes a new one")
	}
	waiting, err := store.Actions(ctx, queue.Filter{Status: []queue.Status{queue.Pending, queue.Approved}})
	switch {
	case errors.Is(err, queue.ErrNotFound):
		return okf("empty")
	case err != nil:
		return bad(err, "move queue.db away; the next run makes a new one")
	}
	return okf("readable; %d action(s) wait", len(waiting))
}

func (d *doctor) checkRun(context.Context) check {
	if pid, busy := runner.Busy(d.w.State); busy {
		return bad(&runner.BusyError{Pid: pid}, "")
	}
	return okf("none")
}

func (d *doctor) checkCredentials(context.Context) check {
	_, withheld := runner.Withheld(d.a.env, d.c.KeepEnv)
	if len(withheld) == 0 {
		return okf("none in this environment")
	}
	return okf("kept from the agent and the gates: %s", strings.Join(withheld, ", "))
}
