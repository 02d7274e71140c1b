package proc

import (
	"bytes"
	"os"
	"strconv"
)

// Memory is the memory that the child and what was seen below it hold now, in
// bytes. What processes share is counted for each; one that was born within the
// last seconds may not be seen yet.
func (c *Child) Memory() uint64 {
	children.mu.Lock()
	defer children.mu.Unlock()
	sum := resident(c.pid)
	for pid, start := range c.seen {
		if e, ok := readEntry(pid); ok && e.start == start && pid != c.pid {
			sum += resident(pid)
		}
	}
	return sum
}

// resident is the second field of /proc/PID/statm: pages in memory.
func resident(pid int) uint64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b)
	if len(fields) < 2 {
		return 0
	}
	return uint64(number(fields[1])) * uint64(os.Getpagesize())
}
