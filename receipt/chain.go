package receipt

import (
	"errors"
	"fmt"
	"slices"
)

// ChainError names the first record of a log that is not as it was written.
type ChainError struct {
	Index int // of the record, from 0
	Err   error
}

func (e *ChainError) Error() string {
	return fmt.Sprintf("audit log broken at record %d: %v", e.Index, e.Err)
}

func (e *ChainError) Unwrap() error { return e.Err }

var (
	errOrder = errors.New("its number is not its place: records are missing, doubled or out of order")
	errPrev  = errors.New("the record before it is not the one it was written after")
)

// VerifyChain reads a log from its first record and reports, as a *ChainError,
// the first that was changed, removed, added or moved. What was cut off the
// end it cannot see, nor that all of it was made anew: that takes a root from
// outside (Resume, TreeAt).
func VerifyChain(records [][]byte) error {
	prev := firstPrev
	for i, record := range records {
		r, err := ParseRecord(record)
		switch {
		case err != nil:
			return &ChainError{i, err}
		case r.Seq != uint64(i):
			return &ChainError{i, errOrder}
		case r.Prev != prev:
			return &ChainError{i, errPrev}
		}
		prev = SumHex(record)
	}
	return nil
}

// Unclosed gives the scopes of a log that were opened and not closed since, in
// the order of their opening: what was going on when the writer died. Records
// that do not parse are passed over; VerifyChain tells of them.
func Unclosed(records [][]byte) []string {
	var open []string
	for _, record := range records {
		r, err := ParseRecord(record)
		if err != nil {
			continue
		}
		switch r.Event {
		case StoryOpen:
			open = append(without(open, r.Scope), r.Scope)
		case StoryClose:
			open = without(open, r.Scope)
		}
	}
	return open
}

func without(open []string, scope string) []string {
	return slices.DeleteFunc(open, func(s string) bool { return s == scope })
}
