package runner

import (
	"os"
	"syscall"
	"time"
)

// changeTime is when a file was written last, or its time was set: whoever
// writes it cannot choose that.
func changeTime(info os.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return info.ModTime()
}
