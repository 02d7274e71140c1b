package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
)

// maxAnswer bounds an answer; nobody's yes is longer.
const maxAnswer = 1024

// ask puts the question and waits for the answer, or for the end of ctx. Only
// y and yes are a yes.
func (r Request) ask(ctx context.Context, a queue.Action, shown Since) (bool, error) {
	if r.Agree != nil {
		return r.Agree(ctx, a, shown)
	}
	if !r.IsTerminal {
		return false, &RefusedError{
			Action: a.Number,
			Reason: "there is no terminal to ask at",
			Advice: fmt.Sprintf("loop approve %d --yes replays it without asking", a.Number),
		}
	}
	question := "run it? [y/N] "
	if isMCP(a.Tool) {
		question = "call it? [y/N] "
	} else if n := strings.Count(commandOf(a.AsRun()), "\n") + 1; n > 1 {
		question = fmt.Sprintf("run these %d lines? [y/N] ", n)
	}
	return r.question(ctx, question)
}

// question asks for a line and waits for it.
func (r Request) question(ctx context.Context, text string) (bool, error) {
	if _, err := io.WriteString(r.Out, text); err != nil {
		return false, err
	}
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		line, err := readLine(r.In)
		got <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		_, _ = io.WriteString(r.Out, "\n")
		return false, context.Cause(ctx)
	case g := <-got:
		if g.err != nil {
			_, _ = io.WriteString(r.Out, "\n")
			return false, g.err
		}
		line := strings.ToLower(strings.TrimSpace(g.line))
		return line == "y" || line == "yes", nil
	}
}

// readLine reads one line and not a byte more: the next question has its own
// answer. The end of the input is an empty line.
func readLine(in io.Reader) (string, error) {
	var line []byte
	buf := make([]byte, 1)
	for len(line) < maxAnswer {
		n, err := in.Read(buf)
		if n == 1 && buf[0] == '\n' {
			return string(line), nil
		}
		line = append(line, buf[:n]...)
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("read the answer: %w", err)
		}
	}
	return "", nil
}
