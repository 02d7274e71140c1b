package proc

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// readTable reads /proc once. A process that ends meanwhile is left out.
func readTable() *table {
	t := &table{byPid: map[int]entry{}}
	dir, err := os.Open("/proc")
	if err != nil {
		return t
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if e, ok := readEntry(pid); ok {
			t.byPid[pid] = e
		}
	}
	return t
}

// readEntry reads /proc/PID/stat: "pid (comm) state ppid pgrp ... start ...".
// The name may hold blanks and brackets, so fields count from the last ')'.
// It is called for every process of the system, several times for every child
// of ours, hence the plain system calls.
func readEntry(pid int) (entry, bool) {
	var buf [1024]byte
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return entry{}, false
	}
	n, err := unix.Read(fd, buf[:])
	_ = unix.Close(fd)
	if err != nil || n <= 0 {
		return entry{}, false
	}
	return parseStat(pid, buf[:n])
}

func parseStat(pid int, b []byte) (entry, bool) {
	const ( // positions after the name; proc(5) counts from 1 at pid
		state, ppid, pgrp = 0, 1, 2
		start             = 19
	)
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return entry{}, false
	}
	e := entry{pid: pid, comm: string(b[open+1 : end])}
	i := 0
	for f := range bytes.FieldsSeq(b[end+1:]) {
		switch i {
		case state:
			e.dead = f[0] == 'Z' || f[0] == 'X'
		case ppid:
			e.ppid = number(f)
		case pgrp:
			e.pgrp = number(f)
		case start:
			e.start = uint64(number(f))
			return e, true
		}
		i++
	}
	return entry{}, false
}

// number reads a decimal that the kernel wrote.
func number(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return n
		}
		n = n*10 + int(c-'0')
	}
	return n
}

func formatStart(start uint64) string { return strconv.FormatUint(start, 10) }

// cmdline is the argument vector; empty for a zombie or a kernel thread.
func cmdline(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// markOf is the mark in the environment that pid was started with.
func markOf(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return "" // another user's, or gone
	}
	for kv := range bytes.SplitSeq(b, []byte{0}) {
		if v, ok := bytes.CutPrefix(kv, []byte(MarkVar+"=")); ok {
			return string(v)
		}
	}
	return ""
}

// signalExact signals the very process of the table, never one that took its
// id since: the descriptor pins it, then the start time is compared. Where
// there are no descriptors (before Linux 5.3, or forbidden) the comparison has
// to do.
func signalExact(e entry, sig unix.Signal) {
	fd, err := unix.PidfdOpen(e.pid, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	if now, ok := readEntry(e.pid); !ok || now.start != e.start {
		return
	}
	if err != nil {
		_ = unix.Kill(e.pid, sig)
		return
	}
	_ = unix.PidfdSendSignal(fd, sig, nil, 0)
}

// waitExit waits until our child pid has exited and leaves it unreaped, so
// that its id, which is its group's, stays taken.
func waitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// Subreaper makes this process the one that orphans of its descendants come
// to. Call it once, before the first child.
func Subreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	children.becomeReaper()
	return nil
}

// becomeReaper notes the children that this process id had before: a shell
// that started something and then became us.
func (r *registry) becomeReaper() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reaper, r.inherited = true, map[int]uint64{}
	for pid, e := range readTable().byPid {
		if e.ppid == os.Getpid() && !r.knows(e) {
			r.inherited[pid] = e.start
		}
	}
}

// BootID changes with every boot; process ids and start times mean something
// only together with it.
func BootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
