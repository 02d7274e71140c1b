package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
)

// scanCommand reads a transcript from standard input when a hyphen follows.
const scanCommand = "loop scan"

// compressions are the kinds of compressed files that people keep transcripts
// in, by how they begin and end.
var compressions = []struct{ magic, ext, name, tool string }{
	{"\x1f\x8b", ".gz", "gzip", "gzip -dc"},
	{"\x28\xb5\x2f\xfd", ".zst", "zstd", "zstd -dc"},
	{"\xfd7zXZ\x00", ".xz", "xz", "xz -dc"},
	{"BZh", ".bz2", "bzip2", "bzip2 -dc"},
	{"\x04\x22\x4d\x18", ".lz4", "lz4", "lz4 -dc"},
	{"PK\x03\x04", ".zip", "zip", "unzip -p"},
}

// plainText returns r from its beginning, or an error when it is compressed:
// what is in it would look like an empty transcript. command is what reads it
// from standard input.
func plainText(r io.Reader, name, command string) (io.Reader, error) {
	b := bufio.NewReader(r)
	head, _ := b.Peek(8) // an error comes again with the first read
	for _, c := range compressions {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			return nil, compressedError(name, c.name, c.tool, command)
		}
	}
	return b, nil
}

func compressedError(name, kind, tool, command string) error {
	file := term.Quote(name)
	if name == "-" {
		return fmt.Errorf("it is compressed with %s; type: ... | %s | %s -", kind, strings.TrimSuffix(tool, " -p"), command)
	}
	return fmt.Errorf("it is compressed with %s; type: %s %s | %s -", kind, tool, file, command)
}

// compressedName is the error for a transcript that is compressed by its
// name, nil for any other.
func compressedName(name string) error {
	for _, c := range compressions {
		if rest, ok := strings.CutSuffix(strings.ToLower(name), c.ext); ok && isTranscript(rest) {
			return compressedError(name, c.name, c.tool, scanCommand)
		}
	}
	return nil
}

// isTranscript: a file in a folder that is scanned has a name of those that
// agents write.
func isTranscript(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson", ".json", ".log", ".txt", ".md", ".traj":
		return true
	}
	return false
}

// sessionGroup is the files of one session: those of its subagents before the
// main one, whose copies of their calls are shorter.
type sessionGroup struct {
	files []sessionFile
	old   []sessionFile // of the same session, read only for what they wrote
	size  int64
}

// group puts the files of one session together, the largest session first.
func group(files, old []sessionFile) []*sessionGroup {
	groups := map[string]*sessionGroup{}
	var list []*sessionGroup
	for _, f := range files {
		key := sessionKey(f.path)
		g := groups[key]
		if g == nil {
			g = &sessionGroup{}
			groups[key] = g
			list = append(list, g)
		}
		g.size += f.size
		if f.path == key+".jsonl" {
			g.files = append(g.files, f)
		} else {
			g.files = slices.Insert(g.files, 0, f)
		}
	}
	for _, f := range old {
		if g := groups[sessionKey(f.path)]; g != nil {
			g.old = append(g.old, f)
		}
	}
	slices.SortStableFunc(list, func(a, b *sessionGroup) int { return cmp.Compare(b.size, a.size) })
	return list
}

// sessionKey is the path of the main file of a transcript's session, without
// its extension: SESSION/subagents/agent-x.jsonl belongs to SESSION.jsonl, and
// agent-x.jsonl beside it to the session that it names.
func sessionKey(path string) string {
	dir := filepath.Dir(path)
	for range 4 {
		if filepath.Base(dir) == "subagents" {
			return filepath.Dir(dir)
		}
		if info, err := os.Stat(dir + ".jsonl"); err == nil && info.Mode().IsRegular() {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	if strings.HasPrefix(filepath.Base(path), "agent-") {
		if id := sessionIn(path); id != "" && id == filepath.Base(id) {
			return filepath.Join(filepath.Dir(path), id)
		}
	}
	return strings.TrimSuffix(path, ".jsonl")
}

// sessionIn is the session that the first line of a transcript names.
func sessionIn(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 64<<10)).ReadBytes('\n')
	var row struct {
		SessionID string `json:"sessionId"`
	}
	if json.Unmarshal(line, &row) != nil {
		return ""
	}
	return row.SessionID
}

// companions are the files of the subagents of a session, which stand in a
// folder beside its own.
func companions(path string) *sessionWalk {
	dir, ok := strings.CutSuffix(path, ".jsonl")
	if info, err := os.Stat(dir); !ok || err != nil || !info.IsDir() {
		return &sessionWalk{}
	}
	w := &sessionWalk{seen: map[string]bool{}, all: true}
	w.folder(dir, "", 0)
	return w
}
