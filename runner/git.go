package runner

import (
	"context"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/proc"
)

// gitTimeout bounds a question to git; a hook waits for the answer.
const gitTimeout = 5 * time.Second

// place asks git where the repository of dir stands. No repository, no git
// and no commit yet give empty answers: they are recorded, not needed.
func place(ctx context.Context, o *Options, dir string) firewall.Place {
	// Both at once, where there is a commit.
	head, ref, ok := strings.Cut(gitLine(ctx, o, dir, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD"), "\n")
	if ok && ref != "HEAD" && strings.HasPrefix(ref, "refs/heads/") {
		return firewall.Place{Head: head, Branch: short(ref)}
	}
	return firewall.Place{
		Head:   gitLine(ctx, o, dir, "rev-parse", "--verify", "--quiet", "HEAD"),
		Branch: gitLine(ctx, o, dir, "symbolic-ref", "--short", "--quiet", "HEAD"),
	}
}

func gitLine(ctx context.Context, o *Options, dir string, args ...string) string {
	out := proc.Run(ctx, proc.RunOptions{
		Argv: append([]string{"git"}, args...), Dir: dir, Env: o.Env, Plain: true, Timeout: gitTimeout, Tail: 4 << 10, Now: o.Now,
	})
	if out.Err != nil || out.ExitCode != 0 {
		return ""
	}
	return strings.TrimSpace(string(out.Tail))
}
