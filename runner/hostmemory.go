package runner

import (
	"fmt"
	"time"
)

// memoryPause is how often the memory of an attempt's processes is looked at.
const memoryPause = 5 * time.Second

// sized is a child that knows how much memory its tree has.
type sized interface{ Memory() uint64 }

// memory ends an attempt whose processes have more memory than they may: the
// machine would end something itself soon, and it might be loop.
func (w *watch) memory() {
	most := w.o.Host.Memory
	c, ok := w.child.(sized)
	now := w.o.Now()
	if most == 0 || !ok || w.stopped || now.Sub(w.weighed) < memoryPause {
		return
	}
	w.weighed = now
	if has := c.Memory(); has > most {
		w.stop(stopMemory, fmt.Sprintf("its processes had %s of memory together, and may have %s (host.memory)", Bytes(has), Bytes(most)))
	}
}
