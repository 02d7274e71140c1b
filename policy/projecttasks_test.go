package policy

import "testing"

// taskTree is a work tree with the task files of many runners. What is named up
// or like it reaches outside, what is named ok does not.
var taskTree = map[string]string{
	"pkg/push.py":               "import os\ndef main():\n    os.system('git push')\n",
	"clean.py":                  "def x():\n    print('git push')\n",
	"package.json":              `{"name": "root", "workspaces": ["packages/*"], "scripts": {"build": "tsc"}}`,
	"packages/web/package.json": `{"name": "@me/web", "scripts": {"upit": "gh release create v1", "build": "vite build", "test": "vitest"}}`,
	"packages/api/package.json": `{"name": "@me/api", "scripts": {"build": "tsc -b", "test": "vitest"}}`,
	"turbo.json":                `{"tasks": {"all": {"dependsOn": ["^build", "upit"]}, "build": {"dependsOn": ["^build"]}}}`,
	"nx.json":                   `{"targetDefaults": {"whole": {"dependsOn": ["roll"]}}}`,
	"apps/shop/project.json": `{
  "name": "shop",
  "targets": {
    "build": {"executor": "@nx/vite:build"},
    "roll": {"executor": "nx:run-commands", "options": {"command": "git push"}},
    "many": {"executor": "nx:run-commands", "options": {"commands": ["echo a", {"command": "npm publish"}]}},
    "whole": {"command": "true"},
    "fine": {"command": "vite build"}
  }
}`,
	"tox.ini":    "[tox]\nenvlist = py311,lint\n\n[testenv]\ncommands = pytest {posargs}\n\n[testenv:rel]\ncommands =\n    python -m build\n    twine upload dist/*\n\n[testenv:lint]\ncommands = ruff check .\n",
	"noxfile.py": "import nox\n\n@nox.session\ndef tests(session):\n    session.run('pytest', *session.posargs)\n\n@nox.session(name='rel')\ndef release(session):\n    session.run('twine', 'upload', 'dist/*')\n",
	"pyproject.toml": `[project.scripts]
shipit = "pkg.push:main"
fineit = "clean:x"

[tool.poe.tasks]
up = "git push"
ok = "pytest"
seq = ["ok", "up"]
sh = { shell = "npm publish && echo" }
py = { script = "pkg.push:main" }
deps = { cmd = "true", deps = ["up"] }
git = "git"
block.shell = """
echo x
git push
"""

[tool.hatch.envs.default.scripts]
up = "git push"
ok = "pytest {args:tests}"
all = ["ok", "up"]

[tool.hatch.envs.docs.scripts]
send = "mkdocs gh-deploy"
ok = "mkdocs build"

[tool.pdm.scripts]
up = "git push"
ok.cmd = "pytest"
comp = {composite = ["ok", "up"]}

[tool.taskipy.tasks]
ok = "pytest"
pre_both = "git push"
both = "pytest"

[tool.rye.scripts]
ok = { cmd = "pytest" }
chain = { chain = ["ok", "up"] }
up = "git push"
`,
	"tasks.py":         "from invoke import task\n\n@task\ndef test(c):\n    c.run('pytest')\n\n@task(pre=[test])\ndef go_live(c):\n    c.run('git push')\n",
	"dodo.py":          "def task_up():\n    return {'actions': ['git push']}\n\ndef task_ok():\n    return {'actions': ['pytest']}\n",
	"Procfile":         "web: python -m http.server\nworker: git push\n",
	"mise.toml":        "[tasks.up]\nrun = 'git push'\n[tasks.ok]\nrun = ['echo', 'pytest']\n[tasks]\nshort = 'npm publish'\n[tasks.dep]\ndepends = ['short']\nrun = 'true'\n",
	".mise/tasks/file": "#!/bin/sh\ngit push\n",
	".pre-commit-config.yaml": `repos:
- repo: https://github.com/x/y
  rev: v1
  hooks:
  - id: black
- repo: local
  hooks:
  - id: sender
    entry: curl -d @x https://hooks.example.com
    language: system
    stages: [manual]
  - id: okay
    entry: ./scripts/ok.sh
    language: script
`,
	"lefthook.yml":             "pre-push:\n  commands:\n    tests:\n      run: go test ./...\npost-commit:\n  commands:\n    send:\n      run: git push\npre-commit:\n  jobs:\n    - run: gh release create v1\n",
	".github/workflows/ci.yml": "on: push\njobs:\n  build:\n    steps:\n      - uses: actions/checkout@v4\n      - run: go build ./...\n  roll:\n    steps:\n      - name: x\n        run: |\n          echo x\n          git push\n",
	"compose.yaml":             "services:\n  web:\n    image: x\n    command: [\"npm\", \"start\"]\n  ship:\n    image: x\n    depends_on: [web]\n    command: git push\n",
	"docker-bake.hcl":          "group \"default\" {\n  targets = [\"x\"]\n}\ntarget \"x\" {\n  output = [\"type=registry\"]\n}\ntarget \"loc\" {\n  output = [\"type=docker\"]\n}\n",
	"Makefile.toml":            "[tasks.up]\ncommand = 'git'\nargs = ['push']\n[tasks.ok]\ncommand = 'cargo'\nargs = ['test']\n[tasks.lines]\nscript = ['echo', 'git push']\n[tasks.dep]\ndependencies = ['up']\n",
	".cargo/config.toml":       "[alias]\nxtask = 'run --package xtask --'\nup = ['publish', '-p', 'm']\nok = 'test --all'\n",
	"xtask/src/main.rs":        "use std::process::Command;\nfn main() {\n    Command::new(\"cargo\")\n        .args([\"publish\", \"-p\", \"m\"])\n        .status();\n}\n",
	"src/main.rs":              "mod ship;\nfn first<'a>(x: &'a str) -> char { '\"' }\nfn main() {\n    ship::go();\n}\n",
	"src/ship.rs":              "pub fn go() {\n    std::process::Command::new(\"git\").arg(\"push\").status();\n}\n",
	"src/bin/ok.rs":            "fn main() {\n    println!(\"git push\");\n}\n",
	"deno.json":                `{"tasks": {"up": "git push", "ok": "deno test", "dep": {"dependencies": ["up"]}}}`,
	"mk/a.mk":                  "pub:\n\tgit push\n",
	"Makefile":                 "all:\n\techo\ninclude mk/*.mk\nrel: pub\n",
	"wild.mk":                  "all:\n\techo\ninclude $(wildcard mk/*.mk)\n",
	"Rakefile":                 "task :ok do\n  sh 'true'\nend\n",
	"rakelib/x.rake":           "task :up do\n  sh 'git push'\nend\n",
	"justfile":                 "import 'ext.just'\nmod m\nok:\n  echo\n",
	"ext.just":                 "ext:\n  git push\n",
	"m.just":                   "up:\n  git push\n",
	"Taskfile.yml":             "version: '3'\nincludes:\n  sub: ./d/Taskfile.yml\ntasks:\n  ok:\n    cmds: [echo]\n",
	"d/Taskfile.yml":           "version: '3'\ntasks:\n  up:\n    cmds:\n      - git push\n  ok:\n    cmds:\n      - echo\n",
	"magefile.go":              "//go:build mage\n\npackage main\n\nimport \"os/exec\"\n\nfunc Up() {\n\texec.Command(\"git\", \"push\").Run()\n}\n\nfunc Ok() {}\n",
	"gulpfile.js":              "const { execSync } = require('child_process')\nexports.up = cb => {\n  execSync('git push')\n  cb()\n}\nexports.ok = cb => cb()\n",
	"Gruntfile.js":             "module.exports = g => {\n  g.registerTask('up', () => {\n    require('child_process').execSync('git push')\n  })\n  g.registerTask('ok', () => {})\n}\n",
}

func TestProjectTasks(t *testing.T) {
	for _, tt := range []struct {
		line string
		want Verdict
		at   string
	}{
		{"turbo run upit", VerdictExternal, "/w/packages/web/package.json:1"},
		{"npx turbo all", VerdictExternal, "/w/packages/web/package.json:1"},
		{"turbo run build test", VerdictLocal, ""},
		{"turbo run upit --filter=@me/api", VerdictLocal, ""},
		{"turbo run upit --filter=!./packages/web", VerdictLocal, ""},
		{"turbo run upit --dry-run", VerdictLocal, ""},
		{"pnpm -r run upit", VerdictExternal, "/w/packages/web/package.json:1"},
		{"pnpm -r build", VerdictLocal, ""},
		{"pnpm --filter web upit", VerdictExternal, "/w/packages/web/package.json:1"},
		{"pnpm --filter '@me/*' upit", VerdictExternal, "/w/packages/web/package.json:1"},
		{"npm run upit -ws --if-present", VerdictExternal, "/w/packages/web/package.json:1"},
		{"npm run build --workspaces", VerdictLocal, ""},
		{"yarn workspaces foreach -A run upit", VerdictExternal, "/w/packages/web/package.json:1"},
		{"yarn workspaces run build", VerdictLocal, ""},
		{"lerna run upit --scope @me/web", VerdictExternal, "/w/packages/web/package.json:1"},
		{"lerna run build", VerdictLocal, ""},
		{"nx roll shop", VerdictExternal, "/w/apps/shop/project.json:5"},
		{"nx run shop:many", VerdictExternal, "/w/apps/shop/project.json:6"},
		{"nx whole shop", VerdictExternal, "/w/apps/shop/project.json:5"},
		{"npx nx run-many -t fine roll", VerdictExternal, "/w/apps/shop/project.json:5"},
		{"nx run @me/web:upit", VerdictExternal, "/w/packages/web/package.json:1"},
		{"nx run shop:fine", VerdictLocal, ""},
		{"nx run-many -t build", VerdictLocal, ""},

		{"tox -e rel", VerdictExternal, "/w/tox.ini:10"},
		{"tox run -e lint,rel", VerdictExternal, "/w/tox.ini:10"},
		{"tox", VerdictLocal, ""},
		{"tox -e py311 -- -k x", VerdictLocal, ""},
		{"nox -s rel", VerdictExternal, "/w/noxfile.py:9"},
		{"nox -s tests", VerdictLocal, ""},
		{"nox", VerdictExternal, "/w/noxfile.py:9"},
		{"nox -l", VerdictLocal, ""},
		{"poe up", VerdictExternal, "/w/pyproject.toml:6"},
		{"poe ok", VerdictLocal, ""},
		{"poe seq", VerdictExternal, "/w/pyproject.toml:6"},
		{"poe sh", VerdictExternal, "/w/pyproject.toml:9"},
		{"poe py", VerdictExternal, "/w/pkg/push.py:3"},
		{"poe deps", VerdictExternal, "/w/pyproject.toml:6"},
		{"poe git push", VerdictExternal, ""},
		{"poe git status", VerdictLocal, ""},
		{"uv run poe block", VerdictExternal, ""},
		{"hatch run all", VerdictExternal, ""},
		{"hatch run ok -k x", VerdictLocal, ""},
		{"hatch run docs:send", VerdictExternal, ""},
		{"hatch run docs:ok", VerdictLocal, ""},
		{"pdm run comp", VerdictExternal, ""},
		{"pdm ok", VerdictLocal, ""},
		{"poetry run task both", VerdictExternal, ""},
		{"rye run chain", VerdictExternal, ""},
		{"rye run ok", VerdictLocal, ""},
		{"uv run shipit", VerdictExternal, "/w/pkg/push.py:3"},
		{"uv run fineit", VerdictLocal, ""},
		{"inv go-live", VerdictExternal, "/w/tasks.py:9"},
		{"invoke test", VerdictLocal, ""},
		{"doit up", VerdictExternal, "/w/dodo.py:2"},
		{"doit ok", VerdictLocal, ""},
		{"foreman start", VerdictExternal, "/w/Procfile:2"},
		{"foreman start web", VerdictLocal, ""},
		{"mise run up", VerdictExternal, "/w/mise.toml:2"},
		{"mise short", VerdictExternal, "/w/mise.toml:6"},
		{"mise run dep", VerdictExternal, "/w/mise.toml:6"},
		{"mise run file", VerdictExternal, "/w/.mise/tasks/file:0"},
		{"mise run ok", VerdictLocal, ""},

		{"pre-commit run --hook-stage manual -a", VerdictExternal, "/w/.pre-commit-config.yaml:9"},
		{"pre-commit run --all-files", VerdictLocal, ""},
		{"pre-commit run black", VerdictLocal, ""},
		{"lefthook run post-commit", VerdictExternal, "/w/lefthook.yml:8"},
		{"lefthook run pre-commit", VerdictExternal, "/w/lefthook.yml:11"},
		{"lefthook run pre-push", VerdictLocal, ""},
		{"act -j roll", VerdictExternal, "/w/.github/workflows/ci.yml:11"},
		{"act", VerdictExternal, "/w/.github/workflows/ci.yml:11"},
		{"act -j build", VerdictLocal, ""},
		{"act -l", VerdictLocal, ""},
		{"docker compose up", VerdictExternal, "/w/compose.yaml:8"},
		{"docker compose up -d web", VerdictLocal, ""},
		{"docker compose run --rm ship", VerdictExternal, "/w/compose.yaml:8"},
		{"docker buildx bake", VerdictExternal, "/w/docker-bake.hcl:5"},
		{"docker buildx bake loc", VerdictLocal, ""},
		{"docker buildx bake --print", VerdictLocal, ""},

		{"cargo make up", VerdictExternal, ""},
		{"cargo make dep", VerdictExternal, ""},
		{"makers lines", VerdictExternal, ""},
		{"cargo make ok", VerdictLocal, ""},
		{"cargo up", VerdictExternal, ""},
		{"cargo ok", VerdictLocal, ""},
		{"cargo xtask x", VerdictExternal, "/w/xtask/src/main.rs:0"},
		{"cargo run", VerdictExternal, "/w/src/ship.rs:2"},
		{"cargo run --bin ok", VerdictLocal, ""},
		{"deno task dep", VerdictExternal, "/w/deno.json:1"},
		{"deno task ok", VerdictLocal, ""},
		{"make rel", VerdictExternal, "/w/mk/a.mk:2"},
		{"make -f wild.mk pub", VerdictExternal, "/w/mk/a.mk:2"},
		{"make", VerdictLocal, ""},
		{"rake up", VerdictExternal, "/w/rakelib/x.rake:2"},
		{"just ext", VerdictExternal, "/w/ext.just:2"},
		{"just m::up", VerdictExternal, "/w/m.just:2"},
		{"just ok", VerdictLocal, ""},
		{"task sub:up", VerdictExternal, "/w/d/Taskfile.yml:5"},
		{"task sub:ok", VerdictLocal, ""},
		{"mage up", VerdictExternal, "/w/magefile.go:8"},
		{"mage ok", VerdictLocal, ""},
		{"npx gulp up", VerdictExternal, "/w/gulpfile.js:3"},
		{"npx gulp ok", VerdictLocal, ""},
		{"grunt up", VerdictExternal, "/w/Gruntfile.js:3"},
		{"grunt ok", VerdictLocal, ""},
	} {
		expect(t, taskTree, tt.line, tt.want, tt.at)
	}
}
