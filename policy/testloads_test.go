package policy

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// Tests that the agent wrote, and what they load, are read before they run; a
// project's own are not, nor what works on repositories of its own or on
// doubles.
func TestTestsOfTheAgentsAreRead(t *testing.T) {
	const (
		push   = "import subprocess\n\ndef prepare():\n    subprocess.run(['git', 'push', 'origin', 'main'])\n"
		goPush = "package util\n\nimport \"os/exec\"\n\nfunc Prepare() { exec.Command(\"git\", \"push\").Run() }\n"
		goTest = "package x\n\nimport (\n\t\"testing\"\n\t\"x/util\"\n)\n\nfunc TestA(t *testing.T) { util.Prepare() }\n"
		jsTest = "const { up } = require('../src/up')\ntest('a', () => { up() })\n"
		jsPush = "const { execSync } = require('child_process')\nexports.up = () => { execSync('git push') }\n"
	)
	s := builtin(t)
	for _, tt := range []struct {
		line    string
		files   map[string]string
		changed []string
		held    bool
	}{
		{"pytest -q", map[string]string{"tests/test_a.py": "import os\ndef test_a():\n    os.system('git push')\n"}, []string{"tests/test_a.py"}, true},
		{"pytest -q", map[string]string{"test_a.py": "import helpers\ndef test_a():\n    helpers.prepare()\n", "helpers.py": push}, []string{"test_a.py", "helpers.py"}, true},
		{"python3 -m unittest -q", map[string]string{"test_a.py": "import helpers\nclass T: \n    def test_a(self):\n        helpers.prepare()\n", "helpers.py": push}, []string{"test_a.py"}, true},
		{"pytest", map[string]string{"tests/test_helpers.py": "from helpers import prepare\ndef test_a():\n    prepare()\n", "helpers.py": push}, []string{"helpers.py"}, true},
		{"pytest", map[string]string{"tests/conftest.py": "import os\nimport pytest\n@pytest.fixture\ndef repo():\n    os.system('git push')\n"}, []string{"tests/conftest.py"}, true},
		{"make test", map[string]string{"Makefile": "test:\n\tpytest\n", "test_a.py": "import os\ndef test_a():\n    os.system('git push')\n"}, []string{"test_a.py"}, true},
		{"go test ./...", map[string]string{"a_test.go": "package x\n\nimport \"os/exec\"\n\nfunc TestA() { exec.Command(\"git\", \"push\").Run() }\n"}, []string{"a_test.go"}, true},
		{"go test ./...", map[string]string{"go.mod": "module x\n", "a_test.go": goTest, "util/util.go": goPush}, []string{"a_test.go", "util/util.go"}, true},
		{"npx jest", map[string]string{"test/a.test.js": jsTest, "src/up.js": jsPush}, []string{"test/a.test.js"}, true},
		{"npm test", map[string]string{"package.json": `{"scripts":{"test":"vitest run"}}`, "test/a.test.js": jsTest, "src/up.js": jsPush}, []string{"src/up.js", "test/a.test.js"}, true},
		{"cargo test", map[string]string{"tests/a.rs": "use std::process::Command;\n#[test]\nfn t() { Command::new(\"git\").arg(\"push\").status(); }\n"}, []string{"tests/a.rs"}, true},
		{"bundle exec rspec", map[string]string{"spec/a_spec.rb": "it 'a' do\n  system('git push')\nend\n"}, []string{"spec/a_spec.rb"}, true},

		{"./gradlew test", map[string]string{"settings.gradle": "\"git push origin main\".execute().waitFor()\n"}, []string{"settings.gradle"}, true},
		{"gradle build", map[string]string{"build.gradle": "task a(type: Exec) {\n  commandLine 'git', 'push', 'origin'\n}\n"}, []string{"build.gradle"}, true},
		{"gradle build", map[string]string{"build.gradle": "task a(type: Exec) {\n  executable 'npm'\n  args 'publish'\n}\n"}, []string{"build.gradle"}, true},
		{"./gradlew check", map[string]string{"app/build.gradle.kts": "tasks.register<Exec>(\"a\") { commandLine(\"git\", \"push\") }\n"}, []string{"app/build.gradle.kts"}, true},
		{"mvn -q test", map[string]string{"pom.xml": "<configuration><executable>git</executable><arguments><argument>push</argument><argument>origin</argument></arguments></configuration>"}, []string{"pom.xml"}, true},
		{"mvn verify", map[string]string{"pom.xml": "<target><exec executable=\"git\"><arg value=\"push\"/></exec></target>"}, []string{"pom.xml"}, true},

		{"./gradlew test", map[string]string{"build.gradle": "task a(type: Exec) {\n  commandLine 'git', 'push', 'origin'\n}\n"}, nil, false},
		{"mvn test", map[string]string{"pom.xml": "<configuration><executable>node</executable><arguments><argument>gen.js</argument></arguments></configuration>"}, []string{"pom.xml"}, false},
		{"pytest", map[string]string{"test_a.py": "import helpers\ndef test_a():\n    helpers.prepare()\n", "helpers.py": push}, nil, false},
		{"pytest", map[string]string{"test_a.py": "import helpers\ndef test_a():\n    assert helpers.other() == 1\n", "helpers.py": push}, []string{"test_a.py", "helpers.py"}, false},
		{"pytest", map[string]string{"test_a.py": "from unittest import mock\nimport helpers\n@mock.patch('helpers.subprocess.run')\ndef test_a(run):\n    helpers.prepare()\n", "helpers.py": push}, []string{"test_a.py", "helpers.py"}, false},
		{"pytest", map[string]string{"test_a.py": "import helpers\ndef test_a(monkeypatch):\n    monkeypatch.setattr(helpers.subprocess, 'run', print)\n    helpers.prepare()\n", "helpers.py": push}, []string{"test_a.py"}, false},
		{"pytest", map[string]string{"test_a.py": "import subprocess\ndef test_a(tmp_path):\n    subprocess.run(['git', 'push', 'origin', 'main'], cwd=tmp_path)\n"}, []string{"test_a.py"}, false},
		{"go test ./...", map[string]string{"a_test.go": "package x\n\nfunc TestA(t *testing.T) {\n\tcmd := exec.Command(\"git\", \"push\")\n\tcmd.Dir = t.TempDir()\n}\n"}, []string{"a_test.go"}, false},
		{"pytest", map[string]string{"test_a.py": "import requests\ndef test_a():\n    requests.post('https://api.example.com', json={})\n"}, []string{"test_a.py"}, false},
		{"pytest", map[string]string{"release.py": "import subprocess\nsubprocess.run(['git', 'push'])\n"}, []string{"release.py"}, false},
		{"python3 gen.py", map[string]string{"gen.py": "print(1)\n", "test_a.py": push}, []string{"test_a.py"}, false},
	} {
		call := Call{
			Tool: "Bash", Input: mustJSON(t, map[string]string{"command": tt.line}), Cwd: "/w",
			ReadFile: func(name string) (string, bool) {
				text, ok := tt.files[strings.TrimPrefix(name, "/w/")]
				return text, ok
			},
			ReadDir: func(name string) (names []string, ok bool) {
				for f := range tt.files {
					if path.Dir(path.Join("/w", f)) == path.Clean(name) {
						names = append(names, path.Base(f))
					}
				}
				slices.Sort(names)
				return names, true
			},
			Changed: func() (names []string) {
				for _, c := range tt.changed {
					names = append(names, path.Join("/w", c))
				}
				return names
			},
		}
		res := s.Classify(call)
		if got := res.Tier == External; got != tt.held {
			t.Errorf("%s with %q of %s: held %v: %+v", tt.line, tt.changed, mustJSON(t, tt.files), got, res.Hits)
		}
		if call.Changed = nil; s.Classify(call).Tier == External && !strings.Contains(tt.line, "conftest") {
			t.Errorf("%s of %s: held where nobody knows what the agent wrote", tt.line, mustJSON(t, tt.files))
		}
	}
}
