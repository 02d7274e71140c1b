package firewall

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// PromptFile is a settings file of the client's in which loop's hook stands or
// shall stand.
type PromptFile struct {
	Path   string      // as the client names it; links are followed
	Backup string      // folder in which it is kept what was there before
	Mode   fs.FileMode // of a file that is not there yet
}

// Undone says how a hook was taken out.
type Undone uint8

// The ways to take a hook out.
const (
	NothingThere Undone = iota // there was none
	PutBack                    // the file is as it was before, byte for byte
	FileRemoved                // the file was made for the hook, and is gone again
	EntryRemoved               // the file has been changed since: only the hook is gone
)

// backup is what was there before the hook, and what was written.
type backup struct {
	Schema   int      `json:"schema"`
	Path     string   `json:"path"`
	Missing  bool     `json:"missing,omitempty"`  // there was no file
	MadeDir  bool     `json:"made_dir,omitempty"` // nor a folder
	Original []byte   `json:"original,omitempty"`
	Written  string   `json:"written"` // SHA-256 of the file with the hook, hex
	Had      []string `json:"had,omitempty"`
}

// Install puts the hook into the file and reports whether that changed it.
func (f PromptFile) Install(h PromptHook) (changed bool, err error) {
	target, err := followLinks(f.Path)
	if err != nil {
		return false, err
	}
	old, missing, err := readSettings(target)
	if err != nil {
		return false, err
	}
	text, err := AddPromptHook(old, h)
	if err != nil {
		return false, f.about(err)
	}
	if bytes.Equal(text, old) {
		return false, nil
	}
	b, err := f.before(target, old, missing)
	if err != nil {
		return false, err
	}
	b.Written = hexSum(text)
	// What was there is kept before it is changed.
	if err := f.keep(target, b); err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return false, err
	}
	return true, replaceFile(target, old, text, f.Mode)
}

// before is what a later Uninstall shall bring back. Where the hook stands
// already and the file is as loop wrote it, that is what was there before the
// first one; else it is the file without the hook.
func (f PromptFile) before(target string, old []byte, missing bool) (backup, error) {
	if b, ok := f.kept(target); ok && b.Written == hexSum(old) && !missing {
		return b, nil
	}
	b := backup{Schema: 1, Path: target, Missing: missing, Original: old}
	if missing {
		_, err := os.Stat(filepath.Dir(target))
		b.MadeDir = errors.Is(err, fs.ErrNotExist)
		return b, nil
	}
	bare, _, err := RemovePromptHook(old, nil)
	if err != nil {
		return b, f.about(err)
	}
	b.Original, b.Had = bare, Containers(bare)
	return b, nil
}

// Uninstall takes the hook out again.
func (f PromptFile) Uninstall() (Undone, error) {
	target, err := followLinks(f.Path)
	if err != nil {
		return NothingThere, err
	}
	old, missing, err := readSettings(target)
	if missing || err != nil {
		return NothingThere, err
	}
	b, kept := f.kept(target)
	if kept && b.Written == hexSum(old) {
		return f.putBack(target, b, old)
	}
	text, there, err := RemovePromptHook(old, b.Had)
	if err != nil {
		return NothingThere, f.about(err)
	}
	if !there {
		return NothingThere, nil
	}
	if err := replaceFile(target, old, text, f.Mode); err != nil {
		return NothingThere, err
	}
	return EntryRemoved, f.forget(target)
}

func (f PromptFile) putBack(target string, b backup, old []byte) (Undone, error) {
	if !b.Missing {
		if err := replaceFile(target, old, b.Original, f.Mode); err != nil {
			return NothingThere, err
		}
		return PutBack, f.forget(target)
	}
	if err := os.Remove(target); err != nil {
		return NothingThere, err
	}
	if b.MadeDir {
		_ = os.Remove(filepath.Dir(target)) // stays when something else is in it by now
	}
	return FileRemoved, f.forget(target)
}

// about names the file that an error speaks of.
func (f PromptFile) about(err error) error { return fmt.Errorf("%q: %w", f.Path, err) }

func (f PromptFile) backupPath(target string) string {
	return filepath.Join(f.Backup, hexSum([]byte(target))[:16]+".json")
}

func (f PromptFile) keep(target string, b backup) error {
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.Backup, 0o700); err != nil {
		return fmt.Errorf("keep what was there: %w", err)
	}
	if err := replaceFile(f.backupPath(target), nil, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep what was there: %w", err)
	}
	return nil
}

func (f PromptFile) kept(target string) (b backup, ok bool) {
	data, err := os.ReadFile(f.backupPath(target))
	return b, err == nil && json.Unmarshal(data, &b) == nil && b.Path == target
}

func (f PromptFile) forget(target string) error {
	err := os.Remove(f.backupPath(target))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func readSettings(path string) (text []byte, missing bool, err error) {
	text, err = os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read settings: %w", err)
	}
	return text, false, nil
}

// maxLinks is how many links lead to a file at most, as for the kernel.
const maxLinks = 40

// followLinks is where a path leads, through links to what is not there yet
// too.
func followLinks(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range maxLinks {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", fmt.Errorf("%q: links that lead nowhere", path)
}

// replaceFile writes the file under another name and renames it, so that no
// reader ever sees half of it. Its mode stays. A file that is no longer old is
// left alone: the client writes its settings too.
func replaceFile(path string, old, text []byte, mode fs.FileMode) (err error) {
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	if now, _, err := readSettings(path); old != nil && (err != nil || !bytes.Equal(now, old)) {
		return errors.Join(fmt.Errorf("%q changed just now; try again", path), err)
	}
	return os.Rename(tmp.Name(), path)
}

func hexSum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
