//go:build unix

package workspace

import (
	"os"
	"slices"
	"syscall"
)

// ours reports whether files belong to this user. git refuses a repository of
// somebody else, unless it is told otherwise.
func ours(names ...string) bool {
	for _, name := range slices.Compact(names) {
		if st, ok := stat(name, os.Lstat); !ok || int(st.Uid) != os.Geteuid() {
			return false
		}
	}
	return true
}

// sameDevice reports whether two folders are in one file system: git does not
// look for a repository beyond it.
func sameDevice(a, b string) bool {
	if a == b {
		return true
	}
	sa, oka := stat(a, os.Stat)
	sb, okb := stat(b, os.Stat)
	return oka && okb && sa.Dev == sb.Dev
}

func stat(name string, how func(string) (os.FileInfo, error)) (*syscall.Stat_t, bool) {
	info, err := how(name)
	if err != nil {
		return nil, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return st, ok
}
