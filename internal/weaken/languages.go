package weaken

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// language is what tests look like in one. A pattern that is empty matches
// nothing.
type language struct {
	exts    string         // with a space on both sides of each
	inline  bool           // tests stand in any file
	test    *regexp.Regexp // begins a test; the last group that matched is its name
	skip    *regexp.Regexp // keeps a test from running
	only    *regexp.Regexp // keeps the others from running
	asserts *regexp.Regexp
	empty   *regexp.Regexp // an assertion that cannot fail
	ends    *regexp.Regexp // ends the whole run, and well
	comment string         // begins a comment
}

func re(s string) *regexp.Regexp { return regexp.MustCompile(s) }

// pattern compiles a regular expression when it is first needed: most
// processes of the program need none.
func pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// languages is the table. The words are those of the test frameworks in wide
// use; it is made when it is first needed.
var languages = sync.OnceValue(func() []language {
	return []language{
		{
			exts: " .go ", comment: "//",
			test:    re(`^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`),
			skip:    re(`\b\w+\.(?:Skip|Skipf|SkipNow)\(|^//go:build ignore\b`),
			asserts: re(`\b[tbf]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|qt|c|g|Expect)\.(?:[A-Z]\w*)\(|\bExpect\(`),
			empty:   re(`\b(?:assert|require)\.(?:True\(\w+, true|False\(\w+, false|Equal\(\w+, (\d+), (\d+)\)$)`),
		},
		{
			exts: " .py ", comment: "#",
			test:    re(`^\s*(?:async )?def (test\w*)\s*\(`),
			skip:    re(`@(?:pytest\.mark\.|unittest\.)?(?:skip|xfail|expectedFailure)\b|\bpytest\.(?:skip|xfail)\(|\bself\.skipTest\(|\braise (?:unittest\.)?SkipTest|\bpytestmark\s*=.*\b(?:skip|xfail)\b|@pytest\.mark\.skipif\(\s*(?:True|1)\b|@unittest\.skip(?:If\(\s*True|Unless\(\s*False)`),
			asserts: re(`^\s*assert\b|\bself\.(?:assert\w+|fail)\(|\bpytest\.(?:raises|warns|fail)\(|\.assert_\w+\(`),
			ends:    re(`\bos\._exit\(\s*0|\bexitstatus\s*=\s*(?:0|pytest\.ExitCode\.OK)\b|\bpytest\.exit\(.*returncode\s*=\s*0|^\s*collect_ignore(?:_glob)?\s*=`),
			empty:   re(`^\s*assert (?:True|1)\s*(?:#.*)?$|\bself\.assertTrue\(\s*True\s*\)`),
		},
		{
			exts: " .js .jsx .ts .tsx .mjs .cjs .mts .cts .vue .svelte ", comment: "//",
			test:    re("^\\s*(?:f|x)?(?:it|test|specify)(?:\\.(?:only|skip|concurrent|sequential|failing|todo|fixme|fails))*(?:\\.each.*?)?\\s*\\(\\s*[\"'`](.+?)[\"'`]"),
			skip:    re("\\b(?:it|test|describe|context|suite|specify|bench)(?:\\.\\w+)*\\.(?:skip|todo|fixme|failing|fails)(?:\\.each.*?)?\\(\\s*(?:[\"'`]|\\))|^\\s*(?:xit|xtest|xdescribe|xcontext|xspecify)\\s*[(.]|\\bthis\\.skip\\(\\)"),
			only:    re(`\b(?:it|test|describe|context|suite|specify)(?:\.\w+)*\.only\b|^\s*(?:fit|fdescribe|fcontext)\s*\(`),
			asserts: re(`\bexpect\s*\(|\bassert(?:\.\w+)*\s*\(|\.should\b|\bt\.(?:is|not|true|false|truthy|falsy|deepEqual|equal|throws|same|ok|match|like)\(`),
			ends:    re(`\bprocess\.exit\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0\b`),
			empty:   re(`\bexpect\((true|false|1|0)\)\.to(?:Be|Equal|StrictEqual)\((true|false|1|0)\)|\bexpect\(true\)\.toBeTruthy\(\)|\bassert(?:\.ok)?\(true\b`),
		},
		{
			exts: " .rs ", inline: true, comment: "//",
			test:    re(`^\s*#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|proptest)\b.*\]`),
			skip:    re(`^\s*#\[ignore\b`),
			asserts: re(`\b(?:debug_)?(?:assert|assert_eq|assert_ne|assert_matches|prop_assert\w*)!`),
			empty:   re(`\bassert!\(\s*true\s*[,)]`),
		},
		{
			exts: " .java .kt .kts .scala .groovy ", comment: "//",
			test:    re(`^\s*@(?:Test|ParameterizedTest|RepeatedTest|Property)\b`),
			skip:    re(`^\s*@(?:Disabled|Ignore|Ignored)\b|\bassume(?:True\(\s*false|False\(\s*true)|@Test\(.*enabled\s*=\s*false`),
			asserts: re(`\b(?:assert\w*|verify|fail|expectThat)\s*\(|\.should\w*\b`),
			empty:   re(`\bassertTrue\(\s*true\s*\)|\bassertFalse\(\s*false\s*\)`),
		},
		{
			exts: " .cs .fs .vb ", comment: "//",
			test:    re(`^\s*\[<?(?:Fact|Theory|Test|TestMethod|TestCase|DataTestMethod)\b`),
			skip:    re(`\[<?(?:Fact|Theory)\(.*\bSkip\s*=|\[<?Ignore\b|\bAssert\.(?:Ignore|Inconclusive|Skip)\(`),
			asserts: re(`\bAssert\.\w+|\.Should\w*\(|\.Verify\(`),
			empty:   re(`\bAssert\.(?:True|IsTrue)\(\s*true\s*\)|\bAssert\.Pass\(`),
		},
		{
			exts: " .rb ", comment: "#",
			test:    re(`^\s*(?:[fx]?it|specify|scenario|example|test)\s*\(?\s*["'](.+?)["']|^\s*def (test_\w+)`),
			skip:    re(`^\s*(?:xit|xdescribe|xcontext|xspecify|pending)\b|^\s*skip\b|,\s*(?::skip\b|skip:\s*(?:true|["']))`),
			only:    re(`^\s*(?:fit|fdescribe|fcontext)\b|,\s*(?::focus\b|focus:\s*true)`),
			asserts: re(`\bexpect\s*[({]|\bassert\w*\b|\brefute\w*\b|\bmust_\w+|\.should\b|\bis_expected\b`),
			empty:   re(`\bassert\(?\s*true\b|\bexpect\(true\)\.to (?:be true|eq\(?true)`),
		},
		{
			exts: " .php ", comment: "//",
			test:    re(`\bfunction (test\w+)\s*\(|^\s*(?:it|test)\(\s*["'](.+?)["']|^\s*#\[Test\]`),
			skip:    re(`markTestSkipped|markTestIncomplete|->(?:skip|todo)\(|@group\s+(?:skip|disabled)`),
			only:    re(`->only\(\)`),
			asserts: re(`(?:\$this->|self::|static::|Assert::)(?:assert\w+|expectException\w*)|\bexpect\(`),
			empty:   re(`assertTrue\(\s*true\s*\)`),
		},
		{
			exts: " .swift ", comment: "//",
			test:    re(`\bfunc (test\w+)\(|^\s*@Test\b`),
			skip:    re(`\bXCTSkip\b|\.disabled\(`),
			asserts: re(`\bXCT(?:Assert|Unwrap|Fail)\w*|#expect\b|#require\b`),
			empty:   re(`XCTAssert(?:True)?\(\s*true\s*\)`),
		},
		{
			exts: " .ex .exs ", comment: "#",
			test:    re(`^\s*test\s+"(.+?)"`),
			skip:    re(`@(?:module|describe)?tag\s+(?:skip:|:skip\b)`),
			only:    re(`@tag\s+:(?:only|focus)\b`),
			asserts: re(`\b(?:assert|refute)(?:_\w+)?\b`),
			empty:   re(`\bassert true\b`),
		},
		{
			exts: " .dart ", comment: "//",
			test:    re(`^\s*(?:test|testWidgets)\(\s*["'](.+?)["']`),
			skip:    re(`\bskip:\s*(?:true|["'])|@Skip\b`),
			only:    re(`\bsolo:\s*true`),
			asserts: re(`\bexpect\w*\(`),
			empty:   re(`\bexpect\(true, (?:true|isTrue)\)`),
		},
		{
			exts: " .c .cc .cpp .cxx .h .hpp ", comment: "//",
			test:    re(`^\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST|TEST_CASE|SCENARIO|BOOST_AUTO_TEST_CASE)\s*\(\s*(.+?)\s*\)`),
			skip:    re(`\bGTEST_SKIP\b|\(\s*\w+,\s*DISABLED_\w+|\bTEST_IGNORE\b|\[\.\]`),
			asserts: re(`\b(?:EXPECT|ASSERT|REQUIRE|CHECK|TEST_ASSERT|BOOST_CHECK|BOOST_TEST|cr_assert)\w*\s*\(`),
			empty:   re(`\b(?:EXPECT|ASSERT)_TRUE\(\s*true\s*\)`),
		},
		{
			exts: " .bats .sh ", comment: "#",
			test:    re(`^\s*@test\s+["'](.+?)["']|^(test_\w+)\s*\(\)`),
			skip:    re(`^\s*skip\b(?:\s+["'].*)?$`),
			asserts: re(`^\s*(?:assert\w*|refute\w*)\b|^\s*\[\[? .*\]\]?\s*$`),
		},
	}
})

// languageOf is the language of a file that may hold tests; nil = none.
func languageOf(name string) *language {
	ext := " " + strings.ToLower(path.Ext(name)) + " "
	all := languages()
	for i := range all {
		l := &all[i]
		if ext != "  " && strings.Contains(l.exts, ext) && (l.inline || isTest(name)) {
			return l
		}
	}
	return nil
}

func (l *language) isComment(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), l.comment)
}

// has reports whether a line that is no comment matches.
func (l *language) has(r *regexp.Regexp, text string) bool {
	return r != nil && (!l.isComment(text) || strings.HasPrefix(text, "//go:")) && r.MatchString(text)
}

// testName is the name of the test that a line begins; ok is false when it
// begins none. In some languages the name stands elsewhere.
func (l *language) testName(text string) (name string, ok bool) {
	m := l.test.FindStringSubmatch(text)
	if m == nil || l.isComment(text) {
		return "", false
	}
	for _, g := range m[1:] {
		if g != "" {
			name = g
		}
	}
	return name, true
}
