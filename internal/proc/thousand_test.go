//go:build linux

package proc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// attempts are ways in which an attempt can end, as scripts: %s is a time to
// sleep by which what is left is found. What sleeps outlives its parent.
var attempts = []struct {
	name, script string
	end          bool // we end it; else it ends by itself
}{
	{"ends", "exit 3", false},
	{"in its group", "sleep %s & exit 3", false},
	{"in a session of its own", "setsid sleep %s & exit 3", false},
	{"double fork", "(setsid sh -c 'sleep %s & exit' &) ; exit 3", false},
	{"double fork, no environment", "(env -i PATH=$PATH setsid sh -c 'sleep %s & exit' &) ; exit 3", false},
	{"deaf, with a family", "trap '' TERM HUP; (setsid sleep %s &); sleep %[1]s & echo ready; wait", true},
	{"works", "sleep %s & echo ready; wait", true},
	{"deaf daemon", "trap '' TERM HUP; (setsid sh -c 'sleep %s & wait' &); exit 3", false},
}

// A night has many attempts, and each can leave something behind in its own way.
// Nothing is: counted in /proc, by what stands in the command lines and by whose
// child it is.
func TestAThousandAttemptsLeaveNothing(t *testing.T) {
	for _, tool := range []string{"setsid", "env", "sleep"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	const count, atOnce = 1000, 16
	long := fmt.Sprintf("86399.%09d", time.Now().UnixNano()%1e9) // nobody else's
	var mu sync.Mutex
	ended := map[string]int{}
	var wg sync.WaitGroup
	for w := range atOnce {
		wg.Go(func() {
			for i := w; i < count; i += atOnce {
				k := attempts[i%len(attempts)]
				if err := attemptOnce(k.script, long, k.end); err != nil {
					t.Errorf("attempt %d (%s): %v", i, k.name, err)
				}
				mu.Lock()
				ended[k.name]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	Sweep()
	if left := withToken(long); len(left) > 0 {
		t.Errorf("%d processes are left: %q", len(left), left[:min(len(left), 5)])
	}
	for _, e := range readTable().byPid {
		if e.ppid == os.Getpid() {
			t.Errorf("still our child: %d %q, dead: %v", e.pid, e.comm, e.dead)
		}
	}
	if len(children.live) != 0 {
		t.Errorf("the register holds %d", len(children.live))
	}
	for _, k := range attempts {
		if ended[k.name] != count/len(attempts) {
			t.Errorf("%q was tried %d times", k.name, ended[k.name])
		}
	}
}

func attemptOnce(script, long string, end bool) error {
	argv := []string{"sh", "-c", strings.ReplaceAll(strings.ReplaceAll(script, "%[1]s", long), "%s", long)}
	env := []string{"PATH=" + os.Getenv("PATH")}
	if !end {
		out := Run(context.Background(), RunOptions{Argv: argv, Env: env})
		if out.Err != nil || out.ExitCode != 3 || anyStuck(out.Leftovers) {
			return fmt.Errorf("%+v", out)
		}
		return nil
	}
	c, err := Start(Options{Argv: argv, Env: env, Grace: time.Millisecond, Drain: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	defer c.Stdout().Close()
	if b := make([]byte, 6); true {
		if _, err := c.Stdout().Read(b); err != nil || string(b) != "ready\n" {
			_, _ = c.Kill()
			return fmt.Errorf("it says %q, %w", b, err)
		}
	}
	_, err = c.Terminate()
	return err
}
