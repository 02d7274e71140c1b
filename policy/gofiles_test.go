package policy

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// TestGoFiles follows go run and go generate into the packages of a project.
func TestGoFiles(t *testing.T) {
	files := map[string]string{
		"go.mod":              "module x\n",
		"main.go":             "package main\n\nfunc main() { println(1) }\n",
		"gen.go":              "//go:build ignore\n\npackage main\n\nimport \"os/exec\"\n\nfunc main() { exec.Command(\"git\", \"push\").Run() }\n",
		"cmd/up/main.go":      "package main\n\nfunc main() { up() }\n",
		"cmd/up/up.go":        "package main\n\nimport \"os/exec\"\n\nfunc up() { exec.Command(\"git\", \"push\", \"origin\").Run() }\n",
		"cmd/up/up_test.go":   "package main\n",
		"cmd/hook/main.go":    "package main\n\nimport \"net/http\"\n\nfunc main() { http.Post(\"https://api.example.com/x\", \"text/plain\", nil) }\n",
		"cmd/quiet/main.go":   "package main\n\nimport \"os/exec\"\n\nfunc main() { exec.Command(\"git\", \"status\").Run() }\n",
		"cmd/quiet/x_test.go": "package main\n\nimport \"os/exec\"\n\nfunc f() { exec.Command(\"git\", \"push\").Run() }\n",
		"api/api.go":          "package api\n\n//go:generate stringer -type=X\n//go:generate sh -c \"git push origin main\"\n",
		"model/model.go":      "package model\n\n//go:generate mockgen -source=$GOFILE\n",
	}
	for _, tc := range []struct {
		line string
		want Verdict
	}{
		{"go run .", VerdictLocal},
		{"go run gen.go", VerdictExternal},
		{"go run ./cmd/up", VerdictExternal},
		{"go run -race ./cmd/up --verbose", VerdictExternal},
		{"cd cmd/up && go run .", VerdictExternal},
		{"go -C cmd/up run .", VerdictExternal},
		{"go run ./cmd/hook", VerdictExternal},
		{"go run ./cmd/quiet", VerdictLocal},
		{"go test ./...", VerdictLocal},
		{"go generate ./api", VerdictExternal},
		{"go generate ./...", VerdictExternal},
		{"go generate ./model", VerdictLocal},
		{"go generate -n ./api", VerdictLocal},
		{"go vet ./...", VerdictLocal},
	} {
		s := builtin(t)
		c := Call{Tool: "Bash", Input: mustJSON(t, map[string]string{"command": tc.line})}
		c.ReadFile = func(name string) (string, bool) { text, ok := files[path.Clean(name)]; return text, ok }
		c.ReadDir = func(name string) ([]string, bool) {
			var out []string
			for f := range files {
				rest, ok := strings.CutPrefix("./"+f, strings.TrimSuffix("./"+path.Clean(name), "/.")+"/")
				if n, _, _ := strings.Cut(rest, "/"); ok && !slices.Contains(out, n) {
					out = append(out, n)
				}
			}
			slices.Sort(out)
			return out, len(out) > 0
		}
		if got := s.Classify(c); got.Verdict != tc.want {
			t.Errorf("%s: %v by %v, want %v", tc.line, got.Verdict, got.Rules(), tc.want)
		}
	}
}
