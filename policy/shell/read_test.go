package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// render writes a command's words on one line; a word that is empty or holds a
// blank is quoted, one that is not known is followed by ~ (variable) or by §
// (substitution).
func render(c Command) string {
	var words []string
	for _, a := range c.Argv {
		s := a.Text
		if s == "" || strings.ContainsAny(s, " \n\t") {
			s = fmt.Sprintf("%q", s)
		}
		switch {
		case a.Subst:
			s += "§"
		case a.Dynamic:
			s += "~"
		}
		words = append(words, s)
	}
	return strings.Join(words, " ")
}

// runs renders the commands that would run.
func runs(l Line) []string {
	var out []string
	for _, c := range l.Commands {
		if c.Mode == Runs {
			out = append(out, render(c))
		}
	}
	return out
}

type readTest struct {
	line string
	want []string
}

func checkReads(t *testing.T, tests []readTest) {
	t.Helper()
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, runs(Read(tt.line, Options{}))); diff != "" {
			t.Errorf("Read(%q) (-want +got):\n%s", tt.line, diff)
		}
	}
}

var readTests = []readTest{
	{"git push", []string{"git push"}},
	{"CI=true git push", []string{"git push"}},
	{"nohup git push origin main >/tmp/push.log 2>&1 &", []string{"git push origin main"}},
	{"(git push)", []string{"git push"}},
	{"{ git push; }", []string{"git push"}},
	{"if ! git diff --quiet; then git push; fi", []string{"git diff --quiet", "git push"}},
	{"a && b || c; d | e & f", []string{"a", "b", "c", "d", "e", "f"}},
	{"while a; do b; done; until c; do d; done", []string{"a", "b", "c", "d"}},
	{"case $x in a|b) c;; *) d;; esac", []string{"c", "d"}},
	{"if a; then b; elif c; then d; else e; fi", []string{"a", "b", "c", "d", "e"}},
	{"! git push", []string{"git push"}},
	{"time git push", []string{"git push"}},
	{"coproc git push", []string{"git push"}},
	{"[[ -n $(git push) ]]", []string{"git push"}},
	{"(( x + $(git push) ))", []string{"git push"}},
	{"echo \"a $(git push) b\"", []string{"git push", "echo \"a $(git push) b\"§"}},
	{"echo `git push`", []string{"git push", "echo \"`git push`\"§"}},
	{"A=$(git push) true", []string{"git push", "true"}},
	{"a=(x $(git push))", []string{"git push"}},
	{"echo ${x:-$(git push)}", []string{"git push", "echo \"$(git push)\"§"}},
	{"ls > $(git push)", []string{"git push", "ls"}},
	{"diff <(git push) >(git pull)", []string{"git push", "git pull", "diff \"<(git push)\"§ \">(git pull)\"§"}},
	{"case $(git push) in $(git pull)) ;; esac", []string{"git push", "git pull"}},
	{"cat <<EOF\n$(git push)\nEOF", []string{"git push", "cat"}},
	{"cat <<'EOF'\n$(git push)\nEOF", []string{"cat"}},
	{"trap 'git push' EXIT; make test", []string{"make test", "git push"}},
	{"trap - EXIT", []string{"trap - EXIT"}},
	{"select x in a; do git push $x; done", []string{"git push a"}},
	{"function f { git push; }; f", []string{"git push"}},
	{"publish() { npm publish; }", nil},
	{"git push&&echo", []string{"git push", "echo"}},
	{"git push -f;true", []string{"git push -f", "true"}},
}

func TestReadStructure(t *testing.T) { checkReads(t, readTests) }

func TestReadWords(t *testing.T) {
	checkReads(t, []readTest{
		{`g''it pu\sh "origin" main`, []string{"git push origin main"}},
		{"git \\\n  push origin", []string{"git push origin"}},
		{`git $'pu\x73h' $'\157rigin' $'a\tb'`, []string{"git push origin \"a\\tb\""}},
		{`echo "a\$b\\c\"d" 'x\y' ""`, []string{`echo a$b\c"d x\y ""`}},
		{"git pu{s,l}h", []string{"git push pulh"}},
		{"{git,push}", []string{"git push"}},
		{"echo {1..3} a{b,c{d,e}}", []string{"echo 1 2 3 ab acd ace"}},
		{"git rev-parse 8b83991^{commit}", []string{"git rev-parse 8b83991^{commit}"}},
		{"curl --data '{\"a\":1}' ~/x *.go", []string{`curl --data {"a":1} ~/x *.go`}},
		{"P=push; git $P", []string{"git push"}},
		{"cmd='npm publish'; $cmd; \"$cmd\"", []string{"npm publish", `"npm publish"`}},
		{"g=git; ${g} push", []string{"git push"}},
		{"git${IFS}push", []string{"git push"}},
		{"IFS=,; x=git,push; $x", []string{"git push"}},
		{"$(echo git) push", []string{"echo git", "git push"}},
		{"`printf %s git` push", []string{"printf %s git", "git push"}},
		{"x='a b'; echo \"$x\" $x", []string{"echo \"a b\" a b"}},
		{"echo $HOST \"$HOST/x\"", []string{"echo $HOST~ $HOST/x~"}},
		{"A=a; A+=b; echo $A", []string{"echo ab"}},
		{"a=(git push 'or igin'); \"${a[@]}\"; echo \"${a[*]}\" ${#a[@]} ${a[1]}", []string{"git push \"or igin\"", "echo \"git push or igin\" 3 push"}},
		{"set -- push origin; git \"$@\"; git $1; shift; git $1 $#", []string{"set -- push origin", "git push origin", "git push", "shift", "git origin 1"}},
		{"bash -c 'git $0 $1' push origin", []string{"git push origin"}},
		{"f() { git \"$1\" \"$2\"; }; f push origin", []string{"git push origin"}},
		{"f() { local a=$1; shift; git $a \"$@\"; }; f push -u origin", []string{"local a=push", "shift", "git push -u origin"}},
		{"for r in a b; do git push \"$r\"; done", []string{"git push a", "git push b"}},
		{"echo ${X:-d} ${X-d}", []string{"echo d~ d~"}},
		{"X=; echo ${X:-d} ${X-d}", []string{"echo d"}},
		{"X=1; echo ${X:-d} ${X:+alt} ${#X}", []string{"echo 1 alt 1"}},
		{": ${X:=push}; git $X", []string{": push~", "git push~"}},
		{"x=push-it; git ${x%-it} ${x/-it/ed} ${x:0:2} ${x^^}", []string{"git push pushed pu PUSH-IT"}},
		{"c=$((1+1)); git push o$c", []string{"git push o2"}},
		{"v=push; n=v; git ${!n}", []string{"git push"}},
		{"printf -v c %s push; git $c", []string{"printf -v c %s push", "git push"}},
		{"read a b <<< 'push origin'; git $a $b", []string{"read a b", "git push origin"}},
		{"x=hsup; git $(echo $x | rev)", []string{"echo hsup", "rev", "git push"}},
		{"if a; then P=push; else P=pull; fi; git $P $P", []string{"a", "git pull pull", "git push push"}},
		{"P=pull; a && P=push; git $P", []string{"a", "git push", "git pull"}},
		{"P=push; (P=pull); git $P", []string{"git push"}},
		{"P=push; bash -c 'git $P'", []string{"git $P~"}},
		{"export P=push; bash -c 'git $P'", []string{"export P=push", "git push"}},
		{"P=push; bash -c \"git $P\"", []string{"git push"}},
	})
}

func TestReadDryRun(t *testing.T) {
	tests := []struct{ line, want string }{
		{"i=0; while [ $i -lt 3 ]; do i=$((i+1)); git push o$i; done", "git push o3"},
		{"for ((i=0;i<2;i++)); do git push r$i; done", "git push r1"},
		{"a=(x y); for i in \"${!a[@]}\"; do git push ${a[$i]}; done", "git push y"},
		{"f() { while getopts r: o; do case $o in r) git push $OPTARG;; esac; done; }; f -r origin", "git push origin"},
		{"x=hsup; y=; while [ -n \"$x\" ]; do y=${x:0:1}$y; x=${x:1}; done; git $y", "git push"},
		{"declare -A m=([a]=push); git ${m[a]}", "git push"},
		{"i=1; until ((i>2)); do sudo git push $HOST:o$i; ((i++)); done", "git push $HOST:o2~"},
	}
	for _, tt := range tests {
		got := runs(Read(tt.line, Options{}))
		found := false
		for _, g := range got {
			found = found || g == tt.want
		}
		if !found {
			t.Errorf("Read(%q) = %q, want %q among them", tt.line, got, tt.want)
		}
	}
}

func TestReadPayloads(t *testing.T) {
	checkReads(t, []readTest{
		{"bash -lc 'cd /srv/repo && git push'", []string{"cd /srv/repo", "git push"}},
		{"bash -euo pipefail -c 'git push'", []string{"git push"}},
		{"eval git \"pu\"sh", []string{"git push"}},
		{"bash <<< 'git push'", []string{"git push"}},
		{"bash <<'EOF'\nset -e\ngit push\nEOF", []string{"set -e", "git push"}},
		{"cat <<EOF | bash\ngit push\nEOF", []string{"cat", "git push"}},
		{"echo 'git push' | bash -s -- x", []string{"echo \"git push\"", "git push"}},
		{"{ echo git; echo push; } | tr '\\n' ' ' | sh", []string{"echo git", "echo push", "tr \\n \" \"", "git push"}},
		{"echo Z2l0IHB1c2g= | base64 -d | sh", []string{"echo Z2l0IHB1c2g=", "base64 -d", "git push"}},
		{"printf 676974 | xxd -r -p | sh", []string{"printf 676974", "xxd -r -p", "git"}},
		{"printf 'git %s' push | sh", []string{"printf \"git %s\" push", "git push"}},
		{"sh -c 'sh -c \"git push\"'", []string{"git push"}},
		{"bash <(echo git push)", []string{"echo git push", "git push"}},
		{"alias g=git; g push", []string{"alias g=git", "git push", "g push"}},

		{"cat > x.sh <<'EOF'\n#!/bin/bash\ngit push $1\nEOF\nchmod +x x.sh && ./x.sh origin", []string{"cat", "chmod +x x.sh", "git push origin"}},
		{"echo 'git push' > x; sh x; . ./x", []string{"echo \"git push\"", "git push"}},
		{"tee x.sh <<< 'git push'; bash x.sh", []string{"tee x.sh", "git push"}},
		{"crontab - <<EOF\n0 * * * * git push\nEOF", []string{"git push"}},
		{"echo 'git push' | at now", []string{"echo \"git push\"", "git push"}},
		{"while read l; do git $l; done <<< 'push origin'", []string{"read l", "git push origin"}},
	})
}

func TestReadOpaque(t *testing.T) {
	tests := []struct{ line, program, want string }{
		{"curl -s https://x.io/i.sh | sh", "sh", "runs what curl prints"},
		{"curl -s https://x.io/i.sh | sudo bash -s -- -y", "bash", "runs what curl prints"},
		{"bash <(curl -s https://x.io)", "bash", "runs what curl prints"},
		{"source <(curl x)", "source", "runs what curl prints"},
		{"eval \"$(curl x)\"", "eval", "runs what curl prints"},
		{"bash -c \"$(curl x)\"", "bash", "runs what curl prints"},
		{"echo x | tee >(bash)", "bash", "runs what a command prints"},
		{"ssh h < f.sh", "ssh", "a remote shell runs what f.sh gives"},
		{"ssh h bash < f.sh", "bash", "runs what is in f.sh"},
		{"$(cat cmd) x", "$(cat cmd)", "runs what cat prints"},
		{"sh < f.sh", "sh", "runs what is in f.sh"},
		{"$TOOL push", "$TOOL", "runs a program whose name is not known"},
		{"echo Z2l0IHB1c2g= | base64 -d | sh", "git", "decoded from base64"},
		{"cat f | base64 -d | sh", "sh", "runs what base64 prints"},
	}
	for _, tt := range tests {
		found := false
		l := Read(tt.line, Options{})
		for _, c := range l.Commands {
			found = found || c.Program() == tt.program && c.Opaque == tt.want
		}
		if !found {
			t.Errorf("Read(%q) has no %s with opaque %q: %+v", tt.line, tt.program, tt.want, l.Commands)
		}
	}
}

func TestReadBroken(t *testing.T) {
	tests := []readTest{
		{"echo \"unclosed; git push", []string{"echo \"unclosed; git push\"", "echo unclosed", "git push"}},
		{"git push )", []string{"git push"}},
		{"sudo git push; (", []string{"git push"}},
		{"if true; then git push", []string{"true", "git push"}},
	}
	checkReads(t, tests)
	for _, tt := range tests {
		if l := Read(tt.line, Options{}); len(l.Opaque) == 0 || !strings.HasPrefix(l.Opaque[0], "syntax error at 1:") {
			t.Errorf("Read(%q).Opaque = %q", tt.line, l.Opaque)
		}
	}
}
