package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

// The spool is where an action waits that could not be put into the queue in
// time: one line of JSON each. The next process that writes into the queue
// moves the file aside, adds what stands in it within its own transaction and
// removes it; an id that is there already says that it was added before.
const (
	spoolName  = "spool.jsonl"         // appended to under spoolLock
	spoolLock  = "spool.lock"          //
	foldName   = "spool.folding.jsonl" // moved aside, to be added by who holds the queue
	strayName  = "spool.stray.jsonl"   // lines that are no action, kept
	spoolGrace = 2 * time.Second       // for an append, which waits for other appends only
	moveGrace  = 200 * time.Millisecond
)

// AddOrSpool is Add for a caller that can neither wait nor lose the action:
// what the queue does not take is put into the spool, and comes back without a
// number.
func (s *Store) AddOrSpool(ctx context.Context, a Action) (Action, bool, error) {
	out, created, err := s.Add(ctx, a)
	if err == nil {
		return out, created, nil
	}
	// The time for the queue may be what has run out.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), spoolGrace)
	defer cancel()
	out, serr := s.spool(limited, a)
	if serr != nil {
		return Action{}, false, errors.Join(err, serr)
	}
	return out, true, nil
}

// spool appends the action to the spool and returns when it is on the disk.
func (s *Store) spool(ctx context.Context, a Action) (Action, error) {
	if s.o.ReadOnly {
		return Action{}, fmt.Errorf("queue %q: %w", s.path, ErrReadOnly)
	}
	a = fresh(a, s.now())
	if a.ID == "" {
		id, _, err := newID()
		if err != nil {
			return Action{}, err
		}
		a.ID = id
	}
	if a.ToolUseID == "" {
		a.ToolUseID = "spool-" + a.ID // else a fold that died would count it twice as a repeat
	}
	line, err := encodeAction(a)
	if err != nil {
		return Action{}, fmt.Errorf("spool action: %w", err)
	}
	unlock, err := lockFile(ctx, s.file(spoolLock))
	if err != nil {
		return Action{}, fmt.Errorf("spool action: %w", err)
	}
	defer unlock()
	if err := appendLine(s.file(spoolName), line); err != nil {
		return Action{}, fmt.Errorf("spool action: %w", err)
	}
	return a, nil
}

func (s *Store) file(name string) string { return filepath.Join(s.dir, name) }

// appendLine adds a whole line to a file. What a process that died left there
// without an end is a line of its own.
func appendLine(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	torn, fresh, err := endOf(f)
	if err == nil {
		var b []byte
		if torn {
			b = append(b, '\n')
		}
		_, err = f.Write(append(append(b, line...), '\n'))
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil && fresh {
		err = syncDir(filepath.Dir(path))
	}
	return errors.Join(err, f.Close())
}

// endOf says whether the last line has no end, and whether there is none yet.
func endOf(f *os.File) (torn, fresh bool, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false, err == nil, err
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return last[0] != '\n', false, err
}

// Spooled reports whether actions wait outside of the queue.
func (s *Store) Spooled() bool {
	for _, name := range []string{spoolName, foldName} {
		if _, err := os.Lstat(s.file(name)); err == nil {
			return true
		}
	}
	return false
}

// Fold puts what was spooled into the queue.
func (s *Store) Fold(ctx context.Context) error {
	return s.update(ctx, func(*bolt.Tx) error { return nil })
}

// folding is a spool on its way into the queue.
type folding struct {
	path, strayPath string
	actions         []Action
	lines           [][]byte // of actions
	stray           [][]byte
}

// takeSpool moves the spool aside and reads it. The caller holds the queue's
// lock, so there is one fold at a time; one that died is taken up again first,
// and what was spooled meanwhile stays for the next.
func (s *Store) takeSpool(ctx context.Context) (*folding, error) {
	if !s.Spooled() {
		return nil, nil
	}
	f := &folding{path: s.file(foldName), strayPath: s.file(strayName)}
	if _, err := os.Lstat(f.path); errors.Is(err, fs.ErrNotExist) {
		if err := s.moveSpool(ctx, f.path); err != nil {
			return nil, fmt.Errorf("take up the spool: %w", err)
		}
	}
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // somebody is appending just now: it waits for the next
	}
	if err != nil {
		return nil, fmt.Errorf("read the spool: %w", err)
	}
	f.read(data)
	return f, nil
}

func (s *Store) moveSpool(ctx context.Context, to string) error {
	limited, cancel := context.WithTimeout(ctx, moveGrace)
	defer cancel()
	unlock, err := lockFile(limited, s.file(spoolLock))
	if err != nil {
		if ctx.Err() == nil && limited.Err() != nil {
			return nil // a process that hangs there does not keep the queue from others
		}
		return err
	}
	defer unlock()
	return os.Rename(s.file(spoolName), to)
}

// read sorts the lines into actions and what is none: a line that a dying
// process left torn, or that somebody else wrote. One bad line never keeps the
// others out of the queue.
func (f *folding) read(data []byte) {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if len(line) == 0 {
			continue
		}
		a, err := decodeAction(string(line))
		if err == nil {
			_, err = idKey(a.ID)
		}
		if err == nil && len(a.Input) > 0 && !json.Valid(a.Input) {
			err = errors.New("input")
		}
		if err != nil {
			f.stray = append(f.stray, line)
			continue
		}
		f.actions, f.lines = append(f.actions, a), append(f.lines, line)
	}
}

func (f *folding) addTo(tx *bolt.Tx, now time.Time) error {
	if f == nil {
		return nil
	}
	for i := range f.actions {
		a, created, err := addAction(tx, f.actions[i], now)
		if err == nil && created {
			err = carryOver(tx, a, f.lines[i])
		}
		if err != nil {
			return fmt.Errorf("fold the spool: %w", err)
		}
	}
	return nil
}

// done removes what is in the queue now, and keeps the lines that are not. What
// cannot be removed is taken up again by the next, which changes nothing.
func (f *folding) done() {
	if f == nil {
		return
	}
	if len(f.stray) > 0 && appendLine(f.strayPath, bytes.Join(f.stray, []byte("\n"))) != nil {
		return
	}
	_ = os.Remove(f.path)
}
