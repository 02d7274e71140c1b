package claims

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/transcript"
)

// BenchmarkJudge judges twenty publications of a long session: two thousand
// results with ten thousand bytes each, and as many files that the agent wrote.
func BenchmarkJudge(b *testing.B) {
	var s session
	var out strings.Builder
	for i := range 200 {
		fmt.Fprintf(&out, "2026-11-30T10:%02d:00 request %d took %d.%d ms, status 200, 41%d bytes\n", i%60, i, i%90, i%10, i)
	}
	for i := range 2000 {
		s.bash(fmt.Sprintf("tail -n 200 log.%d", i), out.String())
		s.write(fmt.Sprintf("src/%d.go", i), strings.Repeat("x := 412 + 37\n", 50))
	}
	var calls []Call
	for i := range 20 {
		var body strings.Builder
		for k := range 30 {
			fmt.Fprintf(&body, "It makes %d slugs in %d.%d ms. All tests pass. ", 100+37*k+i, k, i%10)
		}
		input, _ := json.Marshal(map[string]string{"command": "gh pr create --title t --body '" + body.String() + "'"})
		calls = append(calls, Call{Input: input})
	}
	events := func(do func(transcript.Event)) error {
		for _, ev := range s.events {
			do(ev)
		}
		return nil
	}
	for b.Loop() {
		if _, err := Judge(calls, []Events{events}, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
