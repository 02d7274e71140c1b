package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/regular"
	"github.com/seed-b23e517c/loop/queue"
)

const (
	// gitWorkTimeout bounds what git does to a whole work tree, files of some
	// gigabytes included.
	gitWorkTimeout = 15 * time.Minute
	// maxGitOutput is how much of git's answer is read: names of changed files.
	maxGitOutput = 256 << 20
)

// checkout is the work tree of a session, as loop itself uses git in it: without
// hooks, editors, signatures and questions, and with the filters that were set
// when the session began, because an agent can change all of these.
type checkout struct {
	o       *Options
	dir     string
	state   string // folder for indexes of loop's own
	branch  string // full name of the session's ref
	who     []string
	filters filters
	config  []string          // settings for each call, each after a -c
	paths   map[string]string // where git keeps its files, by name: that stays as it was when it was asked first

	output    []string       // files that loop itself writes to: they are in no snapshot
	mine      []string       // files with uncommitted changes of the person's
	left      []string       // repositories of their own that were there before the attempt
	unsettled *queue.Attempt // the last one, when it did not pass and the work tree is as it left it
	beside    bool           // others use git in the repository at the same time
	carried   bool           // the attempt under way goes on with what the one before left
	worked    bool           // which is work: its tree is another than before the first of them
}

// noIdentity is who commits when git does not know the person.
const noIdentity = "loop <loop@localhost>"

func openCheckout(ctx context.Context, o *Options, dir, branch string) (*checkout, error) {
	t := &checkout{o: o, dir: dir, state: o.State, branch: branch}
	for _, role := range []string{"AUTHOR", "COMMITTER"} {
		ident, _ := t.git(ctx, nil, "var", "GIT_"+role+"_IDENT")
		name, email, ok := strings.Cut(ident, " <")
		email, _, closed := strings.Cut(email, ">")
		if !ok || !closed || name == "" {
			name, email = "loop", "loop@localhost"
		}
		t.who = append(t.who, "GIT_"+role+"_NAME="+name, "GIT_"+role+"_EMAIL="+email)
	}
	t.filters = readFilters(ctx, o, dir)
	return t, nil
}

// unknownPerson: git does not know who commits.
func (t *checkout) unknownPerson() bool {
	return slices.Contains(t.who, "GIT_COMMITTER_EMAIL=loop@localhost")
}

// call is one question to git.
type call struct {
	stdin []byte
	index string // another index file than the work tree's
}

// git asks and gives the answer without its last line break.
func (t *checkout) git(ctx context.Context, c *call, args ...string) (string, error) {
	c = cmp.Or(c, &call{})
	argv := append(gitArgv(
		"--literal-pathspecs", "-c", "core.safecrlf=false", "-c", "core.quotePath=false", "-c", "gc.auto=0", "-c", "submodule.recurse=false",
	), append(slices.Clone(t.config), args...)...)
	set := append([]string{
		"GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "GIT_ADVICE=0",
	}, t.who...)
	if c.index != "" {
		set = append(set, "GIT_INDEX_FILE="+c.index)
	}
	out := proc.Run(ctx, proc.RunOptions{
		Argv: argv, Dir: t.dir, Env: override(gateEnv(t.o), []string{"GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF"}, set), Stdin: c.stdin,
		Plain: true, Timeout: gitWorkTimeout, Tail: maxGitOutput, Separate: true, Now: t.o.Now,
	})
	text := strings.TrimSuffix(string(out.Tail), "\n")
	if out.OK() && !out.Cut {
		return text, nil
	}
	e := &GitError{Args: args, Code: out.ExitCode, Says: strings.TrimSpace(string(out.Stderr)), Err: out.Err}
	switch {
	case out.TimedOut:
		e.Err = fmt.Errorf("not finished after %v", gitWorkTimeout)
	case out.Cut:
		e.Err = errors.New("its answer is too long")
	}
	return text, e
}

// GitError says that git did not do what a session needs.
type GitError struct {
	Args []string
	Code int
	Says string // hostile text: it quotes names of files
	Err  error
}

func (e *GitError) Error() string {
	text := "git " + e.Args[0]
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", text, e.Err)
	}
	return fmt.Sprintf("%s: exit code %d: %s", text, e.Code, clip(strings.ReplaceAll(e.Says, "\n", "; "), 500))
}

func (e *GitError) Unwrap() error { return e.Err }

// ok asks a question whose answer is yes or no.
func (t *checkout) ok(ctx context.Context, args ...string) bool {
	_, err := t.git(ctx, nil, args...)
	return err == nil
}

// commitOf is the commit that a name means, "" when there is none.
func (t *checkout) commitOf(ctx context.Context, name string) string {
	id, err := t.git(ctx, nil, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	if err != nil {
		return ""
	}
	return id
}

func (t *checkout) treeOf(ctx context.Context, commit string) (string, error) {
	return t.git(ctx, nil, "rev-parse", "--verify", "--quiet", commit+"^{tree}")
}

// head is the ref that is checked out, "" when none is.
func (t *checkout) head(ctx context.Context) string {
	ref, err := t.git(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return ""
	}
	return ref
}

// within reports whether a commit is part of the history of another.
func (t *checkout) within(ctx context.Context, old, of string) bool {
	return t.ok(ctx, "merge-base", "--is-ancestor", old, of)
}

// path is where git keeps a file of this work tree.
func (t *checkout) path(ctx context.Context, name string) (string, error) {
	err := t.findPaths(ctx, []string{name})
	return t.paths[name], err
}

// findPaths asks for those that were not asked for before.
func (t *checkout) findPaths(ctx context.Context, names []string) error {
	args := []string{"rev-parse"}
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return t.paths[n] != "" })
	for _, n := range names {
		args = append(args, "--git-path", n)
	}
	if len(names) == 0 {
		return nil
	}
	out, err := t.git(ctx, nil, args...)
	if err != nil {
		return err
	}
	got := strings.Split(out, "\n")
	if len(got) != len(names) {
		return fmt.Errorf("git rev-parse says %q, which this loop cannot read", clip(out, 200))
	}
	if t.paths == nil {
		t.paths = map[string]string{}
	}
	for i, p := range got {
		if !filepath.IsAbs(p) {
			p = filepath.Join(t.dir, p)
		}
		t.paths[names[i]] = p
	}
	return nil
}

// refilter gives filters that the agent made or changed the value of the
// session's start, for every call from now on.
func (t *checkout) refilter(ctx context.Context) {
	t.config = t.filters.over(readFilters(ctx, t.o, t.dir))
}

// scratch is the name of a new index file, a copy of the work tree's own.
func (t *checkout) scratch(ctx context.Context, copied bool) (name string, done func(), err error) {
	dir, err := os.MkdirTemp(t.state, "index-")
	if err != nil {
		return "", nil, err
	}
	done = func() { _ = os.RemoveAll(dir) } // what stays is a few kilobytes in loop's own folder
	name = filepath.Join(dir, "index")
	if !copied {
		return name, done, nil
	}
	own, err := t.path(ctx, "index")
	if err == nil {
		err = copyFile(own, name)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		done()
		return "", nil, err
	}
	return name, done, nil
}

// maxIndex is the largest index of git's that is copied: that of ten million files.
const maxIndex = 1 << 30

// copyFile copies an index with its time, by which git tells whether a file
// was written again in the same second.
func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := regular.Read(from, maxIndex)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to, data, 0o600), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// lines joins names for a program that reads them ended by a zero byte.
func lines(names []string) []byte {
	var b []byte
	for _, n := range names {
		b = append(append(b, n...), 0)
	}
	return b
}

// splitZero is the other way round.
func splitZero(s string) []string {
	return slices.DeleteFunc(strings.Split(s, "\x00"), func(n string) bool { return n == "" })
}
