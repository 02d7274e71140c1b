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
	const none = `no story file in "ROOT"; looked for scripts/ralph/prd.json, ralph/prd.json, .ralph/prd.json, prd.json, ` +
		`tasks/prd.json, .agents/tasks/prd-*.json, .chief/prds/*/prd.json and stories/*.md`
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
		{"unsupported beside one", []string{".ralph/fix_plan.md", "prd.json"}, "prd.json", ""},
		{"fix plan", []string{".ralph/fix_plan.md"}, "",
			`"ROOT/.ralph/fix_plan.md": this form (fix_plan.md) is not read yet; supported are prd.json and stories/*.md`},
		{"beads", []string{".beads/issues.jsonl"}, "",
			`"ROOT/.beads/issues.jsonl": this form (JSON lines) is not read yet; supported are prd.json and stories/*.md`},
		{"plans", []string{"docs/plans/a.md"}, "",
			`"ROOT/docs/plans/a.md": this form (plan with checkboxes) is not read yet; supported are prd.json and stories/*.md`},
		{"several unsupported", []string{"IMPLEMENTATION_PLAN.md", ".chief/prds/x/prd.md"}, "",
			`"ROOT/.chief/prds/x/prd.md" and "ROOT/IMPLEMENTATION_PLAN.md": these forms are not read yet; supported are prd.json and stories/*.md`},
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
