package policy

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// runners are calls that read every kind of file.
var runners = []string{
	"sh x.sh deploy", ". ./x && ./y", "make", "make -f x deploy", "npm run deploy", "yarn", "npm ci", "just deploy", "task deploy", "rake deploy",
	"composer run deploy", "git deploy", "git commit -m x", "python3 x.py", "node x.mjs", "ruby x.rb", "go run x.go", "deno task deploy", "run-s 'd*'",
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
			start := time.Now()
			res := s.Classify(Call{Tool: "Bash", Input: input, Cwd: "/w", ReadFile: func(string) (string, bool) { return text, true }})
			if d := time.Since(start); d > 10*time.Second {
				t.Fatalf("%s: %v", command, d)
			}
			for _, h := range res.Hits {
				if h.Rule == "classifier-failed" {
					t.Fatalf("%s: %s", command, h.Why)
				}
			}
		}
	})
}

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
		"calls":              "#!/usr/bin/env python3\nimport os, requests\n" + big("os.system(x)\nrequests.post(y)\n"),
	} {
		for _, command := range runners {
			input, err := json.Marshal(map[string]string{"command": command})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			s.Classify(Call{Tool: "Bash", Input: input, Cwd: "/w", ReadFile: func(string) (string, bool) { return text, true }})
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("%s, %s: %v", name, command, d)
			} else if d > 500*time.Millisecond {
				t.Logf("%s, %s: %v", name, command, d)
			}
		}
	}
}
