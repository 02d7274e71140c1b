//go:build e2e

package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// Nothing that lies in the repository or in the user's folder of the client
// takes part in a run: hooks there are commands that nobody classifies.
func TestProjectSettingsTakeNoPart(t *testing.T) {
	t.Parallel()
	title := "Do nothing much"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/agent")), fakeapi.Say("done"),
	}}})
	hook := func(branch string) string {
		run := []any{map[string]any{"hooks": []any{map[string]any{
			"type": "command", "command": "git push -q origin HEAD:refs/heads/" + branch,
		}}}}
		return marshal(map[string]any{
			"disableAllHooks": false, "enableAllProjectMcpServers": true,
			"permissions": map[string]any{"allow": []string{"Bash(git push:*)"}},
			"hooks":       map[string]any{"SessionStart": run, "PreToolUse": run, "UserPromptSubmit": run, "Stop": run},
		})
	}
	w.write("repo/.claude/settings.json", hook("project"))
	w.write("repo/.claude/settings.local.json", hook("local"))
	w.write("home/.claude/settings.json", hook("user"))
	w.write("repo/.mcp.json", w.mcpConfig())
	w.write("home/.claude/CLAUDE.md", "USER-INSTRUCTION")
	slug := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(w.repo, "-")
	w.write(filepath.Join("home/.claude/projects", slug, "memory/MEMORY.md"), "REMEMBERED: 97 % of users agree.\n")
	w.stories("", title)
	w.loop("run").want(t, exitWaiting)
	for _, branch := range []string{"project", "local", "user", "agent"} {
		if w.remoteHead(branch) != "" {
			t.Errorf("%s: the push went out", branch)
		}
	}
	for _, q := range w.api.Requests() {
		for _, text := range []string{"mcp__chat", "REMEMBERED", "USER-INSTRUCTION"} {
			if strings.Contains(string(q.Body), text) {
				t.Errorf("the model was shown %q", text)
			}
		}
	}
}

// What the next attempt will read as fact is shown as a diff.
func TestMemoryChangesAreShown(t *testing.T) {
	t.Parallel()
	title := "Write it down"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("echo 'Latency fell by 40 %.' >> MEMORY.md")), fakeapi.Say("done"),
	}}})
	w.write("repo/MEMORY.md", "We use tabs.\n")
	w.stories("", title)
	w.loop("run").want(t, exitDone, "MEMORY.md")
	w.loop("report", "--all").want(t, exitDone, "+Latency fell by 40 %.")
}

// A prompt longer than an argument of a command can be.
func TestLongStoryReachesTheModelWhole(t *testing.T) {
	t.Parallel()
	title := "Read a long story " + strings.Repeat("again and ", 40_000) + "to its end"
	w := newWorld(t, fakeapi.Script{{Match: "to its end", Turns: []fakeapi.Turn{fakeapi.Say("done")}}})
	w.stories("", title)
	w.loop("run").want(t, exitDone)
	diff(t, "outcomes", []string{"S1 unproven"}, outcomes(w.report()))
}

func TestLockdownDefersCommits(t *testing.T) {
	t.Parallel()
	title := "Commit nothing"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("git commit --allow-empty -qm no")), fakeapi.Call(write("ok.txt", "x\n")), fakeapi.Say("done"),
	}}})
	w.stories("", title)
	w.loop("run", "--level", "lockdown").want(t, exitWaiting)
	// What it wrote is committed by loop itself.
	diff(t, "commits", "S1: Commit nothing\nprepare\nstart", w.git(w.repo, "log", "--format=%s"))
	diff(t, "local work", "x\n", w.read("repo/ok.txt"))
	diff(t, "waiting", []string{"blocked git commit --allow-empty -qm no"}, waiting(w.report()))
}

// Markdown stories, in the order of their dependencies, and one queue for all
// worktrees of a repository.
func TestMarkdownStoriesAndWorktrees(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakeapi.Script{
		{Match: "Lay the ground", Turns: []fakeapi.Turn{fakeapi.Say("done")}},
		{Match: "Build on it", Turns: []fakeapi.Turn{
			fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/md")), fakeapi.Say("done"),
		}},
	})
	w.write("repo/stories/a.md", "---\nid: top\ndepends: [ground]\ncheck: true\n---\n# Build on it\n\n- [ ] it stands\n")
	w.write("repo/stories/b.md", "---\nid: ground\ncheck: true\n---\n# Lay the ground\n")
	w.commitAll()
	w.loop("run").want(t, exitWaiting)
	diff(t, "outcomes", []string{"ground unproven", "top unproven"}, outcomes(w.report()))
	w.git(w.repo, "worktree", "add", "-q", filepath.Join(w.root, "side"))
	r := w.start(filepath.Join(w.root, "side"), nil, program(), "list").wait()
	r.want(t, exitDone, "git push origin HEAD:refs/heads/md")
}
