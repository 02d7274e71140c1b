// Package mcp makes one call of a tool of an MCP server: it finds the server in
// a configuration of the client's, starts or reaches it as the client does,
// looks whether it has the tool, calls it, and leaves nothing of it behind.
//
// It decides nothing, shows nothing and asks nobody. What a server prints and
// answers is hostile text, and passed on as it is but for the values of the
// configuration, which are secrets: in their place stand their names.
package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The ways to a server.
const (
	Stdio = "stdio"
	HTTP  = "http" // streamable
	SSE   = "sse"
)

// Server is how one server is reached, as a configuration has it.
type Server struct {
	Name string `json:"-"`
	From string `json:"-"` // the file

	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Helper  string            `json:"headersHelper"` // a program that gives headers
}

// Way is Stdio, HTTP, SSE, or what the configuration says that is none of
// them.
func (s Server) Way() string {
	switch s.Type {
	case "":
		if s.Command == "" && s.URL != "" {
			return HTTP
		}
		return Stdio
	case "streamable-http", "streamableHttp":
		return HTTP
	}
	return s.Type
}

// Read reads the servers of a file like .mcp.json. One that is not there has
// none.
func Read(path string) ([]Server, error) {
	var file struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return servers(path, file.Servers), nil
}

// ReadClient reads the servers of the client's own file (.claude.json): those
// for one of the folders first, then those for all.
func ReadClient(path string, folders []string) ([]Server, error) {
	var file struct {
		Servers  map[string]json.RawMessage `json:"mcpServers"`
		Projects map[string]struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		} `json:"projects"`
	}
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	var out []Server
	for _, f := range folders {
		out = append(out, servers(path, file.Projects[f].Servers)...)
	}
	return append(out, servers(path, file.Servers)...), nil
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return fmt.Errorf("read the servers in %q: %w", path, err)
	}
	return nil
}

// servers leaves out an entry that cannot be read: the others are good.
func servers(path string, in map[string]json.RawMessage) (out []Server) {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		s := Server{Name: name, From: path}
		if json.Unmarshal(in[name], &s) == nil {
			out = append(out, s)
		}
	}
	return out
}

// Folders are a folder and those above it, where the client looks for a
// .mcp.json.
func Folders(dir string) (out []string) {
	if !filepath.IsAbs(dir) {
		return nil
	}
	for {
		out = append(out, dir)
		up := filepath.Dir(dir)
		if up == dir {
			return out
		}
		dir = up
	}
}

// prefix is what the names of all MCP tools begin with.
const prefix = "mcp__"

// Find finds the server of a tool by the name that the client gives it,
// mcp__SERVER__TOOL, and the tool's name as far as that tells it. The first of
// two servers with one name counts.
func Find(list []Server, tool string) (s Server, name string, ok bool) {
	rest, ok := strings.CutPrefix(tool, prefix)
	if !ok {
		return s, "", false
	}
	ok = false
	longest := -1
	for _, x := range list {
		key := clientName(x.Name)
		if t, is := strings.CutPrefix(rest, key+"__"); is && len(key) > longest {
			s, name, ok, longest = x, t, true, len(key)
		}
	}
	return s, name, ok
}

// ServerOf is the server's name in the name of a tool, as a person reads it.
func ServerOf(tool string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(tool, prefix), "__")
	return name
}

// clientName is a name as the client makes it part of a tool's name.
func clientName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// Expand puts the values of variables where the configuration names them, as
// ${NAME} or ${NAME:-default}. One
// that is not set and has no default stays as it is written, and its name is
// in unset.
func (s Server) Expand(lookup func(string) (string, bool)) (out Server, unset []string) {
	// $NAME is none: the client leaves it as it is.
	reference := regexp.MustCompile(`\$\{[^}]+\}`)
	expand := func(text string) string {
		return reference.ReplaceAllStringFunc(text, func(ref string) string {
			name, rest, hasDefault := strings.Cut(ref[2:len(ref)-1], ":-")
			if v, ok := lookup(name); ok {
				return v
			}
			if hasDefault {
				return rest
			}
			if !slices.Contains(unset, name) {
				unset = append(unset, name)
			}
			return ref
		})
	}
	table := func(in map[string]string) map[string]string {
		out := make(map[string]string, len(in))
		for _, k := range slices.Sorted(maps.Keys(in)) {
			out[k] = expand(in[k])
		}
		return out
	}
	out = s
	out.Command, out.URL = expand(s.Command), expand(s.URL)
	out.Args = nil
	for _, a := range s.Args {
		out.Args = append(out.Args, expand(a))
	}
	out.Env, out.Headers = table(s.Env), table(s.Headers)
	return out, unset
}

// Differences name what of two configurations of a server is not the same,
// without saying what it is.
func (s Server) Differences(o Server) (out []string) {
	for _, f := range []struct {
		name string
		same bool
	}{
		{"type", s.Way() == o.Way()},
		{"command", s.Command == o.Command},
		{"args", slices.Equal(s.Args, o.Args)},
		{"env", maps.Equal(s.Env, o.Env)},
		{"url", s.URL == o.URL},
		{"headers", maps.Equal(s.Headers, o.Headers)},
		{"headersHelper", s.Helper == o.Helper},
	} {
		if !f.same {
			out = append(out, f.name)
		}
	}
	return out
}
