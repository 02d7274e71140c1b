package proc

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB

// readTable asks the kernel for all processes.
func readTable() *table {
	t := &table{byPid: map[int]entry{}}
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return t
	}
	for i := range procs {
		e := toEntry(&procs[i])
		t.byPid[e.pid] = e
	}
	return t
}

func readEntry(pid int) (entry, bool) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid {
		return entry{}, false
	}
	return toEntry(p), true
}

func toEntry(p *unix.KinfoProc) entry {
	return entry{
		pid:   int(p.Proc.P_pid),
		ppid:  int(p.Eproc.Ppid),
		pgrp:  int(p.Eproc.Pgid),
		start: uint64(p.Proc.P_starttime.Sec)*1e6 + uint64(p.Proc.P_starttime.Usec),
		dead:  p.Proc.P_stat == zombie,
		comm:  unix.ByteSliceToString(p.Proc.P_comm[:]),
	}
}

func formatStart(start uint64) string { return strconv.FormatUint(start, 10) }

// cmdline is not read here: leftovers go by their name.
func cmdline(int) []string { return nil }

// markOf is not read here: the tree and the group are what we go by.
func markOf(int) string { return "" }

func signalExact(e entry, sig unix.Signal) {
	if now, ok := readEntry(e.pid); ok && now.start == e.start {
		_ = unix.Kill(e.pid, sig)
	}
}

// waitExit waits until our child pid has exited and leaves it unreaped.
// waitid is of no use here: it returns for a stopped child too.
func waitExit(pid int) {
	kq, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(kq)
	var change unix.Kevent_t
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change.Fflags = unix.NOTE_EXIT
	got := make([]unix.Kevent_t, 1)
	for {
		_, err := unix.Kevent(kq, []unix.Kevent_t{change}, got, nil)
		if !errors.Is(err, unix.EINTR) {
			return // exited, or (ESRCH) a zombie already
		}
	}
}

// Subreaper does nothing here: there is no such thing.
func Subreaper() error { return nil }

// BootID changes with every boot.
func BootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
