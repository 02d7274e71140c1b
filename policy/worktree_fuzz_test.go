package policy

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

// runners are calls that read every kind of file.
var runners = []string{
	"sh x.sh deploy", ". ./x && ./y", "make", "make -f x deploy", "npm run deploy", "yarn", "npm ci", "just deploy", "task deploy", "rake deploy",
	"composer run deploy", "git deploy", "git commit -m x", "python3 x.py", "node x.mjs", "ruby x.rb", "go run x.go", "deno task deploy", "run-s 'd*'",
	"poe x", "hatch run x", "tox -e x", "nox", "inv x", "doit x", "mage x", "gulp x", "lefthook run pre-commit", "pre-commit run", "act", "docker compose up", "docker buildx bake",
	"foreman start", "mise run x", "turbo run x", "nx run x:x", "pnpm -r x", "cargo run", "cargo x", "cargo make x", "python3 -m a.b", "go run ./x", "NODE_OPTIONS='-r ./x' node y.js", "perl -Mx -e 1",
}

// FuzzWorkTree holds that no file, whatever stands in it, makes the classifier
// panic or go on for ever, or a verdict lower than it is without reading
// unless all of it was seen through.
func FuzzWorkTree(f *testing.F) {
	for _, text := range tree {
		f.Add(text)
	}
	s := builtin(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, command := range runners {
			input, err := json.Marshal(map[string]string{"command": command})
			if err != nil {
				t.Skip()
			}
			res := s.Classify(Call{Tool: "Bash", Input: input, Cwd: "/w", ReadFile: func(string) (string, bool) { return text, true },
				ReadDir: func(string) ([]string, bool) { return []string{"a.yml", "x", "y.go"}, true }})
			for _, h := range res.Hits {
				if h.Rule == "classifier-failed" {
					t.Fatalf("%s: %s", command, h.Why)
				}
			}
		}
	})
}

// maxAllocated is what reading hostile files may cost one call, in MiB: work
// that grows without bound allocates without bound.
const maxAllocated = 1 << 10

// Hostile files cost no more than a moment.
func TestHostileFiles(t *testing.T) {
	var double strings.Builder
	for i := range 30 {
		double.WriteString("A" + itoa(i) + " = " + strings.Repeat("$(A"+itoa(i+1)+")", 50) + "\n")
	}
	double.WriteString("deploy:\n\t$(A0)\n")
	big := func(line string) string { return strings.Repeat(line, maxFile/8/len(line)) }
	s := builtin(t)
	for name, text := range map[string]string{
		"doubling variables": double.String(),
		"many targets":       big("a: b\n\ttrue\n"),
		"many recipes":       "deploy:\n" + big("\tgit status $(X)\n"),
		"many scripts":       big("sh ./x.sh; ./y\n"),
		"many evals":         big("eval \"$a$b\"; $c\n"),
		"open brackets":      big("$("),
		"open braces":        big("{{"),
		"many tasks":         "tasks:\n" + big("  a:\n    deps: [a, b]\n    cmds: [git push]\n"),
		"deep JSON":          big("["),
		"many imports":       "#!/usr/bin/env python3\n" + big("import a\nfrom . import b\ndef c(): d()\n"),
		"deep YAML":          "jobs: " + big("{a: ["),
		"nested functions":   "#!/usr/bin/env node\n" + big("require('./x')\nfunction a() {\n function b() {\n"),
		"calls":              "#!/usr/bin/env python3\nimport os, requests\n" + big("os.system(x)\nrequests.post(y)\n"),
	} {
		for _, command := range runners {
			input, err := json.Marshal(map[string]string{"command": command})
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s.Classify(Call{Tool: "Bash", Input: input, Cwd: "/w", ReadFile: func(string) (string, bool) { return text, true }})
			runtime.ReadMemStats(&after)
			mib := (after.TotalAlloc - before.TotalAlloc) >> 20
			if mib > maxAllocated {
				t.Errorf("%s, %s: allocated %d MiB", name, command, mib)
			}
		}
	}
}
