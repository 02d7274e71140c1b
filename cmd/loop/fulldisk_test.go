//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/seed-b23e517c/loop/internal/trap"
)

// The disk is full from one of loop's writes on, now this one and now that: the
// run ends by itself, and the next one, with room, goes on as after a kill.
func TestFullDiskFromAWriteOn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	night, whole := killedNights()["passes"], &killer{}
	night.killAt(t, whole)
	for i := range whole.log {
		if i%4 != 0 && os.Getenv("LOOP_EVERY") == "" {
			continue
		}
		t.Run(fmt.Sprintf("%d %s", i+1, class(whole.log[i])), func(t *testing.T) {
			t.Parallel()
			n := night.make(t)
			cmd, out := n.command("loop", "run")
			counts := &killer{root: n.root, cmd: cmd}
			d := &trap.FullDisk{Root: n.root, Full: func() bool { return len(counts.log) > i }}
			over, err := trap.Start(cmd, cmd.Path, func(a *trap.Call) error {
				if !d.Full() {
					_ = counts.decide(a) // it kills nobody
				}
				return d.Answer(a)
			})
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			<-over
			code, again := n.do("loop", "run")
			n.checkRecords()
			n.checkWork(night)
			n.checkFiles()
			if left := n.left(); len(left) > 0 {
				t.Errorf("left running: %q", left)
			}
			if t.Failed() {
				t.Logf("with a full disk, %v, %d writes failed:\n%s\nthe next run, exit %d:\n%s", cmd.ProcessState, d.Hit.Load(), out, code, again)
			}
		})
	}
}
