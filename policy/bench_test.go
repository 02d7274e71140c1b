package policy

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkBuiltin is what a hook process pays before it can look at a call.
func BenchmarkBuiltin(b *testing.B) {
	for b.Loop() {
		if _, err := Builtin(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstCall is what it pays for one call, set-up included.
func BenchmarkFirstCall(b *testing.B) {
	for _, c := range []string{"git push", "go test ./...", "echo 'then git push'", "python3 -c 'print(1)'"} {
		b.Run(strings.Fields(c)[0], func(b *testing.B) {
			for b.Loop() {
				s, err := Builtin()
				if err != nil {
					b.Fatal(err)
				}
				s.ClassifyCommand(c, "")
			}
		})
	}
}

func BenchmarkClassifyCorpus(b *testing.B) {
	s := builtin(b)
	rows := readCorpus(b)
	calls := make([]Call, len(rows))
	for i, r := range rows {
		calls[i] = r.call()
	}
	b.ResetTimer()
	n := 0
	for b.Loop() {
		for _, c := range calls {
			s.Classify(c)
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/call")
}

// BenchmarkClassifyEach is the time of one call: the median of the corpus and
// its slowest row, each the fastest of several tries, so that what else the
// machine does is left out.
func BenchmarkClassifyEach(b *testing.B) {
	s := builtin(b)
	rows := readCorpus(b)
	best := make([]time.Duration, len(rows))
	for b.Loop() {
		for i, r := range rows {
			c := r.call()
			start := time.Now()
			s.Classify(c)
			if d := time.Since(start); best[i] == 0 || d < best[i] {
				best[i] = d
			}
		}
	}
	worst := slices.Index(best, slices.Max(best))
	b.Logf("slowest: %v for %s %.200s", best[worst], rows[worst].ID, rows[worst].call().Input)
	b.ReportMetric(float64(best[worst].Nanoseconds()), "ns/worst")
	slices.Sort(best)
	b.ReportMetric(float64(best[len(best)/2].Nanoseconds()), "ns/median")
}

func BenchmarkFindMentions(b *testing.B) {
	s := builtin(b)
	text := mentionText(b)
	s.FindMentions(text, func(Mention) bool { return true })
	b.SetBytes(int64(len(text)))
	b.ResetTimer()
	for b.Loop() {
		s.FindMentions(text, func(Mention) bool { return true })
	}
}

// BenchmarkMayMention is the look at text that holds nothing, as JSON has it.
func BenchmarkMayMention(b *testing.B) {
	s := builtin(b)
	text := bytes.Repeat([]byte(`		if err := s.close(ctx, \"report\"); err != nil {\n	return fmt.Errorf(\"parse %s: %w\", err)\n`), 1<<14)
	if s.MayMention(text) {
		b.Fatal("the text holds something")
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.MayMention(text)
	}
}

// BenchmarkAutomaton is what the first look at much text costs.
func BenchmarkAutomaton(b *testing.B) {
	x := builtin(b).phraseSet()
	b.ReportAllocs()
	for b.Loop() {
		newAutomaton(x)
	}
}

// BenchmarkShortText is the look at a short text, word by word.
func BenchmarkShortText(b *testing.B) {
	x := builtin(b).phraseSet()
	text := mentionText(b)[:16<<10]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		x.scan(text, func(Mention) bool { return true })
	}
}

// mentionText is a megabyte of what transcripts hold: code, prose and
// commands.
func mentionText(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	for _, f := range []string{"args.go", "code.go", "testdata/commands.jsonl", "rule.go"} {
		data, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		b.Write(data)
	}
	return bytes.Repeat(b.Bytes(), 1+(1<<20)/b.Len())
}
