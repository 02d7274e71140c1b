package stories

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

var (
	// ErrNoFile means that no story file lies in any of the usual places.
	ErrNoFile = errors.New("no story file")
	// ErrNoStories means that a file was read and holds no story. It is never
	// the same as "all stories are done".
	ErrNoStories = errors.New("no stories")
	// ErrUnknownID means that no story of the file has the id asked for.
	ErrUnknownID = errors.New("no such story")
)

// FormatError says what is wrong in a story file, and where.
type FormatError struct {
	Path    string
	Line    int // 1-based; 0 = the file as a whole
	Column  int // 1-based, in characters; 0 = the line as a whole
	Problem string
	Text    string // the offending line, shortened; "" when it says nothing
}

func (e *FormatError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, " line %d", e.Line)
	}
	if e.Column > 0 {
		fmt.Fprintf(&b, ", column %d", e.Column)
	}
	fmt.Fprintf(&b, ": %s", e.Problem)
	if e.Text != "" {
		fmt.Fprintf(&b, ": %q", e.Text)
	}
	return b.String()
}

// CandidatesError means that more than one story file was found; which one
// is meant is for a person to say.
type CandidatesError struct {
	Paths []string // in the order in which they were looked for
}

func (e *CandidatesError) Error() string {
	return fmt.Sprintf("%d story files: %s; name the one to work on with --stories",
		len(e.Paths), quotedList(e.Paths))
}

// UnsupportedError means that a file has a form that is known but not read.
type UnsupportedError struct {
	Paths []string
	Form  string // of the first one
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: this form (%s) is not read; `loop stories --forms` lists those that are", quotedList(e.Paths), e.Form)
}

// ChangedError means that a story on disk is no longer the one that was read,
// so that nothing was written.
type ChangedError struct {
	Path string
	ID   string
	Why  string
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%q: story %q changed since it was read: %s", e.Path, e.ID, e.Why)
}

// quoted puts the path in an error of the file system in quotes: a name in a
// folder of stories may come from an agent.
func quoted(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return fmt.Errorf("%s %q: %w", pe.Op, pe.Path, pe.Err)
	case errors.As(err, &le):
		return fmt.Errorf("%s %q to %q: %w", le.Op, le.Old, le.New, le.Err)
	}
	return err
}

func quotedList(names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = fmt.Sprintf("%q", n)
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
