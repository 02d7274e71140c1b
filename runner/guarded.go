package runner

import (
	"context"
	"slices"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/policy"
)

// Guarded is what a run in the repository keeps from the agent that works in
// it.
func Guarded(ctx context.Context, o *Options) *policy.Guarded {
	own := func() []string { return slices.Concat([]string{o.State}, o.Protected, o.Watched) }
	g := firewall.Guarded(o.Root, gitDir(ctx, o), o.Env, nil, own)
	for _, l := range o.remotes {
		g.Remotes = append(g.Remotes, l.dir)
	}
	g.Own() // what lies behind their names now, and not when the agent has changed that
	return g
}

// gitDir is git's common directory of the repository, "" when there is none.
func gitDir(ctx context.Context, o *Options) string {
	if o.gitDir != "" {
		return o.gitDir
	}
	return gitLine(ctx, o, o.Root, "rev-parse", "--path-format=absolute", "--git-common-dir")
}
