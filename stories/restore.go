package stories

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Claim is a done mark that somebody else changed. Who works on a story does
// not decide whether it is done, so the mark is only what was claimed.
type Claim struct {
	ID    string
	Title string
	Line  int      // where the story stood when the claim was found
	File  string   // for a folder of stories
	Done  bool     // what was claimed
	Added bool     // the story itself is new
	Marks []string // the marks as they were found: `passes: true`; none if they were deleted
}

// Replaced is a file that was put back whole because it could no longer be
// read. Its bytes are kept here so that nothing is lost.
type Replaced struct {
	Path   string
	Why    string
	Broken []byte // what stood there; nil when there was nothing to read
}

// Restored is what Restore did.
type Restored struct {
	Claims   []Claim
	Replaced []Replaced
}

// Restore puts the done marks on disk back to what they were in f (as read,
// or as SetDone left them) and leaves every other change in the files alone.
// A file that can no longer be read, or is gone, is put back whole.
//
// A story that is new, or whose text is no longer the same, was never seen
// done here: marks that were changed to say so are taken back too.
//
// An error does not stop the work on the other files of a folder.
func (f *File) Restore() (Restored, error) {
	var r Restored
	base, err := f.base()
	if err != nil {
		return r, err
	}
	states, err := base.current()
	errs := []error{err}
	for k := range states {
		if !base.moved(states, k) {
			errs = append(errs, base.restoreState(&states[k], &r))
		}
	}
	return r, errors.Join(errs...)
}

// base is f as it was last known on disk, with positions that fit its bytes.
func (f *File) base() (*File, error) {
	all := &File{Path: f.Path, Form: f.Form}
	for _, p := range f.impl.parts {
		one, err := parsePart(p)
		if err != nil {
			return nil, err
		}
		all.add(one)
	}
	return all, nil
}

// state is one file as it is now, beside what it was.
type state struct {
	was  *part // nil: the file is new
	path string
	disk part
	now  *File // nil: it cannot be read, why says so
	why  error
}

// current reads every file that f was made of and, in a folder, every new one.
func (f *File) current() ([]state, error) {
	var states []state
	for k := range f.impl.parts {
		states = append(states, f.readState(f.impl.parts[k].path, &f.impl.parts[k]))
	}
	info, err := os.Stat(f.Path)
	if err != nil || !info.IsDir() {
		return states, nil // one file, or a folder that is gone: nothing new in it
	}
	names, _, err := storyNames(f.Path)
	for _, name := range names {
		path := filepath.Join(f.Path, name)
		if !slices.ContainsFunc(f.impl.parts, func(p part) bool { return p.path == path }) {
			states = append(states, f.readState(path, nil))
		}
	}
	return states, err
}

func (f *File) readState(path string, was *part) state {
	st := state{was: was, path: path}
	if st.disk, st.why = readPart(path); st.why != nil {
		return st
	}
	if st.disk.form = f.Form; was != nil {
		st.disk.form = was.form
	}
	if was != nil && (st.disk.real != was.real || st.disk.link != was.link) {
		st.why = fmt.Errorf("%q leads to %q now, it was %q", path, st.disk.real, was.real)
		return st
	}
	now, err := parsePart(st.disk)
	if err == nil && !f.folder() {
		now.Path = f.Path
		err = now.finish() // in a folder, dependencies lead to other files
	}
	if st.why = err; err == nil {
		st.now = now
	}
	return st
}

// moved says whether a missing file of a folder has another name now.
func (f *File) moved(states []state, k int) bool {
	if !f.folder() || !errors.Is(states[k].why, fs.ErrNotExist) {
		return false
	}
	id := f.Stories[k].ID // in this form each file is one story
	return slices.ContainsFunc(states, func(st state) bool {
		return st.now != nil && st.was == nil && st.now.index(id) >= 0
	})
}

func (f *File) restoreState(st *state, r *Restored) error {
	var err error
	for range writeTries {
		if st.now != nil {
			err = f.restoreMarks(st, r)
		} else {
			err = f.restoreWhole(st, r)
		}
		if !errors.Is(err, errRaced) {
			break
		}
		*st = f.readState(st.path, st.was)
	}
	return err
}

// restoreWhole puts back a file that cannot be read any more.
func (f *File) restoreWhole(st *state, r *Restored) error {
	if st.was == nil {
		return fmt.Errorf("a new file among the stories cannot be read: %w", st.why)
	}
	rep := Replaced{Path: st.path, Why: st.why.Error(), Broken: st.disk.data}
	if errors.Is(st.why, fs.ErrNotExist) {
		rep.Why = "the file was gone"
	}
	aside, err := makeWay(st.path)
	if err == nil {
		err = putBack(st.was)
	}
	if err != nil {
		return quoted(err)
	}
	if aside != "" {
		rep.Why += fmt.Sprintf("; what stood in its place is %q now", aside)
	}
	r.Replaced = append(r.Replaced, rep)
	return nil
}

// makeWay moves aside what no file can be written over: a folder in its place, or
// something else in the place of its folder. It says where that is now.
func makeWay(path string) (aside string, err error) {
	for p := path; ; p = filepath.Dir(p) {
		info, err := os.Lstat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			continue // what holds it is looked at next
		case err != nil:
			return "", err
		case p == path && info.IsDir(), p != path && !info.IsDir() && info.Mode()&fs.ModeSymlink == 0:
			return setAside(p)
		}
		return "", nil
	}
}

// setAside gives a file or folder another name.
func setAside(path string) (string, error) {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.as-left-%d", path, n)
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return to, os.Rename(path, to)
		} else if err != nil {
			return "", err
		}
	}
}

// putBack writes a whole file as it was, with the link that led to it. It does
// not write through a link that was not there before.
func putBack(was *part) error {
	if link, _ := os.Readlink(was.path); link != was.link {
		if err := os.Remove(was.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if was.link != "" {
			if err := os.Symlink(was.link, was.path); err != nil {
				return err
			}
		}
	}
	dir := filepath.Dir(was.real)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if behind, err := filepath.EvalSymlinks(dir); err != nil || behind != dir {
		return errors.Join(fmt.Errorf("%q leads to %q now; %q is not put back", dir, behind, was.path), err)
	}
	return replaceFile(was.real, nil, was.data)
}

// restoreMarks puts the marks of one readable file back.
func (f *File) restoreMarks(st *state, r *Restored) error {
	var claims []Claim
	var edits []edit
	for j := range st.now.Stories {
		c, e := f.backEdits(st.now, j)
		if len(e) > 0 {
			claims, edits = append(claims, c), append(edits, e...)
		}
	}
	data := apply(st.disk.data, edits)
	if bytes.Equal(data, st.disk.data) {
		return nil
	}
	if err := replaceFile(st.disk.real, st.disk.data, data); err != nil {
		return err
	}
	r.Claims = append(r.Claims, claims...)
	return nil
}

// backEdits is what takes story j of now back to the marks it had in f.
func (f *File) backEdits(now *File, j int) (Claim, []edit) {
	s, pl := &now.Stories[j], &now.impl.places[j]
	c := Claim{ID: s.ID, Title: s.Title, Line: s.Line, File: s.File}
	var was place
	var wasDone, same bool
	if i := f.match(now, j); i >= 0 {
		was, same = f.impl.places[i], f.Stories[i].Hash == s.Hash
		wasDone = f.Stories[i].Done && same
	} else {
		c.Added = true
	}
	var edits []edit
	for _, m := range pl.marks {
		text, put := f.backMark(&was, m, wasDone, same)
		if !put {
			continue
		}
		c.Done = c.Done || m.done
		c.Marks = append(c.Marks, m.key+": "+visible(strings.TrimSpace(m.raw)))
		edits = append(edits, edit{m.start, m.end, text})
	}
	if len(pl.marks) == 0 && wasDone {
		edits = append(edits, now.insertEdit(pl.insert, true))
	}
	return c, edits
}

// backMark is what to write in the place of a mark, if anything.
func (f *File) backMark(was *place, m mark, wasDone, same bool) (text string, put bool) {
	for _, b := range was.marks {
		if b.key != m.key {
			continue
		}
		if b.raw == m.raw || m.known && m.done == b.done || b.done && !same {
			return "", false
		}
		return b.raw, true
	}
	if m.done == wasDone {
		return "", false
	}
	return f.value(m.key, m.raw, wasDone), true
}
