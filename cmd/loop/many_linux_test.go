package main

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal is a terminal of 120 columns: a person's end of it, and the
// program's.
func openTerminal(tb testing.TB) (person, program *os.File) {
	tb.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		tb.Skipf("no terminal: %v", err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120})
	}
	if err == nil {
		program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return person, program
}

// sitting is a person before `loop review`.
type sitting struct {
	tb   testing.TB
	cmd  *exec.Cmd
	term *os.File
	seen bytes.Buffer
}

func sitDown(tb testing.TB, dir string, env []string, program string, args ...string) *sitting {
	tb.Helper()
	person, tty := openTerminal(tb)
	s := &sitting{tb: tb, term: person, cmd: exec.CommandContext(tb.Context(), program, args...)}
	s.cmd.Dir, s.cmd.Env = dir, append(env, "TERM=xterm-256color")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	_ = tty.Close()
	return s
}

// sees waits until the terminal has got all of the texts since the last key.
func (s *sitting) sees(texts ...string) {
	s.tb.Helper()
	part := make([]byte, 64<<10)
	for {
		there := true
		for _, t := range texts {
			there = there && bytes.Contains(s.seen.Bytes(), []byte(t))
		}
		if there {
			return
		}
		n, err := s.term.Read(part)
		s.seen.Write(part[:n])
		if err != nil {
			s.tb.Fatalf("%v, and no %q in\n%q", err, texts, s.seen.Bytes())
		}
	}
}

func (s *sitting) types(keys string) {
	s.tb.Helper()
	s.seen.Reset()
	if _, err := s.term.WriteString(keys); err != nil {
		s.tb.Fatal(err)
	}
}

// getsUp closes the view, and gives the peak of its memory in MB.
func (s *sitting) getsUp() float64 {
	s.tb.Helper()
	peak := peakOf(s.cmd.Process.Pid)
	s.types("\rq")
	rest := make([]byte, 64<<10)
	for {
		if _, err := s.term.Read(rest); err != nil {
			break
		}
	}
	if err := s.cmd.Wait(); err != nil {
		s.tb.Error(err)
	}
	_ = s.term.Close()
	return peak
}

// BenchmarkReviewOfTenThousand is how long a person waits before `loop review`
// with ten thousand actions: from the start of the process to the first screen
// that is whole, to when all is read, and from the four keys of a search to what
// they find; beside it, a process of loop that does nothing, and how many such
// processes the first screen takes.
func BenchmarkReviewOfTenThousand(b *testing.B) {
	program := buildProgram(b, ".")
	dir := b.TempDir()
	env := manyActions(b, dir, 10_000)
	var first, all, search, nothing []time.Duration
	peak := 0.0
	for b.Loop() {
		from := time.Now()
		s := sitDown(b, dir, env, program, "review")
		s.sees("GOT OUT", "1 of 200", "? help")
		first = append(first, time.Since(from))
		s.sees("10000 wait")
		all = append(all, time.Since(from))
		s.types("/")
		s.sees("Search")
		from = time.Now()
		s.types("9997")
		s.sees("9998") // the number in the only row; its # stood there before
		search = append(search, time.Since(from))
		peak = max(peak, s.getsUp())
		took, _ := firstOutput(b, dir, env, program, "--version")
		nothing = append(nothing, took)
	}
	for name, list := range map[string][]time.Duration{"ms-first": first, "ms-all": all, "ms-search": search, "ms-nothing": nothing} {
		slices.Sort(list)
		b.ReportMetric(milliseconds(list, 50), name)
	}
	b.ReportMetric(milliseconds(first, 50)/milliseconds(nothing, 50), "first/nothing")
	b.ReportMetric(peak, "MB-peak")
	b.ReportMetric(0, "ns/op")
}
