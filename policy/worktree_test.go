package policy

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// inTree classifies a command with the files of an in-memory work tree.
func inTree(tb testing.TB, files map[string]string, command string) Result {
	tb.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		tb.Fatal(err)
	}
	return builtin(tb).Classify(Call{Tool: "Bash", Input: input, Cwd: "/w", ReadFile: func(name string) (string, bool) {
		if !path.IsAbs(name) && !strings.HasPrefix(name, "~/") {
			tb.Errorf("asked for %q", name)
		}
		text, ok := files[strings.TrimPrefix(name, "/w/")]
		return text, ok
	}, ReadDir: func(name string) ([]string, bool) {
		names := map[string]bool{}
		for f := range files {
			if rest, ok := strings.CutPrefix("/w/"+f, strings.TrimSuffix(name, "/")+"/"); ok {
				first, _, _ := strings.Cut(rest, "/")
				names[first] = true
			}
		}
		return slices.Sorted(maps.Keys(names)), len(names) > 0
	}})
}

// tree is the work tree of most of the tests here.
var tree = map[string]string{
	"ship.sh":             "#!/bin/bash\nset -e\nmake -s build\ngit push origin main\n",
	"promote.sh":          "#!/bin/sh\n./bin/cp a b\n",
	"upload.sh":           "#!/bin/sh\nexport PATH=./tools\ncp a b\n",
	"harmless.sh":         "#!/bin/sh\necho one # then git push\nmkdir -p out\n",
	"deploy.sh":           "#!/bin/sh\nset -eu\nmkdir -p out\ncp -r src out\necho deployed\n",
	"release.sh":          "#!/bin/sh\n./tools/thing --now\n",
	"publish.sh":          "#!/bin/sh\nsh deploy.sh\n",
	"outer.sh":            "sh middle.sh\n",
	"middle.sh":           ". ./ship.sh\n",
	"self.sh":             "echo x\nsh self.sh\nsh other.sh\n",
	"other.sh":            "sh self.sh\n",
	"args.sh":             "git \"$1\" origin\n",
	"vars.sh":             "REMOTE_CMD='git push'\n",
	"configure":           "#!/bin/sh\neval \"$ac_cmd\"\n$ac_try\neval \"set x $ac_args\"\n",
	"here/sub.sh":         "cd \"$(dirname \"$0\")\"\n./next.sh\n",
	"here/next.sh":        "#!/bin/sh\ngit push\n",
	"push.py":             "import subprocess\nsubprocess.run(['git', 'push', 'origin'])\n",
	"post.py":             "import requests\n\nrequests.post('https://api.example.com/x', json={})\n",
	"pure.py":             "import sys\nprint(sys.argv)\n",
	"deploy.py":           "print('nothing')\n",
	"x.mjs":               "import { execSync } from 'node:child_process'\nexecSync('npm publish')\n",
	"x.ts":                "await fetch('https://api.example.com', { method: 'POST', body: '1' })\n",
	"s.awk":               "BEGIN { system(\"git push\") }\n",
	"d/idiom.sh":          "#!/usr/bin/env bash\nset -euo pipefail\nSCRIPT_DIR=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"\nsource \"$SCRIPT_DIR/lib.sh\"\nmain \"$@\"\n",
	"d/lib.sh":            "main() {\n  git push\n}\n",
	"x.ps1":               "git push\n",
	"cron":                "* * * * * git push\n",
	"scripts/up.py":       "import os\nos.system('git push')\n",
	"scripts/__main__.py": "__import__('os').system('git push')\n",
	"lib/index.js":        "require('child_process').execSync('git push')\n",
	"up.go":               "package main\nimport \"os/exec\"\nfunc main() {\n\t// up\n\texec.Command(\"git\", \"push\").Run()\n}\n",
	"hooks/pre-commit":    "#!/bin/sh\nnpm publish\n",
	"cache.js":            "import https from 'node:https'\nconst m = new Map()\nm.delete(key)\nrun('prod')\n",
	"long.js":             "import { spawn } from 'child_process'\nlog('git push it then')\n" + strings.Repeat("// padding\n", 1000) + "spawn(cmd)\n",
	"longer.js":           strings.Repeat("// padding\n", 1000) + "import { spawn } from 'child_process'\nspawn('git', ['push'])\n",
	"x.rb":                "system('git push')\n",
	"x.pl":                "system('git push');\n",
	"x.php":               "<?php exec('git push');\n",
	"tool":                "#!/usr/bin/env python3\nimport os\nos.system('gh pr create')\n",
	"binary":              "\x7fELF\x00git push\n",
	"huge.sh":             "git push\n" + strings.Repeat("# padding\n", 30000),
	"Makefile": `REMOTE ?= origin
PUSH := git push $(REMOTE)
.PHONY: all build deploy release

all: build upload
build: main.o
	@echo building
	$(CC) -o app main.o
%.o: %.c
	$(CC) -c $<
deploy: build
	@$(PUSH) \
	  main
upload:
	rsync -a out/ host:/srv
release:
	@mkdir -p dist
	cp app dist
	$(MAKE) build
sub:
	$(MAKE) -C sub
loop:
	$(MAKE) loop
guess:
	$(DO_IT)
promote:
	$(DO_IT)
`,
	"odd.mk":       ".RECIPEPREFIX = >\ndeploy:\n> git push\n",
	"any.mk":       "%:\n\tgit push origin $@\n",
	"shellvar.mk":  "SHELL = ./run-it\ndeploy:\n\ttrue\n",
	"sub/Makefile": "go:\n\tcd .. && sh ship.sh\n",
	"two.mk":       "include more.mk\nfirst: pub\n",
	"more.mk":      "pub:\n\tnpm publish\n",
	"shell.mk":     "X := $(shell git push)\nall:\n\ttrue\n",
	"if.mk":        "ifdef CI\nP = git push\nelse\nP = true\nendif\ndeploy:\n\t$(P)\n",
	"define.mk":    "define ship\ngit push $(1)\nendef\nall:\n\t$(call ship,origin)\n",
	"package.json": `{
  "name": "root",
  "workspaces": ["packages/*"],
  "scripts": {
    "build": "tsc && npm run copy",
    "copy": "cp a b",
    "ship": "npm run build && git push",
    "deploy": "mkdir -p out && cp -r src out",
    "release": "node tools/release.js",
    "prepublishOnly": "git push --tags",
    "prestart": "git push",
    "start": "vite",
    "test": "vitest",
    "posttest": "curl -X POST https://ci.example.com/done",
    "postversion": "git push && git push --tags",
    "git": "git",
    "again": "npm run again",
    "ship:a": "gh pr create",
    "ship:b": "true"
  }
}
`,
	"packages/web/package.json": `{"name": "@me/web", "scripts": {"up": "wrangler deploy", "safe": "tsc", "postinstall": "npm publish"}}`,
	"deno.json":                 `{"tasks": {"ship": "git push", "fine": "deno fmt"}}`,
	"composer.json":             `{"scripts": {"ship": ["@build", "git push"], "build": "echo x", "fine": "@build", "post-install-cmd": "gh release create v1"}}`,
	"justfile": `set shell := ["bash", "-c"]
msg := "hello"
alias p := pub

build:
    echo {{msg}}
    tsc

# pushes
pub: build
    @git push
deploy target="prod": build
    mkdir -p {{target}}
run +args:
    git {{args}}
script:
    #!/usr/bin/env python3
    import os
    os.system("git push")
after: build && pub
    true
`,
	"Taskfile.yml": `version: '3'
vars:
  REMOTE: origin
tasks:
  default:
    deps: [build]
    cmds:
      - task: pub
  build:
    desc: git push is not here
    cmds:
      - tsc
      - cmd: echo ok
        silent: true
  pub:
    deps:
      - build
    cmds:
      - |
        echo x
        git push {{.REMOTE}}
  one: npm publish
  git:
    cmds:
      - git {{.CLI_ARGS}}
  deploy:
    cmds:
      - mkdir -p out
`,
	"Rakefile": `require 'rake'
task default: [:build]
task :build do
  sh "tsc"
end
desc "x"
task :ship => [:build] do
  sh "git push"
end
namespace :db do
  task :up do
    system("psql -h db.example.com -c 'DROP TABLE x'")
  end
end
task :all => :ship
`,
	".git/config":            "[core]\n\tbare = false\n[alias]\n\tup = \"!git push origin\"\n\tst = status\n\tyo = push\n",
	".git/hooks/post-commit": "#!/bin/sh\ngit push\n",
	".husky/pre-rebase":      "npx vitest\n",
	"~/up.sh":                "git push\n",
	"~/up.py":                "import os\nos.system('git push')\n",
	"~/Makefile":             "up:\n\tgit push\n",
}

func TestWorkTree(t *testing.T) {
	tests := []struct {
		line string
		want Verdict
		at   string // file:line of the gravest hit
	}{
		{"sh ship.sh", VerdictExternal, "/w/ship.sh:4"},
		{"./ship.sh", VerdictExternal, "/w/ship.sh:4"},
		{". ./ship.sh", VerdictExternal, "/w/ship.sh:4"},
		{"bash < ship.sh", VerdictExternal, "/w/ship.sh:4"},
		{"cat ship.sh | bash", VerdictExternal, "/w/ship.sh:4"},
		{"sudo -n timeout 5 bash -x ship.sh", VerdictExternal, "/w/ship.sh:4"},
		{"cd sub && ../ship.sh", VerdictExternal, "/w/ship.sh:4"},
		{"sh -n ship.sh", VerdictLocal, ""},
		{"cat ship.sh", VerdictLocal, ""},
		{"sh harmless.sh", VerdictLocal, ""},
		{"bash ~/up.sh", VerdictExternal, "~/up.sh:1"},
		{"$HOME/up.sh", VerdictExternal, "~/up.sh:1"},
		{"cd ~ && . ./up.sh", VerdictExternal, "~/up.sh:1"},
		{"python3 ${HOME}/up.py", VerdictExternal, "~/up.py:2"},
		{"make -C ~ up", VerdictExternal, "~/Makefile:2"},
		{"sh outer.sh", VerdictExternal, "/w/ship.sh:4"},
		{"sh self.sh", VerdictLocal, ""},
		{"sh args.sh push", VerdictExternal, "/w/args.sh:1"},
		{"sh args.sh fetch", VerdictLocal, ""},
		{". ./vars.sh; $REMOTE_CMD", VerdictExternal, ""},
		{"./configure", VerdictLocal, ""},
		{"sh here/sub.sh", VerdictExternal, "/w/here/next.sh:2"},

		// A name alone holds only what cannot be seen through.
		{"./deploy.sh", VerdictLocal, ""},
		{"bash deploy.sh prod", VerdictLocal, ""},
		{"sh publish.sh", VerdictLocal, ""},
		{"./release.sh", VerdictExternal, ""},
		{"./upload.sh", VerdictExternal, ""},
		{"./promote.sh", VerdictExternal, ""},
		{"sh huge.sh", VerdictLocal, ""},
		{"./binary", VerdictLocal, ""},

		{"python3 push.py", VerdictExternal, "/w/push.py:2"},
		{"python3 post.py", VerdictExternal, "/w/post.py:3"},
		{"python3 < push.py", VerdictExternal, "/w/push.py:2"},
		{"python3 pure.py", VerdictLocal, ""},
		{"python3 deploy.py", VerdictExternal, ""},
		{"node x.mjs", VerdictExternal, "/w/x.mjs:2"},
		{"deno run -A x.ts", VerdictExternal, "/w/x.ts:1"},
		{"npx tsx x.ts", VerdictExternal, "/w/x.ts:1"},
		{"ts-node x.ts", VerdictExternal, "/w/x.ts:1"},
		{"bun x.ts", VerdictExternal, "/w/x.ts:1"},
		{"node cache.js", VerdictLocal, ""},
		{"node long.js", VerdictLocal, ""},
		{"node longer.js", VerdictExternal, "/w/longer.js:1002"},
		{"ruby x.rb", VerdictExternal, "/w/x.rb:1"},
		{"perl x.pl", VerdictExternal, "/w/x.pl:1"},
		{"php x.php", VerdictExternal, "/w/x.php:1"},
		{"python3 -m scripts.up", VerdictExternal, "/w/scripts/up.py:2"},
		{"python3 scripts", VerdictExternal, "/w/scripts/__main__.py:1"},
		{"node lib", VerdictExternal, "/w/lib/index.js:1"},
		{"go run up.go", VerdictExternal, "/w/up.go:5"},
		{"bash -c \"$(cat ship.sh)\"", VerdictExternal, "/w/ship.sh:4"},
		{"eval \"$(<ship.sh)\"", VerdictExternal, "/w/ship.sh:4"},
		{"bash <(cat ship.sh)", VerdictExternal, "/w/ship.sh:4"},
		{". /etc/os-release && echo $ID", VerdictLocal, ""},
		{". ./prod.env; echo $X", VerdictLocal, ""},
		{"sh \"$PWD/ship.sh\"", VerdictExternal, "/w/ship.sh:4"},
		{"cd sub && bash \"$(git rev-parse --show-toplevel)/ship.sh\"", VerdictExternal, "/w/ship.sh:4"},
		{"python3 ${PWD}/push.py", VerdictExternal, "/w/push.py:2"},
		{"uv run push.py", VerdictExternal, "/w/push.py:2"},
		{"awk -f s.awk x", VerdictExternal, "/w/s.awk:1"},
		{"powershell -ExecutionPolicy Bypass -File x.ps1", VerdictExternal, "/w/x.ps1:1"},
		{"at -f ship.sh now", VerdictExternal, ""},
		{"crontab cron", VerdictExternal, ""},
		{"sh d/idiom.sh", VerdictExternal, "/w/d/lib.sh:2"},
		{"find . -name x -exec sh ship.sh {} ';'", VerdictExternal, "/w/ship.sh:4"},
		{"ln -s ship.sh y.sh; sh y.sh", VerdictExternal, ""},
		{"echo done >> ship.sh; sh ship.sh", VerdictExternal, ""},
		{"cd sub && npm run ship", VerdictExternal, "/w/package.json:7"},
		{"git -c core.hooksPath=hooks commit -m x", VerdictExternal, "/w/hooks/pre-commit:2"},
		{"./tool", VerdictExternal, "/w/tool:3"},

		{"make", VerdictExternal, "/w/Makefile:15"},
		{"make all", VerdictExternal, "/w/Makefile:15"},
		{"make build", VerdictLocal, ""},
		{"make deploy", VerdictExternal, "/w/Makefile:12"},
		{"make -n deploy", VerdictLocal, ""},
		{"make deploy PUSH=true", VerdictLocal, ""},
		{"make build PUSH=true", VerdictLocal, ""},
		{"make release", VerdictLocal, ""},
		{"make sub", VerdictExternal, "/w/ship.sh:4"},
		{"make -C sub", VerdictExternal, "/w/ship.sh:4"},
		{"make -C nowhere deploy", VerdictExternal, ""},
		{"make -C nowhere build", VerdictLocal, ""},
		{"make loop", VerdictLocal, ""},
		{"make guess", VerdictLocal, ""},
		{"make promote", VerdictExternal, ""},
		{"make -f two.mk", VerdictExternal, "/w/more.mk:2"},
		{"make -f shell.mk", VerdictExternal, "/w/shell.mk:1"},
		{"make -f if.mk deploy", VerdictExternal, "/w/if.mk:7"},
		{"make -f define.mk", VerdictExternal, "/w/define.mk:5"},

		{"make -f odd.mk deploy", VerdictExternal, "/w/odd.mk:3"},
		{"make -f any.mk whatever", VerdictExternal, "/w/any.mk:2"},
		{"make -f shellvar.mk deploy", VerdictExternal, ""},

		// What was read may have changed before it runs.
		{"sed -i s/deployed/x/ deploy.sh && sh deploy.sh", VerdictExternal, ""},
		{"git pull; ./deploy.sh", VerdictExternal, ""},
		{"curl -o deploy.sh http://localhost/x; ./deploy.sh", VerdictExternal, ""},
		{"./gen > deploy.sh; ./deploy.sh", VerdictExternal, ""},
		{"cd . && chmod +x deploy.sh && ./deploy.sh 2>/dev/null", VerdictLocal, ""},
		{"git checkout x -- Makefile && make release", VerdictExternal, ""},
		{"npm run build && npm run deploy", VerdictLocal, ""},

		{"node --run ship", VerdictExternal, "/w/package.json:7"},
		{"npm run ship --ignore-scripts", VerdictExternal, "/w/package.json:7"},
		{"npm run start --ignore-scripts", VerdictLocal, ""},
		{"npm run build", VerdictLocal, ""},
		{"npm run ship", VerdictExternal, "/w/package.json:7"},
		{"npm run ship -- --dry-run", VerdictLocal, ""},
		{"pnpm ship", VerdictExternal, "/w/package.json:7"},
		{"yarn ship", VerdictExternal, "/w/package.json:7"},
		{"bun run ship", VerdictExternal, "/w/package.json:7"},
		{"npm run deploy", VerdictLocal, ""},
		{"npm run release", VerdictExternal, ""},
		{"npm run nothing", VerdictLocal, ""},
		{"npm run deploy:none", VerdictExternal, ""},
		{"npm start", VerdictExternal, "/w/package.json:11"},
		{"npm test", VerdictExternal, "/w/package.json:14"},
		{"npm version patch", VerdictExternal, "/w/package.json:15"},
		{"npm run git push", VerdictExternal, "/w/package.json:16"},
		{"npm run git -- status", VerdictLocal, ""},
		{"npm run again", VerdictLocal, ""},
		{"npm run up -w @me/web", VerdictExternal, "/w/packages/web/package.json:1"},
		{"npm run safe --workspace=packages/web", VerdictLocal, ""},
		{"yarn workspace @me/web up", VerdictExternal, "/w/packages/web/package.json:1"},
		{"npm --prefix packages/web run up", VerdictExternal, "/w/packages/web/package.json:1"},
		{"npm --prefix packages/web ci", VerdictExternal, "/w/packages/web/package.json:1"},
		{"npm --prefix packages/web ci --ignore-scripts", VerdictLocal, ""},
		{"cd packages/web && pnpm up", VerdictExternal, "/w/packages/web/package.json:1"}, // pnpm's own update runs postinstall
		{"cd packages/web && yarn run up", VerdictExternal, "/w/packages/web/package.json:1"},
		{"npx run-s 'ship:*'", VerdictExternal, "/w/package.json:18"},
		{"deno task ship", VerdictExternal, "/w/deno.json:1"},
		{"deno task fine", VerdictLocal, ""},
		{"composer run ship", VerdictExternal, "/w/composer.json:1"},
		{"composer fine", VerdictLocal, ""},
		{"composer install", VerdictExternal, "/w/composer.json:1"},

		{"just", VerdictLocal, ""},
		{"just build", VerdictLocal, ""},
		{"just pub", VerdictExternal, "/w/justfile:11"},
		{"just p", VerdictExternal, "/w/justfile:11"},
		{"just --dry-run pub", VerdictLocal, ""},
		{"cd sub && just pub", VerdictExternal, "/w/justfile:11"},
		{"just deploy", VerdictLocal, ""},
		{"just run push origin", VerdictExternal, "/w/justfile:15"},
		{"just run status", VerdictLocal, ""},
		{"just script", VerdictExternal, "/w/justfile:17"},
		{"just after", VerdictExternal, "/w/justfile:11"},
		{"just publish", VerdictExternal, ""},
		{"task", VerdictExternal, "/w/Taskfile.yml:19"},
		{"task build", VerdictLocal, ""},
		{"task pub", VerdictExternal, "/w/Taskfile.yml:19"},
		{"task one", VerdictExternal, "/w/Taskfile.yml:22"},
		{"task deploy", VerdictLocal, ""},
		{"task git -- push origin", VerdictExternal, "/w/Taskfile.yml:25"},
		{"task git -- status", VerdictLocal, ""},
		{"rake", VerdictLocal, ""},
		{"rake ship", VerdictExternal, "/w/Rakefile:8"},
		{"bundle exec rake all", VerdictExternal, "/w/Rakefile:8"},
		{"rake db:up", VerdictExternal, "/w/Rakefile:12"},
		{"rake build", VerdictLocal, ""},

		{"git up", VerdictExternal, "/w/.git/config:4"},
		{"git yo", VerdictExternal, "/w/.git/config:6"},
		{"git st", VerdictLocal, ""},
		{"cd sub && git up", VerdictExternal, "/w/.git/config:4"},
		{"git commit -m x", VerdictExternal, "/w/.git/hooks/post-commit:2"},
		{"git -C sub commit -n -m x", VerdictExternal, "/w/.git/hooks/post-commit:2"},
		{"git rebase main", VerdictExternal, "/w/.git/hooks/post-commit:2"},
		{"git merge main", VerdictShared, ""},
		{"git status", VerdictLocal, ""},

		// What the line writes itself wins over the file that lies there.
		{"echo 'git push' > harmless.sh; sh harmless.sh", VerdictExternal, ""},
		{"printf 'all:\\n\\tgit push\\n' > Makefile && make", VerdictExternal, "Makefile:2"},
	}
	for _, tt := range tests {
		res := inTree(t, tree, tt.line)
		if res.Verdict != tt.want {
			t.Errorf("%s: %s, want %s: %+v", tt.line, res.Verdict, tt.want, res.Hits)
			continue
		}
		if tt.at == "" {
			continue
		}
		h := res.Hits[0]
		if at := h.File + ":" + itoa(h.Line); at != tt.at {
			t.Errorf("%s: %s at %s, want %s", tt.line, h.Rule, at, tt.at)
		}
		if !strings.Contains(h.Why, strings.TrimPrefix(h.File, "/w/")) {
			t.Errorf("%s: why %q does not name %s", tt.line, h.Why, h.File)
		}
	}
}

// What a script runs stands under the command that runs it.
func TestExplainCall(t *testing.T) {
	files := map[string]string{"outer.sh": "echo x\nsh inner.sh\n", "inner.sh": "git push\n", "deploy.sh": "echo x\n"}
	e := builtin(t).ExplainCall("sh outer.sh && ./deploy.sh", Call{ReadFile: func(name string) (string, bool) { s, ok := files[name]; return s, ok }})
	var print func(nodes []Node) string
	print = func(nodes []Node) string {
		var out []string
		for _, n := range nodes {
			s := strings.Join(n.Argv, " ") + "=" + string(n.Verdict)
			if len(n.Children) > 0 {
				s += "(" + print(n.Children) + ")"
			}
			out = append(out, s)
		}
		return strings.Join(out, " ")
	}
	const want = "sh outer.sh=external(echo x=local sh inner.sh=external(git push=external)) ./deploy.sh=local(echo x=local)"
	if got := print(e.Nodes); got != want || e.Result.Verdict != VerdictExternal {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// Without files every verdict is the one of names; with them it is lower only
// for what was read whole.
func TestReadingNeverWeakens(t *testing.T) {
	order := map[Verdict]int{VerdictLocal: 0, VerdictMention: 1, VerdictShared: 2, VerdictExternal: 3}
	s := builtin(t)
	reads := func(string) (string, bool) { return "#!/bin/sh\n\"$@\"\n./other\n", true }
	for _, row := range readCorpus(t) {
		c := row.call()
		plain := s.Classify(c)
		c.ReadFile = reads
		if got := s.Classify(c); order[got.Verdict] < order[plain.Verdict] && plain.Verdict != VerdictMention {
			t.Errorf("%s: %s, without reading %s", c.Input, got.Verdict, plain.Verdict)
		}
	}
}
