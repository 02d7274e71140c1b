package stories

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// three is a file with one story done, one open and one that has no mark.
const three = `{
  "project": "p",
  "userStories": [
    {"id": "a", "title": "A", "passes": true, "status": "done"},
    {"id": "b", "title": "B", "passes": false, "status": "todo"},
    {"id": "c", "title": "C"}
  ]
}
`

func TestRestore(t *testing.T) {
	tests := []struct {
		name     string
		old, new string // what the agent replaced in the file
		want     string // what new becomes; "" = it stays
		claims   []Claim
	}{
		{name: "nothing", old: "", new: ""},
		{
			name: "flipped",
			old:  `"title": "B", "passes": false, "status": "todo"`,
			new:  `"title": "B", "passes":true, "status": "done", "notes": "did it"`,
			want: `"title": "B", "passes":false, "status": "todo", "notes": "did it"`,
			claims: []Claim{{ID: "b", Title: "B", Line: 5, Done: true,
				Marks: []string{"passes: true", `status: "done"`}}},
		},
		{
			name:   "flipped in part",
			old:    `"title": "B", "passes": false`,
			new:    `"title": "B", "passes": true`,
			want:   `"title": "B", "passes": false`,
			claims: []Claim{{ID: "b", Title: "B", Line: 5, Done: true, Marks: []string{"passes: true"}}},
		},
		{
			name: "in progress is not done",
			old:  `"passes": false, "status": "todo"`,
			new:  `"passes": false, "status": "in_progress"`,
		},
		{
			name:   "a mark that was not there",
			old:    `"title": "C"`,
			new:    `"title": "C", "passes": true`,
			want:   `"title": "C", "passes": false`,
			claims: []Claim{{ID: "c", Title: "C", Line: 6, Done: true, Marks: []string{"passes: true"}}},
		},
		{
			name:   "made undone",
			old:    `"passes": true, "status": "done"`,
			new:    `"passes": false, "status": "done"`,
			want:   `"passes": true, "status": "done"`,
			claims: []Claim{{ID: "a", Title: "A", Line: 4, Marks: []string{"passes: false"}}},
		},
		{
			name:   "mark deleted",
			old:    `"title": "A", "passes": true, "status": "done"`,
			new:    `"title": "A"`,
			want:   `"title": "A", "passes": true`,
			claims: []Claim{{ID: "a", Title: "A", Line: 4}},
		},
		{
			name:   "unknown word",
			old:    `"title": "B", "passes": false`,
			new:    `"title": "B", "passes": "yes"`,
			want:   `"title": "B", "passes": false`,
			claims: []Claim{{ID: "b", Title: "B", Line: 5, Marks: []string{`passes: "yes"`}}},
		},
		{
			name: "done with another text is open",
			old:  `"title": "A", "passes": true, "status": "done"`,
			new:  `"title": "another A", "passes": false, "status": "todo"`,
		},
		{
			name:   "edited and marked",
			old:    `"title": "B", "passes": false`,
			new:    `"title": "an easier B", "passes": true`,
			want:   `"title": "an easier B", "passes": false`,
			claims: []Claim{{ID: "b", Title: "an easier B", Line: 5, Done: true, Marks: []string{"passes: true"}}},
		},
		{
			name: "new and marked",
			old:  `"title": "C"}`,
			new:  `"title": "C"},{"id": "d", "title": "D", "status": "completed"}`,
			want: `"title": "C"},{"id": "d", "title": "D", "status": "todo"}`,
			claims: []Claim{{ID: "d", Title: "D", Line: 6, Done: true, Added: true,
				Marks: []string{`status: "completed"`}}},
		},
		{
			name: "new id for a story",
			old:  `"id": "b", "title": "B", "passes": false, "status": "todo"`,
			new:  `"id": "b2", "title": "B", "passes": true, "status": "done"`,
			want: `"id": "b2", "title": "B", "passes": false, "status": "todo"`,
			claims: []Claim{{ID: "b2", Title: "B", Line: 5, Done: true, Added: true,
				Marks: []string{"passes: true", `status: "done"`}}},
		},
		{name: "removed stays removed", old: `    {"id": "b", "title": "B", "passes": false, "status": "todo"},` + "\n", new: ""},
		{
			name:   "hostile mark",
			old:    `"title": "B", "passes": false`,
			new:    "\"title\": \"B\", \"passes\": \"\u202etrue\"",
			want:   `"title": "B", "passes": false`,
			claims: []Claim{{ID: "b", Title: "B", Line: 5, Marks: []string{`passes: "\"\u202etrue\""`}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := put(t, "prd.json", three)
			f := mustRead(t, path)
			if tt.want == "" {
				tt.want = tt.new
			}
			write(t, path, strings.Replace(three, tt.old, tt.new, 1))
			r, err := f.Restore()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Restored{Claims: tt.claims}, r); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(strings.Replace(three, tt.old, tt.want, 1), content(t, path)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			again, err := f.Restore()
			if err != nil || len(again.Claims)+len(again.Replaced) > 0 {
				t.Errorf("a second time: %+v, %v", again, err)
			}
		})
	}
}

// TestRestoreKnowsWhatWasSet: what the supervisor set itself is no claim.
func TestRestoreKnowsWhatWasSet(t *testing.T) {
	path := put(t, "prd.json", three)
	f := mustRead(t, path)
	setDone(t, f, "c", true)
	want := content(t, path)
	write(t, path, strings.Replace(want, `"title": "B", "passes": false`, `"title": "B", "passes": true`, 1))
	r, err := f.Restore()
	if err != nil || len(r.Claims) != 1 || r.Claims[0].ID != "b" {
		t.Errorf("%+v, %v", r, err)
	}
	if diff := cmp.Diff(want, content(t, path)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	setDone(t, f, "c", false)
	if diff := cmp.Diff(three, content(t, path)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestRestoreAfterSetDone: a flag that the agent flipped before we set another
// one is a claim all the same.
func TestRestoreAfterSetDone(t *testing.T) {
	path := put(t, "prd.json", three)
	f := mustRead(t, path)
	write(t, path, strings.Replace(three, `"passes": false, "status": "todo"`, `"passes": true, "status": "done"`, 1))
	setDone(t, f, "c", true)
	r, err := f.Restore()
	if err != nil || len(r.Claims) != 1 || r.Claims[0].ID != "b" {
		t.Errorf("%+v, %v", r, err)
	}
	want := strings.Replace(three, `"title": "C"`, `"title": "C", "passes": true`, 1)
	if diff := cmp.Diff(want, content(t, path)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	write(t, path, "{")
	if _, err := f.Restore(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, content(t, path)); diff != "" {
		t.Errorf("put back whole (-want +got)\n%s", diff)
	}
}

func TestRestoreWhole(t *testing.T) {
	tests := []struct{ name, now, why string }{
		{"broken", fixture(t, "broken/two-passes.json"),
			`"PATH" line 8, column 7: expected ',' or '}' after the value, found '"': "\"passes\": true"`},
		{"emptied", "", `"PATH": no stories: the file is empty`},
		{"no stories", `{"userStories": []}`, `"PATH": no stories: the list "userStories" on line 1 is empty`},
		{"duplicates", `[{"id":"a","title":"x"},{"id":"a","title":"x"}]`, `"PATH" line 1: the id "a" is used twice, on line 1 and on line 1`},
		{"circle", `[{"id":"a","title":"x","deps":["a"]}]`, `"PATH" line 1: stories wait for each other: "a" (on line 1) depends on "a"`},
		{"utf-16", "\xff\xfe[\x00]\x00", `"PATH": UTF-16 text is not read; save the file as UTF-8`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := put(t, "prd.json", three)
			f := mustRead(t, path)
			write(t, path, tt.now)
			r, err := f.Restore()
			if err != nil || len(r.Replaced) != 1 {
				t.Fatalf("%+v, %v", r, err)
			}
			if got := string(r.Replaced[0].Broken); got != tt.now {
				t.Errorf("kept %q", got)
			}
			quoted := strings.ReplaceAll(path, `\`, `\\`)
			if diff := cmp.Diff(tt.why, strings.ReplaceAll(r.Replaced[0].Why, quoted, "PATH")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(three, content(t, path)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRestoreDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scripts", "ralph", "prd.json")
	write(t, path, three)
	f := mustRead(t, path)
	if err := os.RemoveAll(filepath.Dir(filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	r, err := f.Restore()
	if err != nil {
		t.Fatal(err)
	}
	want := Restored{Replaced: []Replaced{{Path: path, Why: "the file was gone"}}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := content(t, path); got != three {
		t.Error(got)
	}
}

func TestRestoreFolder(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	was := map[string]string{
		"1.md": "---\ndone: true\n---\nOne", "2.md": "# Two\n", "3.md": "Three", "4.md": "---\nid: four\n---\nFour",
	}
	for name, text := range was {
		write(t, in(name), text)
	}
	f := mustRead(t, dir)
	write(t, in("1.md"), "---\ndone: [\n---\nOne")
	write(t, in("2.md"), "---\ndone: true\n---\n# Two\n")
	write(t, in("5.md"), "---\ndone: true\n---\nFive")
	for _, name := range []string{"3.md", "4.md"} {
		if err := os.Remove(in(name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, in("40.md"), "---\nid: four\n---\nFour")

	r, err := f.Restore()
	if err != nil {
		t.Fatal(err)
	}
	want := Restored{
		Claims: []Claim{
			{ID: "2", Title: "Two", Line: 1, File: in("2.md"), Done: true, Marks: []string{"done: true"}},
			{ID: "5", Title: "Five", Line: 1, File: in("5.md"), Done: true, Added: true, Marks: []string{"done: true"}},
		},
		Replaced: []Replaced{
			{Path: in("1.md"), Why: `"` + strings.ReplaceAll(in("1.md"), `\`, `\\`) + `" line 2: the value of "done": the list is not closed on its line`,
				Broken: []byte("---\ndone: [\n---\nOne")},
			{Path: in("3.md"), Why: "the file was gone"},
		},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	now := map[string]string{
		"1.md": was["1.md"], "2.md": "---\ndone: false\n---\n# Two\n", "3.md": was["3.md"],
		"40.md": was["4.md"], "5.md": "---\ndone: false\n---\nFive",
	}
	for name, text := range now {
		if got := content(t, in(name)); got != text {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := os.Stat(in("4.md")); err == nil {
		t.Error("a file that was only renamed was put back beside its new name")
	}
}

// TestRestoreNewBrokenFile: there is nothing to put back, so it is an error,
// and the rest is done all the same.
func TestRestoreNewBrokenFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "1.md"), "One")
	f := mustRead(t, dir)
	write(t, filepath.Join(dir, "0.md"), "---\nx\n---\n")
	write(t, filepath.Join(dir, "1.md"), "---\ndone: true\n---\nOne")
	r, err := f.Restore()
	if err == nil || !strings.HasPrefix(err.Error(), "a new file among the stories cannot be read: ") {
		t.Errorf("%v", err)
	}
	if len(r.Claims) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestRestoreLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	const secret = "not a story file"
	setup := func(t *testing.T) (dir, path, other string, f *File) {
		dir = t.TempDir()
		path, other = filepath.Join(dir, "plans", "prd.json"), filepath.Join(dir, "other", "prd.json")
		write(t, path, three)
		write(t, other, secret)
		return dir, path, other, mustRead(t, path)
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Run("file became a link", func(t *testing.T) {
		_, path, other, f := setup(t)
		must(t, os.Remove(path))
		must(t, os.Symlink(other, path))
		r, err := f.Restore()
		if err != nil || len(r.Replaced) != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || content(t, path) != three {
			t.Error("not put back")
		}
		if got := content(t, other); got != secret {
			t.Errorf("written through: %q", got)
		}
	})
	t.Run("folder became a link", func(t *testing.T) {
		dir, path, other, f := setup(t)
		must(t, os.RemoveAll(filepath.Dir(path)))
		must(t, os.Symlink(filepath.Join(dir, "other"), filepath.Dir(path)))
		if _, err := f.Restore(); err == nil || !strings.Contains(err.Error(), "is not put back") {
			t.Errorf("%v", err)
		}
		if got := content(t, other); got != secret {
			t.Errorf("written through: %q", got)
		}
	})
	t.Run("link became a file", func(t *testing.T) {
		dir, path, _, _ := setup(t)
		link := filepath.Join(dir, "prd.json")
		must(t, os.Symlink(path, link))
		f := mustRead(t, link)
		must(t, os.Remove(link))
		write(t, link, strings.ReplaceAll(three, "false", "true"))
		r, err := f.Restore()
		if err != nil || len(r.Replaced) != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		if to, err := os.Readlink(link); err != nil || to != path || content(t, path) != three {
			t.Errorf("link to %q, %v", to, err)
		}
	})
}
