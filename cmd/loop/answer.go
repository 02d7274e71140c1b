package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

const answerLong = `Answer a question that an agent ended its attempt with. The story waits until then;
its next attempt reads the question and the answer in its prompt.

Without the text it is read from stdin, or written in your editor (VISUAL, EDITOR) on a terminal.
loop reject ID says that it will not be answered. Answering again replaces the answer.
At a checkpoint of the story file, answering lets go on what it holds back, and the text is told to the
stories after it; loop approve ID does so without a word, loop reject ID holds them.

` + exitHelp

// maxAnswer bounds what is read from stdin.
const maxAnswer = 64 << 10

func newAnswer(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "answer ID [TEXT...]", Short: "Answer a question that a story waits for", Long: answerLong,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.answerQuestion(cmd.Context(), words[0], strings.Join(words[1:], " "))
		},
	}
}

func (a *app) answerQuestion(ctx context.Context, ref, text string) error {
	_, store, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	if err := a.forPeople(ctx, store, "loop answer"); err != nil {
		return err
	}
	x, err := store.Get(ctx, ref)
	if err != nil {
		return err
	}
	if !x.IsQuestion() {
		return notAQuestion(x)
	}
	if text == "" {
		if text, err = a.readAnswer(ctx, x); err != nil {
			return err
		}
	}
	if strings.TrimSpace(text) == "" {
		return usagef(fmt.Sprintf("loop answer %d \"...\", or loop reject %d", x.Number, x.Number), "the answer to #%d is empty", x.Number)
	}
	if x, err = store.Answer(ctx, ref, queue.Decision{Who: a.who(), When: a.now().UTC(), Reason: text}); err != nil {
		return err
	}
	if x.Checkpoint != "" {
		a.printf("approved #%d; the next loop run goes on from story %s and tells it what you said\n", x.Number, term.Quote(x.Story))
		return nil
	}
	a.printf("answered #%d; the next loop run gives it to story %s\n", x.Number, term.Quote(x.Story))
	return nil
}

// approveCheckpoint lets go on what a checkpoint holds back. done is false of
// anything else.
func (a *app) approveCheckpoint(ctx context.Context, store *queue.Store, ref string, o approveOptions) (done bool, err error) {
	x, err := store.Get(ctx, ref)
	if err != nil || x.Checkpoint == "" {
		return false, err
	}
	switch {
	case o.always:
		return false, usagef(fmt.Sprintf("loop approve %d", x.Number), "#%d is a checkpoint: there is no command to make a rule of", x.Number)
	case o.dryRun:
		a.printf("%s\n\nnothing is run: approving #%d lets go on what it holds back\n", term.QuoteLines(x.Command), x.Number)
		return true, nil
	}
	if err := a.forPeople(ctx, store, "loop approve"); err != nil {
		return false, err
	}
	x, err = store.Answer(ctx, ref, queue.Decision{Who: a.who(), When: a.now().UTC()})
	if err != nil {
		return false, err
	}
	a.printf("approved #%d; the next loop run goes on from story %s\n", x.Number, term.Quote(x.Story))
	return true, nil
}

func notAQuestion(x queue.Action) error {
	return &hintedError{
		err:  fmt.Errorf("action #%d: %w", x.Number, queue.ErrNoQuestion),
		hint: fmt.Sprintf("loop show %d tells what it is; loop approve %d runs it", x.Number, x.Number),
	}
}

// readAnswer takes the answer from stdin, or from the editor where that is a
// terminal.
func (a *app) readAnswer(ctx context.Context, x queue.Action) (string, error) {
	if !term.IsTerminal(a.stdin) {
		data, err := io.ReadAll(io.LimitReader(a.stdin, maxAnswer+1))
		if err != nil {
			return "", fmt.Errorf("read the answer: %w", err)
		}
		if len(data) > maxAnswer {
			return "", fmt.Errorf("the answer is longer than %d KiB", maxAnswer>>10)
		}
		return string(data), nil
	}
	editor := a.getenv("VISUAL")
	if editor == "" {
		editor = a.getenv("EDITOR")
	}
	if editor == "" {
		return "", usagef(fmt.Sprintf("loop answer %d \"...\"", x.Number), "no answer given, and neither VISUAL nor EDITOR is set")
	}
	return a.edit(ctx, editor, x)
}

// cutLine ends the answer in the editor; what stands below is only shown.
const cutLine = "# ------ the question; this line and all below it are left out ------"

func (a *app) edit(ctx context.Context, editor string, x queue.Action) (text string, err error) {
	f, err := os.CreateTemp("", "loop-answer-*.md")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = fmt.Fprintf(f, "\n%s\n%s\n", cutLine, term.QuoteLines(x.Command))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	// The variable may hold arguments; a shell takes it apart as git does.
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", f.Name())
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = a.stdin, a.stdout, a.stderr, a.env
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("editor %q: %w", editor, err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil {
		return "", err
	}
	above, _, _ := bytes.Cut(data, []byte(cutLine))
	return string(above), nil
}
