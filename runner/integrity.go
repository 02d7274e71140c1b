package runner

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
)

// maxClientFiles is how many files of .claude are looked at.
const maxClientFiles = 500

// hash is that of a file's text; a missing file has the zero one.
type hash = [sha256.Size]byte

// integrity is how what decides about an attempt, or runs after it, stood at
// one moment. Each file goes by its path.
type integrity struct {
	told   map[string]hash // what the run was told by
	client map[string]hash // the client's files in the repository
	hooks  map[string]hash // git's hooks
	user   map[string]hash // the user's, in the home
	gates  map[string]hash // what the gates run, by name
	gateOf map[string]string
	bins   map[string]hash // programs of packages that the gates run, by name
	binOf  map[string]string
	locks  map[string]hash // what changes when other packages are installed
	config map[string]string
	view   gitView
	state  map[string]*os.File // files of loop's state that are there
	common string
}

func readIntegrity(ctx context.Context, o *Options) integrity {
	common := gitDir(ctx, o)
	in := integrity{
		told: fingerprints(o.Watched), client: clientFiles(o.Root), gates: map[string]hash{}, hooks: map[string]hash{},
		config: gitSettings(ctx, o), gateOf: gateFiles(o), user: readUserFiles(o), binOf: installed(o),
	}
	for _, w := range o.Watched {
		delete(in.client, w)
	}
	in.bins, in.locks = map[string]hash{}, fingerprints(under(o.Root, locks))
	for name := range in.binOf {
		in.bins[name] = gateHash(filepath.Join(o.Root, name))
	}
	in.common, in.view, in.state = common, readGitView(o.Root, common), stateFiles(o.State)
	if common != "" {
		in.hooks = hookFiles(filepath.Join(common, "hooks"))
	}
	for name := range in.gateOf {
		in.gates[name] = gateHash(filepath.Join(o.Root, name))
	}
	return in
}

// under are the names in a folder.
func under(dir string, names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = filepath.Join(dir, name)
	}
	return out
}

// clientFiles are .mcp.json and what stands in .claude, memory apart, which is
// shown as such.
func clientFiles(root string) map[string]hash {
	out := fingerprints([]string{filepath.Join(root, ".mcp.json")})
	var paths []string
	// A folder that cannot be read is an empty one.
	_ = filepath.WalkDir(filepath.Join(root, ".claude"), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || len(paths) == maxClientFiles:
			return fs.SkipAll
		case d.Type().IsRegular() && !slices.Contains(memoryNames, d.Name()):
			paths = append(paths, name)
		}
		return nil
	})
	maps.Copy(out, fingerprints(paths))
	return out
}

// hookFiles are git's hooks without the samples that no git runs.
func hookFiles(dir string) map[string]hash {
	var paths []string
	// No folder, no hooks.
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() && !strings.HasSuffix(e.Name(), ".sample") {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return fingerprints(paths)
}

// changedSince says in words what became of it by now.
func (in integrity) changedSince(now integrity, o *Options) []string {
	var out []string
	each := func(was, is map[string]hash, say func(name, how string) string) {
		all := maps.Clone(was)
		maps.Copy(all, is)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if was[name] != is[name] {
				out = append(out, say(name, changeWord(was[name], is[name])))
			}
		}
	}
	each(in.told, now.told, func(name, how string) string {
		return fmt.Sprintf("%s was %s during this attempt; the session went on with what it said at the start", name, how)
	})
	gates := maps.Clone(now.gateOf)
	maps.Copy(gates, in.gateOf)
	each(in.gates, now.gates, func(name, how string) string {
		return fmt.Sprintf("%s was %s during this attempt, and the gate %q runs it: what decides was changed by the agent that it judges", name, how, gates[name])
	})
	if maps.Equal(in.locks, now.locks) {
		bins := maps.Clone(now.binOf)
		maps.Copy(bins, in.binOf)
		each(in.bins, now.bins, func(name, how string) string {
			return fmt.Sprintf("%s was %s during this attempt although no other packages were asked for, and the gate %q runs it: what decides was changed by the agent that it judges", name, how, bins[name])
		})
	}
	each(in.hooks, now.hooks, func(name, how string) string {
		return fmt.Sprintf("the git hook %s was %s during this attempt; it runs with your next git command", relativeTo(o.Root, name), how)
	})
	each(in.client, now.client, func(name, how string) string {
		return fmt.Sprintf("%s was %s during this attempt; the client reads it in later sessions", relativeTo(o.Root, name), how)
	})
	each(in.user, now.user, func(name, how string) string {
		return fmt.Sprintf("%s was %s during this attempt; programs of yours read it, or run it, after this run", name, how)
	})
	out = append(out, in.view.changedSince(now.view, in.common, o)...)
	for _, name := range slices.Sorted(maps.Keys(in.state)) {
		is, there := now.state[name]
		switch {
		case !there:
			out = append(out, fmt.Sprintf("loop's own %s was removed during this attempt: what it held is gone", name))
		case !sameFile(in.state[name], is):
			out = append(out, fmt.Sprintf("loop's own %s was replaced during this attempt: what it held before is gone", name))
		}
	}
	in.forget()
	now.forget()
	return append(out, changedSettings(in.config, now.config)...)
}

// stateFiles opens those files of loop's state that no run replaces. As long as
// they are open no other file can look like them.
func stateFiles(dir string) map[string]*os.File {
	out := map[string]*os.File{}
	for _, name := range []string{"queue.db", "run.lock"} {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if f, err := os.Open(path); err == nil {
			out[name] = f
		}
	}
	return out
}

// forget closes the files of loop's state.
func (in integrity) forget() {
	for _, f := range in.state {
		_ = f.Close() // nothing was written
	}
}

func sameFile(a, b *os.File) bool {
	was, err := a.Stat()
	if err != nil {
		return false
	}
	is, err := b.Stat()
	return err == nil && os.SameFile(was, is)
}

func changeWord(was, is hash) string {
	switch (hash{}) {
	case was:
		return "made"
	case is:
		return "removed"
	}
	return "changed"
}

func relativeTo(root, name string) string {
	if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

// gitSettings are the settings of the repository and of its work tree by which
// git runs programs, sends elsewhere or reads other files.
func gitSettings(ctx context.Context, o *Options) map[string]string {
	ask := func(how ...string) ([]string, bool) {
		got := proc.Run(ctx, proc.RunOptions{
			Argv: append([]string{"git", "config", "--list", "-z"}, how...), Dir: o.Root, Env: o.Env,
			Plain: true, Timeout: gitTimeout, Tail: 1 << 20, Separate: true, Now: o.Now,
		})
		return splitZero(string(got.Tail)), got.OK()
	}
	out := map[string]string{}
	add := func(entry string) {
		key, value, _ := strings.Cut(entry, "\n")
		if !matters(key, value) {
			return
		}
		if old, twice := out[key]; twice && old != value {
			value = old + ", " + value
		}
		out[key] = value
	}
	if list, ok := ask("--show-scope"); ok {
		for i := 0; i+1 < len(list); i += 2 {
			if scope := list[i]; scope == "local" || scope == "worktree" {
				add(list[i+1])
			}
		}
		return out
	}
	// git before 2.26
	for _, scope := range []string{"--local", "--worktree"} {
		list, _ := ask(scope)
		for _, entry := range list {
			add(entry)
		}
	}
	return out
}

// matters: the setting decides what git runs, or where it sends. What tools
// that many projects use set for themselves does not.
func matters(key, value string) bool {
	section, rest, _ := strings.Cut(strings.ToLower(key), ".")
	name := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section {
	case "core":
		if name == "hookspath" && (value == ".husky" || value == ".husky/_") {
			return false
		}
		if (name == "pager" || name == "editor") && !strings.ContainsAny(value, " /\\|;&$`") {
			return false // a program by its name alone
		}
		return slices.Contains([]string{"hookspath", "sshcommand", "gitproxy", "askpass", "fsmonitor", "editor", "pager", "worktree", "attributesfile", "alternaterefscommand"}, name)
	case "remote":
		return slices.Contains([]string{"url", "pushurl", "receivepack", "uploadpack", "vcs", "proxy", "push", "mirror"}, name)
	case "filter":
		return !strings.HasPrefix(rest, "lfs.") || !strings.HasPrefix(value, "git-lfs ") && name != "required"
	case "alias", "url", "credential", "include", "includeif", "hook":
		return true
	case "diff", "merge", "gpg", "init", "sequence", "difftool", "mergetool":
		return slices.Contains([]string{"textconv", "command", "driver", "program", "templatedir", "editor", "cmd", "external"}, name)
	}
	return false
}

func changedSettings(was, is map[string]string) []string {
	var out []string
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		before, had := was[key]
		after, has := is[key]
		switch {
		case had == has && before == after,
			// Another remote changes nothing of those that are there.
			!had && strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".url"):
		case !has:
			out = append(out, fmt.Sprintf("git's setting %s was taken away during this attempt (it was %q)", key, before))
		case !had:
			out = append(out, fmt.Sprintf("git's setting %s was set to %q during this attempt", key, after))
		default:
			out = append(out, fmt.Sprintf("git's setting %s was changed during this attempt from %q to %q", key, before, after))
		}
	}
	return out
}

// tampered tells what an attempt did to what decides about it, or runs after
// it.
func (r *run) tampered(ctx context.Context, a *queue.Attempt, was, now integrity) error {
	for name := range was.gates {
		// A file that is gone is named by no gate any more.
		now.gates[name] = gateHash(filepath.Join(r.o.Root, name))
	}
	for _, text := range was.changedSince(now, r.o) {
		if err := addFinding(ctx, r.o, a, "tampered", text); err != nil {
			return err
		}
	}
	return nil
}
