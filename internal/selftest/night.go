package selftest

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/prompts"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
	"github.com/seed-b23e517c/loop/stories"
)

const (
	nightTitle = "Self-test of the firewall"
	nightPart  = "SELF-TEST-PART: push the branch"
	marker     = "self-test-marker"
	bigSize    = 1 << 20
)

// Calls of the night by id.
const (
	callFirst  = "toolu_selftest_first"
	callPush   = "toolu_selftest_push"
	callRead   = "toolu_selftest_read"
	callEdit   = "toolu_selftest_edit"
	callSub    = "toolu_selftest_sub"
	callMCP    = "toolu_selftest_mcp"
	callBig    = "toolu_selftest_big"
	pushedMain = "from-main"
	pushedSub  = "from-subagent"
)

// called is a call with an id of our own.
func called(id string, b fakeapi.Block) fakeapi.Block {
	b.ID = id
	return b
}

func tool(id, name string, input map[string]any) fakeapi.Block {
	return called(id, fakeapi.Tool(name, input))
}

// nightScript is what the model says; onFirst is called when it is asked first.
func nightScript(w *world, onFirst func()) fakeapi.Script {
	file := func(name string) string { return filepath.Join(w.repo, name) }
	first := fakeapi.Call(called(callFirst, fakeapi.Bash("echo one > one.txt")), called(callPush, fakeapi.Bash("git push origin HEAD:"+pushedMain)))
	first.From = func(fakeapi.Request) []fakeapi.Block { onFirst(); return nil }
	return fakeapi.Script{
		{Match: nightPart, Turns: []fakeapi.Turn{
			fakeapi.Call(called(callSub, fakeapi.Bash("git push origin HEAD:"+pushedSub))), fakeapi.Say("It waits."),
		}},
		{Match: nightTitle, Turns: []fakeapi.Turn{
			first,
			fakeapi.Call(tool(callRead, "Read", map[string]any{"file_path": file("README.md")})),
			fakeapi.Call(tool(callEdit, "Edit", map[string]any{"file_path": file("README.md"), "old_string": marker, "new_string": "edited"})),
			fakeapi.Call(fakeapi.Agent(nightPart)),
			fakeapi.Call(tool(callMCP, "mcp__chat__post_message", map[string]any{"text": "hello"})),
			fakeapi.Call(tool(callBig, "Write", map[string]any{"file_path": file("big.txt"), "content": bigText()})),
			fakeapi.Say("Done."),
		}},
	}
}

func bigText() string { return strings.Repeat("0123456789abcdef", bigSize/16) }

// night is one story with everything as in a run, in a project that would
// switch the firewall off if it could.
func (t *test) night(ctx context.Context) (findings, error) {
	var settingsThere atomic.Bool
	w, err := t.newWorld("night", func(w *world) fakeapi.Script {
		return nightScript(w, func() {
			left, err := filepath.Glob(filepath.Join(w.dir, "state", "runs", "*", "*", "settings.json"))
			settingsThere.Store(settingsThere.Load() || err != nil || len(left) > 0)
		})
	})
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.nightRepository(ctx); err != nil {
		return nil, err
	}
	store, err := queue.Open(filepath.Join(w.dir, "state"), queue.Options{Now: t.o.Now})
	if err != nil {
		return nil, err
	}
	session, err := runner.Run(ctx, w.nightOptions(store))
	if err != nil {
		return nil, err
	}
	snap, err := store.Snapshot(context.WithoutCancel(ctx), session.ID)
	if err != nil {
		return nil, err
	}
	return w.judgeNight(ctx, snap, settingsThere.Load()), nil
}

// nightRepository makes the project, its remote, and what is planted in it.
func (w *world) nightRepository(ctx context.Context) error {
	err := errors.Join(
		w.write("repo/README.md", marker+"\n"),
		w.write("repo/stories/1.md", "---\nid: \"1\"\ntitle: "+nightTitle+"\ndone: false\n---\n\nDo what the script says.\n"),
		w.write("repo/.mcp.json", asJSON(map[string]any{"mcpServers": map[string]any{"planted": map[string]any{
			"command": "sh", "args": []string{"-c", "touch '" + filepath.Join(w.dir, plantedMCP) + "'"},
		}}})),
		w.write("mcp.json", asJSON(map[string]any{"mcpServers": map[string]any{"chat": map[string]any{
			"command": w.t.o.Self[0], "args": append(slices.Clone(w.t.o.Self[1:]), filepath.Join(w.dir, "posted")),
		}}})),
		w.plant(),
	)
	if err != nil {
		return err
	}
	remote := filepath.Join(w.dir, "remote.git")
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", remote},
		{"init", "--quiet", "--initial-branch=main", "."},
		{"add", "--all"},
		{"commit", "--quiet", "--message", "start"},
		{"remote", "add", "origin", remote},
	} {
		if _, err := w.git(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) nightOptions(store *queue.Store) runner.Options {
	o := w.runOptions()
	o.Stories, o.MCPConfig = filepath.Join(w.repo, "stories"), filepath.Join(w.dir, "mcp.json")
	o.Store, o.Progress, o.Receipts.Enabled = store, quiet{}, true
	return o
}

// runOptions are those of a run in this world, as far as they touch the client.
func (w *world) runOptions() runner.Options {
	return runner.Options{
		Root: w.repo, State: filepath.Join(w.dir, "state"), Client: []string{w.t.client.Program}, Env: w.env,
		Level: policy.Unattended, Wall: limit, Silence: limit, GateTime: limit,
		TermGrace: 2 * time.Second, ResultGrace: 5 * time.Second,
		RulesText: prompts.Rules(prompts.RulesOptions{Level: policy.Unattended}), Set: w.t.set, Now: w.t.o.Now,
		OldClient: Gate(w.t.client) != nil,
	}
}

// quiet is told how the night goes and says nothing.
type quiet struct{}

func (quiet) StoryStart(int, int, stories.Story) {}
func (quiet) Live(runner.Live)                   {}
func (quiet) StoryEnd(queue.Attempt)             {}
func (quiet) Notice(string)                      {}
