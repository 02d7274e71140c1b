package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-b23e517c/loop/internal/regular"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// keptFile is a file of a gate as it was when the session started.
type keptFile struct {
	name string // relative to the root
	data []byte
	mode fs.FileMode
	gone bool // it was not there, and would hide one that was
}

// newGatekeeper keeps what the gates run, and what the stories' own checks do.
func newGatekeeper(o *Options, plan []stories.Story) (*gatekeeper, error) {
	k := &gatekeeper{kept: map[string]map[string]keptFile{}, red: map[string]queue.Gate{}, state: map[string]gateState{}}
	var err error
	if k.left, err = readLeft(o.State); err != nil {
		return nil, err
	}
	commands := slices.Clone(o.Gates)
	if o.Verify {
		for _, s := range plan {
			commands = append(commands, s.Verify...)
		}
	}
	for _, command := range commands {
		files := map[string]keptFile{}
		for _, name := range filesOfGate(o, command) {
			path := filepath.Join(o.Root, name)
			data, err := regular.Read(path, maxWatched)
			if err != nil {
				return nil, fmt.Errorf("keep what the gate %q runs: %w", command, err)
			}
			info, err := os.Stat(path)
			if err != nil {
				return nil, fmt.Errorf("keep what the gate %q runs: %w", command, err)
			}
			files[name] = keptFile{name: name, data: data, mode: info.Mode().Perm()}
		}
		k.kept[command] = files
	}
	return k, nil
}

// changed are the files of a gate that are other now than at the start, as they
// are to stand there for a run.
func (k *gatekeeper) changed(o *Options, command string) []keptFile {
	files := k.kept[command]
	var out []keptFile
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		if gateHash(filepath.Join(o.Root, name)) != hashOfGate(name, f.data) {
			out = append(out, f)
		}
	}
	for _, name := range filesOfGate(o, command) {
		_, known := files[name]
		if !known && isToolSetting(name) && gateHash(filepath.Join(o.Root, name)) != hashOfGate(name, nil) || !known && slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(old string) bool { return hides(name, old) }) {
			out = append(out, keptFile{name: name, gone: true})
		}
	}
	return out
}

// held is a file of a gate in whose place now stands what would hold whoever
// opens it; "" = there is none.
func (k *gatekeeper) held(o *Options, command string) string {
	for _, name := range slices.Sorted(maps.Keys(k.kept[command])) {
		if info, err := os.Stat(filepath.Join(o.Root, name)); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return name
		}
	}
	return ""
}

// swap is the note of one file that was put aside: it is on disk before
// anything is touched, so that whoever comes after a crash puts it back.
type swap struct {
	Path  string      `json:"path"`
	Saved string      `json:"saved,omitempty"` // the agent's; "" = there was none
	Link  string      `json:"link,omitempty"`  // it was a link to this
	Mode  fs.FileMode `json:"mode"`
	Time  time.Time   `json:"time"`
}

const swapName = "gate-files.json"

// swapNote is the file of the note: work trees that are in use at the same time
// have one each.
func swapNote(o *Options) string {
	if o.lane == "" {
		return filepath.Join(o.State, swapName)
	}
	return filepath.Join(o.State, strings.TrimPrefix(o.lane, "-")+"."+swapName)
}

// notKeptError is a work tree in which the files of a gate cannot be put as they
// were at the start: an agent can see to that, and it ends no session.
type notKeptError struct{ err error }

func (e *notKeptError) Error() string {
	return "what it runs cannot be put as it was at the start: " + e.err.Error()
}

func (e *notKeptError) Unwrap() error { return e.err }

// withKept runs fn while the files stand as they did at the start, and puts the
// agent's back.
func (r *run) withKept(a *queue.Attempt, files []keptFile, fn func()) (err error) {
	var swaps []swap
	for i, f := range files {
		s, err := putAside(filepath.Join(r.o.Root, f.name), filepath.Join(a.Dir, fmt.Sprintf("gate-file-%d-as-left", i+1)))
		if err != nil {
			return &notKeptError{err}
		}
		swaps = append(swaps, s)
	}
	note, err := json.Marshal(swaps)
	if err != nil {
		return err
	}
	if err := writeSynced(swapNote(r.o), note, 0o600); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, putBack(swapNote(r.o))) }()
	for _, f := range files {
		if err := f.put(r.o.Root); err != nil {
			return &notKeptError{err}
		}
	}
	fn()
	return nil
}

// missing: there is no such file, also because what should be its folder is none.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// putAside saves a file where the attempt is kept. Of a pipe or a device there
// is nothing to save.
func putAside(path, saved string) (swap, error) {
	s := swap{Path: path}
	info, err := os.Lstat(path)
	if missing(err) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.Mode, s.Time = info.Mode().Perm(), info.ModTime()
	if info.Mode()&fs.ModeSymlink != 0 {
		s.Link, err = os.Readlink(path)
		return s, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return s, nil
	}
	data, err := regular.Read(path, maxWatched)
	if err != nil {
		return s, err
	}
	s.Saved = saved
	return s, writeSynced(saved, data, 0o600)
}

// put writes the file as it was at the start. Of a package.json only the
// scripts are: what they run is decided there, what they need is not.
func (f keptFile) put(root string) error {
	path := filepath.Join(root, f.name)
	if f.gone {
		return os.Remove(path)
	}
	data := f.data
	if filepath.Base(f.name) == "package.json" {
		if now, err := regular.Read(path, maxWatched); err == nil {
			if mixed, ok := withScripts(now, f.data); ok {
				data = mixed
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return writeSynced(path, data, f.mode)
}

// putAllBack gives every work tree the agent's files again, where a run with
// others was begun by a loop that died.
func putAllBack(state string) error {
	entries, err := os.ReadDir(state)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != swapName && !strings.HasSuffix(e.Name(), "."+swapName) {
			continue
		}
		if err := putBack(filepath.Join(state, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// putBack gives the work tree the agent's files again, if a run with others
// was begun.
func putBack(note string) error {
	data, err := os.ReadFile(note)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var swaps []swap
	if err := json.Unmarshal(data, &swaps); err != nil {
		return fmt.Errorf("read %q: %w", note, err)
	}
	for _, s := range swaps {
		if err := s.back(); err != nil {
			return fmt.Errorf("put back %q: %w", s.Path, err)
		}
	}
	return os.Remove(note)
}

func (s swap) back() error {
	if err := os.RemoveAll(newName(s.Path)); err != nil {
		return err
	}
	switch {
	case s.Link != "":
		if err := os.Remove(s.Path); err != nil && !missing(err) {
			return err
		}
		return os.Symlink(s.Link, s.Path)
	case s.Saved == "":
		if err := os.Remove(s.Path); err != nil && !missing(err) {
			return err
		}
		return nil
	}
	data, err := os.ReadFile(s.Saved)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o755); err != nil {
		return err
	}
	if err := writeSynced(s.Path, data, s.Mode); err != nil {
		return err
	}
	// A build looks at the time; the file is the one that was there.
	return os.Chtimes(s.Path, time.Time{}, s.Time)
}

// newSuffix ends the name under which a file is written before it is renamed.
const newSuffix = ".loop-new"

func newName(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+newSuffix)
}

// writeSynced replaces a file whole or not at all. What a killed run left of it
// goes away with the next write.
func writeSynced(path string, data []byte, mode fs.FileMode) error {
	temp := newName(path)
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing, once it is in its place
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// withScripts is now with the scripts of was, every other byte as it is.
func withScripts(now, was []byte) ([]byte, bool) {
	_, _, scripts, ok := topLevel(was, "scripts")
	if !ok {
		scripts = []byte("{}")
	}
	if start, end, _, ok := topLevel(now, "scripts"); ok {
		return slices.Concat(now[:start], scripts, now[end:]), true
	}
	open := bytes.IndexByte(now, '{')
	if open < 0 || !json.Valid(now) {
		return nil, false
	}
	rest := bytes.TrimLeft(now[open+1:], " \t\r\n")
	comma := []byte(",")
	if len(rest) > 0 && rest[0] == '}' {
		comma = nil
	}
	return slices.Concat(now[:open+1], []byte(`"scripts":`), scripts, comma, now[open+1:]), true
}

// topLevel finds the value of a key of an object, and where it stands.
func topLevel(data []byte, key string) (start, end int, value []byte, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return 0, 0, nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		var raw json.RawMessage
		if err != nil || dec.Decode(&raw) != nil {
			return 0, 0, nil, false
		}
		if name == key {
			end = int(dec.InputOffset())
			start, value, ok = end-len(raw), raw, true
		}
	}
	return start, end, value, ok
}
