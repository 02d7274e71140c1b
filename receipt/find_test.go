package receipt

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Strict candidates are shown with a plus, others with a minus.
func TestFind(t *testing.T) {
	other := "zc-receipt-5-" + strings.Repeat("A", 43)
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"none":                  {"a zebra, a Zoo, zc-receipt, zc-receipts- and zc_receipt-1-x", nil},
		"alone":                 {sample, []string{"+" + sample}},
		"in a sentence":         {"See (" + sample + "), it passes.", []string{"+" + sample}},
		"in a trailer":          {"x\n\n[receipt: " + sample + "]", []string{"+" + sample}},
		"in JSON":               {`{"m":"ok\n\n[receipt: ` + sample + `]\n"}`, []string{"+" + sample}},
		"escaped break after":   {`"` + sample + `\nnext"`, []string{"+" + sample}},
		"in emphasis":           {"_" + sample + "_ **" + sample + "** __" + sample + "__", []string{"+" + sample, "+" + sample, "+" + sample}},
		"before a dash":         {sample + "--which is right", []string{"+" + sample}},
		"joined by a slash":     {sample + "/" + other, []string{"+" + sample, "+" + other}},
		"joined by nothing":     {sample + other, []string{"+" + sample, "+" + other}},
		"one more character":    {sample + "x", []string{"-" + sample + "x"}},
		"padded":                {sample + "=", []string{"-" + sample + "="}},
		"upper case":            {"ZC-Receipt-1-abc", []string{"-ZC-Receipt-1-abc"}},
		"wrapped":               {sample[:40] + "\n" + sample[40:], []string{"-" + sample[:40]}},
		"seconds only":          {"zc-receipt-1711547700", []string{"-zc-receipt-1711547700"}},
		"a word":                {"the zc-receipt-format and zc-receipt-<ts>-<digest>", nil},
		"long without a number": {"zc-receipt-" + strings.Repeat("x", 50), []string{"-zc-receipt-" + strings.Repeat("x", 50)}},
		"prefix in a prefix":    {"zc-receipt-zc-receipt-1-a", []string{"-zc-receipt-1-a"}},
		"after other letters":   {"xyzzc-receipt-1-a é" + sample, []string{"-zc-receipt-1-a", "+" + sample}},
		"at the very end":       {"zz zc-receipt-", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range Find(c.text) {
				mark := "-"
				if f.Strict {
					mark = "+"
				}
				got = append(got, mark+f.Text)
				if f.Text != c.text[f.Start:f.End] {
					t.Errorf("%q is not at %d to %d", f.Text, f.Start, f.End)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a reader takes for a receipt is found, and is none.
func TestFindDisguised(t *testing.T) {
	dashes := func(d string) string { return strings.ReplaceAll(sample, "-", d) }
	seconds := func(zero rune) string {
		return "zc-receipt-" + strings.Map(func(r rune) rune { return zero + r - '0' }, sample[11:21]) + sample[21:]
	}
	parts := func(mark string) string {
		return "zc" + mark + "receipt" + mark + sample[11:21] + mark + sample[22:]
	}
	wide := strings.Map(func(r rune) rune { return r + 0xFEE0 }, sample)
	for name, text := range map[string]string{
		"full-width digits": seconds('０'), "Arabic digits": seconds('٠'), "mathematical digits": seconds('𝟎'), "full width": wide,
		"hyphens": dashes("\u2010"), "non-breaking hyphens": dashes("\u2011"), "en dashes": dashes("–"), "minus signs": dashes("−"),
		"soft hyphens within": "zc-rec\u00adeipt" + sample[10:], "zero width in the prefix": "z\u200bc" + sample[2:], "a word joiner": "zc-\u2060receipt" + sample[10:],
		"a direction mark": "zc\u202e" + sample[2:], "Cyrillic": strings.Replace(sample, "receipt", "rесеiрt", 1), "small capitals": "ᴢᴄ-ʀᴇᴄᴇɪᴘᴛ" + sample[10:],
		"mathematical letters": "𝐳𝐜-𝗿𝗲𝗰𝗲𝗶𝗽𝘁" + sample[10:],
		"HTML":                 dashes("&#45;"), "HTML, hex": dashes("&#x2D;"), "HTML, named": dashes("&hyphen;"), "HTML, a letter": "&#122;" + sample[1:],
		"a URL": dashes("%2D"), "a URL in lower case": dashes("%2d"), "JSON": dashes(`\u002d`), "a string of C": dashes(`\x2d`), "Markdown": dashes(`\-`),
		"Markdown, one": strings.Replace(sample, "_", `\_`, 1), "empty quotes": "zc-''receipt" + sample[10:], "more empty quotes": `zc-receipt-""` + sample[11:],
		"a continued line": "zc-\\\nreceipt" + sample[10:], "broken after a hyphen": "zc-\nreceipt" + sample[10:], "broken and indented": "zc-receipt-\r\n    " + sample[11:],
		"a URL in a URL": dashes("%252D"), "quoted-printable": dashes("=2D"), "octal": dashes(`\055`), "octal, letters": `\172\143` + sample[2:],
		"a tag": "zc-receipt</b>-" + sample[11:], "a break": sample[:25] + "<br>" + sample[25:], "emphasis within": "zc-receipt-**" + sample[11:],
		"spaces": parts(" "), "underscores": parts("_"), "spaced hyphens": parts(" - "), "mixed marks": "zc_receipt: " + sample[11:21] + "." + sample[22:], "spaced dashes": parts(" – "),
		"base64": base64.RawStdEncoding.EncodeToString([]byte(sample)), "hex": hex.EncodeToString([]byte(sample)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(sample))),
		"colour": "zc-\x1b[1mreceipt" + sample[10:], "a control character": "zc-\x00receipt" + sample[10:],
	} {
		t.Run(name, func(t *testing.T) {
			if text == sample {
				t.Fatal("it is not disguised")
			}
			whole := "é Passed (" + text + ")."
			got := Find(whole)
			if len(got) != 1 || got[0].Strict || !got[0].Disguised || got[0].Text != text || got[0].Text != whole[got[0].Start:got[0].End] {
				t.Errorf("%+v\nin %q", got, whole)
			}
			// A receipt in form beside it stays one.
			got = Find(sample + "\u200b, " + text + " " + sample)
			if len(got) != 3 || !got[0].Strict || got[1].Strict || !got[2].Strict {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A receipt stands anywhere in what was encoded, and behind a mark that turns it
// round for the reader.
func TestFindEncodedAndTurned(t *testing.T) {
	for _, before := range []string{"", "a", "ab", "abc", "Passed ["} {
		for name, text := range map[string]string{
			"base64": base64.StdEncoding.EncodeToString([]byte(before + sample + "]\n")),
			"hex":    hex.EncodeToString([]byte(before + sample)),
		} {
			if got := Find("see " + text + "."); len(got) != 1 || !got[0].Disguised || got[0].Strict {
				t.Errorf("%s after %q: %+v", name, before, got)
			}
		}
	}
	runes := []rune(sample)
	slices.Reverse(runes)
	for _, text := range []string{"see \u202e" + string(runes), "see \u202e" + string(runes) + "\u202c, it passes", "\u202e.]" + string(runes) + "[\nnext"} {
		if got := Find(text); len(got) != 1 || !got[0].Disguised || got[0].Strict || got[0].Text != text[got[0].Start:got[0].End] {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// The form of a receipt, explained, is none.
func TestFindPattern(t *testing.T) {
	for _, text := range []string{
		"zc-receipt-1234567890-...", "zc-receipt-1774608600-…", "zc-receipt-1234567890-<digest>", "zc-receipt-1234567890-{mac}", "é zc-receipt-1234567890-<digest> <br>", "zc-receipt-**1234567890**-<b>…</b>", "zc-receipt-1234567890-[A-Za-z0-9_-]{43}",
		"zc receipt 5 of 12", "zc_receipt_count_123456789", "zc_receipt_1234567890_short", "z c", "zc",
	} {
		if got := Find(text); len(got) != 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for _, text := range []string{"zc-receipt-1774608600-", "zc-receipt-1774608600- ok", "zc-receipt-1774608600-1XtP…", "zc-receipt-1774608600..."} {
		if got := Find(text); len(got) != 1 || got[0].Strict {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// Other text in other scripts and escapes has no receipt in it.
func TestFindNoDisguise(t *testing.T) {
	for _, text := range []string{
		"Все тесты прошли – 41 из 41.", "領収書 zc-領収書-1", "zc–receipt–format", `{"a":"","b":"-\n"}`, "100%25", "a &amp; b &#45; c", "zc-\nreceipt", "recei\u00adpt-1",
	} {
		if got := Find(text); len(got) != 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
	// What is not seen behind a receipt does not make it another one.
	for _, after := range []string{"\u200b", "\u200bx", "\ufe0f", "\u00ad1", `""x`, "&#45;x", "\u2013x"} {
		if got := Find(sample + after); len(got) != 1 || got[0].Text != sample || !got[0].Strict {
			t.Errorf("%q: %+v", after, got)
		}
	}
}

// Hostile text costs no more than its length: each byte is in one candidate at
// most, and looked at in it.
func TestFindOnManyPrefixes(t *testing.T) {
	const n = 20000
	if got := len(Find(strings.Repeat(prefix+"1", n))); got != n {
		t.Errorf("found %d, want %d", got, n)
	}
	if got := len(Find(strings.Repeat("zZ", n))); got != 0 {
		t.Errorf("found %d in z", got)
	}
}

func BenchmarkFindInAnotherScript(b *testing.B) {
	text := strings.Repeat("Быстрая лисица, 敏捷的棕色狐狸, zc.\n", 20000) + sample
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if len(Find(text)) != 1 {
			b.Fatal("not found")
		}
	}
}

func BenchmarkFindBesideOtherScript(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, says zc.\n", 20000) + "é " + sample
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if len(Find(text)) != 1 {
			b.Fatal("not found")
		}
	}
}

func BenchmarkFind(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, says zc.\n", 20000) + sample
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if len(Find(text)) != 1 {
			b.Fatal("not found")
		}
	}
}
