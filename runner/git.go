package runner

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/workspace"
)

// gitTimeout bounds a question to git.
const gitTimeout = 5 * time.Second

// place is where the repository of dir stands. No repository, no git and no
// commit yet give empty answers: they are recorded, not needed.
func place(ctx context.Context, o *Options, dir string) firewall.Place {
	find := workspace.Finder{Env: o.Env, Now: o.Now}
	head, branch := find.Head(ctx, find.Repository(dir))
	return firewall.Place{Head: head, Branch: branch}
}

// gitArgv is a call of git that runs nothing which the repository's settings
// name: an agent can write them, and its commands are judged before they run.
// Filters and drivers are for who reads or writes files: filters.over.
func gitArgv(args ...string) []string {
	return append([]string{"git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull}, args...)
}

// gitTexts are the texts that git prints with a zero byte behind each, of at most
// tail bytes the last. ok is false when it fails.
func gitTexts(ctx context.Context, o *Options, tail int, args ...string) (texts []string, ok bool) {
	out := proc.Run(ctx, proc.RunOptions{
		Argv: gitArgv(args...), Dir: o.Root, Env: o.Env, Plain: true, Timeout: gitTimeout, Tail: tail, Separate: true, Now: o.Now,
	})
	return splitZero(string(out.Tail)), out.OK()
}

func gitLine(ctx context.Context, o *Options, dir string, args ...string) string {
	out := proc.Run(ctx, proc.RunOptions{
		Argv: gitArgv(args...), Dir: dir, Env: o.Env, Plain: true, Timeout: gitTimeout, Tail: 4 << 10, Now: o.Now,
	})
	if out.Err != nil || out.ExitCode != 0 {
		return ""
	}
	return strings.TrimSpace(string(out.Tail))
}
