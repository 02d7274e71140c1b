package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func guardedRun() *Guarded {
	return &Guarded{
		Root: "/repo", Home: "/home/me", Pids: []int{4242}, Ports: []int{43210},
		Files: []string{"/home/me/.local/state/loop", "/repo/loop.toml", "/repo/ci/rules.toml", "/usr/local/bin/loop"},
		Path:  []string{"/opt/tools", "/usr/bin"},
		Glob: func(name string) []string {
			if name == "/repo/.c*/settings.json" {
				return []string{"/repo/.claude/settings.json"}
			}
			return nil
		},
		Finds: func(program, _ string) bool { return program == "make" },
		Real: func(name string) string {
			if name == "/repo/h/pre-commit" {
				return "/repo/.git/hooks/pre-commit"
			}
			return name
		},
	}
}

// Tools that write files are held by the same rules as shell lines.
func TestGuardedFilesOfTools(t *testing.T) {
	s := builtin(t)
	for _, c := range []struct{ tool, input, want string }{
		{"Write", `{"file_path":"/repo/.claude/settings.json","content":"{}"}`, "guard-client"},
		{"Edit", `{"file_path":"/home/me/.bashrc","old_string":"a","new_string":"b"}`, "guard-startup"},
		{"Write", `{"file_path":"/repo/.git/hooks/pre-push","content":"x"}`, "guard-git-files"},
		{"Write", `{"file_path":"/repo/loop.toml","content":"x"}`, "guard-files"},
		{"MultiEdit", `{"file_path":"/repo/ci/rules.toml","edits":[]}`, "guard-files"},
		{"Write", `{"file_path":"/repo/h/pre-commit","content":"x"}`, "guard-git-files"},
		{"Write", `{"file_path":"../repo/./.mcp.json","content":"x"}`, "guard-client"},
		{"NotebookEdit", `{"notebook_path":"/home/me/.local/state/loop/x.ipynb","new_source":"x"}`, "guard-files"},
		{"mcp__filesystem__write_file", `{"path":"/repo/.mcp.json","content":"{}"}`, "guard-client"},
		{"mcp__filesystem__move_file", `{"source":"/tmp/x","destination":"/repo/.git/hooks/pre-commit"}`, "guard-git-files"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Add File: .envrc\n+export A=1\n*** End Patch\n"}`, "guard-startup"},
		{"Bash", `{"command":"echo x > h/pre-commit"}`, "guard-git-files"},
		{"Read", `{"file_path":"/proc/self/../4242/environ"}`, "guard-memory"},
		{"Write", `{"file_path":"/proc/4242/fd/1","content":"{}"}`, "guard-memory"},
		{"WebFetch", `{"url":"http://127.0.0.1:43210/hook","prompt":"x"}`, "guard-port"},
		{"Edit", `{"file_path":"/proc/self/cwd/.claude/settings.json","old_string":"a","new_string":"b"}`, "guard-client"},
		{"Write", `{"file_path":"/repo/.git","content":"gitdir: /tmp/x"}`, "guard-git-files"},
		{"Write", `{"file_path":"/REPO/LOOP.TOML","content":"x"}`, "guard-files"},
		{"mcp__filesystem__move_file", `{"source":"/repo/.claude","destination":"/tmp/x"}`, "guard-client"},
		{"Bash", `{"command":"for f in .c*/settings.json; do echo > $f; done"}`, "guard-client"},
		{"Bash", `{"command":"rm \"$(command -v loop)\""}`, "guard-files"},
		{"Bash", `{"command":"cp x \"$(dirname \"$(which loop)\")/loop\""}`, "guard-files"},
		{"Bash", `{"command":"cp x /opt/tools/make"}`, "guard-programs"},
		{"Bash", `{"command":"cp x /opt/tools/mytool"}`, ""},
		{"mcp__filesystem__create_directory", `{"path":"/repo"}`, ""},
		{"mcp__fs__write_files", `{"files":[{"path":"/repo/.claude/settings.json","content":"{}"}]}`, "guard-client"},
		{"mcp__fs__write_file", `{"file":"/repo/.mcp.json","content":"{}"}`, "guard-client"},
		{"mcp__fs__write_file", `{"file":"/repo/x.md","content":".claude/settings.json"}`, ""},
		{"Config", `{"setting":"disableAllHooks","value":true}`, "guard-client"},
		{"Config", `{"setting":"theme"}`, ""},
		{"Write", `{"file_path":"/repo/.claude/skills/x/SKILL.md","content":"---\nname: x\nhooks:\n  Stop: []\n---\n"}`, "guard-client"},
		{"Write", `{"file_path":"/repo/.claude/skills/x/SKILL.md","content":"---\nname: x\n---\nSays what hooks: are.\n"}`, ""},
		{"Bash", `{"command":"cat > .claude/agents/a.md <<'E'\n---\nname: a\nhooks:\n  PreToolUse: []\n---\nE"}`, "guard-client"},
		{"Bash", `{"command":"git --work-tree=.claude checkout evil -- settings.json"}`, "guard-client"},
		{"Bash", `{"command":"mkfifo .claude/settings.json"}`, "guard-client"},
		{"Bash", `{"command":"python3 -c \"import os; os.chdir('.claude'); open('settings.json','w').write('{}')\""}`, "guard-client"},
		{"Bash", `{"command":"python3 -c \"p='.claude'; f='settings.json'; open(p+'/'+f,'w').write('{}')\""}`, "guard-client"},
		{"Bash", `{"command":"python3 -c \"import os; [os.kill(int(p),9) for p in os.listdir('/proc') if p.isdigit()]\""}`, "guard-process"},
		{"Bash", `{"command":"python3 -c \"import psutil; [p.kill() for p in psutil.process_iter() if 'claude' in p.name()]\""}`, "guard-process"},
		{"Bash", `{"command":"python3 -c \"import psutil; [p.kill() for p in psutil.process_iter() if 'vite' in p.name()]\""}`, ""},
		{"Grep", `{"pattern":"/proc/self/environ","path":"/repo"}`, ""},
		{"Write", `{"file_path":"/repo/docs/settings.md","content":"edit ~/.bashrc and .git/hooks/pre-commit; kill $PPID"}`, ""},
		{"Write", `{"file_path":"/repo/.github/workflows/ci.yml","content":"on: push"}`, ""},
		{"Write", `{"file_path":"/repo/testdata/.claude/settings.json","content":"{}"}`, ""},
		{"Write", `{"file_path":"/tmp/x/.git/hooks/pre-commit","content":"x"}`, ""},
		{"Write", `{"file_path":"/repo/pkg/rules.toml","content":"x"}`, ""},
		{"Read", `{"file_path":"/repo/.git/config"}`, ""},
		{"mcp__filesystem__read_file", `{"path":"/repo/.mcp.json"}`, ""},
	} {
		res := s.Classify(Call{Tool: c.tool, Input: json.RawMessage(c.input), Cwd: "/repo", Guarded: guardedRun()})
		if got := res.Tampers(); got != (c.want != "") || got && !slices.Contains(res.Rules(), c.want) {
			t.Errorf("%s %s: tampering %v by %v, want %q", c.tool, c.input, got, res.Rules(), c.want)
		}
		if c.want != "" && (res.Tier != External || res.Instead() == "") {
			t.Errorf("%s %s: tier %v, instead %q", c.tool, c.input, res.Tier, res.Instead())
		}
	}
}

// How far a call reaches is another question: without a run the rules that
// protect one are silent.
func TestGuardRulesNeedARun(t *testing.T) {
	s := builtin(t)
	for _, line := range []string{"echo x >> ~/.bashrc", "kill $PPID", "git config core.hooksPath x", "crontab -", "curl http://localhost:43210/"} {
		if res := s.Classify(Call{Tool: "Bash", Input: mustJSON(t, map[string]string{"command": line})}); res.Tampers() {
			t.Errorf("%s: %v", line, res.Rules())
		}
	}
}

// Words about these files and processes are no deed.
func TestGuardRulesKnowOrdinaryWork(t *testing.T) {
	s := builtin(t)
	for _, line := range []string{
		"git commit -m 'explain .git/hooks and kill $PPID'",
		"grep -rn 'core.hooksPath' docs",
		"npm run dev & pid=$!; sleep 1; kill $pid",
		"pkill -f 'vite --port 5173'",
		"lsof -ti:3000 | xargs kill -9",
		"docker run --rm alpine sh -c 'echo x >> /root/.bashrc'",
		"cat > README.md <<'E'\nAdd `export A=1` to ~/.bashrc, then run crontab -e.\nE",
		"git config user.email a@example.com && git config commit.gpgsign false",
		"mkdir -p .claude/agents && cp agent.md .claude/agents/",
		"find . -name '*.orig' -delete",
		"rm -rf node_modules dist .cache",
		"git checkout -- src/app.ts",
		"sed -i 's/a/b/' .github/workflows/ci.yml .gitignore",
		"ps aux | grep node",
		"strace -c ls",
		"python3 - <<'E'\nimport json\nd = json.load(open('.claude/settings.json'))\nopen('out.json','w').write(json.dumps(d))\nE",
		"node -e \"const s=require('fs').readFileSync('.git/config','utf8'); console.log(s)\"",
		"trap 'kill 0' EXIT; npm test",
		"git stash && git stash pop",
		"cd /tmp/fixture && git init -q && echo x > .git/hooks/pre-commit",
		"chmod -R u+w build",
		"mkdir /tmp/x && cd /tmp/x && git init -q && git config core.hooksPath hooks",
		"tar xf a.tgz -C vendor",
		"tar czf out.tgz .claude .git",
		"cp -r dist/. public/ && cp -a . /tmp/copy && cp -r /tmp/template/. .",
		"rsync -a --delete src/ /tmp/backup/ && unzip -q f.zip -d test/fixtures",
		"git stash push -m wip -- src && git restore --staged .",
		"find . -type d -name node_modules -prune -exec rm -rf {} +",
		"find src -name '*.js' -exec sed -i s/a/b/ {} ';'",
		"sqlite3 app.db 'insert into t values(1)' && vim -es -c wq src/x.js",
		"ln -s ../shared src/shared && echo x > src/shared/a",
		"kill $(lsof -t -i:5173); pkill -P $$ sleep; ps -ef | awk '/node/{print $2}' | xargs kill",
		"git lfs install --local && git config core.fsmonitor true",
		"python3 -c \"import shutil, os; shutil.copytree('src','dist'); os.rename('a.txt','b.txt')\"",
		"python3 - <<'E'\ns = open('a.py').read()\ns = s.replace('.claude/settings.json', 'x')\nopen('a.py','w').write(s)\nE",
		"mkdir -p .claude/skills/x && echo 'Do it.' > .claude/skills/x/SKILL.md",
		"git rm -r --cached dist && git mv src lib",
	} {
		res := s.Classify(Call{Tool: "Bash", Input: mustJSON(t, map[string]string{"command": line}), Cwd: "/repo", Guarded: guardedRun()})
		if res.Tampers() {
			t.Errorf("%s: %v", line, res.Hits)
		}
	}
}

func mustJSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A line that names places without end costs no more than a moment.
func TestGuardsLookUpSoMuch(t *testing.T) {
	s := builtin(t)
	for name, line := range map[string]string{
		"operands": "rm" + strings.Repeat(" a/b/c", 20000),
		"finds":    strings.Repeat("find /x -name a -exec rm {} +; ", 2000),
		"links":    strings.Repeat("ln -s a b; echo > b/x; ", 2000),
		"patterns": strings.Repeat("rm /a/*/x; ", 2000),
		"words":    "kill $(echo" + strings.Repeat(" a/b", 20000) + ")",
	} {
		looked := 0
		g := guardedRun()
		g.Real = func(name string) string { looked++; return name }
		g.Glob = func(string) []string { looked++; return nil }
		s.Classify(Call{Tool: "Bash", Input: mustJSON(t, map[string]string{"command": line}), Cwd: "/repo", Guarded: g})
		if looked > 4*maxLookups {
			t.Errorf("%s: %d places were looked at", name, looked)
		}
	}
}
