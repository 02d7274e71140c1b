package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/proc"
)

// treeTime bounds the reading of a work tree.
const treeTime = time.Minute

// tree is what git sees of the repository at one moment.
type tree struct {
	id   string            // of all files that are not ignored, committed or not; "" = not known
	open bool              // a repository within it holds changes that it has not committed
	refs map[string]string // branches and tags, each with the tree that it stands for
}

// trees reads work trees into objects of its own, which end with the session:
// nothing of it reaches the repository.
type trees struct {
	o       *Options
	dir     string
	objects string // the repository's own
	own     string // its index
	branch  string // the one whose commits count as work, beside HEAD; "" = all branches and tags
	filters filters
	config  []string // settings for each call, each after a -c
}

// newTrees makes the folder for one session's objects.
func newTrees(ctx context.Context, o *Options, session string) (*trees, error) {
	t := &trees{
		o: o, dir: objectsDir(o, session),
		objects: gitLine(ctx, o, o.Root, "rev-parse", "--path-format=absolute", "--git-path", "objects"),
		own:     gitLine(ctx, o, o.Root, "rev-parse", "--path-format=absolute", "--git-path", "index"),
		filters: readFilters(ctx, o, o.Root),
	}
	return t, os.MkdirAll(t.dir, 0o700)
}

func objectsDir(o *Options, session string) string {
	return filepath.Join(o.State, "runs", session, "objects"+o.lane)
}

func (t *trees) close() error { return os.RemoveAll(t.dir) }

// read takes the tree as it is now, without what loop itself writes there.
func (t *trees) read(ctx context.Context) tree {
	if t == nil || t.objects == "" {
		return tree{}
	}
	t.config = t.filters.over(readFilters(ctx, t.o, t.o.Root))
	index := filepath.Join(t.dir, "index")
	if err := copyIndex(t.own, index); err != nil {
		return tree{}
	}
	defer os.Remove(index)
	// What cannot be read is left out on both sides.
	large := t.large(ctx, index)
	add := []string{"add", "--all", "--ignore-errors", "--", "."}
	for _, name := range large {
		add = append(add, ":(exclude,literal)"+name)
	}
	out := t.gitWith(ctx, index, "GIT_LITERAL_PATHSPECS=0", add...)
	if out.TimedOut {
		t.objects = "" // so large a tree is not tried again in this session
		t.o.Log.Warn("the work tree takes too long to read: what attempts change is not known", "limit", treeTime)
	}
	if out.Err != nil || out.TimedOut || out.ExitCode > 1 {
		return tree{}
	}
	remove := append([]string{"rm", "-r", "-q", "-f", "--cached", "--ignore-unmatch", "--"}, ownFiles(t.o)...)
	if !t.git(ctx, index, remove...).OK() {
		return tree{}
	}
	var all sync.WaitGroup
	var now tree
	all.Go(func() { now.open = t.nested(ctx, index) })
	all.Go(func() { now.refs = t.refs(ctx) })
	out = t.git(ctx, index, "write-tree")
	all.Wait()
	if !out.OK() {
		return tree{}
	}
	sizes(t.o.Root, large, now.refs)
	now.id = strings.TrimSpace(string(out.Tail))
	return now
}

// maxNested is how many repositories within a repository are looked into.
const maxNested = 20

// nested reports whether a repository within the work tree, a submodule or
// not, holds changes that it has not committed: the tree shows only its commit.
func (t *trees) nested(ctx context.Context, index string) bool {
	out := t.git(ctx, index, "ls-files", "--stage", "-z")
	n := 0
	for entry := range strings.SplitSeq(string(out.Tail), "\x00") {
		stage, name, _ := strings.Cut(entry, "\t")
		if !strings.HasPrefix(stage, "160000 ") {
			continue
		}
		dir := filepath.Join(t.o.Root, filepath.FromSlash(name))
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
			continue // not checked out
		}
		if n++; n > maxNested || !t.clean(ctx, dir) {
			return true
		}
	}
	return false
}

// clean asks a repository within the work tree. Its settings may be the
// agent's, and get no credentials.
func (t *trees) clean(ctx context.Context, dir string) bool {
	none := filters{}.over(readFilters(ctx, t.o, dir))
	out := proc.Run(ctx, proc.RunOptions{
		Argv: gitArgv(append(none, "status", "--porcelain")...), Dir: dir, Env: gateEnv(t.o),
		Plain: true, Timeout: gitTimeout, Tail: 4 << 10, Separate: true, Now: t.o.Now,
	})
	return out.OK() && len(out.Tail) == 0
}

func (t *trees) refs(ctx context.Context) map[string]string {
	refs := map[string]string{}
	if t.branch != "" {
		// Others move theirs at the same time.
		for _, name := range []string{"HEAD", t.branch} {
			if out := t.git(ctx, "", "rev-parse", "--verify", "--quiet", name+"^{tree}"); out.OK() {
				refs[name] = strings.TrimSpace(string(out.Tail))
			}
		}
		return refs
	}
	out := t.git(ctx, "", "for-each-ref", "--format=%(refname) %(tree)%(*tree)", "refs/heads", "refs/tags")
	if !out.OK() {
		return refs
	}
	for line := range strings.Lines(string(out.Tail)) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[name] = id
	}
	return refs
}

// sameRefs reports whether branches and tags stand for what they did, loop's
// own files apart: an empty commit, or one of a done mark, is no work.
func (t *trees) sameRefs(ctx context.Context, before, after map[string]string) bool {
	if len(before) != len(after) {
		return false
	}
	own := ownFiles(t.o)
	for name, id := range after {
		was, ok := before[name]
		if !ok {
			return false
		}
		if was == id {
			continue
		}
		out := t.git(ctx, "", "diff-tree", "-r", "-z", "--name-only", was, id)
		if !out.OK() {
			return false
		}
		for path := range strings.SplitSeq(strings.TrimRight(string(out.Tail), "\x00"), "\x00") {
			if path != "" && !slices.ContainsFunc(own, func(o string) bool { return path == o || strings.HasPrefix(path, o+"/") }) {
				return false
			}
		}
	}
	return true
}

// diff is what lies between two trees, as a patch with renames; "" when it
// cannot be had. What is too long is cut at its beginning.
func (t *trees) diff(ctx context.Context, from, to tree) string {
	if t == nil || from.id == "" || to.id == "" {
		return ""
	}
	out := t.git(ctx, "", "diff-tree", "-r", "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index",
		"--src-prefix=a/", "--dst-prefix=b/", from.id, to.id)
	if !out.OK() {
		return ""
	}
	return string(out.Tail) + t.textDiff(ctx, from, to, string(out.Tail))
}

// textDiff is the patch of those files that git calls binary although they are
// named like text: an attribute may say so, and hide what was done to them.
func (t *trees) textDiff(ctx context.Context, from, to tree, patch string) string {
	const most = 100
	var paths []string
	for line := range strings.Lines(patch) {
		rest, ok := strings.CutPrefix(line, "Binary files ")
		if !ok || len(paths) == most {
			continue
		}
		was, is, _ := strings.Cut(strings.TrimSuffix(rest, " differ\n"), " and ")
		for _, name := range []string{strings.TrimPrefix(was, "a/"), strings.TrimPrefix(is, "b/")} {
			if name != os.DevNull && !slices.Contains(paths, name) && !slices.Contains(binaryNames, strings.ToLower(filepath.Ext(name))) {
				paths = append(paths, name)
			}
		}
	}
	if len(paths) == 0 {
		return ""
	}
	out := t.git(ctx, "", append([]string{
		"diff-tree", "-r", "-p", "-M", "--text", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index",
		"--src-prefix=a/", "--dst-prefix=b/", from.id, to.id, "--",
	}, paths...)...)
	if !out.OK() {
		return ""
	}
	var b strings.Builder
	for _, file := range strings.Split("\n"+string(out.Tail), "\ndiff --git ")[1:] {
		if strings.IndexByte(file, 0) < 0 { // else it is binary indeed
			b.WriteString("\ndiff --git " + file)
		}
	}
	return b.String()
}

// binaryNames are the endings of files that no person reads as text.
var binaryNames = []string{
	".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".bmp", ".pdf", ".zip", ".gz", ".tgz", ".xz", ".zst", ".7z", ".jar", ".wasm", ".woff", ".woff2",
	".ttf", ".otf", ".eot", ".mp3", ".mp4", ".wav", ".ogg", ".webm", ".mov", ".db", ".sqlite", ".bin", ".exe", ".dll", ".so", ".dylib", ".a", ".o", ".class", ".pyc",
}

// receiptLines are the lines with something like a receipt in them that one
// tree has more than another.
func (t *trees) receiptLines(ctx context.Context, from, to tree) string {
	if t == nil || from.id == "" || to.id == "" || from.id == to.id {
		return ""
	}
	out := t.git(ctx, "", "diff-tree", "-r", "-p", "-U0", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "-G", "zc-receipt-[0-9]", from.id, to.id)
	if !out.OK() {
		return ""
	}
	var lines strings.Builder
	for line := range strings.Lines(string(out.Tail)) {
		if added, ok := strings.CutPrefix(line, "+"); ok && strings.Contains(added, "zc-receipt-") {
			lines.WriteString(added)
		}
	}
	return lines.String()
}

// git runs git with objects and, where it is named, an index beside the
// repository's, and nothing that the repository sets to run along.
func (t *trees) git(ctx context.Context, index string, args ...string) proc.Output {
	return t.gitWith(ctx, index, "GIT_LITERAL_PATHSPECS=1", args...)
}

func (t *trees) gitWith(ctx context.Context, index, pathspecs string, args ...string) proc.Output {
	env := []string{
		"GIT_OBJECT_DIRECTORY=" + t.dir, pathspecs, "GIT_OPTIONAL_LOCKS=0",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + t.objects,
	}
	if index != "" {
		env = append(env, "GIT_INDEX_FILE="+index)
	}
	argv := gitArgv(
		"-c", "core.looseCompression=1", "-c", "core.quotePath=false", "-c", "advice.addEmbeddedRepo=false", "-c", "core.safecrlf=false",
	)
	return proc.Run(ctx, proc.RunOptions{
		Argv: append(append(argv, t.config...), args...), Dir: t.o.Root, Env: override(gateEnv(t.o), nil, env),
		Plain: true, Timeout: treeTime, Tail: 8 << 20, Separate: true, Now: t.o.Now,
	})
}

// copyIndex begins with git's own index, because it knows which files have not
// been touched since they were read.
func copyIndex(from, to string) error {
	if from == "" {
		return errors.New("no repository")
	}
	if err := copyFile(from, to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ownFiles are the files of the work tree that say nothing about work done:
// the stories, what the run is told by, the log that such loops keep.
func ownFiles(o *Options) []string {
	var out []string
	for _, name := range append([]string{
		o.Stories, filepath.Join(o.Root, progressName), filepath.Join(filepath.Dir(o.Stories), progressName),
	}, o.Watched...) {
		for _, n := range []string{name, firewall.RealPlace(name)} {
			if rel, err := filepath.Rel(o.Root, n); err == nil && filepath.IsLocal(rel) && rel != "." {
				out = append(out, filepath.ToSlash(rel))
			}
		}
	}
	return append(out, "progress.txt")
}

const progressName = "progress.txt"
