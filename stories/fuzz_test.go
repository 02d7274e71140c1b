package stories

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

// FuzzJSON holds the reader against encoding/json: both accept the same texts
// and read the same values from them.
func FuzzJSON(f *testing.F) {
	seedFixtures(f)
	for _, s := range []string{
		`{"a":1,"a":2}`, `[1e5,-0.5E-2,-0,01]`, `"\ud83d\ude00\u0000"`, "\"\xff\"", "[\"\x01\"]", `{"a":{"b":[null,true,false]}}`,
		`[1,]`, `{"a":1,}`, `{,}`, `nul`, `tru`, `-`, `1.`, `1e`, `"\u12"`, `"\`, "", " \t\r\n", "{}x", `{"a" 1}`, `[1 2]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, err := (&parser{src: newSource("f", data), data: data}).document()
		if twice := err != nil && strings.Contains(err.Error(), "stands twice"); twice {
			if !json.Valid(data) {
				t.Fatalf("not valid, and refused only for a key: %v", err)
			}
			return
		}
		if valid := json.Valid(data); valid != (err == nil) {
			t.Fatalf("encoding/json says %t, we say %v", valid, err)
		}
		if err != nil {
			var fe *FormatError
			if !errors.As(err, &fe) || fe.Line < 1 || fe.Column < 1 {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, plain(&root)); diff != "" {
			t.Fatalf("(-encoding/json +ours)\n%s", diff)
		}
		checkRanges(t, data, &root)
		loose, err := parseText(newSource("f", data), 0, true)
		if err != nil {
			t.Fatalf("refused when comments are allowed: %v", err)
		}
		if diff := cmp.Diff(want, plain(&loose)); diff != "" {
			t.Fatalf("(-encoding/json +with comments)\n%s", diff)
		}
	})
}

// FuzzJSONC holds the reader of JSON with comments against hujson: what that
// accepts is accepted and has the same values. JSON5 goes further here.
func FuzzJSONC(f *testing.F) {
	seedFixtures(f)
	for _, s := range []string{"//x\n[1,/**/2,]", "{\"a\"/*:*/:1,}//", "[/*]*/]", "/* /* */1", "[1/**/]", "{}//\r\n", "[\"//\",\"/*\"]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		standard, err := hujson.Standardize(bytes.Clone(data))
		if err != nil {
			return
		}
		root, err := parseText(newSource("f", data), 0, true)
		if err != nil && strings.Contains(err.Error(), "stands twice") {
			return
		}
		if err != nil {
			t.Fatalf("hujson reads it, we say %v", err)
		}
		dec := json.NewDecoder(bytes.NewReader(standard))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			return // hujson is milder with what a string may hold
		}
		if diff := cmp.Diff(want, plain(&root)); diff != "" {
			t.Fatalf("(-hujson +ours)\n%s", diff)
		}
	})
}

// plain is a node as encoding/json gives it.
func plain(n *node) any {
	switch n.kind {
	case '{':
		m := map[string]any{}
		for i := range n.members {
			m[n.members[i].key] = plain(&n.members[i].value)
		}
		return m
	case '[':
		list := []any{}
		for i := range n.items {
			list = append(list, plain(&n.items[i]))
		}
		return list
	case '"':
		return n.text
	case '0':
		return json.Number(n.text)
	case 'n':
		return nil
	}
	return n.kind == 't'
}

// checkRanges checks that the bytes of each value are that value.
func checkRanges(t *testing.T, data []byte, n *node) {
	if !json.Valid(data[n.start:n.end]) {
		t.Fatalf("bytes %d to %d are no value: %q", n.start, n.end, data[n.start:n.end])
	}
	for i := range n.members {
		m := &n.members[i]
		if data[m.keyStart] != '"' || data[m.keyEnd-1] != '"' {
			t.Fatalf("key at %d: %q", m.keyStart, data[m.keyStart:m.keyEnd])
		}
		if m.value.kind != '{' && m.value.kind != '[' {
			checkRanges(t, data, &m.value)
		}
	}
}

// FuzzRead reads any text as each form. What can be read can be marked and
// taken back, byte for byte, and is then the same stories.
func FuzzRead(f *testing.F) {
	seedFixtures(f)
	f.Add([]byte("---\nid: x\ndepends: [a, 'b']\ndone: # c\n---\n# t\n- [ ] c\n  more\n\n```\n- [ ] no\n```\n"))
	f.Add([]byte("<!-- \n- [ ] no\n--> \n- [x] yes\n\t- [ ] nested\nlazy\n"))
	f.Add([]byte("### Task 1: a\n- [ ] b\n  - [x] b\n- [] b\n- [!] b\n### Iteration 2: c\n- [~] d"))
	f.Add([]byte("### US-1: a\n**Status**:\n### US-2: b\n- **Priority:** P1\n**Depends on:** US-1\n"))
	f.Add([]byte("- {title: x}\n- title: y\n  completed:\n- ? title\n  : z\n- \"title\": !!str w\n"))
	f.Add([]byte("[{a:'\\'\"',title:'x',/*c*/},]//"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, form := range Forms() {
			p := part{path: "f", form: form.Name, data: data}
			f, err := parsePart(p)
			if err != nil {
				continue
			}
			if f.Path = p.path; f.finish() != nil {
				continue
			}
			if len(f.Stories) == 0 {
				t.Fatal("no stories and no error")
			}
			p.form = f.Form
			roundTrip(t, f, p)
		}
	})
}

// roundTrip marks the first and the last story and takes them back. It works
// on the bytes, since syncing files is too slow to fuzz.
func roundTrip(t *testing.T, f *File, p part) {
	t.Helper()
	data := p.data
	for _, i := range []int{0, len(f.Stories) - 1} {
		p.data = apply(data, f.doneEdits(i, &f.impl.places[i], data, true))
		if err := f.onlyMark(i, p.data, true); err != nil {
			if f.Form != FormYAML {
				t.Fatalf("%s: %v\n%q", f.Form, err, p.data)
			}
			continue // YAML has corners where no mark can be put in; it is refused
		}
		marked, err := parsePart(p)
		if err != nil {
			t.Fatalf("not readable when marked: %v\n%s", err, p.data)
		}
		back := apply(p.data, f.doneEdits(i, &marked.impl.places[i], p.data, f.Stories[i].Done))
		if !bytes.Equal(back, data) {
			t.Fatalf("%s: taken back:\n%q\nwant\n%q", f.Form, back, data)
		}
	}
}

func seedFixtures(f *testing.F) {
	f.Helper()
	for _, pattern := range []string{"prd/*.json", "broken/*.json", "folder/*.md", "forms/*/*", "forms/*/docs/plans/*"} {
		paths, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
}
