package weaken

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// limit is a number that checks are held against.
type limit struct {
	files func() *regexp.Regexp
	value func() *regexp.Regexp // key and number
	less  bool                  // a smaller number is weaker
}

var limits = []limit{
	{
		pattern(`(?i)(^|/)(\.coveragerc|setup\.cfg|tox\.ini|pyproject\.toml|pytest\.ini|makefile|justfile|noxfile\.py|\.?codecov\.ya?ml|coveralls\.ya?ml|sonar-project\.properties)$|\.ya?ml$|\.sh$`),
		pattern(`(?i)\b(fail[_-]under|cov[_-]fail[_-]under|min(?:imum)?[_-]?coverage|coverage[_-]?(?:min(?:imum)?|threshold)|minimum_coverage)["']?\s*[:= ]\s*["']?(\d+(?:\.\d+)?)`), true,
	},
	{
		pattern(`(?i)(^|/)(package\.json|(jest|vitest|vite|karma|nyc|c8)\.config\.\w+|\.(nyc|c8|jest)rc(\.\w+)?|karma\.conf\.\w+)$`),
		pattern(`(?i)\b(branches|functions|lines|statements|check-coverage|coverageThreshold)["']?\s*[:=]\s*["']?(\d+(?:\.\d+)?)`), true,
	},
	{
		pattern(`(?i)(^|/)\.?codecov\.ya?ml$`),
		pattern(`(?i)^\s*(target|range)\s*:\s*["']?(\d+(?:\.\d+)?)`), true,
	},
	{
		pattern(`(?i)(^|/)(build\.gradle(\.kts)?|pom\.xml|\.simplecov|phpunit\.xml(\.dist)?|infection\.json5?|.*\.csproj)$`),
		pattern(`(?i)\b(minimum|minimum_coverage|minValue|minMsi|Threshold)\b["']?[\s:=>(]+["']?(\d+(?:\.\d+)?)`), true,
	},
	{
		pattern(`(?i)(^|/)(package\.json|makefile|justfile)$|\.ya?ml$|\.sh$`),
		pattern(`(?i)(max-warnings)[ =]+["']?(\d+)`), false,
	},
}

// switches are settings that are on where it is strict.
type setting struct {
	files func() *regexp.Regexp
	value func() *regexp.Regexp // key and value
	on    string                // the strict value
}

var switches = []setting{
	{pattern(`(^|/)[tj]sconfig[\w.-]*\.json$`), pattern(`"(strict\w*|alwaysStrict|no(?:Implicit|Unused|Unchecked|Fallthrough|PropertyAccess)\w*|exactOptionalPropertyTypes|useUnknownInCatchVariables|forceConsistentCasingInFileNames)"\s*:\s*(true|false)`), "true"},
	{pattern(`(^|/)(\.?mypy\.ini|setup\.cfg|pyproject\.toml|pytest\.ini|tox\.ini)$`), pattern(`(?i)^\s*(strict\w*|disallow_\w+|check_untyped_defs|no_implicit_\w+|warn_return_any|warn_unreachable|xfail_strict|branch)\s*=\s*(true|false)`), "true"},
	{pattern(`(^|/)(\.?mypy\.ini|setup\.cfg|pyproject\.toml)$`), pattern(`(?i)^\s*(ignore_errors|ignore_missing_imports)\s*=\s*(true|false)`), "false"},
	{pattern(`(^|/)(\.eslintrc[\w.]*|eslint\.config\.\w+|\.stylelintrc[\w.]*|\.oxlintrc\.json|biome\.jsonc?|tslint\.json)$`), pattern(`["']([@\w/-]+)["']\s*:\s*\[?\s*["'](error|warn|off)["']`), "error"},
	{pattern(`(^|/)(\.eslintrc[\w.]*|eslint\.config\.\w+|\.stylelintrc[\w.]*)$`), pattern(`["']([@\w/-]+)["']\s*:\s*\[?\s*([012])\b`), "2"},
	{pattern(`(^|/)\.rubocop\.yml$`), pattern(`^\s+(Enabled)\s*:\s*(true|false)`), "true"},
	{pattern(`(^|/)(Cargo|clippy)\.toml$`), pattern(`^\s*([\w:-]+)\s*=\s*["'](deny|forbid|warn|allow)["']`), "deny"},
}

// entries are lists to which something is added, or from which it is taken,
// where it is weaker.
type entries struct {
	files func() *regexp.Regexp
	key   func() *regexp.Regexp
	loose byte // '+': an entry more is weaker; '-': one less
	what  string
}

var lists = []entries{
	{pattern(`(^|/)(pyproject\.toml|\.?ruff\.toml|\.flake8|setup\.cfg|tox\.ini|\.?pylintrc|pytest\.ini)$`), pattern(`^(extend-)?ignore$|^disable$|^(extend-)?per-file-ignores$|^(extend-)?exclude$|^collect_ignore\w*$|^norecursedirs$|^omit$`), '+', "left out of the checks"},
	{pattern(`(^|/)(pyproject\.toml|\.?ruff\.toml|\.flake8)$`), pattern(`^(extend-)?select$`), '-', "no longer checked"},
	{pattern(`(^|/)\.golangci\.(ya?ml|toml|json)$`), pattern(`^(disable|exclude(-\w+)*|skip-(dirs|files))$`), '+', "left out of the checks"},
	{pattern(`(^|/)\.golangci\.(ya?ml|toml|json)$`), pattern(`^enable$`), '-', "no longer checked"},
	{pattern(`(^|/)(jest|vitest|vite|playwright|nyc|cypress|eslint)\.config\.\w+$|(^|/)(package\.json|\.nycrc(\.json)?|\.eslintignore|\.mocharc\.\w+)$`), pattern(`^(testPathIgnorePatterns|coveragePathIgnorePatterns|modulePathIgnorePatterns|exclude|testIgnore|excludeSpecPattern|ignores?|ignorePatterns)$`), '+', "left out of the checks"},
}

// settings looks at a file of configuration.
func (f *file) settings(say sayer) {
	for _, l := range limits {
		if l.files().MatchString(f.name()) {
			f.limit(l, say)
		}
	}
	for _, s := range switches {
		if s.files().MatchString(f.name()) {
			f.setting(s, say)
		}
	}
	for _, e := range lists {
		if e.files().MatchString(f.name()) {
			f.entries(e, say)
		}
	}
	f.suppressions(say)
}

// values are the values of a key before and after, in the order in which they
// stand.
func (f *file) values(r *regexp.Regexp) (keys []string, was, is map[string][]string) {
	was, is = map[string][]string{}, map[string][]string{}
	for _, x := range f.lines {
		for _, m := range r.FindAllStringSubmatch(x.text, -1) {
			key := m[1]
			switch x.op {
			case '-':
				was[key] = append(was[key], m[2])
			case '+':
				is[key] = append(is[key], m[2])
			default:
				continue
			}
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys, was, is
}

func (f *file) limit(l limit, say sayer) {
	keys, was, is := f.values(l.value())
	for _, key := range keys {
		for i, old := range was[key] {
			if i >= len(is[key]) {
				if f.is != "" && len(is[key]) == 0 {
					say("the limit %s = %s was taken out", key, old)
				}
				break
			}
			before, _ := strconv.ParseFloat(old, 64)
			after, _ := strconv.ParseFloat(is[key][i], 64)
			if l.less && after < before || !l.less && after > before {
				say("the limit %s was loosened from %s to %s", key, old, is[key][i])
			}
		}
	}
}

func (f *file) setting(s setting, say sayer) {
	keys, was, is := f.values(s.value())
	for _, key := range keys {
		before, after := last(was[key]), last(is[key])
		strict := strings.EqualFold(before, s.on)
		switch {
		case len(is[key]) == 0 && strict && f.is != "":
			say("%s = %s was taken out", key, before)
		case len(is[key]) > 0 && !strings.EqualFold(after, s.on) && (strict || before == "" && turnedOff(after)) && f.was != "":
			say("%s was set to %s%s", key, after, wasWord(before))
		}
	}
}

func last(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func wasWord(before string) string {
	if before == "" {
		return ""
	}
	return " (it was " + before + ")"
}

func turnedOff(v string) bool {
	return slices.Contains([]string{"off", "0", "false", "allow", "true"}, strings.ToLower(v))
}

var (
	listKey  = pattern(`^\s*["']?([\w.-]+)["']?\s*[:=]`)
	listItem = pattern(`["'](.+?)["']|\b([A-Z]{1,4}\d{1,4})\b|^\s*-\s+([\w./*-]+)\s*$|^\s+([\w./*-]+),?\s*$`)
)

// entries compares the entries of a list, told by the key that stands last
// before them.
func (f *file) entries(e entries, say sayer) {
	key := ""
	var added, removed []string
	for _, x := range f.lines {
		text := x.text
		if m := listKey().FindStringSubmatch(text); m != nil && !strings.HasPrefix(strings.TrimSpace(text), "-") {
			key = m[1]
			text = text[len(m[0]):]
		}
		if !e.key().MatchString(key) {
			continue
		}
		for _, m := range listItem().FindAllStringSubmatch(text, -1) {
			for _, item := range m[1:] {
				switch {
				case item == "" || slices.Contains([]string{"true", "false", "error", "off", "warn"}, item):
				case x.op == '+':
					added = append(added, item)
				case x.op == '-':
					removed = append(removed, item)
				}
			}
		}
	}
	from, to := added, removed
	if e.loose == '-' {
		from, to = removed, added
	}
	more := slices.DeleteFunc(slices.Clone(from), func(s string) bool { return slices.Contains(to, s) })
	if len(more) > 0 && f.was != "" && f.is != "" {
		say("%s: %s", e.what, list(more))
	}
}

// quiet are comments that silence a checker for a whole file. What silences it
// for one line is ordinary work more often than not.
var quiet = pattern(`^\s*(?:#|//|/\*|<!--)\s*(?:mypy:\s*ignore-errors|flake8:\s*noqa|ruff:\s*noqa|pyright:\s*basic|pylint:\s*(?:skip-file|disable=all)|type:\s*ignore\s*$|eslint-disable(?:\s|\*|$)|@ts-nocheck\b|biome-ignore-all\b|oxlint-disable(?:\s|$)|istanbul ignore file|phpcs:ignoreFile|swiftlint:disable all)|^\s*#!\[allow\(`)

// suppressions finds files that a checker no longer looks at.
func (f *file) suppressions(say sayer) {
	for _, x := range f.lines {
		if x.op == '+' && quiet().MatchString(x.text) && !f.had('-', x.text) {
			say("a checker is silenced for the whole file: line %d: %s", x.no, short(x.text))
		}
	}
}

// ciFile names the files of build servers.
var ciFile = pattern(`^\.github/workflows/[^/]+\.ya?ml$|(^|/)(\.gitlab-ci\.ya?ml|\.travis\.ya?ml|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|Jenkinsfile|appveyor\.ya?ml|\.drone\.ya?ml|\.cirrus\.ya?ml|buildkite\.ya?ml|pipeline\.ya?ml)$|^\.circleci/|^\.woodpecker/|^\.buildkite/|^\.forgejo/workflows/|^\.gitea/workflows/|(^|/)(\.pre-commit-config\.yaml|lefthook\.ya?ml)$|^\.husky/`)

// scriptFile names the files that hold commands of checks.
var scriptFile = pattern(`(?i)(^|/)(makefile|gnumakefile|justfile|\.justfile|taskfile\.ya?ml|package\.json|composer\.json|rakefile|noxfile\.py|tox\.ini|dockerfile)$|\.(sh|bash|zsh|mk|ps1)$`)

// checks are words by which a command that checks something is known.
var checks = pattern(`(?i)\b(tests?|pytest|unittest|jest|vitest|mocha|ava|karma|playwright|cypress|lint|eslint|tslint|stylelint|biome|tsc|type-?check|mypy|pyright|ruff|flake8|pylint|black|vet|staticcheck|golangci-lint|clippy|fmt|rubocop|rspec|phpunit|phpstan|psalm|checks?|verify|audit|coverage|ctest|gradlew?|mvn|detekt|ktlint|shellcheck|hadolint|semgrep|trivy)\b`)

var ignored = pattern(`\s*(?:\|\|\s*(?:true|:|exit 0|echo\b.*)|;\s*(?:true|exit 0))(["',]*)\s*$`)

var lenient = sync.OnceValue(func() []struct {
	r    *regexp.Regexp
	what string
} {
	return []struct {
		r    *regexp.Regexp
		what string
	}{
		{re(`^\s*-?\s*continue-on-error:\s*(?:true|\$\{\{)`), "a step of the CI may fail"},
		{re(`^\s*-?\s*allow_failure:\s*true`), "a job of the CI may fail"},
		{re(`^\s*-?\s*if:\s*(?:false|\$\{\{\s*false\s*\}\})`), "a step of the CI never runs"},
		{re(`^\s*-?\s*continueOnError:\s*true`), "a step of the CI may fail"},
		{re(`\bcatchError\b|^\s*-?\s*soft_fail:\s*true`), "a step of the CI may fail"},
	}
})

// scripts looks at files with commands: build servers, makefiles, scripts.
func (f *file) scripts(added map[string]int, say sayer) {
	ci := ciFile().MatchString(f.name())
	if !ci && !scriptFile().MatchString(f.name()) {
		return
	}
	f.swallowed(say)
	if !ci {
		return
	}
	for _, l := range lenient() {
		for _, x := range f.lines {
			if x.op == '+' && l.r.MatchString(x.text) && !f.had('-', x.text) {
				say("%s: line %d: %s", l.what, x.no, short(x.text))
			}
		}
	}
	var gone []string
	for _, x := range f.lines {
		text := strings.TrimSpace(x.text)
		if x.op == '-' && checks().MatchString(command(text)) && added[text] == 0 && added[strings.TrimPrefix(text, "- ")] == 0 && !f.rewritten(command(text)) {
			gone = append(gone, short(text))
		}
	}
	if len(gone) > 0 {
		say("%s of the CI gone: %s", count(len(gone), "check"), list(gone))
	}
}

var runKey = pattern(`^-?\s*(?:run|script|entry|name|uses|command|sh|args)?:?\s*[|>]?-?\s*`)

// command is the command of a line of a CI's file; "" when the line is none.
func command(text string) string {
	if strings.HasPrefix(text, "#") || strings.HasPrefix(strings.TrimPrefix(text, "- "), "name:") || strings.Contains(text, "uses:") {
		return ""
	}
	if m := listKey().FindStringSubmatch(strings.TrimPrefix(text, "- ")); m != nil && !slices.Contains([]string{"run", "script", "entry", "command", "sh"}, m[1]) {
		return ""
	}
	return runKey().ReplaceAllString(text, "")
}

// rewritten reports whether an added line runs the same program.
func (f *file) rewritten(cmd string) bool {
	words := checks().FindAllString(strings.ToLower(cmd), -1)
	for _, x := range f.lines {
		if x.op != '+' {
			continue
		}
		for _, w := range checks().FindAllString(strings.ToLower(x.text), -1) {
			if slices.Contains(words, w) {
				return true
			}
		}
	}
	return false
}

func (f *file) had(op byte, text string) bool {
	return slices.ContainsFunc(f.lines, func(x line) bool { return x.op == op && strings.TrimSpace(x.text) == strings.TrimSpace(text) })
}

// swallowed finds commands whose failure counts for nothing any more.
func (f *file) swallowed(say sayer) {
	for _, x := range f.lines {
		if x.op != '+' || strings.HasPrefix(strings.TrimSpace(x.text), "#") {
			continue
		}
		bare := ignored().ReplaceAllString(x.text, "$1")
		if bare != x.text && (f.had('-', bare) || f.had('-', strings.TrimSuffix(bare, ",")) || checks().MatchString(bare)) && !f.had('-', x.text) {
			say("the failure of a command counts for nothing: line %d: %s", x.no, short(x.text))
			continue
		}
		if recipe, ok := strings.CutPrefix(x.text, "\t-"); ok && f.had('-', "\t"+recipe) {
			say("the failure of a command counts for nothing: line %d: %s", x.no, short(x.text))
		}
		if text := strings.TrimSpace(x.text); (text == "exit 0" || text == "set +e") && checks().MatchString(strings.ReplaceAll(f.name(), "_", "-")) && f.was != "" && f.net1(text) > 0 {
			say("the script ends well whatever happens: line %d: %s", x.no, text)
		}
	}
	for _, x := range f.lines {
		if t := strings.TrimSpace(x.text); x.op == '-' && (strings.HasPrefix(t, "set -e") || strings.HasPrefix(t, "set -o errexit")) && f.is != "" &&
			!slices.ContainsFunc(f.lines, func(y line) bool {
				return y.op == '+' && strings.HasPrefix(strings.TrimSpace(y.text), "set -") && strings.Contains(y.text, "e")
			}) {
			say("the script goes on after a failure: %s was taken out", t)
		}
	}
}

// net1 is how many more lines of this text there are than before.
func (f *file) net1(text string) (n int) {
	for _, x := range f.lines {
		if strings.TrimSpace(x.text) != text {
			continue
		}
		switch x.op {
		case '+':
			n++
		case '-':
			n--
		}
	}
	return n
}
