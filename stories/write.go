package stories

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/seed-b23e517c/loop/internal/regular"
)

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

// apply makes all edits in one pass; they must not overlap.
func apply(data []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	out := make([]byte, 0, len(data)+64)
	at := 0
	for _, e := range edits {
		out = append(out, data[at:e.start]...)
		out = append(out, e.text...)
		at = e.end
	}
	return append(out, data[at:]...)
}

// replaceFile puts new bytes in the place of a file at once, so that a reader
// sees the old or the new text and a crash leaves one of them. With old given
// it first makes sure that nobody has written in the meantime.
func replaceFile(path string, old, data []byte) error {
	err := replaceAt(path, old, data)
	if errors.Is(err, errRaced) {
		return err
	}
	return quoted(err)
}

func replaceAt(path string, old, data []byte) (err error) {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	dir := filepath.Dir(path)
	tmp, err := createTemp(filepath.Join(dir, "."+filepath.Base(path)+".loop-tmp"))
	if err != nil {
		return err
	}
	renamed := false
	defer func() {
		if err != nil && !renamed {
			err = errors.Join(err, ignoreClosed(tmp.Close()), os.Remove(tmp.Name()))
		}
	}()
	if _, err = tmp.Write(data); err != nil {
		return err
	}
	if err = tmp.Chmod(mode); err != nil && runtime.GOOS != "windows" {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	if old != nil {
		now, err := regular.Read(path, maxSize)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, old) {
			return fmt.Errorf("%q: %w", path, errRaced)
		}
	}
	if err = os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	renamed = true
	return syncDir(dir)
}

// createTemp makes the new file under a fixed name, so that what a killed run
// left behind goes away with the next write. It never opens what stands there.
func createTemp(name string) (*os.File, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// errRaced means that somebody else wrote the file between our read and our
// write; the caller reads again.
var errRaced = errors.New("written by somebody else at the same moment")

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// syncDir makes a rename durable. Windows cannot sync a directory and need not.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
