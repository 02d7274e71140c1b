package term

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestQuote(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "git push origin main", "git push origin main"},
		{"empty", "", ""},
		{"escape sequence", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"title and clipboard", "\x1b]0;x\a\x1b]52;c;eA==\a", `\x1b]0;x\x07\x1b]52;c;eA==\x07`},
		{"carriage return", "git push\rgit diff", `git push\rgit diff`},
		{"newline and tab", "a\n\tb", `a\n\tb`},
		{"backspace and delete", "a\bb\x7f", `a\x08b\x7f`},
		{"eight-bit CSI", "a\u009b31m", `a\u009b31m`},
		{"invalid UTF-8", "a\xff\xc3(", `a\xff\xc3(`},
		{"right-to-left override", "abc\u202egpj.exe", `abc\u202egpj.exe`},
		{"isolates", "\u2066a\u2069", `\u2066a\u2069`},
		{"implicit marks", "a\u200e\u200f\u061c", `a\u200e\u200f\u061c`},
		{"zero width", "pu\u200bsh\u200c\u200d\u2060", `pu\u200bsh\u200c\u200d\u2060`},
		{"byte order mark", "\ufeffx", `\ufeffx`},
		{"soft hyphen", "pu\u00adsh", `pu\u00adsh`},
		{"odd spaces", "a\u00a0b\u2003c\u3000d", `a\u00a0b\u2003c\u3000d`},
		{"line separators", "a\u2028b\u2029c\u0085", `a\u2028b\u2029c\u0085`},
		{"fillers", "a\u3164b\u115fc\u2800", `a\u3164b\u115fc\u2800`},
		{"tag characters", "a\U000e0041", `a\U000e0041`},
		{"variation selectors", "a\ufe0f\U000e0100", `a\ufe0f\U000e0100`},
		{"private use", "\ue000", `\ue000`},
		{"international", "Grüße, 世界, мир, שלום, नमस्ते, สวัสดี, café", "Grüße, 世界, мир, שלום, नमस्ते, สวัสดี, café"},
		{"decomposed", "cafe\u0301", "cafe\u0301"},
		{"mark first", "\u0338abc", `\u0338abc`},
		{"mark after a space", "a \u0338b", `a \u0338b`},
		{"mark after an escape", "\x01\u0338", `\x01\u0338`},
		{"stacked marks", "a" + strings.Repeat("\u0301", 6), "a" + strings.Repeat("\u0301", 4) + `\u0301\u0301`},
		{"backslash stays", `printf '\x1b'`, `printf '\x1b'`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Quote(tt.in); got != tt.want {
				t.Errorf("Quote(%q)\n got %s\nwant %s", tt.in, got, tt.want)
			}
		})
	}
}

func TestQuoteLinesKeepsOnlyNewlines(t *testing.T) {
	got := QuoteLines("ok\tpkg\t0.1s\r\n\x1b[2J--- FAIL\n")
	want := "ok    pkg    0.1s\\r\n\\x1b[2J--- FAIL\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEveryRuneIsVisibleAfterQuote(t *testing.T) {
	const batch = 1 << 12
	for from := rune(0); from <= unicode.MaxRune; from += batch {
		if plane := from >> 16; plane > 3 && plane != 14 && from&0xffff != 0 {
			continue // nothing is assigned there but private use: one batch of a plane is enough
		}
		var b strings.Builder
		for r := from; r < from+batch; r++ {
			b.WriteByte('a')
			b.WriteRune(r)
		}
		if bad := firstHidden(Quote(b.String())); bad >= 0 {
			t.Errorf("Quote lets %U through", bad)
		}
	}
}

// firstHidden is the first rune that no quoted text may hold, -1 without one.
// It asks Unicode's own properties and not Visible.
func firstHidden(s string) rune {
	if !utf8.ValidString(s) {
		return utf8.RuneError
	}
	for _, r := range s {
		switch {
		case r >= 0x20 && r < 0x7f:
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Bidi_Control, r),
			unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r),
			unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r):
			return r
		}
	}
	return -1
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "git push", "\x1b[31m", "a\u202eb", "\xff\xfe", "e\u0301", "a\tb\r\n", "раураl"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, q := range []string{Quote(s), Line(s), Command(s)} {
			if r := firstHidden(q); r >= 0 {
				t.Errorf("%q became %q with %U", s, q, r)
			}
			if again := Quote(q); again != q {
				t.Errorf("not stable: %q, then %q", q, again)
			}
		}
		for l := range strings.SplitSeq(QuoteLines(s), "\n") {
			if r := firstHidden(l); r >= 0 {
				t.Errorf("QuoteLines(%q) has %U", s, r)
			}
		}
	})
}

func BenchmarkQuotePlain(b *testing.B) {
	for b.Loop() {
		Command("git add -A && git commit -m 'add the login form' && git push origin main")
	}
}
