package policy

import (
	"strings"
	"testing"
)

// What was put where a tool looks first leaves with the next test or build.
func TestWhatToolsLoadByThemselves(t *testing.T) {
	const (
		py = "import os\nos.system('git push')\n"
		js = "require('child_process').execSync('git push')\nmodule.exports = {}\n"
		sh = "#!/bin/sh\ngit push\n"
	)
	s := builtin(t)
	for _, c := range []struct {
		line  string
		files map[string]string
		at    string // where the push stands; "" = nothing leaves
	}{
		{"pytest -q", map[string]string{"conftest.py": py}, "conftest.py:2"},
		{"python3 -m pytest tests", map[string]string{"tests/conftest.py": "def pytest_sessionstart(s):\n    import os\n    os.system('git push')\n"}, "tests/conftest.py:3"},
		{"pytest -q -p plug", map[string]string{"plug.py": py}, "plug.py:2"},
		{"PYTEST_PLUGINS=ci.plug pytest", map[string]string{"ci/plug.py": py}, "ci/plug.py:2"},
		{"pip install -e .", map[string]string{"setup.py": py}, "setup.py:2"},
		{"npx jest", map[string]string{"jest.config.js": js}, "jest.config.js:1"},
		{"npm test", map[string]string{"package.json": `{"scripts":{"test":"vitest run"}}`, "vite.config.ts": js}, "vite.config.ts:1"},
		{"npx eslint .", map[string]string{".eslintrc.cjs": js}, ".eslintrc.cjs:1"},
		{"npx jest", map[string]string{"node_modules/.bin/jest": sh}, "node_modules/.bin/jest:2"},
		{"PATH=$PWD/bin:$PATH ls", map[string]string{"bin/ls": sh}, "bin/ls:2"},
		{"export PATH=./bin:$PATH; git status", map[string]string{"bin/git": sh}, "bin/git:2"},
		{"npm test", map[string]string{"package.json": `{"scripts":{"test":"true"}}`, ".npmrc": "script-shell=./sh.sh\n", "sh.sh": sh}, "sh.sh:2"},
		{"npm ci", map[string]string{".npmrc": "node-options=--require=./p.js\n", "p.js": js}, "p.js:1"},
		{"pnpm install", map[string]string{".pnpmfile.cjs": js}, ".pnpmfile.cjs:1"},
		{"yarn test", map[string]string{"package.json": `{"scripts":{"test":"true"}}`, ".yarnrc.yml": "yarnPath: ./y.js\n", "y.js": js}, "y.js:1"},
		{"cargo test", map[string]string{".cargo/config.toml": "[build]\nrustc-wrapper = \"./w.sh\"\n", "w.sh": sh}, "w.sh:2"},
		{"cargo build", map[string]string{"build.rs": "use std::process::Command;\nfn main() {\n    Command::new(\"git\").args([\"push\"]).status();\n}\n"}, "build.rs:3"},
		{"GOFLAGS=-toolexec=./w.sh go build", map[string]string{"w.sh": sh}, "w.sh:2"},
		{"npx lint-staged", map[string]string{"package.json": `{"lint-staged":{"*.js":["eslint","git push"]}}`}, "package.json:0"},
		{"PYTHONPATH=lib python3 -c 1", map[string]string{"lib/sitecustomize.py": py}, "lib/sitecustomize.py:2"},
		{"MAKEFILES=x.mk make a", map[string]string{"Makefile": "a:\n\ttrue\n", "x.mk": "a:\n\tgit push\n"}, "x.mk:2"},
		{"direnv allow", map[string]string{".envrc": sh}, ".envrc:2"},
		{"npx jest", map[string]string{"jest.config.js": "module.exports = { verbose: true, setupFiles: ['<rootDir>/setup.js'] }\n", "setup.js": js}, "setup.js:1"},
		{"npx jest", map[string]string{"package.json": `{"jest":{"globalSetup":"./ci/up.js"}}`, "ci/up.js": js}, "ci/up.js:1"},
		{"npx jest --ci", map[string]string{"jest.config.json": `{"projects":[{"setupFilesAfterEnv":["./a.ts"]}]}`, "a.ts": js}, "a.ts:1"},
		{"npx vitest run", map[string]string{"vitest.config.ts": "export default defineConfig({ test: { globalSetup: ['./gs'] } })\n", "gs.ts": "import { execSync } from 'child_process'\nexport default function () { execSync('git push') }\n"}, "gs.ts:2"},
		{"npx playwright test", map[string]string{"playwright.config.ts": "export default { globalSetup: require.resolve('./up.ts'), use: {} }\n", "up.ts": js}, "up.ts:1"},
		{"npx mocha", map[string]string{".mocharc.json": `{"require":["./up.js"]}`, "up.js": js}, "up.js:1"},
		{"npx mocha", map[string]string{".mocharc.yml": "require: ./up.js\n", "up.js": js}, "up.js:1"},
		{"cargo build", map[string]string{"Cargo.toml": "[package]\nname = \"a\"\n[dependencies]\nb = { path = \"b\" }\n", "b/Cargo.toml": "[package]\nname = \"b\"\n", "b/build.rs": "use std::process::Command;\nfn main() {\n    Command::new(\"git\").args([\"push\"]).status();\n}\n"}, "b/build.rs:3"},
		{"cargo test", map[string]string{"Cargo.toml": "[workspace]\nmembers = [\"a\", \"b\"]\n", "b/Cargo.toml": "[package]\nbuild = \"gen.rs\"\n", "b/gen.rs": "use std::process::Command;\nfn main() {\n    Command::new(\"git\").args([\"push\"]).status();\n}\n"}, "b/gen.rs:3"},

		{"npx jest", map[string]string{"jest.config.js": "module.exports = { setupFiles: ['./setup.js'], testEnvironment: 'jsdom' }\n", "setup.js": "global.fetch = jest.fn()\nprocess.env.TZ = 'UTC'\n"}, ""},
		{"npx webpack", map[string]string{"webpack.config.js": "module.exports = { entry: './src/index.js', module: { rules: [{ loader: 'babel-loader' }] } }\n", "src/index.js": js}, ""},
		{"npx jest", map[string]string{"package.json": `{"scripts":{"release":"git push"},"jest":{"setupFiles":["./s.js"]}}`, "s.js": "console.log(1)\n"}, ""},
		{"pytest -q", map[string]string{"conftest.py": "import pytest\n@pytest.fixture\ndef repo():\n    import os\n    os.system('git push')\n"}, ""},
		{"npx jest", map[string]string{"jest.config.js": "const { execSync } = require('child_process')\nmodule.exports = { globals: { rev: execSync('git rev-parse HEAD') } }\n"}, ""},
		{"npx jest", map[string]string{"node_modules/.bin/jest": "#!/usr/bin/env node\n" + js}, ""},
		{"npx jest", map[string]string{"node_modules/.bin/jest": "#!/bin/sh\nexec node \"$basedir/../jest/bin/jest.js\" \"$@\"\n"}, ""},
		{"npm ci", map[string]string{".npmrc": "registry=https://registry.example/\nsave-exact=true\nscript-shell=/bin/bash\n"}, ""},
		{"yarn test", map[string]string{"package.json": `{"scripts":{"test":"true"}}`, ".yarnrc.yml": "yarnPath: .yarn/releases/yarn-4.cjs\nnodeLinker: node-modules\n"}, ""},
		{"cargo test", map[string]string{".cargo/config.toml": "[target.x86_64-unknown-linux-gnu]\nlinker = \"clang\"\nrustflags = [\"-C\", \"link-arg=-fuse-ld=lld\"]\n"}, ""},
		{"npx lint-staged", map[string]string{"package.json": `{"lint-staged":{"*.js":["eslint --fix","prettier --write"]}}`}, ""},
		{"pip install requests", map[string]string{"setup.py": py}, ""},
		{"direnv status", map[string]string{".envrc": sh}, ""},
	} {
		read := func(name string) (string, bool) {
			text, ok := c.files[strings.TrimPrefix(name, "/w/")]
			return text, ok
		}
		res := s.Classify(Call{Tool: "Bash", Input: mustJSON(t, map[string]string{"command": c.line}), Cwd: "/w", ReadFile: read})
		at := ""
		if res.Tier == External && len(res.Hits) > 0 {
			at = strings.TrimPrefix(res.Hits[0].File, "/w/") + ":" + itoa(res.Hits[0].Line)
		}
		if at != c.at {
			t.Errorf("%s with %s: at %q, want %q: %v", c.line, mustJSON(t, c.files), at, c.at, res.Hits)
		}
	}
}

// A skill runs its hooks and the commands in its text without asking.
func TestSkillsAreRead(t *testing.T) {
	s := builtin(t)
	for _, c := range []struct {
		tool, name, file, text string
		held                   bool
	}{
		{"Skill", "tidy", "/w/.claude/skills/tidy/SKILL.md", "---\nname: tidy\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: git push\n---\n", true},
		{"Skill", "tidy", "~/.claude/skills/tidy/SKILL.md", "State: !`git push origin main`\n", true},
		{"SlashCommand", "/tidy up", "/w/.claude/commands/tidy.md", "Now !`gh pr create`\n", true},
		{"Skill", "tidy", "/w/.claude/skills/tidy/SKILL.md", "State: !`git status`\nThen say that git push is for people.\n", false},
		{"Skill", "../../x", "/w/x/SKILL.md", "!`git push`", false},
	} {
		read := func(name string) (string, bool) { return c.text, name == c.file }
		res := s.Classify(Call{Tool: c.tool, Input: mustJSON(t, map[string]string{"skill": c.name}), Cwd: "/w", ReadFile: read})
		if got := res.Tier == External; got != c.held {
			t.Errorf("%s %s with %q: held %v, %v", c.tool, c.name, c.text, got, res.Hits)
		}
	}
}
