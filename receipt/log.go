package receipt

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/tlog"
)

// firstPrev stands where there is no record before.
var firstPrev = strings.Repeat("0", 64)

// Log is an audit log: each record holds the hash of the one before, and the
// records are the leaves of an RFC 6962 tree whose root stands for them all.
// It holds hashes only; the records are the caller's to keep. Its methods may
// be called from several goroutines. It needs no key: who resumes it later may
// append, and a root that was signed before still stands for what was there.
type Log struct {
	mu     sync.Mutex
	size   int64
	prev   string
	hashes []tlog.Hash // of the tree's nodes, in tlog's order
}

// NewLog begins an empty log.
func NewLog() *Log { return &Log{prev: firstPrev} }

// Resume takes up a log that has records. It is VerifyChain, and then room for
// more.
func Resume(records [][]byte) (*Log, error) {
	if err := VerifyChain(records); err != nil {
		return nil, err
	}
	l := NewLog()
	for _, record := range records {
		if err := l.add(record); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Append writes the next record. V, Seq and Prev are set here. What keep gets
// is to be stored as it is; when keep fails the log is as it was. A nil keep
// keeps nothing.
func (l *Log) Append(r Record, keep func(record []byte) error) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.V, r.Seq, r.Prev = recordVersion, uint64(l.size), l.prev
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("append an audit record: %w", err)
	}
	record := r.Encode()
	if keep != nil {
		if err := keep(record); err != nil {
			return nil, fmt.Errorf("append an audit record: %w", err)
		}
	}
	return record, l.add(record)
}

func (l *Log) add(record []byte) error {
	hashes, err := tlog.StoredHashes(l.size, record, tlog.HashReaderFunc(l.read))
	if err != nil {
		return fmt.Errorf("append an audit record: %w", err)
	}
	l.hashes = append(l.hashes, hashes...)
	l.size++
	l.prev = SumHex(record)
	return nil
}

func (l *Log) read(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		if at < 0 || at >= int64(len(l.hashes)) {
			return nil, errors.New("a hash beyond the end of the log")
		}
		hashes[i] = l.hashes[at]
	}
	return hashes, nil
}

// Tree is a state of a log: so many records, that root.
type Tree struct {
	Size int64 `json:"size"`
	Root Hash  `json:"root"`
}

// Tree gives the state as it is now.
func (l *Log) Tree() (Tree, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at(l.size)
}

// TreeAt gives the state when the log had so many records. It tells whether a
// root that was noted then still stands.
func (l *Log) TreeAt(size int64) (Tree, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at(size)
}

func (l *Log) at(size int64) (Tree, error) {
	if size < 0 || size > l.size {
		return Tree{}, fmt.Errorf("root of %d records: the log has %d", size, l.size)
	}
	root, err := tlog.TreeHash(size, tlog.HashReaderFunc(l.read))
	if err != nil {
		return Tree{}, fmt.Errorf("root of %d records: %w", size, err)
	}
	return Tree{Size: size, Root: Hash(root)}, nil
}
