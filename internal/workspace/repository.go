package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/regular"
)

// Repository is a git repository as the files above a folder show it. Finding
// it starts no process: git takes longer for that than a hook for its whole
// answer.
type Repository struct {
	Dir    string      // the folder that was asked about
	Top    string      // top folder of the work tree; "" = there is none
	Common string      // folder that its work trees share; "" = not known
	Own    string      // folder of this work tree alone; "" = not known
	plain  func() bool // git would not see it otherwise; asked once, nil = it may
}

func (r Repository) sure() bool { return r.plain != nil && r.plain() }

// places are the variables by which git looks elsewhere than in the folders
// above.
func places() []string {
	return []string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
		"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
	}
}

// Repository finds the repository of a folder. Source of what git does there:
// git's manual, gitrepository-layout(5) and "GIT_DISCOVERY_ACROSS_FILESYSTEM"
// in git(1).
func (f Finder) Repository(dir string) Repository {
	r := f.search(dir)
	r.Dir = dir
	return r
}

func (f Finder) search(dir string) Repository {
	start, err := f.real(dir)
	if err != nil || !filepath.IsAbs(start) {
		return Repository{}
	}
	for top := start; ; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			r, ok := openRepository(top)
			if ok {
				r.plain = sync.OnceValue(func() bool {
					return r.simple() && ours(top, filepath.Join(top, ".git"), r.Own) && sameDevice(start, top) && !f.elsewhere()
				})
			}
			return r
		} else if !errors.Is(err, fs.ErrNotExist) {
			return Repository{}
		}
		// Without a work tree, or inside of a .git.
		if _, err := os.Lstat(filepath.Join(top, "HEAD")); err == nil {
			return Repository{}
		}
		if top == filepath.Dir(top) {
			return Repository{plain: func() bool { return !f.elsewhere() }}
		}
	}
}

func (f Finder) elsewhere() bool {
	for _, name := range places() {
		if proc.Getenv(f.Env, name) != "" {
			return true
		}
	}
	return false
}

// openRepository reads the files of the repository with the top folder top; ok is
// false where they do not say all of where it lies.
func openRepository(top string) (r Repository, ok bool) {
	r.Top = top
	git := filepath.Join(top, ".git")
	info, err := os.Lstat(git)
	switch {
	case err != nil:
		return r, false
	case info.IsDir():
		r.Own, r.Common = git, git
	default: // of a linked work tree, or a submodule
		text, err := readFile(git)
		dir, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
		if err != nil || !ok {
			return r, false
		}
		r.Own = under(top, dir)
		r.Common = r.Own
		common, err := readFile(filepath.Join(r.Own, "commondir"))
		if err == nil {
			r.Common = under(r.Own, strings.TrimSpace(string(common)))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return r, false
		}
	}
	return r, true
}

// simple reports whether there is a repository, and nothing in its
// configuration that changes where it or its work tree is.
func (r Repository) simple() bool {
	for _, dir := range []string{filepath.Join(r.Common, "objects"), filepath.Join(r.Common, "refs")} {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return false
		}
	}
	if _, err := os.Lstat(filepath.Join(r.Own, "HEAD")); err != nil {
		return false
	}
	config, err := readFile(filepath.Join(r.Common, "config"))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	config = bytes.ToLower(config)
	if bytes.Contains(config, []byte("worktree")) || bytes.Contains(config, []byte("extensions")) {
		return false
	}
	for line := range bytes.Lines(config) {
		name, value, _ := bytes.Cut(line, []byte("="))
		if bytes.HasSuffix(bytes.TrimSpace(name), []byte("bare")) && string(bytes.TrimSpace(value)) != "false" {
			return false
		}
	}
	return true
}

// maxRead is the largest of git's files that is read here: packed-refs of a
// million branches. Of larger ones git is asked.
const maxRead = 64 << 20

func readFile(name string) ([]byte, error) { return regular.Read(name, maxRead) }

// under is a path as it is meant in dir.
func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// Head is the commit and the branch on which a repository stands; "" where
// there is none.
func (f Finder) Head(ctx context.Context, r Repository) (commit, branch string) {
	if r.sure() {
		if r.Top == "" {
			return "", ""
		}
		if commit, branch, ok := r.head(); ok {
			return commit, branch
		}
	}
	// Both at once, where there is a commit.
	if out := f.askGit(ctx, r.Dir, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD"); len(out) == 2 {
		return out[0], branchOf(out[1])
	}
	if out := f.askGit(ctx, r.Dir, "symbolic-ref", "--quiet", "HEAD"); len(out) == 1 {
		branch = branchOf(out[0])
	}
	return "", branch
}

// branchOf is the name of a branch, "" for what is none.
func branchOf(ref string) string {
	if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		return name
	}
	return ""
}

// head reads what HEAD says. ok is false where only git can tell: references
// that lead to others, or that are kept in another form than files.
func (r Repository) head() (commit, branch string, ok bool) {
	name := filepath.Join(r.Own, "HEAD")
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return "", "", false
	}
	text, err := readFile(name)
	if err != nil {
		return "", "", false
	}
	line := strings.TrimSpace(string(text))
	ref, ok := strings.CutPrefix(line, "ref:")
	if !ok {
		return line, "", IsHash(line)
	}
	ref = strings.TrimSpace(ref)
	branch = branchOf(ref)
	if branch == "" || branch == ".invalid" || !filepath.IsLocal(ref) {
		return "", "", false
	}
	commit, ok = r.resolve(ref)
	return commit, branch, ok
}

// resolve is the commit of a branch: its own file, else its line in
// packed-refs, else "", because it has none yet.
func (r Repository) resolve(ref string) (commit string, ok bool) {
	text, err := readFile(filepath.Join(r.Common, filepath.FromSlash(ref)))
	if err == nil {
		commit = strings.TrimSpace(string(text))
		return commit, IsHash(commit)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	packed, err := readFile(filepath.Join(r.Common, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", true
	}
	if err != nil {
		return "", false
	}
	at := bytes.Index(packed, []byte(" "+ref+"\n"))
	if at < 0 {
		return "", true
	}
	commit = string(packed[bytes.LastIndexByte(packed[:at], '\n')+1 : at])
	return commit, IsHash(commit)
}

// IsHash reports whether a text is the name of an object: SHA-1 or SHA-256.
func IsHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
