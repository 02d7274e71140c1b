package runner

import (
	"context"
	"fmt"

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

// clientMark is Options.ClientMark, where there is one.
func clientMark(o *Options) string {
	if o.ClientMark == nil {
		return ""
	}
	return o.ClientMark()
}

// vet asks Options.Vet, where there is one.
func vet(ctx context.Context, o *Options, version string) ([]Note, error) {
	if o.Vet == nil {
		return nil, nil
	}
	v, err := o.Vet(ctx, version)
	o.OldClient = v.Old
	return v.Notes, err
}

// vetAgain vets a client that is another program than before: it was updated
// while the session ran, or somebody put another one in its place.
func (r *run) vetAgain(ctx context.Context) error {
	mark := clientMark(r.o)
	if mark == r.vetted {
		return nil
	}
	version, err := clientVersion(ctx, r.o)
	if err != nil {
		return err
	}
	notes, err := vet(ctx, r.o, version)
	if err != nil {
		return fmt.Errorf("the client was replaced while the session ran: %w", err)
	}
	r.vetted = mark
	r.notes = append([]Note{{"tampered", fmt.Sprintf("the client was replaced while the session ran; it calls itself %q now", version)}}, notes...)
	return r.tellNotes(ctx)
}

// tellNotes says in the report what was noted before the first story.
func (r *run) tellNotes(ctx context.Context) error {
	for _, n := range r.notes {
		if err := addFinding(ctx, r.o, &queue.Attempt{Session: r.session.ID}, n.Kind, n.Text); err != nil {
			return err
		}
	}
	return nil
}
