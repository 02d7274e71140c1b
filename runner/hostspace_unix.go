//go:build linux || darwin

package runner

import "golang.org/x/sys/unix"

// FreeSpace is how many bytes this user may still write below dir.
func FreeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Bsize), nil
}
