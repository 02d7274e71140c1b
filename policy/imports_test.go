package policy

import "testing"

var loaded = map[string]string{
	"helper.py":          "import subprocess\n\ndef go():\n    subprocess.run(['git', 'push'])\n\ndef other():\n    pass\n",
	"now.py":             "import os\nos.system('git push')\n",
	"main.py":            "if __name__ == '__main__':\n    import os\n    os.system('git push')\n",
	"useh.py":            "import helper\nhelper.go()\n",
	"other.py":           "import helper\nhelper.other()\n",
	"from.py":            "from helper import (\n    go,\n)\ngo()\n",
	"usesmain.py":        "import main\n",
	"lib.py":             "from pkg import push\npush.main()\n",
	"dyn.py":             "import importlib\nimportlib.import_module('pkg.push').main()\n",
	"path.py":            "import runpy\nrunpy.run_path('now.py')\n",
	"again.py":           "import subprocess, sys\nsubprocess.run([sys.executable, 'now.py'])\n",
	"test_x.py":          "import now\n",
	"pkg/__init__.py":    "",
	"pkg/push.py":        "import os\n\nclass Pusher:\n    def __init__(self):\n        self.send()\n\n    def send(self):\n        os.system('git push')\n\ndef main():\n    Pusher()\n",
	"pkg/rel.py":         "from . import push as p\np.main()\n",
	"pkg/rel2.py":        "from .push import main\nmain()\n",
	"pkg/__main__.py":    "from pkg.push import main\nmain()\n",
	"src/deep/mod.py":    "import os\nos.system('npm publish')\n",
	"srcuser.py":         "import deep.mod\n",
	"loop_a.py":          "import loop_b\n",
	"loop_b.py":          "import loop_a\n",
	"y.js":               "const { execSync } = require('child_process')\nmodule.exports = () => execSync('git push')\n",
	"two.js":             "const { execSync } = require('child_process')\nfunction ship() {\n  execSync('git push')\n}\nfunction build() {}\nmodule.exports = { ship, build }\n",
	"ship.js":            "const { ship } = require('./two')\nship()\n",
	"build.js":           "const two = require('./two')\ntwo.build()\n",
	"a.js":               "require('./y')()\n",
	"a.mjs":              "import y from './y.js'\ny()\n",
	"re.mjs":             "export * from './y.js'\n",
	"dyn.mjs":            "const y = await import('./y.js')\n",
	"e.ts":               "import { execSync } from 'node:child_process'\nexport const go = () => execSync('npm publish')\nexport class C {\n  run() {\n    execSync('git push')\n  }\n}\n",
	"d.ts":               "import { go } from './e.js'\ngo()\n",
	"c.ts":               "import { C } from './e'\nnew C()\n",
	"folder/index.js":    "require('../now.js')\n",
	"now.js":             "require('child_process').execSync('git push')\n",
	"fold.js":            "require('./folder')\n",
	"b.test.js":          "require('./now')\n",
	"clean.js":           "console.log('git push')\n",
	"rb/a.rb":            "require_relative 'b'\nship\n",
	"rb/b.rb":            "def ship\n  system('git push')\nend\n",
	"rb/c.rb":            "require_relative 'b'\nputs 1\n",
	"pl/a.pl":            "use lib 'pl';\nuse Ship;\nShip::go();\n",
	"pl/Ship.pm":         "package Ship;\nsub go { system('git push') }\n1;\n",
	"pl/d.pl":            "do './pl/now.pl';\n",
	"pl/now.pl":          "system('git push');\n",
	"php/a.php":          "<?php\nrequire __DIR__ . '/b.php';\nship();\n",
	"php/b.php":          "<?php\nfunction ship() {\n  exec('git push');\n}\n",
	"push.sh":            "git push\n",
	"scripts/inside.py":  "import sibling\n",
	"scripts/sibling.py": "import os\nos.system('git push')\n",
}

func TestImports(t *testing.T) {
	for _, tt := range []struct {
		line string
		want Verdict
		at   string
	}{
		{"python3 useh.py", VerdictExternal, "/w/helper.py:4"},
		{"python3 other.py", VerdictLocal, ""},
		{"python3 from.py", VerdictExternal, "/w/helper.py:4"},
		{"python3 usesmain.py", VerdictLocal, ""},
		{"python3 lib.py", VerdictExternal, "/w/pkg/push.py:8"},
		{"python3 dyn.py", VerdictExternal, "/w/pkg/push.py:8"},
		{"python3 path.py", VerdictExternal, "/w/now.py:2"},
		{"python3 again.py", VerdictExternal, "/w/now.py:2"},
		{"python3 test_x.py", VerdictLocal, ""},
		{"python3 -m pkg", VerdictExternal, "/w/pkg/push.py:8"},
		{"python3 pkg", VerdictExternal, "/w/pkg/push.py:8"},
		{"python3 -m pkg.rel", VerdictExternal, "/w/pkg/push.py:8"},
		{"uv run python -m pkg.rel2", VerdictExternal, "/w/pkg/push.py:8"},
		{"python3 srcuser.py", VerdictExternal, "/w/src/deep/mod.py:2"},
		{"python3 loop_a.py", VerdictLocal, ""},
		{"python3 scripts/inside.py", VerdictExternal, "/w/scripts/sibling.py:2"},
		{"PYTHONPATH=scripts python3 -c 'import sibling'", VerdictExternal, "/w/scripts/sibling.py:2"},
		{"python3 -c 'import helper; helper.go()'", VerdictExternal, "/w/helper.py:4"},
		{"python3 -c 'import helper; helper.other()'", VerdictLocal, ""},

		{"node a.js", VerdictExternal, "/w/y.js:2"},
		{"node a.mjs", VerdictExternal, "/w/y.js:2"},
		{"node re.mjs", VerdictExternal, "/w/y.js:2"},
		{"node dyn.mjs", VerdictExternal, "/w/y.js:2"},
		{"node ship.js", VerdictExternal, "/w/two.js:3"},
		{"node build.js", VerdictLocal, ""},
		{"npx tsx d.ts", VerdictExternal, "/w/e.ts:2"},
		{"npx tsx c.ts", VerdictLocal, ""},
		{"bun run d.ts", VerdictExternal, "/w/e.ts:2"},
		{"node fold.js", VerdictExternal, "/w/now.js:1"},
		{"node --test b.test.js", VerdictLocal, ""},
		{"node clean.js", VerdictLocal, ""},
		{"node -e 'require(\"./now\")'", VerdictExternal, "/w/now.js:1"},

		{"ruby rb/a.rb", VerdictExternal, "/w/rb/b.rb:2"},
		{"ruby rb/c.rb", VerdictLocal, ""},
		{"perl pl/a.pl", VerdictExternal, "/w/pl/Ship.pm:2"},
		{"perl pl/d.pl", VerdictExternal, "/w/pl/now.pl:1"},
		{"php php/a.php", VerdictExternal, "/w/php/b.php:3"},

		// What is loaded before the program itself.
		{"node -r ./now.js clean.js", VerdictExternal, "/w/now.js:1"},
		{"node --import=./now.js clean.js", VerdictExternal, "/w/now.js:1"},
		{"NODE_OPTIONS='--require ./now.js' node clean.js", VerdictExternal, "/w/now.js:1"},
		{"NODE_OPTIONS=--max-old-space-size=4096 node clean.js", VerdictLocal, ""},
		{"node -r dotenv/config clean.js", VerdictLocal, ""},
		{"ruby -r./rb/b -e ship", VerdictExternal, "/w/rb/b.rb:2"},
		{"RUBYOPT=-W0 ruby -e 1", VerdictLocal, ""},
		{"RUBYOPT=-r./rb/b ruby -e ship", VerdictExternal, "/w/rb/b.rb:2"},
		{"PERL5OPT='-Ipl -MShip' perl -e 'Ship::go()'", VerdictExternal, "/w/pl/Ship.pm:2"},
		{"BASH_ENV=push.sh bash -c true", VerdictExternal, "/w/push.sh:1"},
		{"BASH_ENV= bash -c true", VerdictLocal, ""},
		{"export BASH_ENV=push.sh; bash -c true", VerdictExternal, "/w/push.sh:1"},
		{"PYTHONSTARTUP=now.py python3", VerdictExternal, "/w/now.py:2"},
		{"LD_PRELOAD=./x.so ls", VerdictExternal, ""},
		{"LD_PRELOAD=/usr/lib/libjemalloc.so.2 ls", VerdictLocal, ""},
		{"LD_PRELOAD=libfaketime.so.1 ls", VerdictLocal, ""},
	} {
		expect(t, loaded, tt.line, tt.want, tt.at)
	}
}

// expect holds the verdict of a command in a work tree, and where the gravest
// hit stands.
func expect(t *testing.T, files map[string]string, line string, want Verdict, at string) {
	t.Helper()
	res := inTree(t, files, line)
	if res.Verdict != want {
		t.Errorf("%s: %s, want %s: %+v", line, res.Verdict, want, res.Hits)
		return
	}
	if at == "" {
		return
	}
	if got := res.Hits[0].File + ":" + itoa(res.Hits[0].Line); got != at {
		t.Errorf("%s: %s at %s, want %s", line, res.Hits[0].Rule, got, at)
	}
}
