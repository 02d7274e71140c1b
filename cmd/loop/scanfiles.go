package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
	"github.com/seed-b23e517c/loop/scanner"
)

// all scans what the command line names: files, folders of them, standard
// input. What cannot be read is told and does not stop the others.
func (s *scanRun) all(ctx context.Context, names []string) error {
	var files []sessionFile
	for _, name := range names {
		if name == "-" {
			if err := s.stream(ctx, s.a.stdin, "-", s.opts); err != nil {
				return err
			}
			continue
		}
		files = append(files, s.find(name)...)
	}
	for _, g := range group(unique(files), nil) {
		if err := s.together(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// find lists the files that a name stands for: itself with those of its
// subagents, or what a folder holds.
func (s *scanRun) find(name string) []sessionFile {
	info, err := os.Stat(name)
	if err != nil {
		s.fail(name, err)
		return nil
	}
	var w *sessionWalk
	if info.IsDir() {
		w = &sessionWalk{seen: map[string]bool{}, all: true}
		w.folder(name, "", 0)
		if len(w.files)+len(w.unread) == 0 {
			s.fail(name, errors.New("no transcript is in that folder"))
		}
	} else {
		w = companions(name)
		if n := len(w.files); n > 0 {
			fmt.Fprintf(s.a.stderr, "loop: %s: read together with %d file(s) of its subagents\n", term.Quote(name), n)
		}
		w.files = append([]sessionFile{{path: name, size: info.Size()}}, w.files...)
	}
	for _, u := range w.unread {
		s.fail(u.File, errors.New(u.Error))
	}
	return w.files
}

func unique(files []sessionFile) []sessionFile {
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f sessionFile) bool {
		clean := filepath.Clean(f.path)
		defer func() { seen[clean] = true }()
		return seen[clean]
	})
}

// fail tells of a file that cannot be read.
func (s *scanRun) fail(name string, err error) {
	s.failed++
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	fmt.Fprintf(s.a.stderr, "loop: %s: not read: %s\n", term.Quote(name), term.Line(err.Error()))
}

// together scans the files of one session, each with what the others wrote.
func (s *scanRun) together(ctx context.Context, g *sessionGroup) error {
	o := s.opts
	if len(g.files) > 1 {
		o.Session = gathered(ctx, g, o, s.name)
	}
	for _, f := range g.files {
		o.File = s.name(f.path)
		in, err := openTranscript(f.path)
		if err != nil {
			s.fail(f.path, err)
			continue
		}
		found := len(s.actions)
		err = s.stream(ctx, in, f.path, o)
		// The words beside a call are worth having, and no reason to stop.
		if err := runner.AddWords(in, s.actions[found:]); err != nil {
			fmt.Fprintf(s.a.stderr, "loop: %s: what was said before its calls was not read: %s\n", term.Quote(f.path), term.Line(err.Error()))
		}
		in.Close()
		if err != nil {
			return err
		}
		s.claims(ctx, f.path, s.actions[found:])
	}
	return nil
}

// claims puts beside what goes into the queue what its texts claim. No result
// has a receipt here.
func (s *scanRun) claims(ctx context.Context, path string, actions []queue.Action) {
	e := runner.Evidence{Root: s.session.Dir, Env: s.a.env, Memory: s.memory, Now: s.a.now}
	if _, err := runner.AddClaims(ctx, []string{path}, actions, e); err != nil {
		fmt.Fprintf(s.a.stderr, "loop: %s: what its calls claim was not judged: %s\n", term.Quote(path), term.Line(err.Error()))
	}
}

// name is how hits name a file: in the queue they outlive the folder that the
// command was typed in.
func (s *scanRun) name(path string) string {
	if abs, err := filepath.Abs(path); s.o.queue && err == nil {
		return abs
	}
	return path
}

func (s *scanRun) stream(ctx context.Context, in io.Reader, name string, o scanner.Options) error {
	if name == "-" {
		o.File = name
	}
	text, err := plainText(in, name, scanCommand)
	if err != nil {
		s.fail(name, err)
		return nil
	}
	var stopped error
	stats, err := scanner.Scan(ctx, text, o, func(h scanner.Hit) error {
		stopped = s.hit(h)
		return stopped
	})
	switch {
	case stopped != nil:
		return stopped
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // what stood before it has been shown
		s.fail(name, err)
	}
	if note := runner.ScanNote(stats); note != "" {
		fmt.Fprintf(s.a.stderr, "loop: %s: %s\n", term.Quote(o.File), note)
	}
	return nil
}

// gathered is what the files of a session tell each other. One that cannot be
// read is told of when it is scanned.
func gathered(ctx context.Context, g *sessionGroup, o scanner.Options, name func(string) string) *scanner.Session {
	ses := scanner.NewSession()
	for _, f := range slices.Concat(g.old, g.files) {
		in, err := openTranscript(f.path)
		if err != nil {
			continue
		}
		o.File = name(f.path)
		if text, err := plainText(in, f.path, scanCommand); err == nil {
			_ = ses.Gather(ctx, text, o) // the scan meets the same error
		}
		in.Close()
	}
	return ses
}

// openTranscript opens a file and not what a read would wait at for ever.
func openTranscript(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}
