package stories

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	const before = `[
{"id": "a", "title": "A", "acceptanceCriteria": ["one", "two"], "passes": false, "priority": 1},
{"id": "b", "title": "B", "passes": true},
{"id": "c", "title": "C", "passes": false}
]`
	tests := []struct {
		name, after string
		want        []Change
	}{
		{"nothing", before, nil},
		{"progress and layout", `[{"passes": false, "id": "c", "notes": "half", "title": "C", "status": "in_progress"},` +
			`{"id": "b", "passes": true, "title": "B"},` +
			`{"id": "a", "title": "A", "acceptanceCriteria": ["one", "two"], "passes": false, "priority": 1.0}]`, nil},
		{
			"flag and criteria",
			strings.Replace(before, `["one", "two"], "passes": false`, `["one"], "passes": true`, 1),
			[]Change{
				{Kind: Edited, ID: "a", Title: "A", Line: 2, Done: true, Fields: []string{"criteria"}},
				{Kind: MarkedOn, ID: "a", Title: "A", Line: 2, Done: true},
			},
		},
		{
			"undone, added, removed",
			`[{"id": "b", "title": "B", "passes": false}, {"id": "d", "title": "D"}, {"id": "a", "title": "A!", "acceptanceCriteria": ["one", "two"], "priority": 2, "deps": ["d"], "verify": "x"}]`,
			[]Change{
				{Kind: MarkedOff, ID: "b", Title: "B", Line: 1},
				{Kind: Added, ID: "d", Title: "D", Line: 1},
				{Kind: Edited, ID: "a", Title: "A!", Line: 1, Fields: []string{"title", "verify", "priority", "depends"}},
				{Kind: Removed, ID: "c", Title: "C", Line: 4},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := put(t, "prd.json", before)
			f := mustRead(t, path)
			write(t, path, tt.after)
			if diff := cmp.Diff(tt.want, Diff(f, mustRead(t, path))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDiffDerivedIDs(t *testing.T) {
	path := put(t, "prd.json", `[{"description": "one"}, {"description": "two"}]`)
	before := mustRead(t, path)
	write(t, path, `[{"description": "zero"}, {"description": "one", "passes": true}, {"description": "two"}]`)
	var got []string
	for _, c := range Diff(before, mustRead(t, path)) {
		got = append(got, string(c.Kind)+" "+c.Title)
	}
	if diff := cmp.Diff([]string{"added zero", "marked done one"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDiffSameTexts(t *testing.T) {
	path := put(t, "prd.json", `[{"title": "x"}, {"title": "x"}]`)
	before := mustRead(t, path)
	write(t, path, `[{"title": "y"}, {"title": "x"}, {"title": "x", "passes": true}]`)
	var got []string
	for _, c := range Diff(before, mustRead(t, path)) {
		got = append(got, string(c.Kind)+" "+c.ID[:1])
	}
	// The second is known by place and text; which one the third is, nobody can say.
	if diff := cmp.Diff([]string{"added 1", "added 3", "removed 1"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDiffFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "1.md"), "# One\n\n- [ ] a\n")
	write(t, filepath.Join(dir, "2.md"), "# Two\n")
	before := mustRead(t, dir)
	write(t, filepath.Join(dir, "1.md"), "# One\r\n\r\n- [x] a\r\n")
	if got := Diff(before, mustRead(t, dir)); len(got) > 0 {
		t.Errorf("a ticked box and other line ends are no change: %+v", got)
	}
	if err := os.Remove(filepath.Join(dir, "2.md")); err != nil {
		t.Fatal(err)
	}
	want := []Change{{Kind: Removed, ID: "2", Title: "Two", Line: 1, File: filepath.Join(dir, "2.md")}}
	if diff := cmp.Diff(want, Diff(before, mustRead(t, dir))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
