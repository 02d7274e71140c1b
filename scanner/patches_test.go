package scanner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
)

// custom is a call whose input is a text and no object, as other agents have it.
func custom(id, tool, input string) string {
	b, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"type":"response_item","payload":{"type":"custom_tool_call","call_id":%q,"name":%q,"input":%s}}`, id, tool, b)
}

const addFile = "*** Begin Patch\n*** Add File: x.sh\n+#!/bin/sh\n+git push origin main\n*** End Patch"

// Whatever way a script came to be: run, it is what it holds.
func TestPatchedThenRun(t *testing.T) {
	diff := "--- a/x.sh\n+++ b/x.sh\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-GO\n+git push\n"
	tests := map[string]struct {
		lines []string
		want  string // excerpt of the executed hit of "run"; "" = none
	}{
		"envelope": {[]string{initLine, custom("w", "apply_patch", addFile), bashUse("run", "sh x.sh")},
			"written at line 2: git push origin main; run at line 3: sh x.sh"},
		"envelope in an object": {[]string{initLine, use("w", "apply_patch", map[string]any{"input": addFile}), bashUse("run", "./x.sh")},
			"written at line 2: git push origin main; run at line 3: ./x.sh"},
		"envelope in a shell": {[]string{initLine, bashUse("w", "apply_patch <<'EOF'\n"+addFile+"\nEOF"), bashUse("run", "./x.sh")},
			"written at line 2: git push origin main; run at line 3: ./x.sh"},
		"envelope as an argument": {[]string{initLine, use("w", "shell", map[string]any{"command": []string{"apply_patch", addFile}}), bashUse("run", "./x.sh")},
			"written at line 2: git push origin main; run at line 3: ./x.sh"},
		"update": {[]string{initLine, write("w", "/p/x.sh", "#!/bin/sh\nGO\n"), custom("v", "apply_patch", "*** Begin Patch\n*** Update File: x.sh\n@@\n #!/bin/sh\n-GO\n+git push\n*** End Patch"), bashUse("run", "./x.sh")},
			"written at line 3: git push; run at line 4: ./x.sh"},
		"patched away": {[]string{initLine, write("w", "/p/x.sh", "#!/bin/sh\ngit push\n"), custom("v", "apply_patch", "*** Begin Patch\n*** Update File: x.sh\n@@\n-git push\n+true\n*** End Patch"), bashUse("run", "./x.sh")}, ""},
		"update of what is not known": {[]string{initLine, custom("v", "apply_patch", "*** Begin Patch\n*** Update File: x.sh\n@@ main\n-true\n+npm publish\n*** End Patch"), bashUse("run", "./x.sh")},
			"written at line 2: npm publish; run at line 3: ./x.sh"},
		"moved": {[]string{initLine, write("w", "/p/x.sh", "#!/bin/sh\nGO\n"), custom("v", "apply_patch", "*** Begin Patch\n*** Update File: x.sh\n*** Move to: y.sh\n@@\n-GO\n+git push\n*** End Patch"), bashUse("run", "./y.sh")},
			"written at line 3: git push; run at line 4: ./y.sh"},
		"two files": {[]string{initLine, custom("w", "apply_patch", "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Add File: x.sh\n+git push\n*** End Patch"), bashUse("run", "sh x.sh")},
			"written at line 2: git push; run at line 3: sh x.sh"},
		"unified diff": {[]string{initLine, write("w", "/p/x.sh", "#!/bin/sh\nGO\n"), use("v", "patch", map[string]any{"patch": diff}), bashUse("run", "./x.sh")},
			"written at line 3: git push; run at line 4: ./x.sh"},
		"git apply": {[]string{initLine, bashUse("w", "git apply <<'EOF'\n"+diff+"EOF"), bashUse("run", "./x.sh")},
			"written at line 2: git push; run at line 3: ./x.sh"},
		"patch of a file": {[]string{initLine, bashUse("w", "cat > fix <<'EOF'\n"+diff+"EOF"), bashUse("v", "patch -p1 < fix"), bashUse("run", "./x.sh")},
			"written at line 3: git push; run at line 4: ./x.sh"},
		"sed": {[]string{initLine, write("w", "/p/x.sh", "#!/bin/sh\nGO now\n"), bashUse("v", "sed -i 's/GO/git push/' x.sh"), bashUse("run", "./x.sh")},
			"written at line 3: git push now; run at line 4: ./x.sh"},
		"sed with groups": {[]string{initLine, write("w", "/p/x.sh", "echo push\n"), bashUse("v", `sed -i.bak -E "s|^echo (pu.*)$|git \1|" x.sh`), bashUse("run", "sh x.sh")},
			"written at line 3: git push; run at line 4: sh x.sh"},
		"sed of what is not known": {[]string{initLine, bashUse("v", `sed -i '' -e 's#true#git push#g' x.sh`), bashUse("run", "sh x.sh")},
			"written at line 2: git push; run at line 3: sh x.sh"},
		"sed appends": {[]string{initLine, write("w", "/p/x.sh", "#!/bin/sh\n"), bashUse("v", `sed -i '$ a git push' x.sh`), bashUse("run", "./x.sh")},
			"written at line 3: git push; run at line 4: ./x.sh"},
		"sed away":        {[]string{initLine, write("w", "/p/x.sh", "#!/bin/sh\ngit push\n"), bashUse("v", `sed -i 's/git push/true/' x.sh`), bashUse("run", "./x.sh")}, ""},
		"sed without -i":  {[]string{initLine, write("w", "/p/x.sh", "#!/bin/sh\nGO\n"), bashUse("v", "sed 's/GO/git push/' x.sh"), bashUse("run", "./x.sh")}, ""},
		"perl":            {[]string{initLine, write("w", "/p/x.sh", "#!/bin/sh\nGO\n"), bashUse("v", `perl -pi -e 's/GO/git push/' x.sh`), bashUse("run", "./x.sh")}, "written at line 3: git push; run at line 4: ./x.sh"},
		"tee -a":          {[]string{initLine, bashUse("w", "echo 'git push' | tee -a x.sh >/dev/null"), bashUse("run", "sh x.sh")}, "written at line 2: git push; run at line 3: sh x.sh"},
		"printf":          {[]string{initLine, bashUse("w", `printf '#!/bin/sh\ngit push\n' > x.sh`), bashUse("run", "./x.sh")}, "written at line 2: git push; run at line 3: ./x.sh"},
		"notebook":        {[]string{initLine, use("w", "NotebookEdit", map[string]any{"notebook_path": "/p/n.ipynb", "new_source": "import os\nos.system('git push')"}), bashUse("run", "jupyter nbconvert --to notebook --execute n.ipynb")}, "written at line 2: git push; run at line 3: jupyter nbconvert --to notebook --execute n.ipynb"},
		"notebook's bang": {[]string{initLine, write("w", "/p/n.ipynb", `{"cells":[{"cell_type":"markdown","source":["git push"]},{"cell_type":"code","source":["x=1\n","!git push"]}]}`), bashUse("run", "papermill n.ipynb out.ipynb")}, "written at line 2: git push; run at line 3: papermill n.ipynb out.ipynb"},
		"notebook read":   {[]string{initLine, write("w", "/p/n.ipynb", `{"cells":[{"cell_type":"code","source":"!git push"}]}`), bashUse("run", "jupyter nbconvert --to html n.ipynb")}, ""},
	}
	set := builtin(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			_, err := Scan(context.Background(), strings.NewReader(strings.Join(tt.lines, "\n")), Options{Set: set}, func(h Hit) error {
				if h.ToolUseID == "run" && h.Evidence == policy.Executed {
					got = h.Excerpt
				}
				if h.ToolUseID == "w" && h.Evidence == policy.Executed {
					t.Errorf("the write is executed: %v", h.Rules)
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

// A patch that makes a script which reaches outside is written for later.
func TestPatchIsWritten(t *testing.T) {
	for name, line := range map[string]string{
		"envelope": custom("w", "apply_patch", addFile),
		"shell":    bashUse("w", "apply_patch <<'EOF'\n"+addFile+"\nEOF"),
		"notebook": use("w", "NotebookEdit", map[string]any{"notebook_path": "n.ipynb", "new_source": "!git push"}),
	} {
		t.Run(name, func(t *testing.T) {
			var got []policy.Evidence
			_, err := Scan(context.Background(), strings.NewReader(line), Options{Set: builtin(t)}, func(h Hit) error {
				got = append(got, h.Evidence)
				return nil
			})
			if err != nil || len(got) != 1 || got[0] != policy.Written {
				t.Errorf("%v %v", got, err)
			}
		})
	}
}
