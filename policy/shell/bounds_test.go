package shell

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestReadBounds holds that no text takes more than a moment or more than a
// bounded amount of memory. Without the depth guard the deep ones overflow the
// parser's stack and end the process; the others are a quarter of the longest
// line, which is enough to show what grows faster than its input.
func TestReadBounds(t *testing.T) {
	const size = boundsSize
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	tests := map[string]string{
		"open parens":        strings.Repeat("(", 200_000),
		"open dollars":       strings.Repeat("$(", 200_000),
		"open arithmetic":    "$((" + strings.Repeat("(", 500_000),
		"open braces":        strings.Repeat("{ ", 500_000),
		"open quotes":        fill("\"$("),
		"backquotes":         strings.Repeat("`", 1_000_000),
		"unary":              "((" + strings.Repeat("- ", 500_000),
		"ifs":                strings.Repeat("if ", 300_000),
		"parameters":         strings.Repeat("${x:-", 200_000),
		"functions":          strings.Repeat("f() ", 250_000),
		"tests":              "[[ " + strings.Repeat("! ", 500_000),
		"hidden closers":     strings.Repeat("(')'", 250_000),
		"lists":              fill("a;"),
		"distinct lists":     distinct(size),
		"ands":               fill("a&&"),
		"pipes":              fill("a|") + "a",
		"elifs":              "if a; then b; " + fill("elif c; then d; ") + "fi",
		"sum":                "echo $((" + fill("1+") + "1))",
		"braces":             fill("{a,b}"),
		"brace words":        fill("{1..99} "),
		"doubling":           strings.Repeat("x=$x$x;", 64) + "git $x",
		"doubling loop":      "x=a; while :; do x=$x$x$x$x; done; git $x",
		"doubling array":     "x=(a); while :; do x+=(\"${x[@]}\" \"${x[@]}\"); done; git $x",
		"replacing":          "x=aaaa; while :; do x=${x//a/aaaa}; done",
		"nested loops":       strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 40) + "git push" + strings.Repeat("; done", 40),
		"nested whiles":      strings.Repeat("while x=$x$y; do ", 40) + "y=$x; git push" + strings.Repeat("; done", 40),
		"function bomb":      "a() { b; b; b; b; }; b() { c; c; c; c; }; c() { d; d; d; d; }; d() { e; e; e; e; }; e() { f; f; f; f; }; f() { git push; git pull; }; a",
		"mutual functions":   "f() { g() { f; }; }",
		"mutual aliases":     "alias a='alias b=a; b' b='alias a=b; a'; a",
		"mutual traps":       "trap 'trap \"trap x EXIT\" EXIT' EXIT; f() { trap f EXIT; }; f",
		"script runs itself": "echo 'sh x; sh x' > x; sh x",
		"self call":          "f() { f | f & }; f",
		"eval bomb":          "x='eval \"$x$x\"'; eval \"$x$x$x\"",
		"alias bomb":         "alias a='b;b' b='c;c' c='d;d' d='e;e' e='f;f' f='g;g' g='h;h' h='i;i'; a",
		"printf":             "x=$(printf '%1000000000d' 1); git $x",
		"heredocs":           fill("cat <<E\nx\nE\n"),
		"nested shells":      nested(60),
		"broken payloads":    fill("sh -c '(' ;"),
		"assignments":        fill("a=b "),
		"wrappers":           fill("sudo ") + "git push",
		"big for":            "for i in {1..1000}; do for j in {1..1000}; do git push $i $j; done; done",
		"alternatives":       strings.Repeat("if a; then x=$x$y; else y=$y$x; fi; ", 300) + "git $x $y",
		"xargs":              "echo " + fill("a ") + "| xargs -n1 git push",
		"case":               "case x in " + fill("a) b;; ") + "esac",
		"nul bytes":          fill("a\x00"),
		"brackets":           fill("x[y]="),
		"redirects":          "echo " + fill(">a "),
		"comments":           fill("#a\n"),
		"globs":              "echo " + fill("@(a|"),
		"many variables":     numbered("a%=1;(b);", size),
		"many exports":       numbered("export a%=1;b%;", size),
		"many functions":     numbered("f%() { g%; };", size) + "f1",
		"many files":         numbered("echo a > f%; sh f%;", size),
		"many aliases":       numbered("alias a%=b%; a%;", size),
		"many branches":      numbered("if a; then x%=1; else x%=2; fi;", size),
		"many payloads":      numbered("bash -c 'a%';", size),
		"crude":              fill("sh -c \"x; ") + "'",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			l := Read(text, Options{})
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<30 {
				t.Errorf("allocated %d MiB for %d bytes", n>>20, len(text))
			}
			for _, why := range l.Opaque {
				if strings.HasPrefix(why, "reader gave up") {
					t.Error(why)
				}
			}
		})
	}
}

func distinct(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString("a")
		for n := i; n > 0; n /= 10 {
			b.WriteByte(byte('0' + n%10))
		}
		b.WriteByte(';')
	}
	return b.String()
}

// numbered repeats a text with % as a running number.
func numbered(s string, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(strings.ReplaceAll(s, "%", strconv.Itoa(i)))
	}
	return b.String()[:strings.LastIndexByte(b.String()[:size], ';')+1]
}

// nested wraps git push in n shells.
func nested(n int) string {
	if n == 0 {
		return "git push"
	}
	return "sh -c '" + strings.ReplaceAll(nestedRaw(n-1), "'", `'\''`) + "'"
}

func nestedRaw(n int) string {
	if n > 12 {
		n = 12 // quoting grows without end
	}
	return nested(n)
}
