package runner

import (
	"context"

	"github.com/seed-b23e517c/loop/queue"
)

// ClientStart is the command line and the environment with which Run would
// start the client of one attempt, for a test of the client itself. rules and
// settings are files; mcp is one too, or "".
func ClientStart(o *Options, session, settings, rules, mcp string) (argv, env []string) {
	return clientArgs(o, session, files{settings: settings, rules: rules, mcp: mcp}), clientEnv(o, session)
}

// ClientVersion is the first line that the client says to --version. An error
// is a *ClientError.
func ClientVersion(ctx context.Context, o *Options) (string, error) { return clientVersion(ctx, o) }

// tellNotes says in the report what was noted before the first story.
func (r *run) tellNotes(ctx context.Context) error {
	for _, n := range r.notes {
		if err := addFinding(ctx, r.o, &queue.Attempt{Session: r.session.ID}, n.Kind, n.Text); err != nil {
			return err
		}
	}
	return nil
}
