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
  “41,200 slugs” · --body
    only source: a file that an agent wrote: as it was
    Read MEMORY.md
  “All tests pass.”
    its last run failed
    Bash sh test.sh
  “Benchmarked.”
    no such run in this session
  “https://example.com/\x1b[2J\u202e”
    no source in this session
  “42 tests” · --body
    a result
    Bash sh test.sh · line 88 · zc-receipt-1796041665-h2H0pgD_DonXPxWJCK8fNgVHihGNFE3fr3-yBdyAL-c
    “42 tests, 0 failed”
  and 7 more, which were not looked at
`
	if !strings.Contains(b.String(), want) {
		t.Errorf("got:\n%s", b.String())
	}
	if got, want := claimsSummary(&a), "it claims 12 things; 4 of them nothing in this session shows"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
