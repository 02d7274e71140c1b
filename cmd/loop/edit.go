package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

// reading is the repository's rules, with the files that a call would run.
type reading struct {
	*policy.Set
	files firewall.Files
}

func (r reading) Classify(c policy.Call) policy.Result {
	c.ReadFile = func(name string) (string, bool) { return r.files.Read(c.Cwd, name) }
	c.ReadDir = func(name string) ([]string, bool) { return r.files.List(c.Cwd, name) }
	return r.Set.Classify(c)
}

// editor has the person change an action in their own editor.
func (a *app) editor(ctx context.Context) (func(context.Context, queue.Action) (*queue.Edited, error), error) {
	w, _, set, err := a.configured(ctx)
	if err != nil {
		return nil, err
	}
	rules := reading{set, firewall.FilesOf(w.Root, a.env)}
	return func(_ context.Context, x queue.Action) (*queue.Edited, error) {
		before := replay.EditText(x)
		text, err := a.editText(x, before)
		if err != nil {
			return nil, fmt.Errorf("edit #%d: %w", x.Number, err)
		}
		if text == before {
			a.printf("nothing was changed\n\n")
			return x.Edited, nil
		}
		form, err := replay.NewForm(x, text, rules)
		if err != nil {
			return nil, fmt.Errorf("edit #%d: %w", x.Number, err)
		}
		return form, nil
	}, nil
}

// editText opens the person's editor with a text and returns what they left.
// An editor ends the last line; that newline is not theirs.
func (a *app) editText(x queue.Action, text string) (string, error) {
	program := a.getenv("VISUAL")
	if program == "" {
		program = a.getenv("EDITOR")
	}
	if program == "" && !(term.IsTerminal(a.stdin) && term.IsTerminal(a.stdout)) {
		return "", errors.New("there is no terminal to edit at")
	}
	dir, err := os.MkdirTemp(a.tempDir(), "loop-edit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	name := "command.sh"
	if x.Tool != "Bash" {
		name = "input.json"
	}
	file := filepath.Join(dir, name)
	ended := strings.HasSuffix(text, "\n")
	if !ended {
		text += "\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	// It stays in our process group: it is the person's, and at their terminal.
	cmd := editorCommand(program, file)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = a.env, a.stdin, a.stdout, a.stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the editor %q: %w", program, err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	left := string(data)
	if !ended {
		left = strings.TrimSuffix(left, "\n")
	}
	return left, nil
}

// editorCommand starts an editor, which may be a command line, on a file.
func editorCommand(program, file string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		words := strings.Fields(program)
		if len(words) == 0 {
			words = []string{"notepad"}
		}
		return exec.Command(words[0], append(words[1:], file)...)
	}
	if program == "" {
		program = "vi"
	}
	return exec.Command("/bin/sh", "-c", program+` "$@"`, "editor", file)
}
