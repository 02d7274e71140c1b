package queue

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers branch on with errors.Is.
var (
	ErrBusy       = errors.New("queue in use by another process")
	ErrNotFound   = errors.New("not found")
	ErrAmbiguous  = errors.New("ambiguous")
	ErrStatus     = errors.New("wrong status for that")
	ErrMention    = errors.New("only mentioned, nothing was called")
	ErrWritten    = errors.New("only written into a file, nothing was called")
	ErrExecuted   = errors.New("already executed")
	ErrAsked      = errors.New("asked at the prompt, and may have run")
	ErrQuestion   = errors.New("a question, nothing was called")
	ErrNoAnswer   = errors.New("an empty answer")
	ErrNoQuestion = errors.New("not a question")
	ErrReadOnly   = errors.New("queue opened for reading only")
)

// AmbiguousError says that a reference fits more than one entry. It is
// ErrAmbiguous for errors.Is.
type AmbiguousError struct {
	Ref        string
	Candidates []string // "#12 <full id>" for actions, the full id for sessions
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q is ambiguous: %s", e.Ref, strings.Join(e.Candidates, ", "))
}

// Is makes every AmbiguousError an ErrAmbiguous.
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// Hint says what to type next.
func (e *AmbiguousError) Hint() string { return "use the number, or more of the id" }

// CorruptError says that the file is not a queue, or is damaged. The file is
// left as it is.
type CorruptError struct {
	Path string
	Err  error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("open queue %q: not a queue of loop, or damaged: %v", e.Path, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// Hint says what to type next.
func (e *CorruptError) Hint() string {
	return fmt.Sprintf("mv %s %s keeps the file and lets loop begin an empty queue; nothing was changed",
		shellWord(e.Path), shellWord(e.Path+".damaged"))
}

// SchemaError says that the queue has another schema than this loop can use.
type SchemaError struct {
	Path string
	Have uint64 // of the file
	Want uint64 // of this loop
}

func (e *SchemaError) Error() string {
	if e.Have > e.Want {
		return fmt.Sprintf("open queue %q: written by a newer loop (schema %d, this one knows %d)", e.Path, e.Have, e.Want)
	}
	return fmt.Sprintf("open queue %q: schema %d must be brought to %d first", e.Path, e.Have, e.Want)
}

// Hint says what to type next.
func (e *SchemaError) Hint() string {
	if e.Have > e.Want {
		return "update loop; this one leaves the queue as it is"
	}
	return "open it once with a command that writes"
}

// shellWord quotes a path so that it can be pasted into a shell.
func shellWord(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
