package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

// DefaultTimeout is how long an operation waits for other processes.
const DefaultTimeout = 5 * time.Second

const fileName = "queue.db"

// Options says how a Store works. The zero value is right for most uses but
// has no Now.
type Options struct {
	Timeout  time.Duration    // how long one operation waits for other processes; 0 = DefaultTimeout
	Now      func() time.Time // clock of what the store dates itself
	ReadOnly bool             // makes nothing, changes nothing
	Self     Owner            // this process, recorded while it replays; zero = the pid alone
	Alive    func(Owner) bool // whether such a process still runs; nil = by pid alone
	Audit    *Recorder        // of what people do with actions; nil = no record is made
}

// Store is the queue of one repository. It is safe for use by many goroutines
// and processes at once.
type Store struct {
	dir, path string
	o         Options
}

// Open prepares the queue in the state folder dir, which is made with mode
// 0700 when it is missing. The file itself is made by the first write.
func Open(dir string, o Options) (*Store, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Now == nil {
		return nil, errors.New("open queue: no clock given")
	}
	if o.Self.Pid == 0 {
		o.Self.Pid = os.Getpid()
	}
	if o.Alive == nil {
		o.Alive = pidAlive
	}
	s := &Store{dir: dir, path: filepath.Join(dir, fileName), o: o}
	if o.ReadOnly {
		return s, nil
	}
	if err := privateDir(dir); err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	return s, nil
}

// Path is the file of the queue, whether or not it exists yet.
func (s *Store) Path() string { return s.path }

// now is the time in the form in which it is stored.
func (s *Store) now() time.Time { return s.o.Now().UTC().Round(0) }

// privateDir makes dir, and takes the rights of others away from it.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return os.Chmod(dir, 0o700)
}

// update runs fn in one writing transaction. Nothing of it is kept when fn
// returns an error.
func (s *Store) update(ctx context.Context, fn func(*bolt.Tx) error) error {
	if s.o.ReadOnly {
		return fmt.Errorf("queue %q: %w", s.path, ErrReadOnly)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.withRoom(s.create); err != nil {
		return err
	}
	spooled, err := s.takeSpool(ctx)
	if err != nil {
		return err
	}
	change := func(tx *bolt.Tx) error {
		if err := migrate(tx, s.path); err != nil {
			return err
		}
		if err := spooled.addTo(tx, s.now()); err != nil {
			return err
		}
		return fn(tx)
	}
	err = s.withRoom(func() error {
		return s.withDB(false, func(db *bolt.DB) error { return db.Update(change) })
	})
	if err != nil {
		return err
	}
	spooled.done()
	return nil
}

// view runs fn in one reading transaction, or not at all when nothing was ever
// stored. fn copies what it needs as raw bytes and decodes after view has
// returned, so that a large report does not keep writers waiting.
func (s *Store) view(ctx context.Context, fn func(*bolt.Tx) error) error {
	if !s.o.ReadOnly && s.Spooled() {
		if err := s.Fold(ctx); err != nil {
			return err
		}
	}
	err := s.viewOnce(ctx, fn)
	var old *SchemaError
	if errors.As(err, &old) && old.Have < old.Want && !s.o.ReadOnly {
		if err := s.update(ctx, func(*bolt.Tx) error { return nil }); err != nil {
			return err
		}
		return s.viewOnce(ctx, fn)
	}
	return err
}

func (s *Store) viewOnce(ctx context.Context, fn func(*bolt.Tx) error) error {
	if empty, err := s.empty(); empty || err != nil {
		return err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if empty, err := s.empty(); empty || err != nil {
		return err
	}
	return s.withDB(true, func(db *bolt.DB) error {
		return db.View(func(tx *bolt.Tx) error {
			have, err := schemaOf(tx, s.path)
			switch {
			case err != nil:
				return err
			case tx.Bucket([]byte(bucketMeta)) == nil:
				return nil
			case have != Schema:
				return &SchemaError{Path: s.path, Have: have, Want: Schema}
			}
			return fn(tx)
		})
	})
}

// lock takes the side lock that every opener takes.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	unlock, err = lockFile(ctx, s.path+".lock", s.o.Timeout)
	switch {
	case err == nil:
		return unlock, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		err = ErrBusy
	}
	return nil, fmt.Errorf("open queue %q: %w", s.path, err)
}
