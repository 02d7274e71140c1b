//go:build linux

package proc

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const modeArg = "proc-test-child"

// TestMain lets the test binary play the child.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == modeArg {
		os.Exit(play(os.Args[2], os.Args[3]))
	}
	if err := Subreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// play is one mode of the child; token is only there to be found in /proc.
func play(mode, token string) int {
	switch mode {
	case "exit":
		return 3
	case "wait":
		fmt.Println("ready", os.Getpid())
		hang()
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("ready", os.Getpid())
		hang()
	case "count-term":
		got := make(chan os.Signal, 8)
		signal.Notify(got, syscall.SIGTERM)
		fmt.Println("ready", os.Getpid())
		for range got {
			fmt.Println("term")
		}
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "spam":
		b := bytes.Repeat([]byte("0123456789abcde\n"), 64<<10)
		for range 100 {
			if _, err := os.Stdout.Write(b); err != nil {
				return 1
			}
		}
	case "spam-forever":
		b := bytes.Repeat([]byte("0123456789abcde\n"), 4<<10)
		for {
			if _, err := os.Stdout.Write(b); err != nil {
				return 1
			}
		}
	case "hold": // a grandchild in our group holds the pipe, we leave
		again("wait", token, &syscall.SysProcAttr{}, nil)
	case "daemon": // a grandchild of a session of its own, whose parent leaves
		again("daemon-middle", token, &syscall.SysProcAttr{Setsid: true}, nil)
	case "daemon-clean": // the same with an empty environment
		again("daemon-middle", token, &syscall.SysProcAttr{Setsid: true}, []string{"GORACE=atexit_sleep_ms=0"})
	case "daemon-middle":
		again("ignore-term", token, &syscall.SysProcAttr{Setsid: true}, os.Environ())
	case "tree": // daemons below, and we stay
		quietly("daemon-middle", token, &syscall.SysProcAttr{Setsid: true}, nil)
		quietly("wait", token, &syscall.SysProcAttr{Setsid: true}, nil)
		fmt.Println("ready", os.Getpid())
		hang()
	case "chain": // each leaves after it has started the next
		fmt.Println("ready", os.Getpid())
		quietly("chain-link", token, &syscall.SysProcAttr{Setsid: true}, nil)
	case "chain-link":
		start("chain-link", token, &syscall.SysProcAttr{Setpgid: true}, nil)
	case "bush": // forks on and on, and stays
		again("wait", token, &syscall.SysProcAttr{Setsid: true}, nil)
		fmt.Println("ready", os.Getpid())
		for range 500 {
			start("wait", token, &syscall.SysProcAttr{Setsid: true}, nil)
		}
		hang()
	case "secret":
		if err := Secret(); err != nil {
			return 95
		}
		fallthrough
	case "dumpable":
		v, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		if err != nil {
			return 94
		}
		return v
	case "supervise": // starts a bound child, as we do, and stays
		c, err := Start(Options{Argv: []string{"/proc/self/exe", modeArg, "wait", token}, Env: os.Environ(), Bound: true})
		if err != nil {
			return 96
		}
		fmt.Println("ready", c.Pid())
		hang()
	default:
		return 99
	}
	return 0
}

func hang() { time.Sleep(5 * time.Minute) }

func start(mode, token string, attr *syscall.SysProcAttr, env []string) {
	c := exec.Command("/proc/self/exe", modeArg, mode, token)
	c.SysProcAttr, c.Stdout, c.Env = attr, os.Stdout, env
	if err := c.Start(); err != nil {
		os.Exit(98)
	}
}

// again starts ourselves in another mode, waits until that is ready, and
// hands its line on.
func again(mode, token string, attr *syscall.SysProcAttr, env []string) {
	fmt.Print(quietly(mode, token, attr, env))
}

func quietly(mode, token string, attr *syscall.SysProcAttr, env []string) string {
	c := exec.Command("/proc/self/exe", modeArg, mode, token)
	c.SysProcAttr, c.Env = attr, env
	out, err := c.StdoutPipe()
	if err != nil {
		os.Exit(97)
	}
	if err := c.Start(); err != nil {
		os.Exit(98)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	return line
}

// child starts the test binary in a mode and gives a way to see whether
// anything of it is left.
func child(t *testing.T, mode string, o Options) (*Child, func() []string) {
	t.Helper()
	token := "token-" + rand.Text()
	o.Argv = []string{"/proc/self/exe", modeArg, mode, token}
	o.Env = append([]string{"GORACE=atexit_sleep_ms=0"}, o.Env...)
	if o.Drain == 0 {
		o.Drain = 200 * time.Millisecond
	}
	c, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Kill() })
	return c, func() []string { return withToken(token) }
}

// withToken lists the living processes that bear token on the command line.
func withToken(token string) []string {
	var out []string
	for pid, e := range readTable().byPid {
		if line := strings.Join(cmdline(pid), " "); !e.dead && strings.Contains(line, token) {
			out = append(out, fmt.Sprintf("%d %s", pid, line))
		}
	}
	return out
}

func waitReady(t *testing.T, r io.Reader) {
	t.Helper()
	line := make(chan string, 1)
	go func() {
		s, _ := bufio.NewReader(r).ReadString('\n')
		line <- s
	}()
	select {
	case s := <-line:
		if !strings.HasPrefix(s, "ready") {
			t.Fatalf("child said %q, want ready", s)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("child is not ready")
	}
}

func mustBeGone(t *testing.T, left func() []string) {
	t.Helper()
	if l := left(); len(l) > 0 {
		t.Fatalf("left behind: %q", l)
	}
}
