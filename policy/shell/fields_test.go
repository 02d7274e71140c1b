package shell

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// find gives the first command of a program in a line.
func find(t *testing.T, line, program string) Command {
	t.Helper()
	l := Read(line, Options{})
	for _, c := range l.Commands {
		if c.Program() == program {
			return c
		}
	}
	t.Fatalf("Read(%q) has no %s: %q", line, program, runs(l))
	return Command{}
}

func TestCommandEnv(t *testing.T) {
	tests := []struct {
		line string
		want []string
	}{
		{"A=1 B='x y' git push", []string{"A=1", "B=x y"}},
		{"env A=1 git push", []string{"A=1"}},
		{"sudo A=1 env B=2 git push", []string{"A=1", "B=2"}},
		{"A=1 bash -c 'git push'", []string{"A=1"}},
		{"export A=1; git push", []string{"A=1"}},
		{"A=1; export A; git push", []string{"A=1"}},
		{"declare -x A=1; git push", []string{"A=1"}},
		{"set -a; A=1; git push", []string{"A=1"}},
		{"A=1; git push", nil},
		{"export A=1; export -n A; git push", nil},
		{"export A=1; unset A; git push", nil},
		{"(export A=1); git push", nil},
		{"A=1 true; git push", nil},
		{"A=1 eval true; git push", nil},
		{"f() { git push; }; A=1 f", []string{"A=1"}},
		{"x || export A=1; git push", []string{"A=$A"}},
		{"cross-env A=1 git push", []string{"A=1"}},
	}
	for _, tt := range tests {
		var got []string
		for _, a := range find(t, tt.line, "git").Env {
			got = append(got, a.Name+"="+a.Value.Text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Env of %q (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestCommandPlace(t *testing.T) {
	tests := []struct{ line, dir, remote string }{
		{"git push", "", ""},
		{"cd /srv && git push", "/srv", ""},
		{"cd a; cd b && git push", "a/b", ""},
		{"pushd a && git push", "a", ""},
		{"pushd a; popd; git push", "", ""},
		{"(cd a); git push", "", ""},
		{"bash -c 'cd a; git push'", "a", ""},
		{"env -C /x git push", "/x", ""},
		{"cd \"$D\" && git push", "$D", ""},
		{"for d in a b; do (cd $d && git push); done", "a", ""},
		{"ssh -p 22 me@h git push", "", "me@h"},
		{"ssh me@h 'cd /x && git push'", "/x", "me@h"},
		{"ssh h bash -s <<< 'git push'", "", "h"},
		{"docker exec -it web git push", "", "docker:web"},
		{"docker compose run --rm app git push", "", "docker:app"},
		{"kubectl -n p exec pod -c app -- git push", "", "kubectl:pod"},
		{"ssh a ssh b git push", "", "b"},
	}
	for _, tt := range tests {
		if c := find(t, tt.line, "git"); c.Dir != tt.dir || c.Remote != tt.remote {
			t.Errorf("Read(%q): Dir %q, Remote %q; want %q, %q", tt.line, c.Dir, c.Remote, tt.dir, tt.remote)
		}
	}
}

func TestCommandWrappers(t *testing.T) {
	tests := []struct {
		line string
		want []string
	}{
		{"git push", nil},
		{"sudo -u bob timeout -k 5 60 git push", []string{"sudo -u bob", "timeout -k 5 60"}},
		{"/usr/bin/env -i git push", []string{"env -i"}},
		{"bash -lc 'eval \"git push\"'", []string{"bash -lc", "eval"}},
		{"ls | xargs -n 1 git push", []string{"xargs -n 1"}},
		{"find . -exec git push \\;", []string{"find -exec"}},
		{"ssh h sudo git push", []string{"ssh h", "sudo"}},
		{"poetry run git push", []string{"poetry run"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, find(t, tt.line, "git").Wrappers); diff != "" {
			t.Errorf("Wrappers of %q (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestCommandStdin(t *testing.T) {
	tests := []struct {
		line string
		want Input
	}{
		{"x", Input{}},
		{"x <<EOF\na $HOME\nEOF", Input{Kind: InputHeredoc, Text: "a $HOME\n", Known: true}},
		{"x <<-'EOF'\n\ta\n\tEOF", Input{Kind: InputHeredoc, Text: "a\n", Known: true}},
		{"x <<< 'a b'", Input{Kind: InputHereString, Text: "a b\n", Known: true}},
		{"x < f", Input{Kind: InputFile, From: "f"}},
		{"y 1 | x", Input{Kind: InputPipe, From: "y 1"}},
		{"y | z 2>&1 | x", Input{Kind: InputPipe, From: "y | z 2>&1"}},
		{"echo a b | x", Input{Kind: InputPipe, From: "echo a b", Text: "a b\n", Known: true}},
		{"printf 'a%s' b | x", Input{Kind: InputPipe, From: "printf 'a%s' b", Text: "ab", Known: true}},
		{"cat <<EOF | sudo x\na\nEOF", Input{Kind: InputPipe, From: "cat <<EOF", Text: "a\n", Known: true}},
		{"echo a | tee f | x", Input{Kind: InputPipe, From: "echo a | tee f", Text: "a\n", Known: true}},
		{"{ x; } <<< a", Input{Kind: InputHereString, Text: "a\n", Known: true}},
		{"echo a > f; x < f", Input{Kind: InputFile, From: "f", Text: "a\n", Known: true}},
		{"ssh h x <<< a", Input{Kind: InputHereString, Text: "a\n", Known: true}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, find(t, tt.line, "x").Stdin); diff != "" {
			t.Errorf("Stdin of %q (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestCommandRedirects(t *testing.T) {
	tests := []struct {
		line string
		want []Redirect
	}{
		{"x > /dev/tcp/h/1 2>&1", []Redirect{{">", Word{Text: "/dev/tcp/h/1"}}, {"2>&", Word{Text: "1"}}}},
		{"{ x; } >> f", []Redirect{{">>", Word{Text: "f"}}}},
		{"if x; then y; fi &> f", []Redirect{{"&>", Word{Text: "f"}}}},
		{"bash -c x > f", []Redirect{{">", Word{Text: "f"}}}},
		{"x 3<> \"$F\"", []Redirect{{"3<>", Word{Text: "$F", Dynamic: true}}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, find(t, tt.line, "x").Redirects); diff != "" {
			t.Errorf("Redirects of %q (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestCommandFiles(t *testing.T) {
	tests := []struct {
		line, program string
		want          []File
	}{
		{"cat > p.py <<'E'\nx\nE\npython3 p.py", "python3", []File{{"p.py", "x\n"}}},
		{"echo x | tee a/p.js; cd a; node ./p.js", "node", []File{{"./p.js", "x\n"}}},
		{"{ echo a; echo b; } > p; python p", "python", []File{{"p", "a\nb\n"}}},
		{"echo a > p; echo b >> p; mv p q; python q", "python", []File{{"q", "a\nb\n"}}},
		{"printf 'd:\\n\\tx\\n' > Makefile; make d", "make", []File{{"Makefile", "d:\n\tx\n"}}},
		{"curl x > p; python p", "python", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, find(t, tt.line, tt.program).Files); diff != "" {
			t.Errorf("Files of %q (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestTexts(t *testing.T) {
	tests := []struct {
		line string
		want []Text
	}{
		{"ls # then git push", []Text{{TextComment, " then git push"}}},
		{"# one\nls\n# two", []Text{{TextComment, " one"}, {TextComment, " two"}}},
		{"cat <<EOF\nrun git push\nEOF", []Text{{TextHeredoc, "run git push\n"}}},
		{"grep x <<< 'git push'", []Text{{TextHeredoc, "git push\n"}}},
		{"bash <<EOF\ngit push # now\nEOF", []Text{{TextComment, " now"}}},
		{"python3 - <<EOF\nx = 1\nEOF", nil},
		{"for i in 1 2; do ls; # each\ndone", []Text{{TextComment, " each"}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Read(tt.line, Options{}).Texts); diff != "" {
			t.Errorf("Texts of %q (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestModeDefined(t *testing.T) {
	for _, line := range []string{"f() { git push; }", "alias gp='git push'", "f() { g; }; g() { git push; }"} {
		if c := find(t, line, "git"); c.Mode != Defined {
			t.Errorf("Read(%q): git runs, want it defined only", line)
		}
	}
}

// TestNotWrapped holds that a use of a wrapper that runs nothing stays as it is.
func TestNotWrapped(t *testing.T) {
	for _, line := range []string{
		"command -v git", "env", "sudo -v", "timeout --help", "docker run --rm alpine", "docker push img", "kubectl run x --image=y",
		"poetry add run", "npm run build", "npx", "find . -name push", "xargs", "git submodule update --init", "git bisect start",
		"nice", "exec", "watch", "bash script.sh", "bash", "ssh-add key", "ionice -c 3 -p 12", "taskset -p 12", "flock 9", "uv sync", "bundle install",
		"crontab -l", "at -l", "op item list", "nix develop", "tmux ls", "trap - INT",
	} {
		l := Read(line, Options{})
		if len(l.Commands) != 1 || render(l.Commands[0]) != line {
			t.Errorf("Read(%q) = %q", line, runs(l))
		}
	}
}

func TestReadFile(t *testing.T) {
	files := map[string]string{"x.sh": "#!/bin/bash\ngit push $1\n", "sub/y": "echo y\n", "p.py": "#!/usr/bin/env python3\ngit push\n"}
	o := Options{ReadFile: func(name string) (string, bool) { s, ok := files[name]; return s, ok }}
	checks := []readTest{
		{"bash x.sh origin", []string{"git push origin"}},
		{"./x.sh origin", []string{"git push origin"}},
		{". ./x.sh", []string{"git push $1~"}},
		{"cat x.sh | bash", []string{"cat x.sh", "git push $1~"}},
		{"cd sub && sh y", []string{"cd sub", "echo y"}},
		{"./p.py", []string{"./p.py"}},
		{"ssh h ./x.sh", []string{"ssh h ./x.sh", "./x.sh"}},
	}
	for _, tt := range checks {
		if diff := cmp.Diff(tt.want, runs(Read(tt.line, o))); diff != "" {
			t.Errorf("Read(%q) (-want +got):\n%s", tt.line, diff)
		}
	}
}

// What stands in a file that was read bears its name, the command that ran it
// is told, and a script within itself is not followed again.
func TestScripts(t *testing.T) {
	files := map[string]string{"a.sh": "# git pull\ncd sub\n./b.sh\n", "sub/b.sh": "git push\nbash ../a.sh\n", "c.sh": "sh c.sh\n"}
	asked := 0
	o := Options{ReadFile: func(name string) (string, bool) { asked++; s, ok := files[name]; return s, ok }}
	l := Read("sh a.sh && sh c.sh", o)
	var got []string
	for _, c := range l.Commands {
		got = append(got, strings.Join(c.Scripts, ">")+": "+render(c))
	}
	for _, c := range l.Ran {
		got = append(got, "ran "+strings.Join(c.Scripts, ">")+": "+render(c))
	}
	want := []string{"a.sh: cd sub", "a.sh>sub/b.sh: git push", "ran a.sh: sh a.sh", "ran a.sh>sub/b.sh: ./b.sh", "ran a.sh>sub/b.sh>a.sh: bash ../a.sh", "ran c.sh: sh c.sh", "ran c.sh>c.sh: sh c.sh"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(l.Texts) != 0 || asked > 8 {
		t.Errorf("texts %q, asked %d times", l.Texts, asked)
	}
}

func TestWritten(t *testing.T) {
	got := Read("cd d; echo a > x; echo b >> x; printf c | tee -a /y >/dev/null; curl h > z; ls 2>/dev/null; cp x k", Options{}).Written
	want := []Write{
		{Name: "d/x", Text: "a\n", Known: true}, {Name: "d/x", Text: "b\n", Known: true, Append: true}, {Name: "/y", Text: "c", Known: true, Append: true},
		{Name: "d/z"}, {Name: "d/k", Text: "a\nb\n", Known: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProgram(t *testing.T) {
	for text, want := range map[string]string{
		"git": "git", "/usr/bin/git": "git", `\git`: "git", `C:\Git\git.EXE`: "git", "./x.sh": "x.sh", "@scope/pkg": "@scope/pkg", "$HOME/bin/git": "git",
	} {
		c := Command{Argv: []Word{{Text: text}}}
		if got := c.Program(); got != want {
			t.Errorf("Program of %q = %q, want %q", text, got, want)
		}
	}
	if got := new(Command).Program(); got != "" {
		t.Errorf("Program of no words = %q", got)
	}
}
