package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/runner"
)

// looked is an action with what its text claims and what the agent said before
// it. Of one from the client's own prompt that is found out when a person first
// looks at it: the hook only notes where the client's session file is, because
// a person waits for the hook too. What cannot be found out is left open, and
// looked for again the next time.
func (a *app) looked(ctx context.Context, w workspace.Workspace, store *queue.Store, x queue.Action) queue.Action {
	if x.Attempt != "" || x.Transcript == "" || x.Judged || len(x.Claims) > 0 {
		return x
	}
	path := sessionFileOf(x)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(path, ".jsonl") {
		return x
	}
	c, err := config.Load(w.User, w.Root)
	if err != nil {
		c.MemoryFiles = nil // the built-in names of such files hold
	}
	list := []queue.Action{x}
	found, err := runner.AddClaims(ctx, []string{path}, list, runner.Evidence{Root: w.Root, Env: a.env, Memory: c.MemoryFiles, Now: a.now})
	if err != nil || !found[0] {
		return x // the client writes its file later than it calls the hook
	}
	if f, err := os.Open(path); err == nil {
		_ = runner.AddWords(f, list) // worth having, and no more
		f.Close()
	}
	list[0].Judged = true
	if kept, err := store.PutClaims(ctx, list[0]); err == nil {
		return kept
	}
	return list[0]
}

// lookedUp does the same for what a reference names, where it can.
func (a *app) lookedUp(ctx context.Context, w workspace.Workspace, store *queue.Store, ref string) {
	if x, err := store.Get(ctx, ref); err == nil {
		a.looked(ctx, w, store, x)
	}
}

// sessionFileOf is the client's file with an action's call: a subagent has its
// own beside that of its session.
func sessionFileOf(x queue.Action) string {
	dir, ok := strings.CutSuffix(x.Transcript, ".jsonl")
	if x.Agent == "" || !ok || strings.ContainsAny(x.Agent, `/\`) {
		return x.Transcript
	}
	own := filepath.Join(dir, "subagents", "agent-"+x.Agent+".jsonl")
	if _, err := os.Lstat(own); err == nil {
		return own
	}
	return x.Transcript
}
