package stories

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
)

// writeTries is how often a write is begun anew because somebody else wrote
// the file at the same moment.
const writeTries = 5

// SetDone sets or takes back the done mark of a story in its file. The file is
// read again first: the story must still be there with the same text, else
// nothing is written and the error is a *ChangedError. Only the bytes of the
// mark change; where there are several marks (passes and status) all of them
// are set. Taking back a mark that SetDone set on this File leaves the bytes
// as they were.
//
// f follows in the one mark, so that Restore knows it. What others wrote in the meantime does not become part of f.
func (f *File) SetDone(id string, done bool) error {
	i := f.index(id)
	if i < 0 {
		return fmt.Errorf("%q: %w: %q", f.Path, ErrUnknownID, id)
	}
	if pl := &f.impl.places[i]; len(pl.marks) == 0 && pl.insert.key == "" {
		return fmt.Errorf("%q: story %q (line %d) has no place for a done mark", f.Path, id, f.Stories[i].Line)
	}
	var err error
	for range writeTries {
		if err = f.setDone(i, done); !errors.Is(err, errRaced) {
			break
		}
	}
	return err
}

func (f *File) setDone(i int, done bool) error {
	base, err := f.base()
	if err != nil {
		return err
	}
	now, j, err := f.again(i)
	if err != nil {
		return err
	}
	own := &f.impl.parts[f.impl.places[i].part]
	known := apply(own.data, f.doneEdits(i, &base.impl.places[i], own.data, done))
	pl := &now.impl.places[j]
	p := &now.impl.parts[pl.part]
	data := apply(p.data, f.doneEdits(i, pl, p.data, done))
	if !bytes.Equal(data, p.data) {
		if err := now.onlyMark(j, data, done); err != nil {
			return err
		}
		if err := replaceFile(p.real, p.data, data); err != nil {
			return err
		}
	}
	own.data = known
	s := &f.Stories[i]
	s.Done, s.InProgress, s.Conflict = done, s.InProgress && !done, ""
	if was := &f.impl.places[i]; done == was.done {
		s.Conflict = was.conflict
	}
	return nil
}

// onlyMark reads the bytes that are about to be written: they must hold the
// same stories, and only story j may be marked otherwise.
func (f *File) onlyMark(j int, data []byte, done bool) error {
	p := f.impl.parts[f.impl.places[j].part]
	p.data = data
	after, err := parsePart(p)
	same := err == nil && len(after.Stories) == len(f.Stories)
	for i := 0; same && i < len(f.Stories); i++ {
		was, now := &f.Stories[i], &after.Stories[i]
		same = was.ID == now.ID && was.Hash == now.Hash && (i == j && now.Done == done || i != j && now.Done == was.Done)
	}
	if same {
		return nil
	}
	return fmt.Errorf("%q: the done mark of story %q cannot be set without changing more than it; set it by hand (line %d)",
		p.path, f.Stories[j].ID, f.Stories[j].Line)
}

// again reads the file of story i once more and finds the story in it.
func (f *File) again(i int) (now *File, j int, err error) {
	was := &f.Stories[i]
	p := &f.impl.parts[f.impl.places[i].part]
	changed := func(why string) error { return &ChangedError{Path: p.path, ID: was.ID, Why: why} }

	fresh, err := readPart(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, changed("the file is gone")
	}
	if err != nil {
		return nil, 0, err
	}
	if fresh.real != p.real {
		return nil, 0, changed(fmt.Sprintf("the path now leads to %q", fresh.real))
	}
	fresh.form = p.form
	if now, err = parsePart(fresh); err != nil {
		return nil, 0, err
	}
	now.Path = f.Path
	if err := now.uniqueIDs(); err != nil {
		return nil, 0, err
	}
	if j = now.match(f, i); j < 0 {
		return nil, 0, changed("it is no longer in the file")
	}
	if now.Stories[j].Hash != was.Hash {
		return nil, 0, changed("its text is another")
	}
	return now, j, nil
}

// doneEdits is what to change so that every mark of a story says the same. A
// story that goes back to what it was when f was read gets the bytes of then.
func (f *File) doneEdits(i int, pl *place, data []byte, done bool) []edit {
	id, was := f.Stories[i].ID, &f.impl.places[i]
	if len(pl.marks) == 0 {
		if !done {
			return nil
		}
		if f.impl.inserted == nil {
			f.impl.inserted = make(map[string]slot)
		}
		f.impl.inserted[id] = pl.insert
		return []edit{f.insertEdit(pl.insert, done)}
	}
	var edits []edit
	for _, m := range pl.marks {
		if raw, ok := was.raw(m.key); ok && done == was.done {
			edits = append(edits, edit{m.start, m.end, raw})
			continue
		}
		if e, ok := takeOut(data, m, f.impl.inserted[id]); ok && !done {
			edits = append(edits, e)
			continue
		}
		if m.known && m.done == done || !m.known && !done {
			continue
		}
		edits = append(edits, edit{m.start, m.end, f.value(m.key, m.raw, done)})
	}
	return edits
}

func (f *File) insertEdit(at slot, done bool) edit {
	return edit{at.at, at.at, at.before + f.value(at.key, "", done) + at.after}
}

// takeOut undoes an insertion, if it still stands there as it was made.
func takeOut(data []byte, m mark, at slot) (edit, bool) {
	e := edit{start: m.start - len(at.before), end: m.end + len(at.after)}
	ok := at.key == m.key && e.start >= 0 && bytes.HasSuffix(data[:m.start], []byte(at.before)) &&
		bytes.HasPrefix(data[m.end:], []byte(at.after))
	return e, ok
}

// raw is the bytes of a mark.
func (p *place) raw(key string) (string, bool) {
	for _, m := range p.marks {
		if m.key == key {
			return m.raw, true
		}
	}
	return "", false
}
