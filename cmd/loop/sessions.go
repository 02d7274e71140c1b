package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/report"
)

// sessionFile is one transcript of the client's session folder.
type sessionFile struct {
	path    string
	project string // the client's name of the project's folder
	size    int64
	changed time.Time
}

// clientFolder is where the client keeps its files.
func (a *app) clientFolder() (string, error) {
	if dir := a.getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir, nil
	}
	if home := proc.Home(a.env); home != "" {
		return filepath.Join(home, ".claude"), nil
	}
	return "", &hintedError{err: errors.New("no folder of the client's: neither CLAUDE_CONFIG_DIR nor HOME is set"), hint: sessionHint}
}

// sessionFolder is where the client keeps its sessions.
func (a *app) sessionFolder() (string, error) {
	dir, err := a.clientFolder()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "projects")
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &hintedError{err: fmt.Errorf("no session folder %q", dir), hint: sessionHint}
	case err != nil:
		return "", &hintedError{err: fmt.Errorf("open the session folder: %w", err), hint: sessionHint}
	case !info.IsDir():
		return "", &hintedError{err: fmt.Errorf("%q is no folder", dir), hint: sessionHint}
	}
	return dir, nil
}

const sessionHint = "export CLAUDE_CONFIG_DIR=FOLDER says where the client keeps its files; `loop scan FILE` reads one transcript"

// sessionWalk collects the transcripts below a session folder.
type sessionWalk struct {
	since  time.Time
	files  []sessionFile
	old    []sessionFile // unchanged since before
	all    bool          // any transcript counts, not only those of the client
	unread []report.Unread
	seen   map[string]bool // real folders, so that links cannot lead round
}

// findSessions lists the transcripts in dir that changed since then, the
// largest first.
func findSessions(dir string, since time.Time) *sessionWalk {
	w := &sessionWalk{since: since, seen: map[string]bool{}}
	w.folder(dir, "", 0)
	slices.SortFunc(w.files, func(a, b sessionFile) int {
		return cmp.Or(cmp.Compare(b.size, a.size), strings.Compare(a.path, b.path))
	})
	return w
}

// maxDepth is how deep folders are looked into; the client's own go to 3.
const maxDepth = 12

func (w *sessionWalk) folder(dir, project string, depth int) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		if w.seen[real] {
			return
		}
		w.seen[real] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.fail(dir, err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		named := project
		if depth == 0 {
			named = e.Name()
		}
		info, err := os.Stat(path) // follows links: people link project folders
		switch {
		case err == nil && info.IsDir():
			if depth < maxDepth {
				w.folder(path, named, depth+1)
			} else {
				w.fail(path, errors.New("too deep"))
			}
		case compressedName(path) != nil:
			w.fail(path, compressedName(path))
		case filepath.Ext(path) != ".jsonl" && (!w.all || !isTranscript(path)):
		case err != nil:
			w.fail(path, err)
		case !info.Mode().IsRegular():
			w.fail(path, errors.New("not a regular file"))
		default:
			if depth == 0 {
				named = ""
			}
			w.file(sessionFile{path: path, project: named, size: info.Size(), changed: info.ModTime()})
		}
	}
}

func (w *sessionWalk) file(f sessionFile) {
	if f.changed.Before(w.since) {
		w.old = append(w.old, f)
		return
	}
	w.files = append(w.files, f)
}

// fail notes what could not be read; the name stands beside the cause.
func (w *sessionWalk) fail(path string, err error) {
	w.unread = append(w.unread, unread(path, err))
}

func unread(path string, err error) report.Unread {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return report.Unread{File: path, Error: err.Error()}
}
