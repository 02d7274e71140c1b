package claims

import (
	"regexp"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// work is a sort of thing that is run.
type work struct {
	name   string
	said   func() *regexp.Regexp // how a text says that it was run, or went well
	call   func() *regexp.Regexp // how a simple command runs it; nil = none does
	but    func() *regexp.Regexp // what looks like it, and only tells or prepares; may be nil
	unseen string                // why no call shows it; "" = one may
	tree   bool                  // what it says holds for the files as they were
	of     []string              // names of works of which it may be any
}

const (
	well = `(pass(es|ed|ing)?|green|succeed(s|ed)?|successful(ly)?|clean(ly)?|fine|happy|ok|work(s|ed)?)`
	none = `\b(no|zero|0|without( any)?|free of) `
	sign = `(✅|✔|✓|☑|💚|🟢|:white_check_mark:)`
	runs = `(ran|re-?ran|executed|(have|has|had|been|was|were|got) (re-?)?run)`
)

// works are what a text may claim to have run.
var works = []work{
	{
		name: "tests", tree: true,
		said: lazy(`(?i)\b(tests?|test ?suites?|suite|specs?)\b[^.\n]{0,60}?\b` + well + `\b|\b` + well + `\b[^.,\n]{0,20}\b(tests|test suite|suite)\b|` +
			none + `(test |failing )?(failures|tests? fail\w*|failing tests|regressions)\b|\b(re)?tested\b|\[x\][^\n]*\btests?\b|\btests?\b[^.,\n]{0,12}` + sign + `|` + sign + `[^.,\n]{0,20}\btests?\b|` +
			`\b` + runs + ` (all |the |full |whole |entire |complete |existing |unit |integration |e2e |regression )*(tests?|test suite|suite|specs)\b|\btests? (were|was|have been|got) (re-?)?run\b`),
		call: lazy(`(?i)(^|[\s/])(go test|(npm|pnpm|yarn|bun)( run)? t(est)?\b|deno test|cargo (\+\S+ )?(test|t|nextest)\b|py\.?test\b|python[\d.]* (-\S+ )*-m (pytest|unittest|nose2?)|unittest|nosetests|jest\b|vitest|mocha\b|ava\b|tap\b|karma|rspec|minitest|` +
			`(rails|rake)( \S+)* (test|spec)\S*|phpunit|pest\b|ctest|mvnw?\S*( \S+)* (test|verify|install)|gradlew?( \S+)* \S*(test|check)\S*|tox\b|nox\b|dotnet test|swift test|mix test|sbt( \S+)* \S*test\S*|bats\b|(make|just|task)( \S+)* \S*(test|check)\S*|` +
			`bazel test|zig build test|ginkgo|gotestsum|playwright test|cypress run|composer test|artisan test|manage\.py test|prove\b|stack test|cabal test|dune (test|runtest)|lein test|flutter test|dart test)|(^|[\s/])\S*tests?\S*\.(sh|py|js|ts|rb|pl)\b|^\S*(^|/)(run[-_])?tests?$`),
		but: lazy(`-DskipTests|-Dmaven\.test\.skip|^go test( \S+)* -c( |$)| -x test\b`),
	},
	{
		name: "benchmarks",
		said: lazy(`(?i)\bbenchmarked\b|\b` + runs + ` (all |the |full |our )*(benchmarks?|load tests?|profiler)\b|\b(benchmarks?|load tests?) (were |was |have been |has been )?(re-?)?(run|ran|show(s|ed)?|confirm(s|ed)?|pass(es|ed)?|executed|done)\b|\bload[- ]tested\b|\bprofiled\b|\bmeasured with (hyperfine|wrk|k6|ab|criterion|pytest|perf|vegeta|hey|oha|locust)\b`),
		call: lazy(`(?i)bench|hyperfine|\bwrk\d?\b|^ab |\bk6\b|\blocust\b|\bperf (stat|bench|record)|^timeit|-m timeit|\bfio\b|\bsysbench\b|^hey |\bvegeta\b|\boha\b|\bcriterion\b|\bautocannon\b`),
	},
	{
		name: "a build", tree: true,
		said: lazy(`(?i)\b(builds?|compilation|compile)\b[^.\n]{0,30}?\b` + well + `\b|\b(compiles?|compiled|built|builds) (cleanly|fine|ok|successfully|without (errors|warnings|problems))\b|` + none + `(build|compile|compiler|compilation) (errors?|failures?|warnings?)\b|\[x\][^\n]*\bbuilds?\b|\bbuild\b[^.,\n]{0,12}` + sign + `|` + sign + `[^.,\n]{0,20}\bbuild\b`),
		call: lazy(`(?i)(^|[\s/])((npm|pnpm|yarn|bun)( run)? build|go (build|install|vet)|cargo (\+\S+ )?(build|check|b|clippy|install)\b|make\b|tsc\b|vite build|webpack|rollup|esbuild|next build|mvnw?\b|gradlew?\b|dotnet (build|publish|test)|cmake|ninja|meson|bazel (build|test)|docker (buildx )?build|swift (build|test)|zig build|just( \S+)* build|python[\d.]* (-m build|setup\.py)|javac|gcc|g\+\+|clang|rustc|xcodebuild)`),
	},
	{
		name: "a linter", tree: true,
		said: lazy(`(?i)\b(lint(er|ers|ing|s)?|clippy|eslint|ruff|golangci-lint|rubocop|shellcheck|vet)\b[^.\n]{0,30}?\b` + well + `\b|` + none + `(new )?(lint(er|ing)?|style|clippy|eslint|vet) (errors?|warnings?|issues?|problems?|findings?|complaints?)\b|\blinted\b|\b` + runs + ` (all |the )*lint(er|ers)?\b|\[x\][^\n]*\blint|\blint(er|ing)?\b[^.,\n]{0,12}` + sign + `|` + sign + `[^.,\n]{0,20}\blint`),
		call: lazy(`(?i)\blint|lint\b|(^|[\s/])(ruff|flake8|pylint|staticcheck|go vet|biome|phpstan|psalm|rubocop|shellcheck|eslint|oxlint|standard|credo|checkstyle|detekt|spotbugs|hadolint|markdownlint|vale|pre-commit run)\b|clippy`),
	},
	{
		name: "a type checker", tree: true,
		said: lazy(`(?i)\btype[- ]?check(s|ed|er|ing)?\b|\btypes (check|are clean|pass)\b|` + none + `type errors?\b|\b(tsc|mypy|pyright)\b[^.\n]{0,30}?\b` + well + `\b`),
		call: lazy(`(?i)(^|[\s/])(tsc|vue-tsc|mypy|pyright|basedpyright|pyre|flow|go (build|vet)|cargo (check|build|clippy)|sorbet|srb|dialyzer|mix dialyzer)\b|type-?check`),
	},
	{
		name: "a formatter",
		said: lazy(`(?i)\b(formatted|reformatted) with \S+|\b` + runs + ` (the )?(formatter|gofmt|prettier|black|rustfmt)\b`),
		call: lazy(`(?i)(^|[\s/])(gofmt|gofumpt|goimports|prettier|black|rustfmt|biome|dprint|shfmt|(cargo|go|deno|terraform|zig|dart|mix|ruff) (fmt|format)|clang-format|isort|yapf)\b|\bformat\b`),
	},
	{
		name: "a deployment",
		said: lazy(`(?i)(^|\b(is|are|was|were|been|be|got|has|have|i|we|and|now|successfully|already|also|then) )(re)?deployed\b|\b(re)?deployed (to|on) (the )?(prod|staging|production|live|test|dev)|\brolled out\b|\b(is|are|now|went|been) live\b|\b(live|running) in (production|prod|staging)\b|\breleased to (production|prod|staging|users)\b|\bshipped to (production|prod|staging)\b|\b(deploy|deployment|rollout|release) (was |is |has )?(succeeded|successful|completed?|finished|went through|went out|done)\b`),
		call: lazy(`(?i)deploy|(^|[\s/])(kubectl (apply|rollout|set|replace)|helm (upgrade|install)|fly(ctl)? (deploy|launch)|vercel\b|netlify\b|heroku\b|cap \S+|terraform apply|tofu apply|pulumi up|cdk deploy|sam deploy|serverless|sls|gcloud (app|run|functions)|aws (s3 (sync|cp)|ecs|lambda)|eb deploy|wrangler|railway up|render\b|argocd app sync|ansible-playbook|rsync|scp|docker (compose|stack)( \S+)* (up|deploy)|nomad (job )?run)|\bgit push (heroku|dokku)`),
	},
	{
		name: "a migration",
		said: lazy(`(?i)\b(ran|re-?ran|applied|executed|performed|(have|has|been|was|were) (re-?)?run) (all |the |both |new |pending |database |db |schema |data )*migrations?\b|\bmigrations? (was |were |has been |have been |is |are )?(successfully )?(ran|run|applied|executed|complete[ds]?|succeed(s|ed)|pass(es|ed)|works?|done|finished)\b|\bmigrated (the )?(database|db|schema|data|table)|\b(database|db|schema|tables?) (was |were |has been |have been |is )?migrated\b`),
		call: lazy(`(?i)migrat|alembic (upgrade|downgrade)|(rails|rake)( \S+)* db:|flyway|liquibase|(goose|dbmate)( \S+)* (up|down)|knex( \S+)* latest|prisma (db push|migrate)|sqlx |diesel |atlas |\becto\.|typeorm|sequelize|drizzle-kit|(psql|mysql|sqlite3)\b.*(\.sql\b| -f )`),
		but:  lazy(`(?i)status|makemigrations|migrat\w*[: ](make|create|generate|new|list|show|diff|plan)|(make|create|generate|new|add|list|show)[: -]migrat|--plan|--check|--sql\b|current|history|heads`),
	},
	{
		name: "something done by hand", unseen: "done by hand",
		said: lazy(`(?i)\b(verified|tested|checked|confirmed|tried|validated|inspected|clicked|reviewed|exercised|smoke[- ]tested)\b[^.\n]{0,40}?\b(manually|by hand|by eye|in (the |a |my )?(browser|chrome|firefox|safari)|on (a |my )?(real |physical )?(device|phone|iphone|machine))\b|\b(manually|hand) ?-?(verified|tested|checked|confirmed|tried|validated|inspected)\b|\bmanual(ly)? (testing|test|verification|check|qa)\b[^.\n]{0,20}\b(done|pass(es|ed)|complete[d]?|ok|performed)\b`),
	},
	{
		name: "checks", tree: true, of: []string{"tests", "a build", "a linter", "a type checker"},
		said: lazy(`(?i)\b(all|every) (the )?(checks?|gates?|pipelines?) (is |are |now |have )*` + well + `\b|\beverything (is |now |still )*` + well + `\b|\ball green\b|\b(CI|pipeline|checks) (is |are |was |were |runs? )*(now )?` + well + `\b`),
	},
	{
		name: "anything", unseen: "it does not say what was run",
		said: lazy(`(?i)\b(measured|verified|validated|reproduced|confirmed|double[- ]checked)\b`),
	},
}

// excused programs name others without running them.
var excused = wordSet("which type command whereis man pip pip3 pipx brew apt apt-get yum dnf apk gem git gh glab mkdir cp mv rm touch vim vi nano tee kill pkill pgrep ps chmod ln ssh-keygen source export alias xdg-open open code")

// managers bring packages.
var managers = wordSet("npm pnpm yarn bun uv poetry pdm composer bundle bundler cargo go deno conda mamba nix rustup asdf mise")

// installs are what package managers do besides running things.
var installs = wordSet("install i add ci remove uninstall update upgrade get download fetch info view show list ls outdated audit tidy mod search why")

var onlyAsked = wordSet("--help -h --version -V --collect-only --co --list --listTests --dry-run --list-tests --setup-plan --no-run")

// runsIt reports whether a simple command does the work.
func (w *work) runsIt(c *shell.Command) bool {
	program := programOf(c)
	if w.call == nil || c.Mode != shell.Runs || readers[program] || counters[program] || excused[program] && !(program == "git" && w.name == "a deployment") {
		return false
	}
	argv := make([]string, len(c.Argv))
	for i, a := range c.Argv {
		argv[i] = a.Text
		if option, _, _ := strings.Cut(a.Text, "="); i > 0 && onlyAsked[option] {
			return false
		}
	}
	if len(argv) > 1 && managers[program] && installs[argv[1]] && !(w.name == "a build" && (program == "go" || program == "cargo")) {
		return false
	}
	argv[0] = c.Program()
	line := strings.Join(argv, " ")
	line = clip(line, 2000)
	return w.call().MatchString(line) && (w.but == nil || !w.but().MatchString(line))
}

// selects: options by which a runner is told to run a part of the tests.
var selects = wordSet("-run --run -k -t --grep -g --filter --testNamePattern --testPathPattern -m --tests --only -Dtest --lf --last-failed --exact -only --example -e --onlyChanged --shard")

// partly reports whether a command runs a part of the tests only.
func partly(c *shell.Command) bool {
	for i, a := range c.Argv {
		option, _, _ := strings.Cut(a.Text, "=")
		switch {
		case i == 0:
		case selects[option] && !(option == "-m" && i+1 < len(c.Argv) && strings.Contains("pytest unittest nose nose2 tox build", c.Argv[i+1].Text)):
			return true
		case strings.HasPrefix(a.Text, "-"):
		case strings.Contains(a.Text, "::"), strings.HasSuffix(strings.TrimSuffix(a.Text, "_spec"), "_test.go"):
			return true
		case slices.Contains([]string{".py", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".rb", ".php", ".exs", ".dart"}, extension(a.Text)):
			program := programOf(c)
			return program != "node" && program != "python" && program != "python3" && program != "ruby" && program != "sh" && program != "bash" && !strings.HasPrefix(extension(c.Argv[0].Text), ".")
		case c.Program() == "go" && strings.HasPrefix(a.Text, "./") && !strings.HasSuffix(a.Text, "..."):
			return true
		}
	}
	return false
}

func extension(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 && !strings.ContainsAny(name[i:], "/ ") {
		return name[i:]
	}
	return ""
}
