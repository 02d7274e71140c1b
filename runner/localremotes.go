package runner

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-b23e517c/loop/internal/regular"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// localRemote is a remote of the repository that is a folder of this machine.
// What it holds can be seen without asking anybody, whatever sent it there:
// also what removed git's own notes of it.
type localRemote struct{ name, dir string }

// remoteMark begins the note of a reference of such a remote.
const remoteMark = "remote:"

// maxRemoteRefs is how many references of one remote are read.
const maxRemoteRefs = 5000

// localRemotes are those that the repository's configuration names.
func localRemotes(root, common string) []localRemote {
	if common == "" {
		return nil
	}
	// Without a configuration there are none.
	text, _ := regular.Read(filepath.Join(common, "config"), maxWatched)
	var out []localRemote
	name := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name = ""
			if rest, ok := strings.CutPrefix(line, `[remote "`); ok {
				name, _, _ = strings.Cut(rest, `"`)
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if key = strings.ToLower(strings.TrimSpace(key)); !ok || name == "" || key != "url" && key != "pushurl" {
			continue
		}
		if dir := remoteDir(root, strings.Trim(strings.TrimSpace(value), `"`)); dir != "" {
			out = append(out, localRemote{name: name, dir: dir})
		}
	}
	return out
}

// remoteDir is the folder that holds the references behind an address, "" when
// it is none of this machine.
func remoteDir(root, address string) string {
	dir, isURL := strings.CutPrefix(address, "file://")
	if !isURL && strings.Contains(dir, ":") || dir == "" {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	for _, d := range []string{filepath.Join(dir, ".git"), dir, dir + ".git"} {
		if info, err := os.Stat(filepath.Join(d, "refs")); err == nil && info.IsDir() {
			return d
		}
	}
	return ""
}

// refs are the references of the remote, each with what it names.
func (l localRemote) refs() map[string]string {
	out := map[string]string{}
	// Without packed ones there are those in files, which are newer.
	packed, _ := regular.Read(filepath.Join(l.dir, "packed-refs"), maxWatched)
	for line := range strings.Lines(string(packed)) {
		if hash, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok && workspace.IsHash(hash) && len(out) < maxRemoteRefs {
			out[ref] = hash
		}
	}
	// What cannot be read tells nothing.
	_ = filepath.WalkDir(filepath.Join(l.dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if len(out) >= maxRemoteRefs {
			return fs.SkipAll
		}
		ref, relErr := filepath.Rel(l.dir, path)
		if text, err := regular.Read(path, 1<<10); err == nil && relErr == nil {
			if hash := strings.TrimSpace(string(text)); workspace.IsHash(hash) {
				out[filepath.ToSlash(ref)] = hash
			}
		}
		return nil
	})
	return out
}

// noteRemotes adds how the references of the local remotes are now.
func noteRemotes(o *Options, found map[string]bool) {
	for _, l := range o.remotes {
		for ref, hash := range l.refs() {
			found[strings.Join([]string{remoteMark + l.name, ref, hash}, " ")] = true
		}
	}
}

// sentTo is the action of a reference of a local remote that is another now; ok
// is false when it was not sent from this repository.
func sentTo(ctx context.Context, o *Options, line string, a queue.Attempt) (x queue.Action, ok bool) {
	f := strings.Fields(line)
	remote := strings.TrimPrefix(f[0], remoteMark)
	// What others send there is not here, or came from there.
	if len(f) != 3 || gitLine(ctx, o, o.Root, "cat-file", "-t", f[2]) == "" || fetched(o, f[2]) && !ownCommit(ctx, o, f[2]) {
		return x, false
	}
	x = unseenPush(o, a, line)
	x.Command = fmt.Sprintf("git push (seen in the repository that is the remote %s)", remote)
	x.Why = "A reference of the remote names what was made here, and no call in the transcript sent it: a program did, or you did."
	x.Excerpt = fmt.Sprintf("%s of %s now at %s", f[1], remote, f[2])
	return x, true
}

// fetched: git notes that it was a fetch that brought this.
func fetched(o *Options, hash string) bool {
	found := false
	logs := filepath.Join(o.gitDir, "logs", "refs", "remotes")
	// A log that cannot be read notes nothing.
	_ = filepath.WalkDir(logs, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		text, _ := regular.Read(path, maxWatched)
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 1 && f[1] == hash && !strings.HasSuffix(strings.TrimSpace(line), pushMark) {
				found = true
				return fs.SkipAll
			}
		}
		return nil
	})
	return found
}

// ownCommit: who commits here made it.
func ownCommit(ctx context.Context, o *Options, hash string) bool {
	email := gitLine(ctx, o, o.Root, "show", "-s", "--no-show-signature", "--format=%ce", hash)
	return email != "" && strings.Contains(gitLine(ctx, o, o.Root, "var", "GIT_COMMITTER_IDENT"), "<"+email+">")
}

// unseenPush is a push that no call shows, as an action that ran.
func unseenPush(o *Options, a queue.Attempt, line string) queue.Action {
	return queue.Action{
		Kind: "call", Session: a.Session, Story: a.Story, StoryTitle: a.StoryTitle, Attempt: a.ID,
		Tool: "git", ToolUseID: "reflog " + line, Rules: []string{"git-reflog-push"},
		Undo: policy.UndoCorrection, Tier: policy.External, Evidence: policy.Executed, Outcome: "ok",
		GitHead: a.HeadAfter, DetectedAt: o.Now().UTC(), FoundBy: queue.ByScan,
	}
}
