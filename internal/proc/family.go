//go:build linux || darwin

package proc

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// table is one look at the processes of the system.
type table struct {
	byPid map[int]entry
}

// entry is one process in a table.
type entry struct {
	pid, ppid, pgrp int
	start           uint64
	dead            bool // a zombie
	comm            string
}

// noChild stands for processes that are below us and no living child's, or
// cannot be told to be one's: for the moment of an exec and of its end a
// process has no environment to read.
var noChild = new(Child)

// owners decides, for one table, whose each process is.
type owners struct {
	r     *registry
	t     *table
	self  int
	group int
	mark  func(pid int) string
	memo  map[int]*Child
}

// family is what belongs to c, its leader apart: the living ones only. unsure
// says that there is something below us whose owner could not be told.
func (r *registry) family(t *table, c *Child) (found []entry, unsure bool) {
	o := &owners{r: r, t: t, self: os.Getpid(), group: unix.Getpgrp(), mark: markOf, memo: map[int]*Child{}}
	for pid, e := range t.byPid {
		if e.dead || (pid == c.pid && e.start == c.start) {
			continue
		}
		switch o.of(e) {
		case c:
			found = append(found, e)
			if c != noChild {
				c.seen[e.pid] = e.start
			}
		case noChild:
			unsure = true
		}
	}
	return found, unsure
}

// of is the child that e belongs to, noChild, or nil when it is not ours.
func (o *owners) of(e entry) *Child {
	if c, ok := o.memo[e.pid]; ok {
		return c
	}
	o.memo[e.pid] = nil // a table read while parents change can hold a ring
	c := o.find(e)
	o.memo[e.pid] = c
	return c
}

func (o *owners) find(e entry) *Child {
	if e.pid == o.self || e.pid <= 1 {
		return nil
	}
	if start, ok := o.r.inherited[e.pid]; ok && start == e.start {
		return nil
	}
	for _, c := range o.r.live {
		if e.pid == c.pid && e.start == c.start {
			return c
		}
	}
	var above *Child
	if parent, ok := o.t.byPid[e.ppid]; ok && e.ppid != o.self {
		above = o.of(parent)
	}
	if above != nil && above != noChild {
		return above
	}
	if c := o.orphan(e); c != nil {
		return c
	}
	return above // below a dying parent that could not be told apart any more
}

// orphan tells by its own signs whose e is. A process is never older than the
// child it belongs to, which spares us most of the look-ups.
func (o *owners) orphan(e entry) *Child {
	older := make([]*Child, 0, len(o.r.live))
	for _, c := range o.r.live {
		if c.start <= e.start {
			older = append(older, c)
		}
	}
	below := e.ppid == o.self && o.r.reaper // else a child we do not know is no orphan
	if len(older) == 0 && !below {
		return nil
	}
	for _, c := range older {
		if start, ok := c.seen[e.pid]; ok && start == e.start {
			return c
		}
		if e.pgrp == c.pid && !c.reaped.Load() { // later the id can be another group's
			return c
		}
	}
	mark := o.mark(e.pid)
	for _, c := range older {
		if mark == c.mark || c.scope.holds(e.pid) {
			return c
		}
	}
	switch {
	case !below, e.pgrp == o.group:
		return nil // not ours, or started by something that knows nothing of this package
	case len(older) == 1:
		return older[0]
	}
	return noChild
}

// reapOrphans lets go of ended processes that came to us. Never by wait for
// any child: that would steal the children of others.
func (r *registry) reapOrphans(t *table) {
	self, group := os.Getpid(), unix.Getpgrp()
	for pid, e := range t.byPid {
		if !e.dead || e.ppid != self || e.pgrp == group || r.knows(e) {
			continue
		}
		_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
	}
}

func (r *registry) knows(e entry) bool {
	if start, ok := r.inherited[e.pid]; ok && start == e.start {
		return true
	}
	for _, c := range r.live {
		if e.pid == c.pid && e.start == c.start {
			return true
		}
	}
	return false
}

// killAll signals what was found: whole groups first, because the kernel
// signals a group at one instant and a process that forks without end cannot
// slip through there; then each by itself.
func killAll(t *table, found []entry, sig unix.Signal) {
	mine := make(map[int]bool, len(found))
	groups := map[int]bool{unix.Getpgrp(): false}
	for _, e := range found {
		mine[e.pid] = true
		if _, ok := groups[e.pgrp]; !ok {
			groups[e.pgrp] = e.pgrp > 1
		}
	}
	for _, e := range t.byPid {
		if !e.dead && !mine[e.pid] {
			groups[e.pgrp] = false // a group that is not wholly ours
		}
	}
	for g, whole := range groups {
		if whole {
			_ = unix.Kill(-g, sig)
		}
	}
	for _, e := range found {
		signalExact(e, sig)
	}
}

// commandOf is the command line of e, or its name when it has none.
func commandOf(e entry) string {
	if argv := cmdline(e.pid); len(argv) > 0 {
		return strings.Join(argv, " ")
	}
	return e.comm
}
