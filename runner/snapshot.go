package runner

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
)

// entry is one path that differs from the index, as `git status` gives it.
type entry struct {
	path      string
	untracked bool
	gone      bool // not in the work tree
	same      bool // the work tree has what the index has
	staged    bool // the index has something else than HEAD
	unmerged  bool
	inside    bool // a submodule with uncommitted work in it
	nested    bool // a repository of its own that is no submodule
}

// status lists what differs between HEAD, the index and the work tree. What
// git ignores is not in it, and renamed files are two entries.
func (t *checkout) status(ctx context.Context, index string) ([]entry, error) {
	out, err := t.git(ctx, &call{index: index},
		"status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none")
	if err != nil {
		return nil, err
	}
	var list []entry
	for line := range strings.SplitSeq(out, "\x00") {
		if line == "" {
			continue
		}
		e, err := parseStatus(line)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// parseStatus reads one entry of `git status --porcelain=v2 -z`.
func parseStatus(line string) (entry, error) {
	kind, rest, _ := strings.Cut(line, " ")
	before := map[string]int{"1": 7, "u": 9, "?": 0}
	n, ok := before[kind]
	fields := strings.SplitN(rest, " ", n+1)
	if !ok || len(fields) != n+1 || fields[n] == "" {
		return entry{}, fmt.Errorf("git status says %q, which this loop cannot read", clip(line, 200))
	}
	e := entry{path: fields[n]}
	if kind == "?" {
		e.untracked = true
		e.path, e.nested = strings.CutSuffix(e.path, "/")
		return e, nil
	}
	xy, sub := fields[0], fields[1]
	e.staged, e.unmerged = xy[0] != '.', kind == "u"
	e.gone = xy[1] == 'D' || kind == "u" && fields[5] == "000000"
	e.same = kind == "1" && xy[1] == '.'
	if strings.HasPrefix(sub, "S") && len(sub) == 4 {
		e.inside = sub[2] == 'M' || sub[3] == 'U'
		e.same = e.same || sub[1] == '.' && e.inside
	}
	return e, nil
}

// whole is everything in a work tree, as a tree of git's, and what no tree of
// git's can hold.
type whole struct {
	tree   string
	nested []string // repositories of their own, submodules apart
	large  []string // files of more than maxKept, as they are now
	inside []string // submodules with uncommitted work in them
}

// snapshot keeps everything in the work tree but what git ignores as a tree,
// and leaves work tree and index as they are. Files of forced are in it even if
// git ignores them.
func (t *checkout) snapshot(ctx context.Context, forced ...string) (w whole, err error) {
	return t.snapshotOn(ctx, "", forced...)
}

// snapshotOn is snapshot where the tree of HEAD is known.
func (t *checkout) snapshotOn(ctx context.Context, head string, forced ...string) (w whole, err error) {
	index, done, err := t.scratch(ctx, true)
	if err != nil {
		return w, err
	}
	defer done()
	list, err := t.status(ctx, index)
	if err != nil {
		return w, err
	}
	if len(list) == 0 && len(forced) == 0 && head != "" {
		return whole{tree: head}, nil // the work tree is the index, and that is HEAD
	}
	var gone []string
	w.large = t.large(ctx, list)
	there := forced
	for _, e := range list {
		if e.inside {
			w.inside = append(w.inside, e.path)
		}
		switch {
		case e.untracked && slices.Contains(t.output, e.path):
		case e.nested:
			w.nested = append(w.nested, e.path)
		case slices.Contains(w.large, e.path):
		case e.gone, t.special(e.path):
			gone = append(gone, e.path)
		case !e.same:
			there = append(there, e.path)
		}
	}
	if err := t.update(ctx, index, gone, "--force-remove"); err != nil {
		return w, err
	}
	if err := t.update(ctx, index, there, "--add", "--replace"); err != nil {
		return w, err
	}
	w.tree, err = t.git(ctx, &call{index: index}, "write-tree")
	return w, err
}

// large are the files that are not kept for their size.
func (t *checkout) large(ctx context.Context, list []entry) []string {
	var paths []string
	for _, e := range list {
		if !e.gone && !e.same && !e.nested {
			paths = append(paths, e.path)
		}
	}
	return t.filters.largeOf(t.dir, paths, func(args ...string) (string, bool) {
		out, err := t.git(ctx, nil, args...)
		return out, err == nil
	})
}

// special: a pipe, a socket or a device stands there, of which git says that a
// file was changed and that it cannot keep it. There is no file any more.
func (t *checkout) special(name string) bool {
	info, err := os.Lstat(filepath.Join(t.dir, name))
	return err == nil && info.Mode().Type()&^(fs.ModeDir|fs.ModeSymlink) != 0
}

func (t *checkout) update(ctx context.Context, index string, paths []string, how ...string) error {
	if len(paths) == 0 {
		return nil
	}
	args := append(append([]string{"update-index"}, how...), "-z", "--stdin")
	_, err := t.git(ctx, &call{index: index, stdin: lines(paths)}, args...)
	return err
}

// change is one path that differs between two trees.
type change struct {
	path     string
	was, is  string // modes, "000000" = not there
	old, new string // objects
}

func (c change) added() bool   { return c.was == noMode }
func (c change) removed() bool { return c.is == noMode }

// submodule: one side of it is the commit of another repository, whose files
// are not ours to move.
func (c change) submodule() bool { return c.was == linkMode || c.is == linkMode }

const (
	noMode   = "000000"
	linkMode = "160000"
)

// changes lists the paths in which two trees, or commits, differ.
func (t *checkout) changes(ctx context.Context, from, to string) ([]change, error) {
	if from == to {
		return nil, nil
	}
	out, err := t.git(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to)
	if err != nil {
		return nil, err
	}
	var list []change
	parts := strings.Split(out, "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		f := strings.Fields(strings.TrimPrefix(parts[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff-tree says %q, which this loop cannot read", clip(parts[i], 200))
		}
		list = append(list, change{path: parts[i+1], was: f[0], is: f[1], old: f[2], new: f[3]})
	}
	return list, nil
}

// now is the state of the work tree, kept so that it can be put back.
func (t *checkout) now(ctx context.Context, why string) (s queue.TreeState, w whole, err error) {
	at := t.position(ctx)
	s.Head = at.head
	if w, err = t.snapshotOn(ctx, at.tree); err != nil {
		return s, w, err
	}
	if s.Tree = w.tree; s.Tree == at.tree {
		return s, w, nil
	}
	s.Snapshot, err = t.commit(ctx, s.Tree, why, s.Head)
	return s, w, err
}

// commit makes a commit and moves nothing to it.
func (t *checkout) commit(ctx context.Context, tree, message string, parents ...string) (string, error) {
	args := []string{"commit-tree", "--no-gpg-sign"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return t.git(ctx, &call{stdin: []byte(message)}, append(args, "-F", "-", tree)...)
}

// setRef makes a ref that is not there yet, under another name when its own is
// taken.
func (t *checkout) setRef(ctx context.Context, ref, commit, why string) (string, error) {
	const tries = 100
	name := ref
	for n := 2; ; n++ {
		_, err := t.git(ctx, nil, "update-ref", "--create-reflog", "-m", why, name, commit, strings.Repeat("0", len(commit)))
		if err == nil || n > tries || t.commitOf(ctx, name) == "" {
			return name, err
		}
		name = fmt.Sprintf("%s-%d", ref, n)
	}
}
