package claims

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNumbersOfAText(t *testing.T) {
	tests := map[string][]string{
		"makes 41,200 slugs per second":                        {"41,200 slugs per second"},
		"it is 3.2x faster, at 12ms":                           {"3.2x faster", "12ms"},
		"98.5% of 1200 cases":                                  {"98.5% of 1200 cases", "1200 cases"},
		"costs $1,299.50 a month":                              {"$1,299.50 a month"},
		"41k requests, 1.5M rows":                              {"41k requests", "1.5M rows"},
		"v1.2.3, 1.2.3, go1.26 and a3 are names":               nil,
		"commit 8c2bb52, #12, PR-7, @2fa, sha256:ab12":         nil,
		"on 2026-11-30 at 12:08:20":                            nil,
		"in 2026, since 2024":                                  nil,
		"2024 tests passed":                                    {"2024 tests passed"},
		"1. first\n2) second\n- 3 tests":                       {"3 tests"},
		"the 3rd and 21st":                                     nil,
		"between 3-5 ms":                                       {"3-5 ms", "5 ms"},
		"192.168.0.1:8080 and localhost:3000/x":                {"3000/x"},
		"1\u202f000\u202f000 rows":                             {"1\u202f000\u202f000 rows"},
		"-5 degrees, minus 7 degrees":                          {"5 degrees", "7 degrees"},
		"latency=41 p99:120ms":                                 {"41 p99:120ms", "120ms"},
		"a 2048-bit key":                                       {"2048-bit key"},
		"0.003s":                                               {"0.003s"},
		strings.Repeat("9", 400) + " is too large for a float": nil,
	}
	for text, want := range tests {
		var got []string
		for _, n := range numbers(text) {
			got = append(got, phrase(text, n))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestWhatANumberSays(t *testing.T) {
	tests := []struct {
		claimed, source string
		want            likeness
	}{
		{"41,200", "41200", equals}, {"41.2k", "41200", equals}, {"41.2k", "41,249", rounds}, {"41.2k", "41,251", unlike},
		{"98.5%", "98.46%", rounds}, {"98.5%", "98.4%", unlike}, {"98%", "98.4%", rounds}, {"98%", "98.6%", unlike}, {"12ms", "12 ms", equals},
		{"12ms", "12s", unlike}, {"12ms", "12", bare}, {"1.20", "1.2", equals}, {"3", "3", equals}, {"3", "3.4", unlike}, {"12", "12.4", unlike},
		{"0.30000000000000004", "0.3", equals}, {"$5", "€5", unlike}, {"5 percent", "5%", equals}, {"86%", "0.86", equals}, {"0.86", "86 %", equals}, {"86%", "86", bare},
		{"3200 ms", "3.2s", equals}, {"2 minutes", "120s", equals}, {"63 s", "1m3.2s", rounds}, {"4 KB", "4096 bytes", equals}, {"4 KB", "4000 bytes", equals}, {"4 KiB", "4000 bytes", unlike},
		{"1.5M", "1,500,000", equals}, {"about 3 s", "3.18 s", rounds}, {"3 s", "3.18 s", unlike}, {"about 41,000", "41200", rounds}, {"41,000", "41200", unlike},
	}
	for _, tt := range tests {
		c, s := numbers(tt.claimed), numbers(tt.source)
		if len(c) != 1 || len(s) != 1 {
			t.Fatalf("%q %q: %v %v", tt.claimed, tt.source, c, s)
		}
		if got := c[0].says(s[0]); got != tt.want {
			t.Errorf("%q from %q: %v, want %v", tt.claimed, tt.source, got, tt.want)
		}
	}
}

func FuzzNumbers(f *testing.F) {
	for _, s := range []string{"41,200 x", "1.2.3", "-5%", "€1’000", "3×", "1_000e9", "\u202f1", "9.", "1-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		for _, n := range numbers(s) {
			if n.start < end || n.end <= n.start || n.end > len(s) {
				t.Fatalf("%q: %+v after %d", s, n, end)
			}
			end = n.end
			_ = phrase(s, n)
			_ = claimed(s, "key_ms", n)
			_ = printed(s, n)
		}
	})
}
