package report

import (
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

func TestShowListsClaimsBesideTheirSources(t *testing.T) {
	a := queue.Action{
		Number: 3, Kind: queue.KindCall, Tool: "Bash", Command: "gh pr create", Evidence: policy.Blocked, Status: queue.Pending,
		Claims: []queue.Claim{
			{Kind: "number", Text: "42 tests", Where: "--body", Source: queue.SourceResult, Tool: "Bash", Command: "sh test.sh", Line: 88, Quote: "42 tests, 0 failed", Receipt: "zc-receipt-1796041665-h2H0pgD_DonXPxWJCK8fNgVHihGNFE3fr3-yBdyAL-c"},
			{Kind: "number", Text: "41,200 slugs", Where: "--body", Source: queue.SourceAgentFile, Tool: "Read", Command: "MEMORY.md", Note: "as it was"},
			{Kind: "run", Text: "All tests pass.", Source: queue.SourceResult, Failed: true, Tool: "Bash", Command: "sh test.sh"},
			{Kind: "run", Text: "Benchmarked.", Source: queue.SourceNone},
			{Kind: "url", Text: "https://example.com/\x1b[2J\u202e", Source: queue.SourceNone},
		}, MoreClaims: 7,
	}
	var b strings.Builder
	if err := Show(&b, a, Options{Known: func(string) bool { return true }}); err != nil {
		t.Fatal(err)
	}
	want := `What its text claims (where each could come from; not whether it is true)
  “All tests pass.”
    contradicted: its last run failed
    Bash sh test.sh
  “41,200 slugs” in --body
    only source: a file that an agent wrote: as it was
    Read MEMORY.md
  “Benchmarked.”
    no such run in this session
  “https://example.com/\x1b[2J\u202e”
    no source in this session
  “42 tests” in --body
    a result
    Bash sh test.sh · line 88 · zc-receipt-1796041665-h2H0pgD_DonXPxWJCK8fNgVHihGNFE3fr3-yBdyAL-c
    “42 tests, 0 failed”
  and 7 more, which were not looked at
`
	if !strings.Contains(b.String(), want) {
		t.Errorf("got:\n%s", b.String())
	}
	got := newTeller(Options{}).unshown(&a)
	if want := "unproven: 4 of 12 things that it claims: “All tests pass.”, contradicted: its last run failed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	a.Claims, a.MoreClaims = a.Claims[:1], 0
	if got, want := newTeller(Options{}).unshown(&a), "what it claims (1 thing) has a source in this session"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
