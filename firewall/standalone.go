package firewall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-b23e517c/loop/policy"
)

// AloneTimeout is how long the client waits for the hook of a prompt, in
// seconds.
const AloneTimeout = 10

// maxCall bounds what a hook reads of one call.
const maxCall = 64 << 20

// Alone answers the calls of a client that has no supervisor: one call, one
// process. What may run it says nothing of, so that the client's own
// permissions decide.
type Alone struct {
	Level policy.Level
	Open  func(r Request) (*Guard, error) // the rules, queue and files of the place where a call is made
}

// Answer reads the client's call and decides. It never panics; a failure of
// its own blocks the call, but not where a person sits at the prompt.
func (s Alone) Answer(ctx context.Context, in io.Reader) (reply Reply) {
	defer func() {
		if p := recover(); p != nil {
			reply = s.failed(fmt.Errorf("%v", p))
		}
	}()
	data, err := io.ReadAll(io.LimitReader(in, maxCall+1))
	if err == nil && len(data) > maxCall {
		err = errors.New("the call is too large")
	}
	if err != nil {
		return s.failed(fmt.Errorf("read the call: %w", err))
	}
	r, err := parseCall(data)
	if err != nil {
		return s.failed(err)
	}
	if r.Event != EventPreToolUse {
		return NoObjection()
	}
	g, err := s.Open(r)
	if err != nil {
		return s.failed(err)
	}
	g.Level, g.Quiet = s.Level, true
	g.Base.Transcript = r.File // where its claims are looked for later
	return g.Handle(ctx, r)
}

// failed is the answer when loop itself failed.
func (s Alone) failed(err error) Reply {
	if s.Level != policy.Interactive {
		return Failure(EventPreToolUse, err)
	}
	return Reply{Stderr: "loop could not judge this call and stays out of the way: " + strings.TrimSpace(err.Error()) + "\n"}
}

// parseCall is ParseRequest for one call in one process, which needs no id to
// tell it from others.
func parseCall(data []byte) (Request, error) {
	r, err := ParseRequest(data)
	if err != nil && r.Event == EventPreToolUse && r.Tool != "" && len(r.Input) > 0 {
		return r, nil
	}
	return r, err
}
