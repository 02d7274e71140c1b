package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// What tests load is under test, and what it sends goes to doubles: of the tests
// of a project nothing is read. But an agent can write a test that reaches
// outside, and any name of a test that the project had before it says nothing of that.
// Where it is known which files are the agent's, their tests are read, with
// what these load; only commands that they start count, and only where no double
// of them and no scratch repository is in sight.

// maxTests is how many tests are read for one call.
const maxTests = 16

// tests classifies what a runner of tests would run of what the agent wrote.
func (r *reading) tests(prog string, c *shell.Command) []Hit {
	lang := testsOf(prog, wordTexts(c.Argv[1:]))
	if lang == "" || r.tree == nil || r.tree.changed == nil || r.testing {
		return nil
	}
	return r.outsideOnce("\x00tests "+lang, func() []Hit {
		r.testing = true
		defer func() { r.testing = false }()
		changed := r.changedFiles()
		var hits []Hit
		for _, root := range r.testRoots(lang, changed) {
			text, file, ok := r.readAt(root)
			if !ok || doubled(lang, text) || inScratch(text) {
				continue
			}
			for _, h := range r.programFile(lang, text, file) {
				if h.Opaque || h.Tier < External || strings.HasPrefix(h.Rule, "code-") || strings.HasPrefix(h.Rule, "sdk-") || inScratch(r.tree.texts[h.File]) {
					continue
				}
				if slices.Contains(changed, h.File) || slices.Contains(changed, file) {
					hits = append(hits, h)
				}
			}
		}
		return hits
	})
}

// testsOf is the language of the tests that a command runs, "" when it runs
// none.
func testsOf(prog string, words []string) string {
	first := ""
	if i := slices.IndexFunc(words, func(w string) bool { return w != "" && w[0] != '-' && w[0] != '+' }); i >= 0 {
		first = words[i]
	}
	switch prog {
	case "pytest", "py.test", "nose2", "nosetests", "unittest":
		return "python"
	case "python", "python3":
		if len(words) > 1 && words[0] == "-m" && (words[1] == "pytest" || words[1] == "unittest" || words[1] == "nose2") {
			return "python"
		}
	case "go":
		if first == "test" {
			return "go"
		}
	case "gotestsum", "ginkgo":
		return "go"
	case "jest", "vitest", "mocha", "ava", "jasmine", "tap", "playwright", "cypress", "karma", "react-scripts", "vue-cli-service", "ng", "web-test-runner", "wtr":
		return "javascript"
	case "node":
		if slices.Contains(words, "--test") {
			return "javascript"
		}
	case "bun", "deno":
		if first == "test" {
			return "javascript"
		}
	case "rspec", "minitest":
		return "ruby"
	case "rails", "rake":
		if strings.HasPrefix(first, "test") || first == "spec" {
			return "ruby"
		}
	case "phpunit", "pest", "paratest":
		return "php"
	case "cargo":
		if slices.Contains([]string{"test", "t", "nextest", "bench"}, first) {
			return "rust"
		}
	}
	return ""
}

// changedFiles are the files that the agent may have written, by the names under
// which they are read.
func (r *reading) changedFiles() []string {
	if r.tree.changedOnce == nil {
		r.tree.changedOnce = append([]string{}, r.tree.changed()...)
	}
	return r.tree.changedOnce
}

// testRoots are the tests that the agent wrote, and those beside what it wrote.
func (r *reading) testRoots(lang string, changed []string) []string {
	var roots, beside []string
	for _, name := range changed {
		if codeLanguage(name) != lang {
			continue
		}
		if holdsTests(lang, name) {
			roots = append(roots, name)
			continue
		}
		beside = append(beside, testsBeside(lang, name)...)
	}
	roots = append(roots, beside...)
	return roots[:min(len(roots), maxTests)]
}

func codeLanguage(name string) string {
	if path.Ext(name) == ".rs" {
		return "rust"
	}
	return languageOfFile(name, "")
}

// holdsTests: a file of that name is run as a test, or with the tests.
func holdsTests(lang, name string) bool {
	if isTestFile(name) || lang == "rust" {
		return true
	}
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if slices.Contains([]string{"__tests__", "spec", "specs", "e2e", "cypress"}, part) && lang != "go" {
			return true
		}
	}
	return lang == "php" && strings.HasSuffix(name, "Test.php")
}

// testsBeside are the names that the tests of a file usually have.
func testsBeside(lang, name string) []string {
	dir, base := path.Split(name)
	stem, ext := strings.TrimSuffix(base, path.Ext(base)), path.Ext(base)
	switch lang {
	case "python":
		up := path.Dir(path.Clean(dir))
		return []string{
			dir + "test_" + base, dir + "tests/test_" + base, path.Join(up, "tests/test_"+base), path.Join(up, "test_"+base), path.Join(path.Dir(up), "tests/test_"+base), dir + stem + "_test.py",
		}
	case "go":
		return []string{dir + stem + "_test.go"}
	case "javascript":
		var out []string
		for _, kind := range []string{".test", ".spec"} {
			out = append(out, dir+stem+kind+ext, dir+"__tests__/"+stem+kind+ext, path.Join(path.Dir(path.Clean(dir)), "test", stem+kind+ext), path.Join(path.Dir(path.Clean(dir)), "tests", stem+kind+ext))
		}
		return out
	case "ruby":
		return []string{strings.Replace(dir, "/lib/", "/spec/", 1) + stem + "_spec.rb", strings.Replace(dir, "/app/", "/spec/", 1) + stem + "_spec.rb"}
	}
	return nil
}

// doubled: a double of what starts commands is put into its place.
func doubled(lang, text string) bool {
	if lex(lang, text).hasDoubles() {
		return true
	}
	for line := range strings.Lines(text) {
		low := strings.ToLower(line)
		if containsAny(low, "patch", "mock", "stub", "sinon", "fake", "spy", "to receive", "double") && containsAny(low, "subprocess", "os.system", "child_process", "exec", "spawn", "popen", "run", "system", "shell", "command", "git") {
			return true
		}
	}
	return false
}

// inScratch: what runs commands runs them in a folder that it makes for it, as
// the tests of what works on repositories do.
func inScratch(text string) bool {
	return containsAny(text, "TempDir(", "MkdirTemp(", "tmp_path", "tmpdir", "mkdtemp", "TemporaryDirectory", "os.tmpdir", "mktmpdir", "tempdir", "tempfile") &&
		containsAny(text, "cwd", ".Dir", `"-C"`, "'-C'", "chdir", "current_dir")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// goImports loads the packages of the project's own module that a Go text
// imports.
func (s *source) goImports(r *reading, base string, load func(...string) bool) {
	dir := base
	for range maxAncestors {
		text, file, ok := r.readAt(path.Join(dir, "go.mod"))
		if !ok {
			if dir == "" || dir == "/" || dir == "." {
				return
			}
			dir = path.Dir(dir)
			continue
		}
		module := ""
		for line := range strings.Lines(text) {
			if rest, ok := strings.CutPrefix(line, "module "); ok {
				module = strings.Trim(strings.TrimSpace(rest), `"`)
			}
		}
		for _, l := range s.lits {
			rest, ok := strings.CutPrefix(l.text, module+"/")
			if !ok || module == "" || strings.ContainsAny(rest, " \n") {
				continue
			}
			folder := path.Join(path.Dir(file), rest)
			for _, n := range r.listAt(folder) {
				if path.Ext(n) == ".go" && !strings.HasSuffix(n, "_test.go") {
					load(path.Join(folder, n))
				}
			}
		}
		return
	}
}

// listAt lists a folder by a name that t.dir is in already.
func (r *reading) listAt(name string) []string {
	defer func(dir string) { r.tree.dir = dir }(r.tree.dir)
	r.tree.dir = ""
	return r.tree.names(name)
}
