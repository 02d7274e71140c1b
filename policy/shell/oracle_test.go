package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// recordEnv names the file into which this test binary, run as a stand-in for
// git, writes its words.
const recordEnv = "SHELL_TEST_RECORD"

func TestMain(m *testing.M) {
	name := os.Getenv(recordEnv)
	if name == "" {
		os.Exit(m.Run())
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		err = json.NewEncoder(f).Encode(append([]string{"git"}, os.Args[1:]...))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// oracle runs a script in bash with nothing in reach but a recording git and a
// few harmless tools, and gives the words of each git that ran.
func oracle(t *testing.T, bash, bin, script string) [][]string {
	t.Helper()
	dir := t.TempDir()
	record := filepath.Join(dir, "record")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "--norc", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + bin, "HOME=" + dir, "LC_ALL=C.UTF-8", "GORACE=atexit_sleep_ms=0", recordEnv + "=" + record}
	_ = cmd.Run() // the script may well end with an error
	data, err := os.ReadFile(record)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out [][]string
	for line := range bytes.Lines(data) {
		var argv []string
		if err := json.Unmarshal(line, &argv); err != nil {
			t.Fatal(err)
		}
		out = append(out, argv)
	}
	return out
}

// oracleTools makes the directory of programs; it skips the test where there
// is no bash.
func oracleTools(t *testing.T) (bash, bin string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to compare with")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin = t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "git")); err != nil {
		t.Skip(err)
	}
	for _, tool := range []string{"bash", "sh", "cat", "env", "xargs", "base64", "tr", "rev", "seq", "timeout", "nice", "nohup", "tee", "chmod", "find", "setsid", "stdbuf"} {
		if path, err := exec.LookPath(tool); err == nil {
			if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return bash, bin
}

// explains says whether the reading of a line accounts for a command that ran:
// the same words, or words of which some are not known.
func explains(l Line, argv []string) bool {
	if len(l.Opaque) > 0 {
		return true
	}
	return slices.ContainsFunc(l.Commands, func(c Command) bool {
		if c.Mode != Runs || c.Opaque != "" && !isKnownName(c.Argv[0]) {
			return c.Mode == Runs
		}
		if c.Program() != "git" {
			return c.Opaque != ""
		}
		dynamic := slices.ContainsFunc(c.Argv, func(a Word) bool { return a.Dynamic })
		if len(c.Argv) != len(argv) {
			return dynamic
		}
		for i, a := range c.Argv {
			if a.Text != argv[i] && !a.Dynamic {
				return false
			}
		}
		return true
	})
}

func TestOracle(t *testing.T) {
	bash, bin := oracleTools(t)
	scripts := []string{
		"a=(git push 'x y'); \"${a[@]}\" ${#a[@]} \"${a[*]}\"", "x='a  b'; git $x \"$x\" a$x'c d'", "IFS=:; x=a:b::c:; git $x a$x", "IFS=' :'; x=' a : b :: c '; git $x p${x}q", "x=' a  b '; git $x p${x}q", "x='a*b'; git \"$x\"",
		"git a{1..3}{x,y} {a,b c} {a} '{a,b}' \"{a,b}\" a{,b}", "git $'a\\tb\\x41\\101\\u00e9' \"a\\$b\\`c\\\\d\\e\" 'a\\b'", "git \"\" '' a\"\"b $UNSET \"$UNSET\"",
		"set -- a 'b c' d; git \"$@\" $# ${2} \"$*\" ${@:2}; shift 2; git $1", "f() { git $# \"$2\"; }; f x 'y z'", "f() { local v=1; git $v; }; v=2; f; git $v",
		"for i in a 'b c' $(echo d e); do git $i \"$i\"; done", "i=0; while [ $i -lt 3 ]; do git $i; i=$((i+1)); done", "for ((i=0;i<3;i++)); do git $((i*2)); done",
		"x=abcabc; git ${x#a} ${x##*b} ${x%c} ${x%%b*} ${x/b/X} ${x//b/X} ${x:1:2} ${x: -2} ${#x} ${x^} ${x^^}", "git ${u:-d} ${u:=e} $u ${u:+f}",
		"x=1; case $x in 1|2) git one;; *) git other;; esac", "eval 'x=push; git $x'; git $x", "x='git push'; $x; eval \"$x o\"",
		"read a b <<< 'x y z'; git $a \"$b\"", "while read -r l; do git $l; done <<EOF\na b\nc\nEOF", "printf '%s\\n' a 'b c' | while read x y; do git \"$x\" \"$y\"; done",
		"echo 'a \"b c\" d\\ e' | xargs git", "printf 'a\\nb\\n' | xargs -n1 git x", "printf 'a b\\nc\\n' | xargs -I% git x% %", "seq 3 | xargs git",
		"bash -c 'git $0 $1 \"$@\"' a b 'c d'", "sh -c \"git \\$1\" _ x", "echo 'git push' | sh", "bash <<< 'git a'; bash <<EOF\ngit $((1+1))\nEOF", "bash <(echo git x)",
		"echo Z2l0IHB1c2g= | base64 -d | sh", "echo git push > x; sh x; . ./x; bash < x", "cat > y <<'E'\n#!/bin/sh\ngit $1\nE\nchmod +x y; ./y z", "echo hsup | rev | xargs git",
		"env A=1 git a; env -u A git b; A=1 git c; timeout 5 git d; nice -n 3 git e; nohup git f; stdbuf -oL git g", "trap 'git bye' EXIT; git hi",
		"f() { for x in \"$@\"; do git $x; done; }; f a b", "declare -A m=([k]=v [l]='w x'); git ${m[k]} \"${m[l]}\"", "n=v; v=push; git ${!n}", "printf -v x '%03d' 7; git $x",
		"x=a; x+=b; git $x; x=(a); x+=(b c); git ${x[@]} ${x[-1]}", "git $(echo a; echo b) \"$(printf 'c\\n\\n')\" `echo d`", "x=$(cat <<E\na b\nE\n); git \"$x\" $x",
		"(x=1; git $x); git ${x:-none}", "x=1; { x=2; }; git $x; x=3 | true; git $x", "false && x=1; true || x=2; git \"$x\"", "x=old; if false; then x=new; fi; git $x",
		"echo \"git x\" | tee f | sh; sh f", "find . -maxdepth 0 -exec git push {} \\;", "f() { git in; }; command git out; f", "git() { command git w \"$@\"; }; git x",
		"set -f; x='*'; git $x", "readonly r=1; git $r; unset r; git $r", "x=5; ((x+=2)); git $x; let x*=2; git $x", "until git x; do :; done", "git a & wait; git b",
		"while read -r a b; do git $b; done < <(echo 1 2)", "mapfile -t l <<< $'a\\nb'; git ${l[1]}", "getopts x: o -x val; git $o $OPTARG", "x=a; f() { x=b; }; f; git $x; (x=c); git $x",
		"export P=push; bash -c 'git $P'; Q=q; bash -c 'git \"$Q\"'", "x='a b'; y=$x; git $y; z=\"$y\"c; git \"$z\"", "git \\\n a\\\nb 'c\nd'", "a=1 b=$a git ${a:-unset}", "git \"${x:-a b}\" ${x:-a b}",
	}
	for _, s := range scripts {
		l := Read(s, Options{})
		ran := oracle(t, bash, bin, s)
		if len(ran) == 0 {
			t.Errorf("%q ran no git", s)
		}
		for _, argv := range ran {
			if !explains(l, argv) {
				t.Errorf("bash ran %q of %q; read: %q", argv, s, runs(l))
			}
		}
	}
}

// TestOracleRandom compares with bash on scripts put together at random.
func TestOracleRandom(t *testing.T) {
	bash, bin := oracleTools(t)
	n := 100
	if testing.Short() {
		n = 20
	}
	for seed := range n {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 11)), 0}
		script := g.script(8) + "\ngit $A \"$B\" $C\n"
		l := Read(script, Options{})
		for _, argv := range oracle(t, bash, bin, script) {
			if !explains(l, argv) {
				t.Errorf("seed %d: bash ran %q of\n%s\nread: %q", seed, argv, script, runs(l))
			}
		}
	}
}

// generator writes scripts of assignments, branches, loops and calls.
type generator struct {
	*rand.Rand
	depth int
}

func (g *generator) pick(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) name() string { return g.pick("A", "B", "C") }

func (g *generator) word() string {
	v := g.name()
	return g.pick("push", "'a b'", "x"+g.pick("1", "2"), "$"+v, "\"$"+v+"\"", "${"+v+":-d}", "${"+v+":+e}", "\"${"+v+"#x}\"", "${"+v+"/a/b}", "$(echo $"+v+")",
		"$(printf %s \"$"+v+"\")", "${#"+v+"}", "\"$1\"", "$#", "{p,q}", "$((1+1))", "\"${"+v+"%h}\"$'z'", "--dry-run", "''", "${"+v+"^^}")
}

func (g *generator) cond() string {
	return g.pick("true", "false", "[ \"$"+g.name()+"\" = push ]", "[ -z \"$"+g.name()+"\" ]", "[[ $"+g.name()+" == x* ]]", "! true")
}

func (g *generator) script(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(g.stmt() + "\n")
	}
	return b.String()
}

func (g *generator) stmt() string {
	if g.depth++; g.depth > 4 {
		g.depth--
		return "git " + g.word()
	}
	defer func() { g.depth-- }()
	v := g.name()
	switch g.IntN(34) {
	case 0, 1, 2, 3:
		return v + "=" + g.pick("push", "'a b'", "x1", "", "$"+g.name(), "\"$"+g.name()+"\"", "$(echo $"+g.name()+")", "--dry-run")
	case 4:
		return "if " + g.cond() + "; then\n" + g.script(2) + "else\n" + g.script(1) + "fi"
	case 5:
		return g.cond() + g.pick(" && ", " || ") + v + "=" + g.pick("y", "--dry-run", "''")
	case 6:
		return "for " + v + " in " + g.word() + " k; do\n" + g.script(2) + "done"
	case 7:
		return "( " + g.stmt() + "\n)"
	case 8:
		return "f() {\n" + g.script(2) + "}\nf " + g.word()
	case 9:
		return "h() { local " + v + "=loc; git $" + v + "; }; h"
	case 10:
		return "set -- " + g.word() + " " + g.word()
	case 11:
		return "case $" + v + " in push) " + g.stmt() + "\n;; x*) " + g.stmt() + "\n;; *) " + v + "=def;; esac"
	case 12:
		return "eval \"" + v + "=ev\""
	case 13:
		return "read " + v + " <<< " + g.word()
	case 14:
		return "unset " + v
	case 15:
		return v + "+=" + g.pick("z", "' z'")
	case 16:
		i := fmt.Sprint("i", g.depth) // its own counter, or nested loops never end
		return i + "=0; while [ $" + i + " -lt 2 ]; do " + i + "=$((" + i + "+1)); " + g.stmt() + "\ndone"
	case 17:
		return "arr=(" + g.word() + " " + g.word() + "); git \"${arr[@]}\""
	case 18:
		return v + "=$" + g.name() + " | true"
	case 19:
		return "echo " + g.word() + " " + g.word() + " | while read " + v + " x; do\n" + g.script(1) + "git $x; done"
	case 20:
		return v + "=$(cat <<E\n" + g.pick("$"+g.name(), "x y", "push", "${A}z") + "\nE\n)"
	case 21:
		return "f() { " + v + "=infunc; git \"$1\"; return; git no; }"
	case 22:
		return "f " + g.word() + g.pick("", " || true", " && "+v+"=y")
	case 23:
		return "arr+=(" + g.word() + "); git ${arr[0]} \"${arr[@]:1}\""
	case 24:
		return "export " + v + "=" + g.word() + "; sh -c 'git $" + g.name() + " \"$" + v + "\"'"
	case 25:
		return v + "=" + g.word() + " bash -c 'git $" + v + " $" + g.name() + "'"
	case 26:
		return "IFS=" + g.pick("a", "' '", "', '", "") + "; git $" + v + "; unset IFS"
	case 27:
		return "echo \"git $" + v + "\" | sh"
	case 28:
		return "[[ -n $" + v + " ]] && { " + g.stmt() + "\n} || { " + g.stmt() + "\n}"
	case 29:
		return "shift; git \"$@\""
	case 30:
		return "eval \"git $" + v + "\""
	case 31:
		return "printf '%s\\n' " + g.word() + " " + g.word() + " | xargs git"
	default:
		return "git " + g.word() + " " + g.word()
	}
}
