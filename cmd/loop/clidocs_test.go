package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// docs/cli.md and the manual pages are what the commands say of themselves.
// LOOP_UPDATE=1 writes them.
func TestDocsAreWhatTheCommandsSay(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	want := map[string][]byte{filepath.Join(docs, "cli.md"): markdown(t, documented())}
	for _, cmd := range commandTree(documented()) {
		var b bytes.Buffer
		// No date: a page changes when its command does.
		header := &doc.GenManHeader{Section: "1", Source: "loop", Manual: "loop", Date: nil}
		if err := doc.GenMan(cmd, header, &b); err != nil {
			t.Fatal(err)
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		want[filepath.Join(docs, "man", name)] = undated.ReplaceAll(b.Bytes(), []byte(`$1 "" `))
	}
	if os.Getenv("LOOP_UPDATE") == "1" {
		if err := os.RemoveAll(filepath.Join(docs, "man")); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(docs, "man"), 0o755); err != nil {
			t.Fatal(err)
		}
		for path, text := range want {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for path, text := range want {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%v; LOOP_UPDATE=1 go test ./cmd/loop -run Docs writes it", err)
			continue
		}
		if diff := cmp.Diff(string(text), string(got)); diff != "" {
			t.Errorf("%s is not what the command says; LOOP_UPDATE=1 go test ./cmd/loop -run Docs writes it (-want +got):\n%s", path, diff)
		}
	}
	pages, err := filepath.Glob(filepath.Join(docs, "man", "*"))
	if err != nil || len(pages) != len(want)-1 {
		t.Errorf("%d pages for %d commands: %v", len(pages), len(want)-1, err)
	}
}

// undated is the date in the title of a page, which cobra sets in any case.
var undated = regexp.MustCompile(`(?m)^(\.TH "[^"]*" "1") "[^"]*" `)

// markdown is one page of all commands.
func markdown(t *testing.T, root *cobra.Command) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("# Commands\n\nWhat `loop COMMAND --help` says, on one page.\n\n")
	all := commandTree(root)
	for _, cmd := range all {
		b.WriteString(strings.Repeat("  ", strings.Count(cmd.CommandPath(), " ")) + "- [`" + cmd.CommandPath() + "`](#" + anchor(cmd) + "): " + cmd.Short + "\n")
	}
	for _, cmd := range all {
		b.WriteString("\n## " + cmd.CommandPath() + "\n\n```\n")
		// Every page has the exit codes and the global flags; one is enough.
		help := strings.ReplaceAll(helpOf(cmd), exitHelp, "")
		if cmd != root {
			help, _, _ = strings.Cut(help, "\nGlobal Flags:")
		}
		b.WriteString(strings.TrimSpace(collapsed.ReplaceAllString(help, "\n\n")) + "\n```\n")
	}
	b.WriteString("\n## Exit codes\n\n```\n" + strings.TrimSpace(exitHelp) + "\n```\n")
	return b.Bytes()
}

var collapsed = regexp.MustCompile(`\n{3,}`)

func anchor(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func helpOf(cmd *cobra.Command) string {
	var b bytes.Buffer
	cmd.InitDefaultHelpFlag()
	cmd.SetOut(&b)
	_ = cmd.Help()
	return b.String()
}
