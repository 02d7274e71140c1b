package receipt

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// ErrProof is what a proof that does not lead to the root gets.
var ErrProof = errors.New("the proof does not lead to the root")

// Proof shows that a record stands at its place in a log of a size: the hashes
// that, with the record's own, make the root.
type Proof struct {
	Index int64  `json:"index"`
	Size  int64  `json:"size"`
	Path  []Hash `json:"path"`
}

// Prove gives the proof of one record in the log as it is now.
func (l *Log) Prove(index int64) (Proof, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if index < 0 || index >= l.size {
		return Proof{}, fmt.Errorf("prove record %d: the log has %d", index, l.size)
	}
	path, err := tlog.ProveRecord(l.size, index, tlog.HashReaderFunc(l.read))
	if err != nil {
		return Proof{}, fmt.Errorf("prove record %d: %w", index, err)
	}
	p := Proof{Index: index, Size: l.size, Path: []Hash{}}
	for _, h := range path {
		p.Path = append(p.Path, Hash(h))
	}
	return p, nil
}

// CheckProof reports, with nil, that the record stands in the log whose root
// this is. The root must come from where the log's keeper cannot reach: a
// checkpoint that was verified, a report, a note in git.
func CheckProof(p Proof, root Hash, record []byte) error {
	if p.Index < 0 || p.Index >= p.Size {
		return fmt.Errorf("check a proof: record %d of %d", p.Index, p.Size)
	}
	path := make(tlog.RecordProof, len(p.Path))
	for i, h := range p.Path {
		path[i] = tlog.Hash(h)
	}
	if err := tlog.CheckRecord(path, p.Size, tlog.Hash(root), p.Index, tlog.RecordHash(record)); err != nil {
		return fmt.Errorf("check the proof of record %d of %d: %w", p.Index, p.Size, ErrProof)
	}
	return nil
}
