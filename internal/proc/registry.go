//go:build linux || darwin

package proc

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// children is the register of this process's children. It is a variable of
// the package because what it mirrors, the process table's idea of who our
// children are, is one for the whole process too.
var children registry

// registry knows every living child. Its lock is held while a child is
// started and while a pass over the process table looks and kills, so that no
// pass sees a child that is not yet in the register.
type registry struct {
	mu        sync.Mutex
	live      []*Child
	reaper    bool           // orphans come to us
	inherited map[int]uint64 // children that our pid had before Subreaper: not ours to end
	forker    forker
}

// start forks c and enters it.
func (r *registry) start(c *Child, path string, argv []string, attr *os.ProcAttr) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var p *os.Process
	var err error
	r.forker.do(func() { p, err = os.StartProcess(path, argv, attr) })
	if err != nil {
		return err
	}
	c.process, c.pid = p, p.Pid
	if e, ok := readEntry(p.Pid); ok { // not reaped yet, so it is there even if it has exited
		c.start = e.start
	}
	r.live = append(r.live, c)
	return nil
}

// remove takes c out when its tree is gone.
func (r *registry) remove(c *Child) {
	for i, x := range r.live {
		if x == c {
			r.live = append(r.live[:i], r.live[i+1:]...)
			return
		}
	}
}

// observe notes what hangs below c now, and reaps orphans that have ended.
func (r *registry) observe(c *Child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := readTable()
	_, _ = r.family(t, c)
	for pid, start := range c.seen {
		if e, ok := t.byPid[pid]; !ok || e.start != start {
			delete(c.seen, pid)
		}
	}
	r.reapOrphans(t)
}

// leftovers finds what outlives the leader of c, which has exited and is not
// yet reaped. What ends by itself within the settle time is none.
func (r *registry) leftovers(c *Child) []Leftover {
	find := func() []entry {
		r.mu.Lock()
		defer r.mu.Unlock()
		found, _ := r.family(readTable(), c)
		return found
	}
	found := find()
	if len(found) > 0 && !c.ending.Load() {
		pause(settleTime)
		found = find()
	}
	return describe(found)
}

// end kills what is left of c's tree and takes c out of the register.
func (r *registry) end(c *Child, left []Leftover) []Leftover {
	seen := 0
	if len(left) == 0 {
		seen = 1 // leftovers has just looked and found nothing
	}
	left = r.purge(left, c, seen)
	r.forget(c)
	return left
}

// forget takes c out of the register.
func (r *registry) forget(c *Child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(c)
}

// purge kills the family of c, pass after pass, until none is found twice in
// a row: one pass over a changing table can miss a process that was born
// behind its back. A doubtful one is looked at again some times: it will have
// a mark soon, or be dead, or else it is another's. empty is how many passes
// have found none already.
func (r *registry) purge(left []Leftover, c *Child, empty int) []Leftover {
	const doubtful = 8
	giveUp := time.NewTimer(stuckAfter)
	defer giveUp.Stop()
	wait := time.Millisecond
	for doubts := 0; empty < 2; {
		found, unsure := r.pass(c)
		switch {
		case len(found) > 0:
			empty = 0
			left = merge(left, found)
		case unsure && doubts < doubtful:
			doubts++
		default:
			empty++
			continue
		}
		select {
		case <-giveUp.C:
			return markStuck(left, found)
		default:
		}
		pause(wait)
		wait = min(2*wait, 20*time.Millisecond)
	}
	return left
}

// pass looks once, kills, and reaps.
func (r *registry) pass(c *Child) (found []entry, unsure bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := readTable()
	found, unsure = r.family(t, c)
	killAll(t, found, unix.SIGKILL)
	r.reapOrphans(t)
	return found, unsure && c != noChild
}

// Sweep ends every process below this one that is not in the tree of a living
// child: what a child that is gone left behind under another's eyes. Call it
// once before the program ends, when nothing else runs.
func Sweep() []Leftover { return children.purge(nil, noChild, 0) }

func pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	<-t.C
}

func describe(found []entry) []Leftover { return merge(nil, found) }

// merge adds found to left, each process once.
func merge(left []Leftover, found []entry) []Leftover {
next:
	for _, e := range found {
		for _, l := range left {
			if l.Pid == e.pid {
				continue next
			}
		}
		left = append(left, Leftover{Pid: e.pid, Command: commandOf(e)})
	}
	return left
}

func markStuck(left []Leftover, found []entry) []Leftover {
	for i := range left {
		for _, e := range found {
			if left[i].Pid == e.pid {
				left[i].Stuck = true
			}
		}
	}
	return left
}
