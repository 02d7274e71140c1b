package runner

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-b23e517c/loop/internal/proc"
)

// Places are the folders that a night fills: loop's state, the work tree, and
// the client's own files, whose logs can outgrow both.
func Places(o *Options) []string {
	client := proc.Getenv(o.Env, "CLAUDE_CONFIG_DIR")
	if h := proc.Home(o.Env); client == "" && h != "" {
		client = filepath.Join(h, ".claude")
	}
	out := []string{o.State, o.Root}
	if client != "" {
		out = append(out, client)
	}
	return slices.Compact(out)
}

// Room is a folder and how much can be written there.
type Room struct {
	Dir  string // that exists: the place or the nearest folder above it
	Free uint64
}

// Tightest is the place with the least free space; ok is false when that is not
// known of any.
func Tightest(o *Options) (least Room, ok bool) {
	free := o.Host.Free
	if free == nil {
		free = FreeSpace
	}
	for _, dir := range Places(o) {
		at, n, err := freeNear(dir, free)
		if err == nil && (!ok || n < least.Free) {
			least, ok = Room{Dir: at, Free: n}, true
		}
	}
	return least, ok
}

// freeNear asks about a folder that may not exist yet.
func freeNear(dir string, free func(string) (uint64, error)) (at string, n uint64, err error) {
	for {
		n, err = free(dir)
		if up := filepath.Dir(dir); err != nil && up != dir {
			dir = up
			continue
		}
		return dir, n, err
	}
}

// diskFull begins the reason of what a full disk has ended.
const diskFull = "the disk is full"

// isFull reports whether something failed for want of space, in loop itself or
// in a git of its own.
func isFull(err error) bool {
	var g *GitError
	return errors.Is(err, syscall.ENOSPC) ||
		errors.As(err, &g) && (strings.Contains(g.Says, "No space left on device") || strings.Contains(g.Says, "Out of diskspace"))
}

// withRoom does something again when the disk was full and there was a reserve
// to free: what an attempt did is to be kept, and its end recorded.
func (o *Options) withRoom(do func() error) error {
	err := do()
	if isFull(err) && o.Store.FreeReserve() {
		err = do()
	}
	return err
}

// noRoom says why no further story is begun for want of space, "" when there is
// enough, or nobody can say.
func (r *run) noRoom() string {
	if _, err := r.o.Store.Reserve(); errors.Is(err, syscall.ENOSPC) {
		return diskFull + ": " + err.Error()
	}
	if r.o.Host.Space == 0 {
		return ""
	}
	least, ok := Tightest(r.o)
	if !ok || least.Free >= r.o.Host.Space {
		return ""
	}
	return fmt.Sprintf("only %s are free in %q, and a story wants %s (host.space)", Bytes(least.Free), least.Dir, Bytes(r.o.Host.Space))
}

// Bytes is a size as people write it.
func Bytes(n uint64) string {
	for _, u := range []struct {
		name string
		size uint64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(u.size)), ".0") + " " + u.name
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
