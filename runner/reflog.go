package runner

import (
	"bufio"
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// pushMark is how git notes in a reflog that a push of this repository moved a
// remote-tracking branch. It is written by whatever makes git push: a program
// or a script that nobody could read included. Source: git's transport.c.
const pushMark = "update by push"

// pushes are the lines of the remote-tracking branches' reflogs that a push
// wrote, with the branch in front. Without git, and for pushes to a URL that
// is no remote, there are none: it is a second look, not the guard.
func pushes(ctx context.Context, o *Options) map[string]bool {
	found := map[string]bool{}
	dir := gitLine(ctx, o, o.Root, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if dir == "" {
		return found
	}
	logs := filepath.Join(dir, "logs", "refs", "remotes")
	// A log that cannot be read tells nothing; what it hides, the transcript
	// may still show.
	_ = filepath.WalkDir(logs, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		branch, err := filepath.Rel(logs, path)
		if err != nil {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			if strings.HasSuffix(lines.Text(), "\t"+pushMark) {
				found[filepath.ToSlash(branch)+" "+lines.Text()] = true
			}
		}
		return nil
	})
	return found
}

// unseenPushes are the pushes that happened since before and that the scan
// of the transcript did not find, as actions that ran.
func unseenPushes(before, after map[string]bool, seen []queue.Action, a queue.Attempt, now time.Time) []queue.Action {
	for _, x := range seen {
		if x.Evidence == policy.Executed && strings.Contains(strings.Join(x.Rules, " "), "push") {
			return nil
		}
	}
	var out []queue.Action
	for _, line := range slices.Sorted(maps.Keys(after)) {
		if before[line] {
			continue
		}
		branch, entry, _ := strings.Cut(line, " ")
		_, moved, _ := strings.Cut(entry, " ")
		out = append(out, queue.Action{
			Kind: "call", Session: a.Session, Story: a.Story, StoryTitle: a.StoryTitle, Attempt: a.ID,
			Tool: "git", ToolUseID: "reflog " + line, Command: "git push (seen in the reflog of " + branch + ")",
			Rules: []string{"git-reflog-push"}, Why: "git noted a push that no call in the transcript shows.",
			Undo: policy.UndoCorrection, Tier: policy.External, Evidence: policy.Executed, Outcome: "ok",
			Excerpt: branch + " now at " + moved, GitHead: a.HeadAfter, DetectedAt: now, FoundBy: queue.ByScan,
		})
	}
	return out
}
