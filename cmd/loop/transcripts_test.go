package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/scanner"
)

// A file that grows while it is read is read to where it ends then.
func TestGrowingFile(t *testing.T) {
	set, err := policy.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	line := func(id string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"git push"}}]}}`, id) + "\n"
	}
	name := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(name, []byte(line("one")+line("two")+strings.Repeat("nothing here\n", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := openTranscript(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var got []string
	opts := scanner.Options{Set: set}
	text, err := plainText(&growing{f: in, name: name, more: line("three")}, name, scanCommand)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scanner.Scan(context.Background(), text, opts, func(h scanner.Hit) error {
		got = append(got, h.ToolUseID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, " ") != "one two three" {
		t.Errorf("%q", got)
	}
}

// growing appends to its file once it has been read from.
type growing struct {
	f    *os.File
	name string
	more string
}

func (g *growing) Read(p []byte) (int, error) {
	n, err := g.f.Read(p)
	if g.more != "" {
		out, openErr := os.OpenFile(g.name, os.O_APPEND|os.O_WRONLY, 0)
		if openErr != nil {
			return n, openErr
		}
		defer out.Close()
		if _, writeErr := out.WriteString(g.more); writeErr != nil {
			return n, writeErr
		}
		g.more = ""
	}
	return n, err
}

func TestSessionKey(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"s1.jsonl": "{}", "s1/subagents/agent-a.jsonl": "{}", "s1/x/y.jsonl": "{}",
		"agent-b.jsonl": `{"sessionId":"s1"}`, "agent-c.jsonl": `{"sessionId":"../../etc"}`, "s2.jsonl": "{}",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"s1.jsonl": "s1", "s1/subagents/agent-a.jsonl": "s1", "s1/x/y.jsonl": "s1", "gone/subagents/agent-z.jsonl": "gone",
		"agent-b.jsonl": "s1", "agent-c.jsonl": "agent-c", "s2.jsonl": "s2",
	} {
		if got := sessionKey(filepath.Join(dir, filepath.FromSlash(name))); got != filepath.Join(dir, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
