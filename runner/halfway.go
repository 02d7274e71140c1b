package runner

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"
)

// unfinished are the marks of a command of git's that stopped halfway.
var unfinished = map[string]string{
	"MERGE_HEAD": "merge", "rebase-merge": "rebase", "rebase-apply": "rebase or am", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert", "BISECT_LOG": "bisect",
}

// halfway names a command of git's that is under way in the work tree, "" when
// none is.
func (t *checkout) halfway(ctx context.Context) (mark, command string) {
	_ = t.findPaths(ctx, slices.Collect(maps.Keys(unfinished))) // path says what is wrong
	for mark, command := range unfinished {
		if p, err := t.path(ctx, mark); err == nil {
			if _, err := os.Lstat(p); err == nil {
				return mark, command
			}
		}
	}
	return "", ""
}

// quit ends what an agent left halfway, without touching a file.
func (t *checkout) quit(ctx context.Context) error {
	for name, command := range map[string]string{"rebase-merge": "rebase", "rebase-apply": "am", "BISECT_LOG": ""} {
		p, err := t.path(ctx, name)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(p); err != nil {
			continue
		}
		if command != "" {
			// It also keeps what the command had put aside itself.
			_, _ = t.git(ctx, nil, command, "--quit")
		}
		if err := os.RemoveAll(p); err != nil {
			return err
		}
	}
	// This forgets a merge, a cherry-pick and a revert.
	_, err := t.git(ctx, nil, "reset", "--quiet")
	return err
}

// lockPatience is how long somebody else's git may hold a lock.
const lockPatience = 2 * time.Second

// unlock takes away the locks that a git of the agent's, or of a dead loop,
// left when it was killed.
func (t *checkout) unlock(ctx context.Context) error {
	var held []string
	places := []string{"refs/loop", "packed-refs.lock", "index.lock", "HEAD.lock", "ORIG_HEAD.lock", t.branch + ".lock"}
	if err := t.findPaths(ctx, places); err != nil {
		return err
	}
	for _, name := range places[2:] {
		held = append(held, t.paths[name])
	}
	// What all work trees share may be held by a git that is at work beside.
	if !t.beside {
		held = append(held, t.paths["packed-refs.lock"])
		held = append(held, locksIn(t.paths["refs/loop"])...)
	}
	return release(held)
}

// release takes locks away that nobody gives back.
func release(held []string) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	over := time.After(lockPatience)
	for {
		held = slices.DeleteFunc(held, func(p string) bool { _, err := os.Lstat(p); return err != nil })
		if len(held) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-over:
			for _, p := range held {
				if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			return nil
		}
	}
}
