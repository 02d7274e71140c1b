package weaken

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// change is a tree before and after: file to text.
type change struct{ was, is map[string]string }

// patch is what git says of the change.
func patch(t *testing.T, c change) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	put := func(files map[string]string) {
		t.Helper()
		for name, text := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	git("init", "-q")
	put(c.was)
	git("add", "--all")
	git("commit", "-q", "--allow-empty", "-m", "was")
	for name := range c.was {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	put(c.is)
	git("add", "--all")
	return git("diff", "--cached", "-M", "HEAD")
}

// one is a change of one file.
func one(name, was, is string) change {
	c := change{map[string]string{}, map[string]string{}}
	if was != "" {
		c.was[name] = was
	}
	if is != "" {
		c.is[name] = is
	}
	return c
}

const (
	goTest = "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Fatal(\"f\")\n\t}\n}\n\nfunc TestB(t *testing.T) {\n\tif g() != 1 {\n\t\tt.Error(\"g\")\n\t}\n}\n"
	goB    = "func TestB(t *testing.T) {\n\tif g() != 1 {\n\t\tt.Error(\"g\")\n\t}\n}\n"
	jsTest = "describe('a', () => {\n  it('adds', () => {\n    expect(add(1, 2)).toBe(3)\n  })\n  it('subtracts', () => {\n    expect(sub(2, 1)).toBe(1)\n  })\n})\n"
	pyTest = "import pytest\n\ndef test_a():\n    assert f() == 1\n\ndef test_b():\n    assert g() == 1\n"
	rsTest = "fn f() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert_eq!(f(), 1);\n    }\n\n    #[test]\n    fn b() {\n        assert!(f() > 0);\n    }\n}\n"
	ci     = "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: npm ci\n      - name: Lint\n        run: npm run lint\n      - run: npm test\n"
)

// What makes checks weaker is named, in the words of the file.
func TestFind(t *testing.T) {
	tests := map[string]struct {
		change
		want string // in one of the findings
	}{
		"go, deleted":            {one("a_test.go", goTest, strings.Replace(goTest, goB, "", 1)), "1 test deleted: TestB"},
		"go, file deleted":       {one("a_test.go", goTest, ""), "2 tests deleted: TestA, TestB"},
		"go, skipped":            {one("a_test.go", goTest, strings.Replace(goTest, "\tif g", "\tt.Skip(\"flaky, if slow\")\n\tif g", 1)), "1 skip keeps a test from running: line 12: t.Skip"},
		"go, built no more":      {one("a_test.go", goTest, "//go:build ignore\n\n"+goTest), "1 skip keeps a test"},
		"go, no assertion":       {one("a_test.go", goTest, strings.Replace(goTest, "\t\tt.Error(\"g\")\n", "\t\t_ = g\n", 1)), "1 assertion removed and none added: t.Error"},
		"go, commented out":      {one("a_test.go", goTest, strings.Replace(goTest, goB, "// "+strings.ReplaceAll(goB, "\n", "\n// ")+"\n", 1)), "1 test deleted: TestB"},
		"go, renamed away":       {change{map[string]string{"a_test.go": goTest}, map[string]string{"a_test.go.bak": goTest}}, "renamed"},
		"js, skipped":            {one("src/a.test.ts", jsTest, strings.Replace(jsTest, "it('adds'", "it.skip('adds'", 1)), "line 2: it.skip('adds'"},
		"js, xit":                {one("src/a.spec.js", jsTest, strings.Replace(jsTest, "it('adds'", "xit('adds'", 1)), "xit('adds'"},
		"js, describe.skip":      {one("__tests__/a.js", jsTest, strings.Replace(jsTest, "describe(", "describe.skip(", 1)), "describe.skip("},
		"js, only":               {one("a.test.js", jsTest, strings.Replace(jsTest, "it('adds'", "it.only('adds'", 1)), "only some tests run: line 2"},
		"js, todo":               {one("a.test.js", jsTest, strings.Replace(jsTest, "it('adds', () => {\n    expect(add(1, 2)).toBe(3)\n  })", "it.todo('adds')", 1)), "it.todo('adds')"},
		"js, deleted":            {one("a.test.js", jsTest, "describe('a', () => {\n  it('adds', () => {\n    expect(add(1, 2)).toBe(3)\n  })\n})\n"), "1 test deleted: subtracts"},
		"js, trivial":            {one("a.test.js", jsTest, strings.Replace(jsTest, "expect(add(1, 2)).toBe(3)", "expect(true).toBe(true)", 1)), "cannot fail"},
		"go, main without tests": {one("main_test.go", "", "package a\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n"), "TestMain runs no test"},
		"py, ended well":         {one("conftest.py", "", "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n"), "ends well whatever they find"},
		"py, left":               {one("test_a.py", pyTest, "import os\nos._exit(0)\n"+pyTest), "ends well whatever they find"},
		"js, left":               {one("a.test.js", jsTest, "process.exit(0)\n"+jsTest), "ends well whatever they find"},
		"py, mark":               {one("tests/test_a.py", pyTest, strings.Replace(pyTest, "def test_b", "@pytest.mark.skip(reason=\"x\")\ndef test_b", 1)), "line 6: @pytest.mark.skip"},
		"py, xfail":              {one("tests/test_a.py", pyTest, strings.Replace(pyTest, "def test_b", "@pytest.mark.xfail\ndef test_b", 1)), "@pytest.mark.xfail"},
		"py, call":               {one("test_a.py", pyTest, strings.Replace(pyTest, "    assert g", "    pytest.skip(\"x\")\n    assert g", 1)), "pytest.skip"},
		"py, whole file":         {one("test_a.py", pyTest, strings.Replace(pyTest, "\n\n", "\npytestmark = pytest.mark.skip\n\n", 1)), "pytestmark"},
		"py, no assertion":       {one("test_a.py", pyTest, strings.Replace(pyTest, "    assert g() == 1", "    g()", 1)), "1 assertion removed and none added: assert g() == 1"},
		"rust, ignored":          {one("src/lib.rs", rsTest, strings.Replace(rsTest, "    #[test]\n    fn b", "    #[test]\n    #[ignore]\n    fn b", 1)), "#[ignore]"},
		"rust, deleted":          {one("src/lib.rs", rsTest, strings.Replace(rsTest, "\n    #[test]\n    fn b() {\n        assert!(f() > 0);\n    }\n", "", 1)), "1 test deleted"},
		"java, disabled":         {one("src/test/java/ATest.java", "class ATest {\n  @Test\n  void a() { assertEquals(1, f()); }\n}\n", "class ATest {\n  @Disabled\n  @Test\n  void a() { assertEquals(1, f()); }\n}\n"), "@Disabled"},
		"c#, skipped":            {one("ATests.cs", "class A {\n  [Fact]\n  public void B() { Assert.True(x); }\n}\n", "class A {\n  [Fact(Skip = \"x\")]\n  public void B() { Assert.True(x); }\n}\n"), "Skip ="},
		"ruby, pending":          {one("spec/a_spec.rb", "it 'a' do\n  expect(x).to eq 1\nend\n", "xit 'a' do\n  expect(x).to eq 1\nend\n"), "xit 'a'"},
		"php, skipped":           {one("tests/ATest.php", "function testA() {\n  $this->assertTrue($x);\n}\n", "function testA() {\n  $this->markTestSkipped('x');\n  $this->assertTrue($x);\n}\n"), "markTestSkipped"},
		"elixir, tag":            {one("test/a_test.exs", "test \"a\" do\n  assert f() == 1\nend\n", "@tag :skip\ntest \"a\" do\n  assert f() == 1\nend\n"), "@tag :skip"},
		"coverage, py":           {one("pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", "[tool.coverage.report]\nfail_under = 60\n"), "fail_under was loosened from 90 to 60"},
		"coverage, addopts":      {one("pytest.ini", "[pytest]\naddopts = --cov-fail-under=90\n", "[pytest]\naddopts = --cov-fail-under=10\n"), "loosened from 90 to 10"},
		"coverage, jest":         {one("jest.config.js", "module.exports = {\n  coverageThreshold: { global: {\n    branches: 80,\n    lines: 90,\n  } },\n}\n", "module.exports = {\n  coverageThreshold: { global: {\n    branches: 50,\n    lines: 90,\n  } },\n}\n"), "branches was loosened from 80 to 50"},
		"coverage, gone":         {one("pyproject.toml", "[tool.coverage.report]\nfail_under = 90\nx = 1\n", "[tool.coverage.report]\nx = 1\n"), "fail_under = 90 was taken out"},
		"max warnings":           {one("package.json", "{\n  \"scripts\": {\n    \"lint\": \"eslint . --max-warnings=0\"\n  }\n}\n", "{\n  \"scripts\": {\n    \"lint\": \"eslint . --max-warnings=100\"\n  }\n}\n"), "loosened from 0 to 100"},
		"tsconfig":               {one("tsconfig.json", "{ \"compilerOptions\": {\n  \"strict\": true\n} }\n", "{ \"compilerOptions\": {\n  \"strict\": false\n} }\n"), "strict was set to false (it was true)"},
		"tsconfig, taken out":    {one("tsconfig.json", "{ \"compilerOptions\": {\n  \"noImplicitAny\": true,\n  \"target\": \"es2022\"\n} }\n", "{ \"compilerOptions\": {\n  \"target\": \"es2022\"\n} }\n"), "noImplicitAny = true was taken out"},
		"eslint, off":            {one(".eslintrc.json", "{\n  \"rules\": {\n    \"no-undef\": \"error\"\n  }\n}\n", "{\n  \"rules\": {\n    \"no-undef\": \"off\"\n  }\n}\n"), "no-undef was set to off (it was error)"},
		"eslint, new off":        {one("eslint.config.js", "export default [{\n  rules: {\n  },\n}]\n", "export default [{\n  rules: {\n    '@typescript-eslint/no-explicit-any': 'off',\n  },\n}]\n"), "no-explicit-any was set to off"},
		"mypy":                   {one("mypy.ini", "[mypy]\nstrict = True\n", "[mypy]\nstrict = False\n"), "strict was set to False"},
		"ruff, ignore":           {one("pyproject.toml", "[tool.ruff.lint]\nselect = [\"E\", \"F\"]\nignore = [\"E501\"]\n", "[tool.ruff.lint]\nselect = [\"E\", \"F\"]\nignore = [\"E501\", \"F401\"]\n"), "left out of the checks: F401"},
		"golangci":               {one(".golangci.yml", "linters:\n  enable:\n    - errcheck\n    - govet\n", "linters:\n  enable:\n    - govet\n"), "no longer checked: errcheck"},
		"suppression":            {one("src/a.ts", "const a: number = f()\n", "// @ts-nocheck\nconst a: number = f()\n"), "silenced for the whole file: line 1: // @ts-nocheck"},
		"suppression, py":        {one("src/a.py", "a = 1\n", "# mypy: ignore-errors\na = 1\n"), "silenced for the whole file"},
		"suppression, js":        {one("src/a.js", "a()\n", "/* eslint-disable */\na()\n"), "silenced for the whole file"},
		"make, true":             {one("Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test ./... || true\n"), "counts for nothing: line 2"},
		"make, dash":             {one("Makefile", "test:\n\tgo test ./...\n", "test:\n\t-go test ./...\n"), "counts for nothing: line 2"},
		"npm, true":              {one("package.json", "{\n  \"scripts\": {\n    \"test\": \"jest\",\n    \"x\": \"y\"\n  }\n}\n", "{\n  \"scripts\": {\n    \"test\": \"jest || true\",\n    \"x\": \"y\"\n  }\n}\n"), "counts for nothing: line 3"},
		"script, exit 0":         {one("ci/test.sh", "#!/bin/sh\nset -e\npytest\n", "#!/bin/sh\nset -e\nexit 0\npytest\n"), "ends well whatever happens"},
		"script, set -e":         {one("ci/test.sh", "#!/bin/sh\nset -e\npytest\necho ok\n", "#!/bin/sh\npytest\necho ok\n"), "set -e was taken out"},
		"CI, step gone":          {one(".github/workflows/ci.yml", ci, strings.Replace(ci, "      - run: npm test\n", "", 1)), "1 check of the CI gone: - run: npm test"},
		"CI, file gone":          {one(".github/workflows/ci.yml", ci, ""), "2 checks of the CI gone"},
		"CI, continue-on-error":  {one(".github/workflows/ci.yml", ci, ci+"        continue-on-error: true\n"), "may fail"},
		"CI, if false":           {one(".github/workflows/ci.yml", ci, ci+"        if: false\n"), "never runs"},
		"gitlab":                 {one(".gitlab-ci.yml", "test:\n  script:\n    - make test\n", "test:\n  allow_failure: true\n  script:\n    - make test\n"), "may fail"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := patch(t, tt.change)
			var got []string
			for _, f := range Find(p) {
				got = append(got, f.File+": "+f.Text)
			}
			if len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), tt.want) {
				t.Errorf("%q, want %q\n%s", got, tt.want, p)
			}
			if len(got) > 2 {
				t.Errorf("one change, %d findings: %q", len(got), got)
			}
		})
	}
}

// Ordinary work is no finding.
func TestNoFalseAlarm(t *testing.T) {
	c := "\nfunc TestC(t *testing.T) {\n\tif h() != 1 {\n\t\tt.Error(\"h\")\n\t}\n}\n"
	for name, change := range map[string]change{
		"a new test":         one("a_test.go", goTest, goTest+c),
		"moved":              {map[string]string{"a_test.go": goTest}, map[string]string{"a_test.go": strings.Replace(goTest, goB, "", 1), "b_test.go": "package a\n\n" + goB}},
		"moved and indented": {map[string]string{"a.test.js": jsTest}, map[string]string{"b.test.js": "describe('b', () => {\n" + strings.ReplaceAll(jsTest, "\n", "\n  ") + "})\n"}},
		"file renamed":       {map[string]string{"a_test.go": goTest}, map[string]string{"b_test.go": goTest}},
		"rust, moved":        {map[string]string{"src/lib.rs": rsTest}, map[string]string{"src/lib.rs": "fn f() -> i32 { 1 }\n", "src/tests.rs": rsTest}},
		"renamed test":       one("a_test.go", goTest, strings.Replace(goTest, "TestB", "TestG", 1)),
		"rewritten":          one("test_a.py", pyTest, strings.Replace(pyTest, "assert g() == 1", "assert g() == [1, 2]", 1)),
		"skip for a system":  one("a_test.go", goTest, strings.Replace(goTest, "\tif g", "\tif testing.Short() {\n\t\tt.Skip(\"long\")\n\t}\n\tif g", 1)),
		"skipif":             one("test_a.py", pyTest, strings.Replace(pyTest, "def test_b", "@pytest.mark.skipif(sys.platform == \"win32\", reason=\"x\")\ndef test_b", 1)),
		"skip gone":          one("a.test.js", strings.Replace(jsTest, "it('adds'", "it.skip('adds'", 1), jsTest),
		"stricter":           one("pyproject.toml", "fail_under = 60\n", "fail_under = 90\n"),
		"more lint":          one(".eslintrc.json", "{\n  \"rules\": {\n    \"no-undef\": \"off\"\n  }\n}\n", "{\n  \"rules\": {\n    \"no-undef\": \"error\"\n  }\n}\n"),
		"a new config":       one("tsconfig.json", "", "{ \"compilerOptions\": {\n  \"strict\": true,\n  \"noUnusedLocals\": false\n} }\n"),
		"CI, another runner": one(".github/workflows/ci.yml", ci, strings.Replace(ci, "npm test", "npm test -- --ci", 1)),
		"CI, a step more":    one(".github/workflows/ci.yml", ci, ci+"      - run: npm run build\n"),
		"CI, version":        one(".github/workflows/ci.yml", ci, strings.Replace(ci, "checkout@v4", "checkout@v5", 1)),
		"cleanup":            one("deploy.sh", "#!/bin/sh\nset -e\n", "#!/bin/sh\nset -e\nrm -f x || true\n"),
		"a word in code":     one("src/a.go", "package a\n", "package a\n\nfunc Skip() { queue.Skip(1) }\n"),
		"a document":         one("docs/tests.md", "x\n", "x\n\nUse `t.Skip(\"x\")` or `# noqa`: // @ts-ignore\n"),
		"one line silenced":  one("src/a.ts", "const a: number = f()\n", "// @ts-ignore\nconst a: number = f() // eslint-disable-line\n"),
		"an error path less": one("a_test.go", strings.Replace(goTest, "\tif f", "\tif err := g(); err != nil {\n\t\tt.Fatal(err)\n\t}\n\tif f", 1), goTest),
		"vendored":           one("vendor/x/a_test.go", goTest, ""),
		"an app's threshold": one("config/app.yml", "threshold: 90\n", "threshold: 60\n"),
		"a helper":           one("tests/helpers.js", "export const a = 1\n", "export const a = 2\n"),
		"dependencies":       one("package.json", "{\n  \"scripts\": {\n    \"test\": \"jest\"\n  },\n  \"dependencies\": {\n    \"a\": \"2.0.0\"\n  }\n}\n", "{\n  \"scripts\": {\n    \"test\": \"jest\"\n  },\n  \"dependencies\": {\n    \"a\": \"1.0.0\"\n  }\n}\n"),
		"assertions moved":   {map[string]string{"a.test.js": jsTest, "check.test.js": "x\n"}, map[string]string{"a.test.js": strings.Replace(jsTest, "    expect(sub(2, 1)).toBe(1)\n", "    check()\n", 1), "check.test.js": "x\nexport function check() {\n  expect(sub(2, 1)).toBe(1)\n}\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := patch(t, change)
			if got := Find(p); len(got) > 0 {
				t.Errorf("%+v\n%s", got, p)
			}
		})
	}
}

// A patch of which a part is missing, or that is none, is no reason to fail.
func FuzzFind(f *testing.F) {
	f.Add("diff --git a/a_test.go b/a_test.go\n--- a/a_test.go\n+++ b/a_test.go\n@@ -1 +1 @@\n-func TestA(t *testing.T) {\n+\tt.Skip()\n")
	f.Add("+++ b/x\n@@ -1")
	f.Add("diff --git \"a/\\303\\244\" \"b/\\303\\244\"\nrename from x\nrename to \"y\n@@ -0,0 +1 @@\n+\n")
	f.Fuzz(func(t *testing.T, p string) {
		for _, x := range Find(p) {
			if x.Text == "" {
				t.Error("a finding without words")
			}
		}
	})
}
