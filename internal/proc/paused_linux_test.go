package proc

import (
	"bufio"
	"os/exec"
	"syscall"
	"testing"
)

// A stopped process goes on; one that runs was not stopped.
func TestGoOn(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "echo ready; read x; echo $x")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Fatal(line, err)
	}
	if GoOn(cmd.Process.Pid) {
		t.Error("a process that runs is said to have been stopped")
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatal(status, err)
	}
	if !GoOn(cmd.Process.Pid) {
		t.Error("a stopped process is not said to have been stopped")
	}
	if _, err := in.Write([]byte("on\n")); err != nil {
		t.Fatal(err)
	}
	if line, err := lines.ReadString('\n'); line != "on\n" {
		t.Errorf("%q, %v", line, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
