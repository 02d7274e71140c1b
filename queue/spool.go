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

	"github.com/seed-b23e517c/loop/policy"
)

// The spool is where an action waits that could not be put into the queue in
// time: one line of JSON each. The next process that opens the queue moves the
// file aside, adds what stands in it within its own transaction and removes it;
// an id that is there already says that it was added before.
const (
	spoolName  = "spool.jsonl"         // appended to under spoolLock
	spoolLock  = "spool.lock"          //
	foldName   = "spool.folding.jsonl" // moved aside, to be added by who holds the queue
	strayName  = "spool.stray.jsonl"   // lines that are no action, kept
	spoolGrace = 2 * time.Second       // for an append, which waits for other appends only
	spoolSize  = 4 << 20               // from this size on who has spooled puts all of it into the queue
	moveGrace  = 200 * time.Millisecond
)

// Spool is Add for a caller that can neither wait nor lose the action: it puts it
// into the spool, which takes a fraction of the time. The same call again comes
// back with the number of the first; what else the call is to others is found when
// the spool is taken up, and its number leads to it then. Without a number to tell,
// the queue is asked, and in its place the spool; what comes back without a number
// has none yet.
func (s *Store) Spool(ctx context.Context, a Action) (Action, error) {
	if s.o.ReadOnly {
		return Action{}, fmt.Errorf("queue %q: %w", s.path, ErrReadOnly)
	}
	if out, err := s.spoolNumbered(ctx, a); err == nil {
		s.foldLarge(ctx)
		return out, nil
	}
	out, _, err := s.Add(ctx, a)
	if err == nil {
		return out, nil
	}
	out, serr := s.spool(ctx, a, 0)
	if serr != nil {
		return Action{}, errors.Join(err, serr)
	}
	return out, nil
}

// spoolNumbered is spool with the number that was told of the same call, or a
// new one.
func (s *Store) spoolNumbered(ctx context.Context, a Action) (Action, error) {
	if a.Evidence != policy.Blocked {
		return s.spoolNew(ctx, a)
	}
	key := inputKey(a)
	if n := s.told(key); n > 0 {
		return s.spool(ctx, a, n)
	}
	a, err := s.spoolNew(ctx, a)
	if err == nil {
		s.tell(key, a.Number)
	}
	return a, err
}

func (s *Store) spoolNew(ctx context.Context, a Action) (Action, error) {
	n, err := s.spoolNumber()
	if err != nil {
		return Action{}, err
	}
	return s.spool(ctx, a, n)
}

// spool appends the action to the spool and returns when it is on the disk.
func (s *Store) spool(ctx context.Context, a Action, number uint64) (Action, error) {
	a = fresh(a, s.now())
	a.Number = number
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
	if err == nil {
		err = s.appendSpool(ctx, line)
	}
	if err != nil {
		return Action{}, fmt.Errorf("spool action: %w", err)
	}
	return a, nil
}

// appendSpool holds the lock for the write and not until it is on the disk: a
// fold that takes it up meanwhile brings it there itself.
func (s *Store) appendSpool(ctx context.Context, line []byte) error {
	// The time for the queue may be what has run out.
	unlock, err := lockFile(context.WithoutCancel(ctx), s.file(spoolLock), spoolGrace)
	if err != nil {
		return err
	}
	f, fresh, err := writeLine(s.file(spoolName), line)
	unlock()
	return flush(f, fresh, err)
}

func (s *Store) file(name string) string { return filepath.Join(s.dir, name) }

// appendLine adds a line to a file, on the disk.
func appendLine(path string, line []byte) error { return flush(writeLine(path, line)) }

// writeLine adds a whole line to a file. What a process that died left there
// without an end is a line of its own. fresh says that the file had none.
func writeLine(path string, line []byte) (f *os.File, fresh bool, err error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("%q is no regular file", path) // what is written there may be lost
	}
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, false, err
	}
	torn, fresh, err := endOf(f)
	if err == nil {
		var b []byte
		if torn {
			b = append(b, '\n')
		}
		_, err = f.Write(append(append(b, line...), '\n'))
	}
	return f, fresh, err
}

// flush closes a file when what was written to it is on the disk.
func flush(f *os.File, fresh bool, err error) error {
	if f == nil {
		return err
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil && fresh {
		err = syncDir(filepath.Dir(f.Name()))
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

// foldLarge keeps a spool that nobody takes up from growing for ever. Of those
// who find it so one does that, and the others do not wait: all of it is on the
// disk already, so what fails here is for the next.
func (s *Store) foldLarge(ctx context.Context) {
	if info, err := os.Stat(s.file(spoolName)); err != nil || info.Size() < spoolSize {
		return
	}
	hasty := *s
	hasty.o.Timeout = 1
	_ = hasty.Fold(ctx)
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
	if info, err := os.Lstat(f.path); err == nil && !info.Mode().IsRegular() {
		// Somebody else has put it there: a pipe would be waited for for ever.
		return nil, os.Rename(f.path, fmt.Sprintf("%s.%d", f.strayPath, s.now().UnixNano()))
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
	unlock, err := lockFile(ctx, s.file(spoolLock), moveGrace)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil // a process that hangs there does not keep the queue from others
	} else if err != nil {
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
	for i, spooled := range f.actions {
		a := fresh(spooled, now)
		a.Number = spooled.Number
		a, created, err := addFresh(tx, a)
		if err == nil && created {
			err = carryOver(tx, a, f.lines[i])
		} else if err == nil {
			err = nameAlso(tx, spooled.Number, a)
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
