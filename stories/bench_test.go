package stories

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// large is a file of the size of the largest real one: 325 stories in half a
// megabyte.
func large() string {
	var b strings.Builder
	b.WriteString("{\n  \"project\": \"large\",\n  \"userStories\": [")
	for i := range 325 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n    {\n      \"id\": \"US-%03d\",\n      \"title\": \"Story %d\",\n      \"priority\": %q,\n"+
			"      \"description\": %q,\n      \"acceptanceCriteria\": [\n        %q,\n        %q\n      ],\n"+
			"      \"dependencies\": [\"US-%03d\"],\n      \"passes\": false\n    }",
			i+1, i+1, []string{"high", "medium", "low"}[i%3], strings.Repeat("words of a description ", 30),
			strings.Repeat("one criterion ", 20), strings.Repeat("another – with a dash ", 10), max(1, i))
	}
	return strings.Replace(b.String(), `["US-001"]`, `[]`, 1) + "\n  ]\n}\n"
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "prd.json")
	text := large()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		f, err := Read(path)
		if err != nil || len(order(b, f)) != 325 {
			b.Fatal(err)
		}
	}
}

func BenchmarkSetDone(b *testing.B) {
	path := filepath.Join(b.TempDir(), "prd.json")
	if err := os.WriteFile(path, []byte(large()), 0o644); err != nil {
		b.Fatal(err)
	}
	f, err := Read(path)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if err := f.SetDone("US-200", i%2 == 0); err != nil {
			b.Fatal(err)
		}
	}
}
