package stories

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// variants are ways in which the same text can lie on disk.
func variants(t *testing.T, text string) map[string]string {
	t.Helper()
	lf := strings.ReplaceAll(text, "\r\n", "\n")
	crlf := strings.ReplaceAll(lf, "\n", "\r\n")
	return map[string]string{
		"lf":         lf,
		"crlf":       crlf,
		"bom":        "\ufeff" + lf,
		"bom crlf":   "\ufeff" + crlf,
		"no newline": strings.TrimRight(lf, "\n"),
		"newlines":   lf + "\n\n",
	}
}

// files are all fixtures in all variants, by a name for the subtest.
func files(t *testing.T) map[string]struct{ base, text string } {
	t.Helper()
	paths := fixtures(t)
	folder, err := filepath.Glob("testdata/folder/*.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := filepath.Glob("testdata/forms/code-tasks/*.code-task.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]struct{ base, text string }{}
	for _, path := range slices.Concat(paths, folder, code, formFixtures(t)) {
		base := filepath.Base(path)
		if base == "README.md" {
			continue
		}
		name := filepath.Base(filepath.Dir(path)) + " " + base
		if name = strings.TrimPrefix(name, "prd "); strings.Contains(path, "plans") {
			base = "a-plan.md" // the folder that says so is not made
		}
		list := variants(t, content(t, path))
		if strings.HasSuffix(base, ".json") {
			var b bytes.Buffer
			if err := json.Compact(&b, []byte(content(t, path))); err != nil {
				t.Fatal(err)
			}
			list["compact"] = b.String()
		}
		for v, text := range list {
			// A folder's dependencies are not in the one file.
			text = strings.Replace(text, `depends: [001, "003-alarm"]`, "depends: []", 1)
			text = strings.Replace(text, "  - chart", "", 1)
			all[name+" "+v] = struct{ base, text string }{base, text}
		}
	}
	return all
}

// TestWriteBackChangesOnlyTheMark is the invariant of the package: whatever
// story of whatever file is set to done, all other bytes stay, and taking it
// back gives the file as it was.
func TestWriteBackChangesOnlyTheMark(t *testing.T) {
	for name, file := range files(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := put(t, file.base, file.text)
			for _, s := range mustRead(t, path).Stories {
				f := mustRead(t, path)
				setDone(t, f, s.ID, true)
				checkOnlyMarks(t, f, s.ID, file.text, content(t, path))
				after := mustRead(t, path)
				for i := range after.Stories {
					got, was := after.Stories[i], f.Stories[i]
					if got.Done != (was.Done || got.ID == s.ID) || got.Hash != was.Hash || got.ID != was.ID {
						t.Errorf("after %q was set, %q is done: %t, hash %s", s.ID, got.ID, got.Done, got.Hash)
					}
				}
				setDone(t, f, s.ID, s.Done)
				if diff := cmp.Diff(file.text, content(t, path)); diff != "" {
					t.Fatalf("taking %q back is not the original (-want +got)\n%s", s.ID, diff)
				}
			}
		})
	}
}

// TestTakeBackWithoutMemory takes a mark back in a later run of the program,
// when what stood there is not known any more.
func TestTakeBackWithoutMemory(t *testing.T) {
	for name, file := range files(t) {
		if !strings.HasSuffix(name, " lf") && !strings.HasSuffix(name, " bom crlf") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := put(t, file.base, file.text)
			for _, s := range mustRead(t, path).Stories {
				setDone(t, mustRead(t, path), s.ID, true)
				setDone(t, mustRead(t, path), s.ID, false)
				if got := find(t, mustRead(t, path), s.ID); got.Done || got.Conflict != "" || got.Hash != s.Hash {
					t.Errorf("%q: %+v", s.ID, got)
				}
			}
		})
	}
}

// checkOnlyMarks compares the bytes outside the marks of one story.
func checkOnlyMarks(t *testing.T, f *File, id, was, now string) {
	t.Helper()
	src := part{path: f.Path, real: f.Path, data: []byte(was)}
	before, err := parsePart(src)
	if err != nil {
		t.Fatal(err)
	}
	src.data = []byte(now)
	after, err := parsePart(src)
	if err != nil {
		t.Fatalf("not readable after the write: %v\n%s", err, now)
	}
	i := before.index(id)
	a, b := before.impl.places[i], after.impl.places[i]
	if len(a.marks) > 0 {
		if diff := cmp.Diff(outside(was, a.marks), outside(now, b.marks)); diff != "" {
			t.Errorf("%q: other bytes changed (-was +now)\n%s", id, diff)
		}
		return
	}
	if got := len(b.marks); got != 1 {
		t.Fatalf("%q: %d marks after one was put in", id, got)
	}
	e, ok := takeOut([]byte(now), b.marks[0], a.insert)
	if !ok || now[:e.start]+now[e.end:] != was {
		t.Errorf("%q: more than the mark was put in:\n%s", id, now)
	}
}

func outside(text string, marks []mark) string {
	var edits []edit
	for _, m := range marks {
		edits = append(edits, edit{m.start, m.end, "·"})
	}
	return string(apply([]byte(text), edits))
}

func setDone(t *testing.T, f *File, id string, done bool) {
	t.Helper()
	if err := f.SetDone(id, done); err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, f *File, id string) Story {
	t.Helper()
	i := f.index(id)
	if i < 0 {
		t.Fatalf("no story %q", id)
	}
	return f.Stories[i]
}

// TestSetDoneText shows the very bytes for each manner of marking.
func TestSetDoneText(t *testing.T) {
	tests := []struct{ name, file, id, was, want string }{
		{"bool", "p.json", "a", `[{"id":"a","title":"x","passes" : false }]`, `[{"id":"a","title":"x","passes" : true }]`},
		{"quoted", "p.json", "a", `[{"id":"a","title":"x","passes":"false"}]`, `[{"id":"a","title":"x","passes":"true"}]`},
		{"number", "p.json", "a", `[{"id":"a","title":"x","passes":0}]`, `[{"id":"a","title":"x","passes":1}]`},
		{"null", "p.json", "a", `[{"id":"a","title":"x","passes":null}]`, `[{"id":"a","title":"x","passes":true}]`},
		{"escaped key", "p.json", "a", `[{"id":"a","title":"x","pass\u0065s":false}]`, `[{"id":"a","title":"x","pass\u0065s":true}]`},
		{"inserted", "p.json", "a", `[{"id":"a","title":"x"}]`, `[{"id":"a","title":"x","passes":true}]`},
		{"inserted with spaces", "p.json", "a", `[{ "id": "a", "title": "x" }]`, `[{ "id": "a", "title": "x", "passes": true }]`},
		{"inserted on a line", "p.json", "a",
			"[\r\n\t{\r\n\t\t\"id\": \"a\",\r\n\t\t\"title\": \"x\"\r\n\t}\r\n]",
			"[\r\n\t{\r\n\t\t\"id\": \"a\",\r\n\t\t\"title\": \"x\",\r\n\t\t\"passes\": true\r\n\t}\r\n]"},
		{"inserted beside one", "p.json", "", `[{"title":"x"}]`, `[{"title":"x","passes":true}]`},
		{"as the others have it", "p.json", "b",
			`[{"id":"a","title":"x","passed":true},{"id":"b","title":"y"}]`,
			`[{"id":"a","title":"x","passed":true},{"id":"b","title":"y","passed":true}]`},
		{"as the others say it", "p.json", "b",
			`[{"id":"a","title":"x","status":"Completed"},{"id":"b","title":"y"}]`,
			`[{"id":"a","title":"x","status":"Completed"},{"id":"b","title":"y","status":"Completed"}]`},
		{"status alone", "p.json", "a", `[{"id":"a","title":"x","status":"todo"}]`, `[{"id":"a","title":"x","status":"done"}]`},
		{"status pending", "p.json", "a", `[{"id":"a","title":"x","status":"pending"}]`, `[{"id":"a","title":"x","status":"completed"}]`},
		{"status open", "p.json", "a", `[{"id":"a","title":"x","status":"open"}]`, `[{"id":"a","title":"x","status":"closed"}]`},
		{"both", "p.json", "a",
			`[{"id":"a","title":"x","status":"not_started","passes":false,"inProgress":true}]`,
			`[{"id":"a","title":"x","status":"completed","passes":true,"inProgress":true}]`},
		{"front matter", "a.md", "a", "---\ntitle: x\ndone: false # mine\n---\ny\n", "---\ntitle: x\ndone: true # mine\n---\ny\n"},
		{"empty value", "a.md", "a", "---\ndone:\ntitle: x\n---\n", "---\ndone: true\ntitle: x\n---\n"},
		{"quoted front matter", "a.md", "a", "---\ndone: \"false\"\ntitle: x\n---\n", "---\ndone: true\ntitle: x\n---\n"},
		{"no done line", "a.md", "a", "---\r\ntitle: x\r\n---\r\ny", "---\r\ntitle: x\r\ndone: true\r\n---\r\ny"},
		{"no front matter", "a.md", "a", "\ufeff# x\r\n", "\ufeff---\r\ndone: true\r\n---\r\n# x\r\n"},
		{"empty front matter", "a.md", "a", "---\n---\n# x\n", "---\ndone: true\n---\n# x\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := put(t, tt.file, tt.was)
			f := mustRead(t, path)
			if tt.id == "" {
				tt.id = f.Stories[0].ID
			}
			setDone(t, f, tt.id, true)
			if diff := cmp.Diff(tt.want, content(t, path)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			setDone(t, f, tt.id, true)
			setDone(t, f, tt.id, false)
			if diff := cmp.Diff(tt.was, content(t, path)); diff != "" {
				t.Errorf("back (-want +got)\n%s", diff)
			}
		})
	}
}

// TestSetDoneKeepsOtherEdits: what somebody wrote meanwhile stays.
func TestSetDoneKeepsOtherEdits(t *testing.T) {
	path := put(t, "prd.json", `[{"id":"a","title":"x","passes":false},{"id":"b","title":"y","passes":false}]`)
	f := mustRead(t, path)
	write(t, path, `[
 {"id":"b","title":"edited","passes":false, "extra": 1.50},
 {"id":"a","title":"x","notes":"half way","passes":false}]`)
	setDone(t, f, "a", true)
	want := `[
 {"id":"b","title":"edited","passes":false, "extra": 1.50},
 {"id":"a","title":"x","notes":"half way","passes":true}]`
	if diff := cmp.Diff(want, content(t, path)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := find(t, f, "b").Title; got != "y" {
		t.Errorf("the other story became %q", got)
	}
}

func TestSetDoneRefuses(t *testing.T) {
	const was = `[{"id":"a","title":"x","passes":false}]`
	tests := []struct{ name, now, want string }{
		{"edited", `[{"id":"a","title":"z","passes":false}]`, `"PATH": story "a" changed since it was read: its text is another`},
		{"removed", `[{"id":"b","title":"x"}]`, `"PATH": story "a" changed since it was read: it is no longer in the file`},
		{"doubled", `[{"id":"a","title":"x"},{"id":"a","title":"x"}]`, `"PATH" line 1: the id "a" is used twice, on line 1 and on line 1`},
		{"broken", `[{"id":"a" "title":"x"}]`, `"PATH" line 1, column 12: expected ',' or '}' after the value, found '"': "[{\"id\":\"a\" \"title\":\"x\"}]"`},
		{"emptied", `[]`, `"PATH": no stories: the list is empty`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := put(t, "prd.json", was)
			f := mustRead(t, path)
			write(t, path, tt.now)
			wantError(t, f.SetDone("a", true), path, tt.want)
			if got := content(t, path); got != tt.now {
				t.Errorf("written: %s", got)
			}
			if f.Stories[0].Done {
				t.Error("counted as done all the same")
			}
		})
	}
	t.Run("gone", func(t *testing.T) {
		path := put(t, "prd.json", was)
		f := mustRead(t, path)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		err := f.SetDone("a", true)
		wantError(t, err, path, `"PATH": story "a" changed since it was read: the file is gone`)
		if ce := (*ChangedError)(nil); !errors.As(err, &ce) {
			t.Errorf("%T", err)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		path := put(t, "prd.json", was)
		err := mustRead(t, path).SetDone("zz", true)
		wantError(t, err, path, `"PATH": no such story: "zz"`)
		if !errors.Is(err, ErrUnknownID) {
			t.Errorf("%T", err)
		}
	})
}

// wantError compares a message; PATH in it stands for the path of the file.
func wantError(t *testing.T, err error, path, want string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	quoted := strings.Trim(strings.ReplaceAll(path, `\`, `\\`), `"`)
	if diff := cmp.Diff(want, strings.ReplaceAll(err.Error(), quoted, "PATH")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestDerivedIDsSurviveAnInsertion: an id made from the position moves when a
// story is put before it; the story is still known by its text.
func TestDerivedIDsSurviveAnInsertion(t *testing.T) {
	path := put(t, "prd.json", `[{"description":"one","passes":false},{"description":"two","passes":false}]`)
	f := mustRead(t, path)
	write(t, path, `[{"description":"zero","passes":false},{"description":"one","passes":false},{"description":"two","passes":false}]`)
	setDone(t, f, f.Stories[1].ID, true)
	want := `[{"description":"zero","passes":false},{"description":"one","passes":false},{"description":"two","passes":true}]`
	if got := content(t, path); got != want {
		t.Error(got)
	}
}

func TestWriteKeepsModeAndLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and links are of another kind there")
	}
	dir := t.TempDir()
	real := filepath.Join(dir, "real", "prd.json")
	write(t, real, `[{"id":"a","title":"x","passes":false}]`)
	if err := os.Chmod(real, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "prd.json")
	if err := os.Symlink(filepath.Join("real", "prd.json"), link); err != nil {
		t.Fatal(err)
	}
	setDone(t, mustRead(t, link), "a", true)
	info, err := os.Stat(real)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o640 {
		t.Errorf("mode %o", got)
	}
	if target, err := os.Readlink(link); err != nil || target != filepath.Join("real", "prd.json") {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if got := content(t, real); !strings.Contains(got, `"passes":true`) {
		t.Error(got)
	}
	onlyFile(t, real)
}

// TestWriteRefusesASwappedLink: a path that leads elsewhere than when it was
// read is not written through.
func TestWriteRefusesASwappedLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	path := put(t, "prd.json", `[{"id":"a","title":"x","passes":false}]`)
	f := mustRead(t, path)
	other := put(t, "other.json", content(t, path))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, path); err != nil {
		t.Fatal(err)
	}
	if err := f.SetDone("a", true); err == nil || !strings.Contains(err.Error(), "now leads to") {
		t.Errorf("%v", err)
	}
	if got := content(t, other); strings.Contains(got, "true") {
		t.Errorf("written through: %s", got)
	}
}

func TestReplaceFileNoticesAnotherWriter(t *testing.T) {
	path := put(t, "f", "theirs")
	if err := replaceFile(path, []byte("what we read"), []byte("ours")); !errors.Is(err, errRaced) {
		t.Errorf("%v", err)
	}
	if got := content(t, path); got != "theirs" {
		t.Error(got)
	}
	onlyFile(t, path)
}

// TestReplaceFileClearsUp: what a killed run left is not in the way, is not
// written through, and does not stay.
func TestReplaceFileClearsUp(t *testing.T) {
	path := put(t, "f", "old")
	stale := filepath.Join(filepath.Dir(path), ".f.loop-tmp")
	other := put(t, "other", "theirs")
	if err := os.Symlink(other, stale); err != nil {
		write(t, stale, "half of")
	}
	if err := replaceFile(path, []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path) + content(t, other); got != "newtheirs" {
		t.Error(got)
	}
	onlyFile(t, path)
}

func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
