//go:build linux || darwin

package proc

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Alive reports whether pid is still the process that started at start.
func Alive(pid int, start string) bool {
	e, ok := readEntry(pid)
	return ok && !e.dead && formatStart(e.start) == start
}

// Self is this process.
func Self() Process { return processOf(os.Getpid()) }

func processOf(pid int) Process {
	e, _ := readEntry(pid)
	return Process{Pid: pid, Start: formatStart(e.start), Comm: e.comm, Cmdline: cmdline(pid)}
}

// Ancestors is the line of parents of pid, nearest first, pid itself left out.
func Ancestors(pid int) []Process {
	var out []Process
	for range 1024 {
		e, ok := readEntry(pid)
		if !ok || e.ppid <= 0 {
			break
		}
		out = append(out, processOf(e.ppid))
		pid = e.ppid
	}
	return out
}

// EndStale ends the tree of a process that an earlier, dead supervisor left
// behind: what is below pid, in its group, or bears its mark. Nothing happens
// when pid is not the process that started at start.
func EndStale(pid int, start string) ([]Leftover, error) {
	root, ok := readEntry(pid)
	if !ok || root.dead || formatStart(root.start) != start {
		return nil, nil
	}
	if pid == os.Getpid() {
		return nil, fmt.Errorf("end process %d: that is this program", pid)
	}
	for _, a := range Ancestors(os.Getpid()) {
		if a.Pid == pid {
			return nil, fmt.Errorf("end process %d: this program runs below it", pid)
		}
	}
	s := &stale{mark: markOf(pid), seen: map[int]uint64{pid: root.start}}
	if root.pgrp == pid {
		s.group = pid
	}
	return s.end()
}

// EndMarked ends every process whose environment bears mark. Only for marks
// of children whose supervisor is dead.
func EndMarked(mark string) ([]Leftover, error) {
	if mark == "" {
		return nil, nil
	}
	return (&stale{mark: mark, seen: map[int]uint64{}}).end()
}

// stale is a tree that nobody supervises. Its orphans go to init, so it is
// frozen first and killed when a look finds no new member.
type stale struct {
	mark  string
	group int
	seen  map[int]uint64
}

func (s *stale) end() ([]Leftover, error) {
	const freezes = 16 // then kill, whatever is still being born
	giveUp := time.NewTimer(stuckAfter)
	defer giveUp.Stop()
	var left []Leftover
	wait := time.Millisecond
	for known, pass := 0, 0; ; pass++ {
		t := readTable()
		found := s.find(t)
		if len(found) == 0 {
			return left, nil
		}
		left = merge(left, found)
		if len(s.seen) > known && pass < freezes {
			known = len(s.seen)
			killAll(t, found, unix.SIGSTOP)
			continue
		}
		killAll(t, found, unix.SIGKILL)
		select {
		case <-giveUp.C:
			return markStuck(left, found), fmt.Errorf("end what a dead run left: %w", ErrStuck)
		default:
		}
		pause(wait)
		wait = min(2*wait, 20*time.Millisecond)
	}
}

// find is the living members; a member once seen stays one, and so does what
// is below it.
func (s *stale) find(t *table) []entry {
	protected := map[int]bool{os.Getpid(): true}
	for _, a := range Ancestors(os.Getpid()) {
		protected[a.Pid] = true
	}
	for grew := true; grew; {
		grew = false
		for pid, e := range t.byPid {
			if start, ok := s.seen[pid]; ok && start == e.start {
				continue
			}
			if !protected[pid] && s.member(t, e) {
				s.seen[pid] = e.start
				grew = true
			}
		}
	}
	var out []entry
	for pid, start := range s.seen {
		if e, ok := t.byPid[pid]; ok && e.start == start && !e.dead {
			out = append(out, e)
		}
	}
	return out
}

func (s *stale) member(t *table, e entry) bool {
	if e.pid <= 1 {
		return false
	}
	if s.group != 0 && e.pgrp == s.group {
		return true
	}
	if parent, ok := t.byPid[e.ppid]; ok {
		if start, ok := s.seen[e.ppid]; ok && start == parent.start {
			return true
		}
	}
	return s.mark != "" && markOf(e.pid) == s.mark
}

// Find is the process that has this pid now; ok is false when none has.
func Find(pid int) (p Process, ok bool) {
	e, ok := readEntry(pid)
	if !ok || e.dead || pid <= 0 {
		return Process{}, false
	}
	return processOf(pid), true
}
