package mcp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadServers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	text := `{"mcpServers":{"a":{"command":"x","args":["1"],"env":{"K":"v"}},"b":{"type":"http","url":"u","headers":{"H":"v"}},"bad":{"args":1},"c":{"url":"u"}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	want := []Server{
		{Name: "a", From: path, Command: "x", Args: []string{"1"}, Env: map[string]string{"K": "v"}},
		{Name: "b", From: path, Type: "http", URL: "u", Headers: map[string]string{"H": "v"}},
		{Name: "c", From: path, URL: "u"},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	for i, way := range []string{Stdio, HTTP, HTTP} {
		if got[i].Way() != way {
			t.Errorf("%s: %s, want %s", got[i].Name, got[i].Way(), way)
		}
	}
	if got, err := Read(path + "x"); got != nil || err != nil {
		t.Errorf("no file: %v, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil {
		t.Error("a torn file is read")
	}
}

func TestReadClientsOwnFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".claude.json")
	text := `{"mcpServers":{"a":{"command":"user"}},"projects":{"/w":{"mcpServers":{"a":{"command":"local"}}},"/x":{"mcpServers":{"b":{"command":"other"}}}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadClient(path, Folders("/w/sub"))
	var commands []string
	for _, s := range got {
		commands = append(commands, s.Command)
	}
	if d := cmp.Diff([]string{"local", "user"}, commands); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestFind(t *testing.T) {
	list := []Server{{Name: "chat"}, {Name: "my chat.io"}, {Name: "chat__room"}, {Name: "chat", Command: "later"}}
	for tool, want := range map[string][2]string{
		"mcp__chat__post_message":       {"chat", "post_message"},
		"mcp__my_chat_io__post_message": {"my chat.io", "post_message"},
		"mcp__chat__room__post":         {"chat__room", "post"},
		"mcp__chat__a__b":               {"chat", "a__b"},
		"mcp__other__post":              {},
		"chat__post":                    {},
	} {
		s, name, ok := Find(list, tool)
		if got := [2]string{s.Name, name}; got != want || ok != (want[0] != "") || s.Command != "" {
			t.Errorf("%s: %q %v, want %q", tool, got, ok, want)
		}
	}
}

// As the client does it: ${X} and ${X:-default} everywhere, $X nowhere, and
// what is not set stays.
func TestExpand(t *testing.T) {
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"HOME": "/h", "EMPTY": "", "T": "secret"}[name]
		return v, ok
	}
	s := Server{
		Command: "${HOME}/bin/x", Args: []string{"$HOME", "${NONE}", "${NONE:-d:-e}", "${EMPTY:-d}", "a${T}b${T}"},
		Env: map[string]string{"K": "${T}"}, URL: "https://${HOST:-x}/", Headers: map[string]string{"A": "Bearer ${T} ${GONE}"},
	}
	got, unset := s.Expand(lookup)
	want := Server{
		Command: "/h/bin/x", Args: []string{"$HOME", "${NONE}", "d:-e", "", "asecretbsecret"},
		Env: map[string]string{"K": "secret"}, URL: "https://x/", Headers: map[string]string{"A": "Bearer secret ${GONE}"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"NONE", "GONE"}, unset); d != "" {
		t.Error(d)
	}
}

func TestDifferences(t *testing.T) {
	a := Server{Command: "x", Args: []string{"1"}, Env: map[string]string{"K": "v"}}
	b := Server{Command: "x", Args: []string{"2"}, Env: map[string]string{"K": "w"}, Type: "stdio"}
	if d := cmp.Diff([]string{"args", "env"}, a.Differences(b)); d != "" {
		t.Error(d)
	}
	if got := a.Differences(a); got != nil {
		t.Error(got)
	}
}

func TestSecretsAreHidden(t *testing.T) {
	h := Server{URL: "https://a:passpass@x/y?key=q%20querykey",
		Env: map[string]string{"T": "longenough", "N": "1"}, Headers: map[string]string{"Authorization": "Bearer abcdefgh"}}.hide()
	if got := h.in("1 longenough abcdefgh Bearer abcdefgh passpass q querykey"); got != "1 [T] [Authorization] [Authorization] [password] [key]" {
		t.Error(got)
	}
}
