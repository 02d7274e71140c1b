package policy

import (
	"strings"
	"testing"
)

// Of a program that was built in the run its sources tell what it does, when it
// is run; building it holds nothing.
func TestWhatWasBuiltIsJudgedByItsSources(t *testing.T) {
	const c = "#include <stdlib.h>\n// pushes\nint main() { return system(\"git push origin main\"); }\n"
	files := map[string]string{
		"t.c": c, "ok.c": "int main() { system(\"git status\"); return 0; }\n", "inc.c": "#include \"lib/x.h\"\nint main() { go(); }\n", "lib/x.h": "void go() { execlp(\"git\", \"git\", \"push\", NULL); }\n",
		"t.rs":    "use std::process::Command;\nfn main() { Command::new(\"git\").args([\"push\"]).status(); }\n",
		"t.swift": "import Foundation\nlet p = Process()\np.launchPath = \"/usr/bin/git\"\np.arguments = [\"push\"]\np.launch()\n",
		"t.kt":    "fun main() { ProcessBuilder(\"git\", \"push\").start() }\n",
		"t.hs":    "import System.Process\nmain = callProcess \"git\" [\"push\"]\n",
		"T.java":  "class T { public static void main(String[] a) throws Exception { new ProcessBuilder(\"git\", \"push\").start(); } }\n",
		"go.mod":  "module x\n", "cmd/p/main.go": "package main\n\nimport \"os/exec\"\n\nfunc main() { exec.Command(\"git\", \"push\").Run() }\n",
		"Cargo.toml": "[package]\nname = \"tool\"\n", "src/main.rs": "use std::process::Command;\nfn main() { Command::new(\"git\").arg(\"push\").status(); }\n",
		"Makefile": "t: t.c\n\tcc -o t t.c\n",
	}
	s := builtin(t)
	for _, tt := range []struct {
		lines []string
		held  bool // the last
	}{
		{[]string{"gcc -O2 -o t t.c", "./t"}, true},
		{[]string{"gcc-12 t.c", "./a.out"}, true},
		{[]string{"gcc -o t t.c && ./t"}, true},
		{[]string{"cc -c t.c", "cc -o t t.o", "timeout 5 ./t"}, true},
		{[]string{"gcc -o t t.c", "mv t u", "./u"}, true},
		{[]string{"gcc -shared -o t.so t.c", "LD_PRELOAD=./t.so ls"}, true},
		{[]string{"clang inc.c -o inc", "/w/inc"}, true},
		{[]string{"make t", "./t"}, true},
		{[]string{"rustc t.rs", "./t"}, true},
		{[]string{"swiftc t.swift", "./t"}, true},
		{[]string{"swiftc t.swift -o bin/t && bin/t"}, true},
		{[]string{"kotlinc t.kt -include-runtime -d t.jar", "java -jar t.jar"}, true},
		{[]string{"ghc t.hs -o th", "./th"}, true},
		{[]string{"swiftc t.swift"}, false},
		{[]string{"javac T.java", "java T"}, true},
		{[]string{"javac -d out T.java", "java -cp out T"}, true},
		{[]string{"go build -o bin/p ./cmd/p", "bin/p"}, true},
		{[]string{"go build ./cmd/p", "./p"}, true},
		{[]string{"cargo build --release", "target/release/tool"}, true},
		{[]string{"cat > n.c <<'E'\n" + c + "E\ngcc n.c -o n; ./n"}, true},

		{[]string{"gcc -o t t.c"}, false},
		{[]string{"go build -o bin/p ./cmd/p"}, false},
		{[]string{"gcc -o t t.c", "gcc -o t ok.c", "./t"}, false},
		{[]string{"gcc -o ok ok.c", "./ok"}, false},
		{[]string{"gcc -o t t.c", "./u"}, false},
	} {
		builds := &Builds{}
		var res Result
		for _, line := range tt.lines {
			res = s.Classify(Call{
				Tool: "Bash", Input: mustJSON(t, map[string]string{"command": line}), Cwd: "/w", Builds: builds,
				ReadFile: func(name string) (string, bool) {
					text, ok := files[strings.TrimPrefix(name, "/w/")]
					return text, ok
				},
				ReadDir: func(name string) ([]string, bool) {
					return []string{"main.go"}, name == "/w/cmd/p"
				},
			})
		}
		if got := res.Tier == External; got != tt.held {
			t.Errorf("%q: held %v: %+v", tt.lines, got, res.Hits)
		}
	}
}
