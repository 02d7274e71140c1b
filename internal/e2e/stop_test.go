//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
	"github.com/seed-b23e517c/loop/queue"
)

// blockOn is a command that runs until it is killed; it writes its pid first.
func blockOn(pidFile string) fakeapi.Block {
	return fakeapi.Bash("echo $$ > " + pidFile + "; tail -f /dev/null")
}

// detach starts a process in a session of its own that outlives its parents.
func detach(t *testing.T, pidFile string) fakeapi.Block {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	return fakeapi.Bash("setsid nohup tail -f /dev/null >/dev/null 2>&1 & echo $! > " + pidFile)
}

// pid waits for the pid that a command of the run p writes into a file below
// root.
func (w *world) pid(p *process, name string) int {
	w.t.Helper()
	var pid int
	eventually(w.t, "a pid in "+name, func() bool {
		text := w.read(name)
		n, err := strconv.Atoi(strings.TrimSpace(text))
		pid = n
		if done := err == nil && strings.HasSuffix(text, "\n"); done || !p.ended() {
			return done
		}
		w.t.Fatalf("%s ended without a pid in %s: %+v", p.name, name, p.wait())
		return false
	})
	return pid
}

// processes are those that belong to this world, by environment or folder, as
// "pid command". Only Linux can tell.
func (w *world) processes() []string {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, dir := range dirs {
		// A process that goes away meanwhile is none of ours any more.
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if strings.Contains(string(env), w.root+"/") || strings.HasPrefix(cwd, w.root) {
			cmd, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			out = append(out, fmt.Sprintf("%s %.80q", filepath.Base(dir), cmd))
		}
	}
	return out
}

// nothingIsLeft fails the test when the run has left a process behind.
func (w *world) nothingIsLeft() {
	w.t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	if left := w.processes(); len(left) > 0 {
		w.t.Errorf("left behind: %q", left)
	}
}

// alive says whether a process runs; one that has ended and that its new
// parent has not looked at yet does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil && strings.Contains(string(stat), ") Z ") {
		return false
	}
	return syscall.Kill(pid, 0) == nil
}

// A process that the agent detached is gone when the run is over, and said.
func TestDetachedProcessIsEnded(t *testing.T) {
	t.Parallel()
	title := "Start a server"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(detach(t, "pid")), fakeapi.Say("It runs."),
	}}})
	w.stories("", title)
	p := w.startLoop("run")
	pid := w.pid(p, "repo/pid")
	p.wait().want(t, exitDone)
	if alive(pid) {
		t.Errorf("process %d is still there", pid)
	}
	w.nothingIsLeft()
	s := w.report()
	if len(s.Findings) != 1 || s.Findings[0].Kind != "leftover" {
		t.Errorf("findings: %+v", s.Findings)
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, signals := range map[string][]syscall.Signal{
		"once": {syscall.SIGINT}, "twice": {syscall.SIGINT, syscall.SIGINT},
		"terminated": {syscall.SIGTERM}, "terminal closed": {syscall.SIGHUP},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			title := "Take your time"
			w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
				fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/early")),
				fakeapi.Call(detach(t, "far")),
				fakeapi.Call(blockOn("near")),
				fakeapi.Say("done"),
			}}})
			w.stories("", title, "Never begun")
			p := w.startLoop("run")
			near, far := w.pid(p, "repo/near"), w.pid(p, "repo/far")
			for _, s := range signals {
				p.signal(s)
			}
			p.wait().want(t, exitInterrupted, "git push origin HEAD:refs/heads/early")
			if alive(near) || alive(far) {
				t.Errorf("still there: foreground %v, detached %v", alive(near), alive(far))
			}
			w.nothingIsLeft()
			diff(t, "passed", nil, w.passed(title, "Never begun"))
			s := w.report()
			diff(t, "outcomes", []string{"S1 interrupted"}, outcomes(s))
			diff(t, "waiting", []string{"blocked git push origin HEAD:refs/heads/early"}, waiting(s))
		})
	}
}

// Whenever loop dies, what was queued is there once, nothing is left working,
// and runs go on until the stories are done.
func TestKillAtAnyTurnLosesNothing(t *testing.T) {
	t.Parallel()
	for at := 1; at <= 5; at++ {
		t.Run(fmt.Sprintf("request %d", at), func(t *testing.T) {
			t.Parallel()
			one, two := "Story the first", "Story the second"
			turns := func(name string) []fakeapi.Turn {
				return []fakeapi.Turn{
					fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/" + name)),
					fakeapi.Call(write(name+".txt", "x\n")),
					fakeapi.Say("done"),
				}
			}
			w := newWorld(t, fakeapi.Script{{Match: one, Turns: turns("one")}, {Match: two, Turns: turns("two")}})
			w.stories("", one, two)
			p := w.startLoop("run")
			eventually(t, "a request", func() bool { return len(w.api.Requests()) >= at })
			p.signal(syscall.SIGKILL)
			p.wait()
			w.loop("run").want(t, exitWaiting)
			w.nothingIsLeft()
			diff(t, "passed", []string{"S1", "S2"}, w.passed(one, two))

			// Of every call that was asked about there is one action.
			calls := map[string]int{}
			r := w.loop("list")
			for line := range strings.Lines(r.stdout) {
				_, name, _ := strings.Cut(strings.TrimSpace(line), "refs/heads/")
				calls[name]++
			}
			for name, n := range calls {
				asked := 0
				for _, q := range w.api.Requests() {
					if q.Turn == 0 && strings.HasSuffix(q.Conversation, map[string]string{"one": "first", "two": "second"}[name]) {
						asked++
					}
				}
				if n < 1 || n > asked {
					t.Errorf("%d actions for %d calls of %q:\n%s", n, asked, name, r.stdout)
				}
			}
			if len(calls) != 2 {
				t.Errorf("loop list: %s", r.stdout)
			}
		})
	}
}

// kill -9 of loop: the next run ends what is left, loses no action, doubles
// none, says so, and does the story.
func TestNextRunPicksUpAfterKill(t *testing.T) {
	t.Parallel()
	title := "Survive"
	push := fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/once"))
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		push, {
			// The first time round it never ends; the second run goes past it.
			Blocks: []fakeapi.Block{fakeapi.Bash("test -f \"$TMPDIR/near\" || { echo $$ > \"$TMPDIR/near\"; exec tail -f /dev/null; }")},
		}, fakeapi.Say("done"),
	}}})
	w.stories("", title)
	p := w.startLoop("run")
	near := w.pid(p, "tmp/near")
	killed := p.cmd.Process.Pid
	p.signal(syscall.SIGKILL)
	p.wait()

	dead := w.report()
	diff(t, "waiting after the kill", []string{"blocked git push origin HEAD:refs/heads/once"}, waiting(dead))
	w.loop("run").want(t, exitWaiting)
	if alive(near) {
		t.Errorf("the killed run's command %d is still there", near)
	}
	w.nothingIsLeft()
	diff(t, "passed", []string{"S1"}, w.passed(title))

	old := w.reportOf(dead.Session.ID)
	diff(t, "outcomes of the killed session", []string{"S1 interrupted"}, outcomes(old))
	diff(t, "waiting of the killed session", []string{"blocked git push origin HEAD:refs/heads/once"}, waiting(old))
	if old.Session.Pid != killed || old.Session.Ended.IsZero() || !attempts(old)[0].Recovered {
		t.Errorf("the killed session: pid %d (was %d), ended %v, attempts %+v",
			old.Session.Pid, killed, old.Session.Ended, attempts(old))
	}
	diff(t, "outcomes of the second", []string{"S1 unproven"}, outcomes(w.report()))
	w.loop("report", dead.Session.ID).want(t, exitDone, "loop itself died")
}

// A done mark that the agent set itself must not count because loop was killed
// before it could look.
func TestClaimOfKilledRunDoesNotCount(t *testing.T) {
	t.Parallel()
	title := "Claim it"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("test -f \"$TMPDIR/near\" || { sed -i.bak 's/false/true/' prd.json; echo $$ > \"$TMPDIR/near\"; exec tail -f /dev/null; }")),
		fakeapi.Say("done"),
	}}})
	w.stories("gates = [\"test -f proof\"]\n", title)
	p := w.startLoop("run")
	w.pid(p, "tmp/near")
	p.signal(syscall.SIGKILL)
	p.wait()
	w.loop("run").want(t, exitFailed)
	diff(t, "passed", nil, w.passed(title))
}

// The queue is there for other commands while a run goes on, and a second run
// in the same repository is told who is first.
func TestCommandsWorkDuringARun(t *testing.T) {
	t.Parallel()
	title := "Go slowly"
	hold := make(chan struct{})
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/now")),
		{Blocks: []fakeapi.Block{fakeapi.Text("done")}, Faults: []fakeapi.Fault{{Hold: hold, Events: 2}}},
	}}})
	w.stories("", title)
	p := w.startLoop("run")
	eventually(t, "the second turn", func() bool { return len(w.api.Requests()) == 2 })

	s := w.report()
	diff(t, "waiting", []string{"blocked git push origin HEAD:refs/heads/now"}, waiting(s))
	w.loop("report").want(t, exitDone, "git push origin HEAD:refs/heads/now")
	w.loop("run").want(t, exitBusy, strconv.Itoa(p.cmd.Process.Pid))
	w.loop("approve", "1", "--yes").want(t, exitDone)
	diff(t, "branch at the remote", w.git(w.repo, "rev-parse", "HEAD"), w.remoteHead("now"))
	close(hold)
	p.wait().want(t, exitDone)
	s = w.report()
	diff(t, "outcomes", []string{"S1 unproven"}, outcomes(s))
	if len(s.Actions) != 1 || s.Actions[0].Status != queue.Replayed {
		t.Errorf("actions: %+v", s.Actions)
	}
}
