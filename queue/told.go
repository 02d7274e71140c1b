package queue

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/seed-b23e517c/loop/policy"
)

// What was told of calls that were held back stands beside the queue, so that
// the same call again is told the same number although no queue is opened: for
// each its inputKey and its number, 8 bytes big endian. It is a memory and no
// record: without it a repeat is told a number of its own, which leads to the
// first (nameAlso).
const (
	toldName = "told"
	toldSize = sha256.Size + 8
	toldMax  = 256 << 10 // then it begins anew
)

// told is the number that was told of a call; 0 = none.
func (s *Store) told(key []byte) uint64 {
	all, err := os.ReadFile(s.file(toldName))
	if err != nil {
		return 0
	}
	for ; len(all) >= toldSize; all = all[toldSize:] {
		if bytes.Equal(all[:sha256.Size], key) {
			return binary.BigEndian.Uint64(all[sha256.Size:])
		}
	}
	return 0
}

// tell notes the number that is told of a call. What a process that died left
// of an entry is no beginning of the next.
func (s *Store) tell(key []byte, n uint64) {
	flag := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(s.file(toldName)); err == nil && (info.Size() > toldMax || info.Size()%toldSize != 0) {
		flag |= os.O_TRUNC
	}
	f, err := os.OpenFile(s.file(toldName), flag, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(bytes.Clone(key), numberKey(n)...))
	_ = f.Close()
}

// forgetTold is for an action that does not, or no longer, wait as a call that
// was held back: the same call again would be another.
func forgetTold(tx *bolt.Tx, a Action) {
	if a.Status != Pending || a.Evidence != policy.Blocked {
		_ = os.Remove(filepath.Join(filepath.Dir(tx.DB().Path()), toldName))
	}
}
