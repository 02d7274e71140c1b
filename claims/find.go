package claims

import (
	"regexp"
	"strings"
	"sync"
)

// kind is what is claimed.
type kind string

const (
	kindNumber  kind = "number"
	kindRun     kind = "run"     // something was run, or passed
	kindCommand kind = "command" // a command line in quotes
	kindURL     kind = "url"
	kindOutput  kind = "output" // quoted output
)

// claim is one thing that a text says and that something could show.
type claim struct {
	kind    kind
	text    string // as it stands
	where   string
	number  number
	words   []string // what the number counts, as stems
	command string   // of kindCommand, with single spaces
	work    work     // of kindRun
	url     string
	lines   []string // of kindOutput
}

// work is a sort of thing that is run.
type work struct {
	name string
	said func() *regexp.Regexp // how a text says that it was run
	call func() *regexp.Regexp // how; nil = by any program a command line runs it
}

// works are looked for in this order; the last one takes any run.
var works = []work{
	{
		name: "tests",
		said: lazy(`(?i)\btests?\b[^.\n]{0,60}?\b(pass(es|ed|ing)?|green|succeed(s|ed)?|succeeds?)\b|\b(pass(es|ed|ing)?|green)\b[^.\n]{0,20}\btests?\b|\ball green\b|\btested\b|\b(ran|run|executed) (all |the |full )*(unit |integration )?tests?\b`),
		call: lazy(`(?i)(^|[\s;&|(/])(go test|(npm|pnpm|yarn|bun)( run)? t(est)?\b|deno test|cargo (test|nextest)|pytest|python3? -m (pytest|unittest)|jest|vitest|mocha|ava|tap|rspec|minitest|rake (test|spec)|phpunit|pest|ctest|mvn\S*( \S+)* (test|verify)|gradlew?( \S+)* (test|check)|tox|nox|dotnet test|swift test|mix test|sbt test|bats|make\S*( \S+)* (test|check)\S*|just (test|check)|task test|bazel test|zig build test|ginkgo|gotestsum|playwright test|cypress run)|\btests?\S*\.(sh|py|js|ts|rb|pl)\b|(^|[\s/])tests?/\S+\.(sh|py|js|rb)`),
	},
	{
		name: "benchmarks",
		said: lazy(`(?i)\bbenchmark(s|ed|ing)?\b|\bload[- ]test(s|ed)?\b|\bprofiled?\b`),
		call: lazy(`(?i)bench|hyperfine|\bwrk\d?\b|\bab -|\bk6\b|\blocust\b|\bperf (stat|bench)|\btime(it)?\b|\bfio\b|\bsysbench\b|\bhey\b|\bvegeta\b|\boha\b`),
	},
	{
		name: "a build",
		said: lazy(`(?i)\bbuilds?\b[^.\n]{0,30}?\b(pass(es|ed)?|succeed(s|ed)?|works?|clean|green|fine)\b|\b(compiles|built) (cleanly|fine|successfully|without (errors|warnings))\b|\bCI (is |was |runs? )?(green|pass(es|ed|ing)?)\b`),
		call: lazy(`(?i)(^|[\s;&|(])((npm|pnpm|yarn|bun)( run)? build|go (build|install|vet)|cargo (build|check)|make\b|tsc\b|vite build|webpack|mvn|gradlew?|dotnet build|cmake|ninja|bazel build|docker build|swift build|zig build|just build)`),
	},
	{
		name: "a linter",
		said: lazy(`(?i)\blint(er|ing|s)?\b[^.\n]{0,30}?\b(pass(es|ed)?|clean|green)\b|\b(no|zero|0) (lint|type) (errors?|warnings?|issues?)\b|\btype[- ]?check(s|ed)?\b[^.\n]{0,20}\b(pass(es|ed)?|clean)?`),
		call: lazy(`(?i)lint|ruff|flake8|clippy|staticcheck|go vet|prettier|biome|mypy|pyright|tsc\b|phpstan|rubocop|shellcheck|black --check|gofmt|cargo fmt`),
	},
	{
		name: "anything",
		said: lazy(`(?i)\b(measured|verified|validated|reproduced|confirmed|double[- ]checked|manually checked)\b`),
	},
}

var (
	urls  = lazy("https?://[^\\s\"'<>`)\\]}]+")
	ticks = lazy("`([^`\n]{3,300})`")
	fence = lazy("(?ms)^[ \t]*(```|~~~)[^\n]*\n(.*?)\n[ \t]*(```|~~~)[ \t]*$")
)

// lazy compiles an expression when it is needed first: most processes never do.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// find lists what a text claims.
func find(t Text) []claim {
	var out []claim
	add := func(c claim) {
		c.where, c.text = t.Where, strings.TrimSpace(c.text)
		out = append(out, c)
	}
	body := t.Body
	for _, m := range fence().FindAllStringSubmatch(body, -1) {
		if lines := longLines(m[2]); len(lines) > 0 {
			add(claim{kind: kindOutput, text: lines[0], lines: lines})
		}
	}
	for _, m := range ticks().FindAllStringSubmatch(fence().ReplaceAllString(body, ""), -1) {
		if command := strings.Join(strings.Fields(m[1]), " "); strings.Contains(command, " ") {
			add(claim{kind: kindCommand, text: command, command: command})
		}
	}
	for _, u := range urls().FindAllString(body, -1) {
		u = strings.TrimRight(u, ".,;:!?*_")
		add(claim{kind: kindURL, text: u, url: u})
	}
	bare := urls().ReplaceAllStringFunc(body, func(u string) string { return strings.Repeat(" ", len(u)) })
	for _, n := range numbers(bare) {
		add(claim{kind: kindNumber, text: phrase(body, n), number: n, words: slicesOf(t.Key, unitWords(bare, n))})
	}
	for _, w := range works {
		if at := w.said().FindStringIndex(bare); at != nil {
			add(claim{kind: kindRun, text: lineAround(body, at[0], at[1]), work: w})
		}
	}
	return out
}

// slicesOf puts the words of a JSON key before those around a number.
func slicesOf(key string, words []string) []string {
	var out []string
	for _, w := range splitWords(key) {
		if s := stem(w); !idle[s] {
			out = append(out, s)
		}
	}
	return append(out, words...)
}

// phrase is a number with the words that it counts.
func phrase(text string, n number) string {
	end := n.end
	rest := text[end:]
	if i := strings.IndexAny(rest, phraseEnds); i >= 0 {
		rest = rest[:i]
	}
	if words := strings.Fields(clip(rest, 60)); len(words) > 0 && strings.TrimSpace(rest) != "" {
		words = words[:min(3, len(words))]
		return text[n.start:end] + sticks(rest) + strings.Join(words, " ")
	}
	return text[n.start:end]
}

// sticks is the space between a number and its next word.
func sticks(rest string) string {
	if rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		return " "
	}
	return ""
}

// longLines are the lines of quoted output by which it can be found again.
func longLines(text string) []string {
	const enough, most = 8, 200
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); len(line) >= enough && len(out) < most {
			out = append(out, line)
		}
	}
	return out
}
