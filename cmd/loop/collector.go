package main

import (
	"runtime"
	"runtime/debug"
)

// freeMemory is what a command that reads, prints and ends may hold before
// memory is collected.
const freeMemory = 64 << 20

// readQueue keeps the collector out of the way while a command reads the queue:
// nothing of that can be freed before it is printed, and a person waits. From
// the end of the reading it collects when the memory has doubled.
func readQueue(read func() error) error {
	debug.SetGCPercent(-1)
	defer func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		debug.SetMemoryLimit(max(freeMemory, 2*int64(m.Sys)))
	}()
	return read()
}
