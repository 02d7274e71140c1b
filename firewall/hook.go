package firewall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// maxReply bounds what a hook process reads back.
const maxReply = 1 << 20

// Hook is the hook process: it carries standard input to the supervisor's
// socket and the answer back, and returns the exit code. event is what the
// client was told to call this hook for, so that a failure to read the input
// still falls the right way.
func Hook(ctx context.Context, socket, event string, in io.Reader, out, errOut io.Writer) int {
	r, err := ask(ctx, socket, in)
	if err != nil {
		r = Failure(event, err)
	}
	// Written before the exit code counts: an answer that cannot be written
	// is no answer.
	if _, err := io.WriteString(out, r.Stdout); err != nil {
		return Failure(event, err).Exit
	}
	_, _ = io.WriteString(errOut, r.Stderr)
	return r.Exit
}

func ask(ctx context.Context, socket string, in io.Reader) (Reply, error) {
	var r Reply
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return r, fmt.Errorf("reach the supervisor: %w", err)
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return r, err
		}
	}
	if _, err := io.Copy(conn, in); err != nil {
		return r, fmt.Errorf("send the call: %w", err)
	}
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
		return r, fmt.Errorf("send the call: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(conn, maxReply))
	if err != nil {
		return r, fmt.Errorf("read the answer: %w", err)
	}
	if len(data) == 0 {
		return r, errors.New("the supervisor gave no answer")
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("read the answer: %w", err)
	}
	return r, nil
}
