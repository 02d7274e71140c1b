package receipt

import (
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

func BenchmarkFind(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog, says zc.\n", 20000) + sample
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if len(Find(text)) != 1 {
			b.Fatal("not found")
		}
	}
}
