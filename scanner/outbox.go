package scanner

import (
	"hash/maphash"
	"strings"

	"github.com/seed-b23e517c/loop/policy"
)

const (
	maxWaitingBytes = 16 << 20 // hits held back for their order or for a result
	maxWaiting      = 16 << 10
	maxRepeats      = 1000 // how often the same words are reported
	maxRemembered   = 32 << 10
)

// entry is one hit on its way out.
type entry struct {
	hit     Hit
	shared  bool // goes to Options.Shared
	waiting bool // for the result of its call
	dropped bool
	size    int
}

// outbox gives hits to the caller in the order in which they were put in. A
// hit that waits holds back those behind it, in bounded memory.
type outbox struct {
	yield  func(Hit) error
	shared func(Hit) error
	stats  *Stats
	err    error // what yield returned

	queue   []*entry
	bytes   int
	repeats repeats
}

// put takes a hit. It is given out when done is called, or at once when it
// does not wait.
func (o *outbox) put(hit Hit, shared, waiting bool) *entry {
	e := &entry{hit: hit, shared: shared, waiting: waiting}
	e.size = 512 + len(hit.Input) + len(hit.Command) + len(hit.Excerpt)
	if len(o.queue) == 0 && !waiting {
		o.give(e)
		return e
	}
	o.queue = append(o.queue, e)
	o.bytes += e.size
	o.advance()
	if len(o.queue) > 1 && (o.bytes > maxWaitingBytes || len(o.queue) > maxWaiting) {
		o.relieve()
	}
	return e
}

// done says that the entry waits no longer.
func (o *outbox) done(e *entry) {
	e.waiting = false
	o.advance()
}

// drop forgets the entry.
func (o *outbox) drop(e *entry) {
	e.dropped = true
	o.done(e)
}

func (o *outbox) advance() {
	n := 0
	for n < len(o.queue) && !o.queue[n].waiting {
		o.give(o.queue[n])
		o.bytes -= o.queue[n].size
		o.queue[n] = nil
		n++
	}
	o.queue = o.queue[n:]
	if len(o.queue) == 0 {
		o.queue = nil
	}
}

// relieve makes room: by giving out what is ready, out of order, and then the
// oldest hits, whose outcome stays unknown. It makes much room at once, so
// that it is not needed again soon.
func (o *outbox) relieve() {
	kept := o.queue[:0]
	for _, e := range o.queue {
		if e.waiting {
			kept = append(kept, e)
			continue
		}
		o.give(e)
		o.bytes -= e.size
	}
	clear(o.queue[len(kept):])
	o.queue = kept
	for len(o.queue) > 1 && (o.bytes > maxWaitingBytes/2 || len(o.queue) > maxWaiting/2) {
		o.done(o.queue[0])
	}
}

// finish gives out everything.
func (o *outbox) finish() {
	for _, e := range o.queue {
		e.waiting = false
	}
	o.advance()
}

func (o *outbox) give(e *entry) {
	if e.dropped || o.err != nil {
		return
	}
	if e.shared {
		o.stats.Shared++
		if o.shared != nil {
			o.err = o.shared(e.hit)
		}
		return
	}
	if e.hit.Evidence == policy.Mentioned && o.repeats.tooMany(e.hit) {
		o.stats.Folded++
		return
	}
	o.stats.Hits++
	o.err = o.yield(e.hit)
}

// repeats counts how often the same words were reported. It forgets the
// oldest when there are too many to remember, and then reports them again.
type repeats struct {
	seed     maphash.Seed
	now, old map[uint64]int
}

func (r *repeats) tooMany(h Hit) bool {
	if r.now == nil {
		r.seed, r.now = maphash.MakeSeed(), map[uint64]int{}
	}
	key := maphash.String(r.seed, strings.Join(h.Rules, "\x00")+"\x00"+h.Excerpt)
	n, ok := r.now[key]
	if !ok {
		n = r.old[key]
		if len(r.now) >= maxRemembered {
			r.old, r.now = r.now, map[uint64]int{}
		}
	}
	r.now[key] = n + 1
	return n >= maxRepeats
}
