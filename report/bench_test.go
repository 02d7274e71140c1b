package report

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

func tenThousand() queue.Snapshot {
	d := badNight()
	d.Actions = nil
	commands := []string{
		"git push origin feature/%d", "curl -X POST https://api.example.com/v1/orders/%d -d '{\"a\":1}'",
		"npm publish --tag night-%d", "cd services/api && git add -A && git commit -m 'step %d of the plan for tonight' && git push -u origin HEAD",
	}
	for i := range 10_000 {
		e := []policy.Evidence{policy.Blocked, policy.Blocked, policy.Written, policy.Executed}[i%4]
		d.Actions = append(d.Actions, action(uint64(i+1), fmt.Sprint(i%25), fmt.Sprintf(commands[i%4], i), e, "git-push", "Sends commits to a remote, where others build on them."))
	}
	return d
}

func BenchmarkTerminal10000(b *testing.B) {
	d, o := tenThousand(), options(80, true)
	for b.Loop() {
		if err := Terminal(io.Discard, d, o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSON10000(b *testing.B) {
	d := tenThousand()
	for b.Loop() {
		if err := JSON(io.Discard, d, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList10000(b *testing.B) {
	d, o := tenThousand(), options(120, true)
	for b.Loop() {
		if err := List(io.Discard, d.Actions, o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHugeTexts is a night in which every text is a hundred kilobytes.
func BenchmarkHugeTexts(b *testing.B) {
	d := nightOf(strings.Repeat("git push \x1b[31m世界 TOKEN=abcdef0123456789 ", 2_500))
	o := options(80, true)
	o.All = true
	for b.Loop() {
		if err := Terminal(io.Discard, d, o); err != nil {
			b.Fatal(err)
		}
	}
}
