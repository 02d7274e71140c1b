package stories

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGolden reads every fixture and compares all that was understood, with
// the order of work, to a golden file. LOOP_UPDATE=1 rewrites them.
func TestGolden(t *testing.T) {
	paths := append(fixtures(t), filepath.Join("testdata", "folder"), filepath.Join("testdata", "forms", "code-tasks"))
	for _, path := range append(paths, formFixtures(t)...) {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if dir, ok := strings.CutPrefix(filepath.ToSlash(path), "testdata/forms/"); ok {
			name, _, _ = strings.Cut(dir, "/")
		}
		t.Run(name, func(t *testing.T) {
			f := mustRead(t, path)
			got := strings.ReplaceAll(dump(t, f), `\\`, `/`)
			golden := filepath.Join("testdata", "golden", name+".json")
			if os.Getenv("LOOP_UPDATE") == "1" {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// dump is all that was read, without what is empty.
func dump(t *testing.T, f *File) string {
	t.Helper()
	all := struct {
		*File
		Open []string
	}{File: f}
	for _, s := range order(t, f) {
		all.Open = append(all.Open, s.ID)
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(withoutZeros(v)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func withoutZeros(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutZeros(v[i])
		}
	case map[string]any:
		for k, x := range v {
			if x == nil || x == "" || x == false || x == 0.0 && v["HasPriority"] != true {
				delete(v, k)
			} else {
				v[k] = withoutZeros(x)
			}
		}
	}
	return v
}

func fixtures(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/prd/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	return paths
}

// formFixtures are the files of the other forms, but for those of a folder.
func formFixtures(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(filepath.Join("testdata", "forms"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Base(filepath.Dir(path)) != "code-tasks" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	return paths
}

func mustRead(t *testing.T, path string) *File {
	t.Helper()
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// put writes a file into a fresh folder and returns its path.
func put(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	write(t, path, text)
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
