package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

// The last number that was given to an action stands in a file of its own, 8
// bytes big endian, so that an action can have its number before it is in the
// queue: who spools it can say it. The file is locked while one is taken. A
// number that was taken by a process that then died is not given again.
const (
	numberName  = "numbers"
	numberGrace = 200 * time.Millisecond // a number is taken in less, but by a process that was stopped meanwhile
)

// maxNumber is more than any queue reaches: a file that says more is damaged.
const maxNumber = 1 << 40

// errNoNumbers: the file does not say which numbers are taken.
var errNoNumbers = errors.New("no numbers")

// nextNumber takes the number of an action that is put into the queue.
func nextNumber(tx *bolt.Tx) (uint64, error) {
	b := tx.Bucket([]byte(bucketActions))
	n, err := takeNumber(filepath.Join(filepath.Dir(tx.DB().Path()), numberName), os.O_CREATE, b.Sequence())
	if errors.Is(err, context.DeadlineExceeded) {
		n, err = b.Sequence()+1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("number an action: %w", err)
	}
	return n, b.SetSequence(n)
}

// keepNumber takes for an action that was spooled the number that it was given
// there. Where another has it, because the file was lost, it gets a new one.
func keepNumber(tx *bolt.Tx, n uint64) (uint64, error) {
	if n == 0 || n > maxNumber || actionAt(tx, n) != nil {
		return nextNumber(tx)
	}
	if b := tx.Bucket([]byte(bucketActions)); b.Sequence() < n {
		return n, b.SetSequence(n)
	}
	return n, nil
}

// actionAt is the id of the action with a number, nil when there is none.
func actionAt(tx *bolt.Tx, n uint64) []byte {
	if id := tx.Bucket([]byte(bucketNumbers)).Get(numberKey(n)); id != nil {
		return id
	}
	also := tx.Bucket([]byte(bucketAlso))
	if also == nil {
		return nil
	}
	return also.Get(numberKey(n))
}

// nameAlso lets a number that was given to a call lead to the action that the
// call turned out to be.
func nameAlso(tx *bolt.Tx, n uint64, a Action) error {
	key, err := idKey(a.ID)
	if err != nil || n == 0 || n > maxNumber || n == a.Number || actionAt(tx, n) != nil {
		return err
	}
	also, err := tx.CreateBucketIfNotExists([]byte(bucketAlso))
	if err != nil {
		return err
	}
	if b := tx.Bucket([]byte(bucketActions)); b.Sequence() < n {
		if err := b.SetSequence(n); err != nil {
			return err
		}
	}
	return also.Put(numberKey(n), key)
}

// spoolNumber takes the number of an action that is spooled. It is an error where
// only the queue knows which are taken.
func (s *Store) spoolNumber() (uint64, error) {
	flag := 0
	if empty, err := s.empty(); empty && err == nil {
		flag = os.O_CREATE
	}
	return takeNumber(s.file(numberName), flag, 0)
}

// takeNumber takes the number after the last one in the file at path and after
// least.
func takeNumber(path string, flag int, least uint64) (uint64, error) {
	f, err := openLocked(context.Background(), path, flag, numberGrace)
	if err != nil {
		return 0, err
	}
	defer release(f)
	var b [9]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	last := least
	said := binary.BigEndian.Uint64(b[:8])
	if n == 8 && said <= maxNumber {
		last = max(last, said)
	} else if flag&os.O_CREATE == 0 {
		return 0, errNoNumbers
	} else if err := f.Truncate(0); err != nil {
		return 0, err
	}
	_, err = f.WriteAt(numberKey(last+1), 0)
	return last + 1, err
}
