package stories

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiscover(t *testing.T) {
	const none = "no story file in \"ROOT\": there is none in the usual places (`loop stories --forms` lists them)"
	tests := []struct {
		name  string
		files []string
		want  string // relative path, or
		err   string
	}{
		{"nothing", nil, "", none},
		{"ralph scripts", []string{"scripts/ralph/prd.json"}, "scripts/ralph/prd.json", ""},
		{"ralph", []string{"ralph/prd.json"}, "ralph/prd.json", ""},
		{"dot ralph", []string{".ralph/prd.json"}, ".ralph/prd.json", ""},
		{"root", []string{"prd.json"}, "prd.json", ""},
		{"tasks", []string{"tasks/prd.json"}, "tasks/prd.json", ""},
		{"agents", []string{".agents/tasks/prd-login.json"}, ".agents/tasks/prd-login.json", ""},
		{"chief", []string{".chief/prds/main/prd.json", ".chief/prds/main/prd.md"}, ".chief/prds/main/prd.json", ""},
		{"own", []string{"stories/001.md", "stories/README.md"}, "stories", ""},
		{"own without a story", []string{"stories/README.md", "stories/_x.md", "stories/button.stories.tsx"}, "", none},
		{"a file called stories", []string{"stories", "prd.json"}, "prd.json", ""},
		{"two", []string{"prd.json", ".ralph/prd.json"}, "",
			`2 story files: "ROOT/.ralph/prd.json" and "ROOT/prd.json"; name the one to work on with --stories`},
		{"three", []string{"stories/1.md", ".agents/tasks/prd-b.json", ".agents/tasks/prd-a.json"}, "",
			`3 story files: "ROOT/.agents/tasks/prd-a.json", "ROOT/.agents/tasks/prd-b.json" and "ROOT/stories"; name the one to work on with --stories`},
		{"plan beside a list", []string{".ralph/fix_plan.md", "prd.json"}, "",
			`2 story files: "ROOT/prd.json" and "ROOT/.ralph/fix_plan.md"; name the one to work on with --stories`},
		{"fix plan", []string{".ralph/fix_plan.md"}, ".ralph/fix_plan.md", ""},
		{"fix plan with a sign", []string{"@fix_plan.md"}, "@fix_plan.md", ""},
		{"tasks of ralph", []string{".ralph/ralph-tasks.md"}, ".ralph/ralph-tasks.md", ""},
		{"beads", []string{".beads/issues.jsonl"}, ".beads/issues.jsonl", ""},
		{"chief markdown", []string{".chief/prds/a/prd.md"}, ".chief/prds/a/prd.md", ""},
		{"two of chief", []string{".chief/prds/a/prd.md", ".chief/prds/b/prd.md"}, "",
			`2 story files: "ROOT/.chief/prds/a/prd.md" and "ROOT/.chief/prds/b/prd.md"; name the one to work on with --stories`},
		{"code tasks", []string{"tasks/a.code-task.md", "tasks/b.md"}, "tasks", ""},
		{"tasks of another kind", []string{"tasks/main.yml", "tasks/notes.md"}, "", none},
		{"one plan says itself what is wrong", []string{"docs/plans/a.md"}, "docs/plans/a.md", ""},
		{"prose beside a list", []string{"IMPLEMENTATION_PLAN.md", "tasks.yaml", "prd.json"}, "prd.json", ""},
		{"prose twice", []string{"IMPLEMENTATION_PLAN.md", "docs/plans/a.md"}, "", none},
		{"named by a person only", []string{"TODO.md", "tasks.md"}, "", none},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// A root with pattern characters must be taken as it is.
			root := filepath.Join(t.TempDir(), "a[b]*c")
			if runtime.GOOS == "windows" {
				root = t.TempDir()
			}
			if err := os.MkdirAll(root, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, name := range tt.files {
				write(t, filepath.Join(root, filepath.FromSlash(name)), "x")
			}
			got, err := Discover(root)
			if tt.err != "" {
				slash := strings.ReplaceAll(fmt.Sprint(err), `\\`, "/")
				if diff := cmp.Diff(tt.err, strings.ReplaceAll(slash, filepath.ToSlash(root), "ROOT")); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				return
			}
			if err != nil || got != filepath.Join(root, filepath.FromSlash(tt.want)) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestDiscoverKinds(t *testing.T) {
	if _, err := Discover(t.TempDir()); !errors.Is(err, ErrNoFile) {
		t.Errorf("%v", err)
	}
	root := t.TempDir()
	write(t, filepath.Join(root, "prd.json"), "x")
	write(t, filepath.Join(root, "tasks", "prd.json"), "x")
	var ce *CandidatesError
	if _, err := Discover(root); !errors.As(err, &ce) || len(ce.Paths) != 2 {
		t.Errorf("%v", err)
	}
}

// TestDiscoverOneFileTwice: a link and what it leads to are one candidate.
func TestDiscoverOneFileTwice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	root := t.TempDir()
	write(t, filepath.Join(root, "scripts", "ralph", "prd.json"), "x")
	for link, to := range map[string]string{
		"prd.json":       filepath.Join("scripts", "ralph", "prd.json"),
		"tasks/prd.json": "nowhere",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Discover(root)
	if err != nil || got != filepath.Join(root, "scripts", "ralph", "prd.json") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestDiscoverShared: in places where other things lie too, only a file with
// open stories is one.
func TestDiscoverShared(t *testing.T) {
	const open, done = "### Task 1: x\n- [ ] y\n", "### Task 1: x\n- [x] y\n"
	tests := []struct {
		name  string
		files map[string]string
		want  string // relative path; "" = an error
	}{
		{"one open of three", map[string]string{"docs/plans/a.md": done, "docs/plans/b.md": open, "docs/plans/c.md": "prose"}, "docs/plans/b.md"},
		{"finished ones", map[string]string{"docs/plans/a.md": done, "docs/plans/b.md": "prose"}, "docs/plans/a.md"},
		{"two open", map[string]string{"docs/plans/a.md": open, "docs/plans/b.md": open}, ""},
		{"completed", map[string]string{"docs/plans/completed/a.md": open, "docs/plans/b.md": open}, "docs/plans/b.md"},
		{"a playbook", map[string]string{"tasks.yaml": "- name: install\n", "IMPLEMENTATION_PLAN.md": "- [ ] x\n"}, "IMPLEMENTATION_PLAN.md"},
		{"a broken one has to be looked at", map[string]string{"docs/plans/a.md": "### Task 1: x\n- [ ] a\n### Task 1: y\n- [ ] a\n", "docs/plans/b.md": open}, ""},
		{"a finished plan beside an open list", map[string]string{"docs/plans/a.md": done, "prd.json": `[{"id":"a","title":"x"}]`}, "prd.json"},
		{"an open plan beside a list", map[string]string{"docs/plans/a.md": open, "prd.json": `[{"id":"a","title":"x"}]`}, ""},
		{"the document beside its list", map[string]string{".chief/prds/a/prd.md": "### US-1: x\n", ".chief/prds/a/prd.json": "[]"}, ".chief/prds/a/prd.json"},
		{"both with a status", map[string]string{".chief/prds/a/prd.md": "### US-1: x\n**Status:** todo\n", ".chief/prds/a/prd.json": "[]"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range tt.files {
				write(t, filepath.Join(root, filepath.FromSlash(name)), text)
			}
			got, err := Discover(root)
			var ce *CandidatesError
			if tt.want == "" && !errors.As(err, &ce) {
				t.Errorf("%q, %v; want several candidates", got, err)
			}
			if tt.want != "" && (err != nil || got != filepath.Join(root, filepath.FromSlash(tt.want))) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
