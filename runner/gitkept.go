package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/regular"
	"github.com/seed-b23e517c/loop/queue"
)

// keptGit is what loop can put back of git's folder. Without it no work can be
// kept, and an agent that breaks it would end the night.
type keptGit struct {
	root, common string
	folder       *os.File // the common folder, held open: it can be found wherever it was moved to
	mode         fs.FileMode
	files        map[string][]byte // by path: what git finds the repository by
	refs         map[string][]byte // by path: the references, for when their folder is gone
}

// maxKeptRefs is how many references are kept.
const maxKeptRefs = 2000

// keepGit notes how git's folder is; nil where there is none.
func keepGit(ctx context.Context, o *Options) *keptGit {
	common := gitDir(ctx, o)
	if common == "" {
		return nil
	}
	folder, err := os.Open(common)
	if err != nil {
		return nil
	}
	k := &keptGit{root: o.Root, common: common, folder: folder, mode: 0o700, files: map[string][]byte{}, refs: map[string][]byte{}}
	if info, err := folder.Stat(); err == nil {
		k.mode = info.Mode().Perm()
	}
	own := ownGitDir(o.Root)
	for _, name := range []string{
		filepath.Join(o.Root, ".git"), filepath.Join(common, "HEAD"), filepath.Join(common, "config"), filepath.Join(common, "config.worktree"),
		filepath.Join(own, "HEAD"), filepath.Join(own, "commondir"), filepath.Join(own, "gitdir"), filepath.Join(own, "config.worktree"),
	} {
		// What is a folder, or is not there, is not kept.
		if text, err := regular.Read(name, maxWatched); err == nil {
			k.files[name] = text
		}
	}
	packed := filepath.Join(common, "packed-refs")
	if text, err := regular.Read(packed, maxWatched); err == nil {
		k.refs[packed] = text
	}
	// References that cannot be read are not kept.
	_ = filepath.WalkDir(filepath.Join(common, "refs"), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case len(k.refs) >= maxKeptRefs:
			return fs.SkipAll
		case d.Type().IsRegular():
			if text, err := regular.Read(name, 1<<10); err == nil {
				k.refs[name] = text
			}
		}
		return nil
	})
	return k
}

// close lets the folder go.
func (k *keptGit) close() {
	if k != nil {
		_ = k.folder.Close() // nothing was written
	}
}

// mend puts back what git needs to know the repository, and only that: what
// works stays as the agent left it. It says what was done; aside is a folder
// for what the agent had put there instead.
func (k *keptGit) mend(ctx context.Context, o *Options, aside string) (done []string, err error) {
	if k == nil {
		return nil, nil
	}
	text, err := k.mendFolder(aside)
	if text != "" {
		done = append(done, text)
	}
	if err != nil {
		return done, err
	}
	if !k.changed() || k.works(ctx, o) {
		return done, nil
	}
	for _, name := range slices.Sorted(maps.Keys(k.files)) {
		was, err := putBackFile(name, k.files[name], aside)
		if err != nil {
			return done, err
		}
		if was != "" {
			done = append(done, fmt.Sprintf("%s was %s during this attempt, and git knew the repository no more; loop has put it back", relativeTo(k.root, name), was))
		}
		if k.works(ctx, o) {
			return done, nil
		}
	}
	return done, errors.New("git does not know the repository any more since this attempt; what the agent did lies in the work tree, and nothing of it is committed")
}

// mendFolder brings git's folder back to its place, with what lies right in it.
func (k *keptGit) mendFolder(aside string) (string, error) {
	held, err := k.folder.Stat()
	if err != nil {
		return "", err
	}
	text := ""
	if there, err := os.Lstat(k.common); err != nil || !os.SameFile(held, there) {
		from, ok := movedTo(k.folder)
		if !ok {
			return "", fmt.Errorf("git's folder %s was removed or moved away during this attempt; the repository is not there any more", k.common)
		}
		if err := setAside(k.common, aside); err != nil {
			return "", err
		}
		if err := os.Rename(from, k.common); err != nil {
			return "", fmt.Errorf("git's folder was moved to %q during this attempt and cannot be put back: %w", from, err)
		}
		text = fmt.Sprintf("git's folder was moved to %s during this attempt; loop has put it back", from)
	}
	if held.Mode().Perm() != k.mode && held.Mode().Perm()&0o500 != 0o500 {
		if err := os.Chmod(k.common, k.mode); err != nil {
			return text, err
		}
		text = strings.TrimPrefix(text+"; git's folder was closed to its owner during this attempt; loop has opened it", "; ")
	}
	if info, err := os.Lstat(filepath.Join(k.common, "refs")); err == nil && info.IsDir() {
		return text, nil
	}
	if err := setAside(filepath.Join(k.common, "refs"), aside); err != nil {
		return text, err
	}
	for name, data := range k.refs {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return text, err
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return text, err
		}
	}
	text = strings.TrimPrefix(text+"; all of git's references were removed during this attempt; loop has put them back as they were before it", "; ")
	return text, os.MkdirAll(filepath.Join(k.common, "refs"), 0o700)
}

// movedTo is where a folder that is held open lies now; ok is false when it was
// removed, or the system does not say.
func movedTo(folder *os.File) (path string, ok bool) {
	held, err := folder.Stat()
	if err != nil {
		return "", false
	}
	if path, err = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", folder.Fd())); err != nil {
		return "", false
	}
	there, err := os.Lstat(path)
	return path, err == nil && os.SameFile(held, there)
}

// changed: one of the files is not what it was, or a folder is missing.
func (k *keptGit) changed() bool {
	for name, was := range k.files {
		if is, err := regular.Read(name, maxWatched); err != nil || !bytes.Equal(is, was) {
			return true
		}
	}
	_, err := os.Stat(filepath.Join(k.common, "objects"))
	return err != nil
}

// works: git finds the repository that it found at the start.
func (k *keptGit) works(ctx context.Context, o *Options) bool {
	return gitLine(ctx, o, k.root, "rev-parse", "--path-format=absolute", "--is-inside-work-tree", "--git-common-dir") == "true\n"+k.common
}

// putBackFile writes a file as it was, and keeps what stood in its place. It
// says what had been done to it; "" is nothing.
func putBackFile(name string, data []byte, aside string) (was string, err error) {
	is, err := regular.Read(name, maxWatched)
	switch {
	case err == nil && bytes.Equal(is, data):
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		was = "removed"
	default:
		was = "changed"
	}
	if err := setAside(name, aside); err != nil {
		return "", err
	}
	return was, os.WriteFile(name, data, 0o600)
}

// setAside moves away what stands in a place where something of git's belongs.
func setAside(name, aside string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return nil // nothing does
	}
	to := filepath.Join(aside, "git-as-left-"+strings.TrimPrefix(filepath.Base(name), "."))
	if os.Rename(name, to) == nil {
		return nil
	}
	if info.Mode().IsRegular() { // another file system
		data, err := regular.Read(name, maxWatched)
		if err == nil {
			err = os.WriteFile(to, data, 0o600)
		}
		if err != nil {
			return err
		}
		return os.Remove(name)
	}
	if !info.IsDir() {
		return os.Remove(name)
	}
	return os.Rename(name, name+"-as-left")
}

// mendGit puts git's folder back where an attempt broke it.
func (r *run) mendGit(ctx context.Context, a *queue.Attempt, k *keptGit) error {
	done, err := k.mend(ctx, r.o, a.Dir)
	if err != nil {
		done = append(done, err.Error())
	}
	for _, text := range done {
		err = errors.Join(err, addFinding(ctx, r.o, a, "tampered", text))
	}
	return err
}

// withoutGit ends an attempt behind which no git can be asked any more: its
// calls are scanned, and the session ends.
func (r *run) withoutGit(ctx context.Context, a *queue.Attempt, was earlier, why error) error {
	was.pushes = nil
	a.Outcome, a.Reason = queue.HostFailed, why.Error()
	return errors.Join(why, scan(ctx, r.o, a, was), r.record(ctx, a, true))
}
