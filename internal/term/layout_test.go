package term

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTruncate(t *testing.T) {
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"hello", 5, "hello"},
		{"hello", 4, "hel…"},
		{"hello", 1, "…"},
		{"hello", 0, ""},
		{"世界世界", 8, "世界世界"},
		{"世界世界", 7, "世界世…"},
		{"世界世界", 6, "世界…"},
		{"cafe\u0301s", 4, "caf…"},
		{"cafe\u0301s", 5, "cafe\u0301s"},
	}
	for _, tt := range tests {
		got := Truncate(tt.in, tt.n)
		if got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
		if Cells(got) > tt.n {
			t.Errorf("Truncate(%q, %d) takes %d cells", tt.in, tt.n, Cells(got))
		}
	}
}

func TestTruncateMiddleKeepsBothEnds(t *testing.T) {
	in := "git add -A && git commit -m 'a long message about nothing' && git push"
	got := TruncateMiddle(in, 40)
	if Cells(got) != 40 || !strings.HasPrefix(got, "git add -A && git c") || !strings.HasSuffix(got, "&& git push") {
		t.Errorf("got %q, %d cells", got, Cells(got))
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		in   string
		n    int
		want []string
	}{
		{"", 10, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"a abcdefghij b", 4, []string{"a", "abcd", "efgh", "ij b"}},
		{"世界 世界", 5, []string{"世界", "世界"}},
		{"世", 1, []string{"世"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Wrap(tt.in, tt.n)); diff != "" {
			t.Errorf("Wrap(%q, %d): %s", tt.in, tt.n, diff)
		}
	}
}

func FuzzLayout(f *testing.F) {
	f.Add("hello world", 5)
	f.Add("世界\u0301 a", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 || n > 1000 {
			t.Skip()
		}
		q := Quote(s)
		for _, got := range []string{Truncate(q, n), TruncateMiddle(q, n)} {
			if Cells(got) > n {
				t.Errorf("%q cut to %d is %q, %d cells", q, n, got, Cells(got))
			}
		}
		if head, rest := Split(q, n); head+rest != q {
			t.Errorf("Split(%q, %d) = %q, %q", q, n, head, rest)
		}
		words := strings.ReplaceAll(q, " ", "")
		if got := strings.ReplaceAll(strings.Join(Wrap(q, max(n, 1)), ""), " ", ""); got != words {
			t.Errorf("Wrap(%q, %d) lost text: %q", q, n, got)
		}
	})
}
