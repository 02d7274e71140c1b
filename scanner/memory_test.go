package scanner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
)

// use is a transcript line with one call.
func use(id, tool string, input map[string]any) string {
	b, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]},"parent_tool_use_id":null}`, id, tool, b)
}

func bashUse(id, command string) string { return use(id, "Bash", map[string]any{"command": command}) }

func write(id, name, text string) string {
	return use(id, "Write", map[string]any{"file_path": name, "content": text})
}

func edit(id, name, from, to string) string {
	return use(id, "Edit", map[string]any{"file_path": name, "old_string": from, "new_string": to})
}

func child(line string) string {
	return strings.Replace(line, `"parent_tool_use_id":null`, `"parent_tool_use_id":"toolu_task"`, 1)
}

func done(id string) string {
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"ok"}]}}`, id)
}

const initLine = `{"type":"system","subtype":"init","cwd":"/p","session_id":"s"}`

// What a session put into a file is what a later call of it runs.
func TestWrittenThenRun(t *testing.T) {
	push := "#!/bin/sh\ngit push origin main\n"
	tests := map[string]struct {
		lines []string
		want  string // excerpt of the executed hit of "run"; "" = none
	}{
		"write": {[]string{initLine, write("w", "/p/x.sh", push), done("w"), bashUse("run", "./x.sh"), done("run")},
			"written at line 2: git push origin main; run at line 4: ./x.sh"},
		"write without cwd": {[]string{write("w", "/p/x.sh", push), bashUse("run", "cd /p; sh x.sh")},
			"written at line 1: git push origin main; run at line 2: cd /p; sh x.sh"},
		"in another folder": {[]string{initLine, write("w", "/p/sub/x.sh", push), bashUse("c", "cd sub"), bashUse("run", "sh x.sh")},
			"written at line 2: git push origin main; run at line 4: sh x.sh"},
		"absolute":     {[]string{write("w", "/p/x.sh", push), bashUse("run", "bash /p/x.sh")}, "written at line 1: git push origin main; run at line 2: bash /p/x.sh"},
		"another file": {[]string{initLine, write("w", "/p/x.sh", push), bashUse("run", "sh /q/x.sh")}, ""},
		"not run":      {[]string{initLine, write("w", "/p/x.sh", push), bashUse("run", "cat x.sh")}, ""},
		"no extension": {[]string{initLine, write("w", "/p/tool", push), bashUse("run", "./tool")}, "written at line 2: git push origin main; run at line 3: ./tool"},
		"heredoc": {[]string{initLine, bashUse("w", "cat > go.sh <<'EOF'\ngit push\nEOF\nchmod +x go.sh"), bashUse("run", "./go.sh")},
			"written at line 2: git push; run at line 3: ./go.sh"},
		"tee":    {[]string{initLine, bashUse("w", "echo 'gh pr create' | tee a.sh"), bashUse("run", "sh a.sh")}, "written at line 2: gh pr create; run at line 3: sh a.sh"},
		"append": {[]string{initLine, bashUse("w", "echo 'cd x' > a.sh"), bashUse("v", "printf 'git push\\n' >> a.sh"), bashUse("run", "sh a.sh")}, "written at line 3: git push; run at line 4: sh a.sh"},
		"moved":  {[]string{initLine, write("w", "/p/a.txt.sh", push), bashUse("v", "mv a.txt.sh deep.sh"), bashUse("run", "sh deep.sh")}, "written at line 3: git push origin main; run at line 4: sh deep.sh"},
		"edit": {[]string{initLine, write("w", "/p/x.sh", "#!/bin/sh\nGO\n"), edit("e", "/p/x.sh", "GO", "git push"), bashUse("run", "./x.sh")},
			"written at line 3: git push; run at line 4: ./x.sh"},
		"edited away": {[]string{initLine, write("w", "/p/x.sh", push), edit("e", "/p/x.sh", "git push origin main", "true"), bashUse("run", "./x.sh")}, ""},
		"edit of what is not known": {[]string{initLine, edit("e", "/p/x.sh", "true", "npm publish"), bashUse("run", "./x.sh")},
			"written at line 2: npm publish; run at line 3: ./x.sh"},
		"many edits": {[]string{initLine, write("w", "/p/x.sh", "A\nB\n"), use("e", "MultiEdit", map[string]any{"file_path": "/p/x.sh", "edits": []map[string]string{{"old_string": "A", "new_string": "git"}, {"old_string": "git\nB", "new_string": "git push"}}}), bashUse("run", "./x.sh")},
			"written at line 3: git push; run at line 4: ./x.sh"},
		"written by a subagent": {[]string{initLine, child(write("w", "/p/x.sh", push)), child(done("w")), bashUse("run", "./x.sh"), done("run")},
			"written at line 2: git push origin main; run at line 4: ./x.sh"},
		"run by a subagent":                {[]string{initLine, write("w", "/p/x.sh", push), child(bashUse("run", "./x.sh"))}, "written at line 2: git push origin main; run at line 3: ./x.sh"},
		"makefile":                         {[]string{initLine, write("w", "/p/Makefile", "all: up\nup:\n\t@git push\n"), bashUse("run", "make")}, "written at line 2: git push; run at line 3: make"},
		"another makefile":                 {[]string{initLine, write("w", "/p/sub/Makefile", "all:\n\tgit push\n"), bashUse("run", "make")}, ""},
		"part of a package":                {[]string{initLine, edit("e", "/p/package.json", `"x": "y"`, "\"x\": \"y\",\n\"go\": \"git push\""), bashUse("run", "npm run go")}, "written at line 2: git push; run at line 3: npm run go"},
		"python":                           {[]string{initLine, write("w", "/p/a.py", "import os\nos.system('git push')\n"), bashUse("run", "python3 a.py")}, "written at line 2: git push; run at line 3: python3 a.py"},
		"hook":                             {[]string{initLine, write("w", "/p/.git/hooks/post-commit", push), bashUse("run", "git commit -m x")}, "written at line 2: git push origin main; run at line 3: git commit -m x"},
		"overwritten by what is not known": {[]string{initLine, write("w", "/p/x.sh", push), bashUse("v", "sed s/git/true/ y > x.sh"), bashUse("run", "./x.sh")}, ""},
		"alias":                            {[]string{initLine, bashUse("w", "git config --global alias.up '!git push'"), bashUse("run", "git up")}, "written at line 2: git push; run at line 3: git up"},
		"script set":                       {[]string{initLine, bashUse("w", "npm pkg set scripts.go='git push'"), bashUse("run", "npm run go")}, "written at line 2: git push; run at line 3: npm run go"},
		"harmless":                         {[]string{initLine, write("w", "/p/deploy.sh", "echo hello\n"), bashUse("run", "./deploy.sh")}, ""},
	}
	set := builtin(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			_, err := Scan(context.Background(), strings.NewReader(strings.Join(tt.lines, "\n")), Options{Set: set}, func(h Hit) error {
				if h.ToolUseID == "run" && h.Evidence == policy.Executed {
					got = h.Excerpt
				}
				if h.ToolUseID == "w" && h.Tool == "Write" && h.Evidence != policy.Written && h.Evidence != policy.Mentioned {
					t.Errorf("the write is %s", h.Evidence)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// A guess never makes a call nearer: the script of that name that was written
// elsewhere says nothing about this one.
func TestAGuessedFileDoesNotClear(t *testing.T) {
	lines := []string{initLine, write("w", "/p/sub/deploy.sh", "echo hello\n"), bashUse("run", "./deploy.sh")}
	found := false
	_, err := Scan(context.Background(), strings.NewReader(strings.Join(lines, "\n")), Options{Set: builtin(t)}, func(h Hit) error {
		found = found || h.ToolUseID == "run" && h.Evidence == policy.Executed
		return nil
	})
	if err != nil || !found {
		t.Errorf("no hit (%v)", err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var m memory
	for i := range 3 * maxKeptFiles {
		m.put(fmt.Sprintf("/p/%d.sh", i), "x", i, false)
	}
	if len(m.files) != maxKeptFiles || len(m.order) != maxKeptFiles || m.files["/p/0.sh"] != nil {
		t.Errorf("%d files, %d in order", len(m.files), len(m.order))
	}
	m.put("/p/191.sh", strings.Repeat("x", maxKeptFile+1), 1, false)
	if m.files["/p/191.sh"] != nil {
		t.Error("a file over the limit is kept")
	}
}

// What was read before it ran is no hit for its name, and still one for what
// this transcript shows it to do.
func TestCleared(t *testing.T) {
	lines := []string{initLine, bashUse("a", "./deploy.sh"), bashUse("b", "git push"), bashUse("c", "./release.sh")}
	var got []string
	_, err := Scan(context.Background(), strings.NewReader(strings.Join(lines, "\n")), Options{
		Set: builtin(t), Cleared: func(id string) bool { return id != "c" },
	}, func(h Hit) error {
		if h.Evidence == policy.Executed {
			got = append(got, h.ToolUseID)
		}
		return nil
	})
	if err != nil || strings.Join(got, " ") != "b c" {
		t.Errorf("%q (%v)", got, err)
	}
}
