package scanner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIsScript(t *testing.T) {
	tests := map[string]bool{
		"deploy.sh": true, "/x/Makefile": true, "package.json": true, "Dockerfile.prod": true, "/r/.github/workflows/ci.yml": true,
		`C:\r\.github\workflows\ci.yml`: true, "a.py": true, "a.js": true, "/r/.git/hooks/pre-push": true, "Taskfile.yml": true,
		".gitlab-ci.yml": true, "/r/bin/release": true, "README.md": false, "main.go": false, "docs/push.txt": false, "config.yml": false, "": false,
	}
	for name, want := range tests {
		if got := (file{name: name}).isScript(); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	if !(file{name: "ship", text: "#!/bin/sh\n"}).isScript() {
		t.Error("a first line that names an interpreter makes a script")
	}
}

func TestFileOf(t *testing.T) {
	tests := []struct {
		tool, input string
		want        []file
	}{
		{"Write", `{"file_path":"a.sh","content":"x"}`, []file{file{name: "a.sh", text: "x"}}},
		{"Edit", `{"file_path":"a.sh","old_string":"y","new_string":"x"}`, []file{file{name: "a.sh", text: "x", edited: true}}},
		{"MultiEdit", `{"file_path":"a.sh","edits":[{"old_string":"y","new_string":"x"},{"old_string":"","new_string":"z"}]}`, []file{file{name: "a.sh", text: "x\nz", edited: true}}},
		{"NotebookEdit", `{"notebook_path":"a.ipynb","new_source":"x"}`, []file{file{name: "a.ipynb", text: "x"}}},
		{"mcp__filesystem__write_file", `{"path":"a.sh","content":"x"}`, []file{file{name: "a.sh", text: "x"}}},
		{"Write", `"no object"`, []file{file{}}},
		{"apply_patch", `"*** Begin Patch\n*** Add File: a.sh\n+x\n*** Update File: b.sh\n@@\n-y\n+z\n*** End Patch"`, []file{{name: "a.sh", text: "x\n"}, {name: "b.sh", text: "z\n", edited: true}}},
		{"patch", `{"patch":"--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-y\n+x\n"}`, []file{{name: "a.sh", text: "x\n", edited: true}}},
		{"Write", `{"file_path":"a.diff","content":"--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-y\n+x\n"}`, []file{{name: "a.diff", text: "--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-y\n+x\n"}}},
		{"Bash", `{"command":"x"}`, nil},
		{"Read", `{"file_path":"a.sh"}`, nil},
	}
	for _, tt := range tests {
		got := filesOf(tt.tool, []byte(tt.input))
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(file{})); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.tool, tt.input, diff)
		}
	}
}

func TestCommands(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"package.json", `{"name":"x","scripts":{"test":"go test","ship":"npm publish"}}`, []string{"go test", "npm publish"}},
		{"package.json", "    \"test\": \"go test\",\n    \"ship\": \"npm publish --tag \\\"x\\\"\"\n  }", []string{"go test", `npm publish --tag "x"`}},
		{"Makefile", "ship: all\n\t@rsync -a out/ \\\n\t  host:/srv\n\t-git push\n# no\n\t# no\nx = y\n", []string{"rsync -a out/  \t  host:/srv", "git push"}},
		{"Dockerfile", "FROM x\nRUN make && \\\n  make ship\nCMD [\"git\", \"push\"]\nCOPY a b\n", []string{"make &&    make ship", "git push"}},
		{
			"/r/.github/workflows/ci.yml", "on: push\njobs:\n  a:\n    steps:\n    - uses: x\n    - run: git push\n    - name: y\n      run: |\n        make\n\n        npm publish\n      env:\n        A: b\n",
			[]string{"git push", "make", "npm publish"},
		},
		{".gitlab-ci.yml", "ship:\n  script:\n    - make\n    - git push\n  only: [main]\n", []string{"make", "git push"}},
		{"README.md", "run git push\n", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, (file{name: tt.name, text: tt.text}).commands()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	many := file{name: "Makefile", text: strings.Repeat("\tgit push\n", 3*maxCommands)}
	if n := len(many.commands()); n != maxCommands {
		t.Errorf("%d commands of one file", n)
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("é", 500)
	tests := []struct {
		text       string
		start, end int
		want       string
	}{
		{"run git push now", 4, 12, "run git push now"},
		{"a\nrun git push now\nb", 6, 14, "run git push now"},
		{"git\n push", 0, 9, "git  push"},
		{"git\r\npush", 0, 9, "git push"},
		{long + "git push" + long, 1000, 1008, strings.Repeat("é", 76) + "git push" + strings.Repeat("é", 76)},
		{long, 0, 1000, strings.Repeat("é", 160)},
		{"", 0, 0, ""},
		{"x\xffgit push\xfe", 2, 10, "x\xffgit push\xfe"},
		{"past the end", 5, 99, "past the end"},
	}
	for _, tt := range tests {
		if got := excerpt([]byte(tt.text), tt.start, tt.end); got != tt.want {
			t.Errorf("excerpt of %.40q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestSurvey(t *testing.T) {
	tests := map[string]mark{
		`{"type":"tool_use"}`:                  markCall,
		`{"type": "tool_result"}`:              markResult,
		`{"a":"say \"tool_use\" here"}`:        0,
		`{"a":"x\\","type":"tool_use"}`:        markCall,
		`{"a":"tool\u005fuse"}`:                markCall,
		`{"torn":"abc{"type":"tool_use","x":1`: markCall,
		`{"parent_tool_use_id":"tool_used"}`:   markClient,
		`{"cmd":"tool_used"}`:                  markForeign,
		`{"subtype":"init","b":"tool_result"}`: markNotice | markResult,
		``:                                     0,
	}
	for line, want := range tests {
		if got, _ := survey([]byte(line)); got != want {
			t.Errorf("%s: %b, want %b", line, got, want)
		}
	}
	long := strings.Repeat(`a line\n`, 200)
	line := `{"a":"` + long + `","b":"` + long + `"}`
	_, again := survey([]byte(line))
	if line[again.start:again.end] != long || again.start < len(long) {
		t.Errorf("%+v is not the second of two pieces", again)
	}
	if _, again = survey([]byte(strings.Replace(line, "line", "lime", 1))); again.end != 0 {
		t.Errorf("%+v: the pieces differ", again)
	}
}
