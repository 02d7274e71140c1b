package term

import (
	"regexp"
	"strings"
	"testing"
)

const (
	issued = "zc-receipt-1774608600-1XtPXYvlaO_jajLo6iGoZzQ4oQdVlHqDYIJFbZDyXkE"
	forged = "zc-receipt-1774608600-9XtPXYvlaO_jajLo6iGoZzQ4oQdVlHqDYIJFbZDyXkE"
)

// knows finds one receipt, as whoever has a table does.
func knows(token string) Masker {
	return Masker{Known: func(text string) (spans [][2]int) {
		for at := 0; ; {
			i := strings.Index(text[at:], token)
			if i < 0 {
				return spans
			}
			at += i + len(token)
			// A digest that goes on is another one.
			if rest := text[at:]; rest == "" || !strings.ContainsAny(rest[:1], "abcdefghijklmnopqrstuvwxyzS0123456789=+") {
				spans = append(spans, [2]int{at - len(token), at})
			}
		}
	}}
}

// Our own receipts are shown; what only looks like one hides nothing.
func TestMaskReceipts(t *testing.T) {
	m := knows(issued)
	for _, tt := range []struct{ name, in, want string }{
		{"issued", "see " + issued + ".", "see " + issued + "."},
		{"issued as a trailer", "x\n\n[receipt: " + issued + "]", "x\n\n[receipt: " + issued + "]"},
		{"issued twice, joined", issued + "/" + issued, issued + "/" + issued},
		{"issued, as the value of a secret's name", "receipt_token: " + issued, "receipt_token: " + issued},
		{"issued, as an assignment", "TOKEN=" + issued, "TOKEN=" + issued},
		{"issued, in emphasis", "_" + issued + "_", "_" + issued + "_"},
		{"forged", "see " + forged + ".", "see zc-receipt-1774608600-9XtP…."},
		{"forged beside issued", issued + " " + forged, issued + " zc-receipt-1774608600-9XtP…"},
		{"forged joined to issued", issued + "/" + forged, issued + "/zc-…"},
		{"a secret", "zc-receipt-1-SECRETSECRET", "zc-receipt-1-SECR…"},
		{"a short secret", "zc-receipt-1-SECRET", "zc-receipt-1-S…"},
		{"a secret of the other alphabet", "zc-receipt-1-ab+cd/ef==", "zc-receipt-1-ab+c…"},
		{"a secret without seconds", "zc-receipt-SECRETSECRETSECRETSECRET", "zc-receipt-SECR…"},
		{"a secret as seconds", "zc-receipt-4111111111111111", "zc-receipt-4111…"},
		{"a secret as long seconds", "zc-receipt-4111111111111111-x", "zc-receipt-4111…"},
		{"a secret in capitals", "ZC-RECEIPT-1-SECRETSECRET", "ZC-RECEIPT-1-SECR…"},
		{"a secret behind an issued one", issued + "SECRETSECRET", "zc-receipt-1774608600-1XtP…"},
		{"a secret joined to an issued one", issued + "/SECRETSECRET", issued + "/SEC…"},
		{"a secret that begins with an issued one", "PASSWORD=" + issued + "!hunter2hunter2", "PASSWORD=zc-r…"},
		{"a known shape in a receipt's", "zc-receipt-1-ghp_0123456789abcdefghij", "zc-receipt-1-ghp_…"},
		{"words", "the zc-receipt-format, zc-receipt-SECONDS-DIGEST", "the zc-receipt-format, zc-receipt-SECONDS-DIGEST"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := m.Mask(tt.in); got != tt.want {
				t.Errorf("%q\nwant %q", got, tt.want)
			}
			if got := m.Mask(m.Mask(tt.in)); got != tt.want {
				t.Errorf("twice: %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Who has no table shows none.
func TestMaskReceiptsWithoutTable(t *testing.T) {
	want := "zc-receipt-1774608600-1XtP…"
	if got := Mask(issued); got != want {
		t.Errorf("%q", got)
	}
	if got := (Masker{}).MaskField("receipt", issued); got != want {
		t.Errorf("%q", got)
	}
	if got := knows(issued).MaskField("token", issued); got != issued {
		t.Errorf("%q", got)
	}
	if got := (Masker{}).MaskField("token", issued); got != want {
		t.Errorf("%q", got)
	}
	if got := (Masker{}).MaskField("token", "zc-receipt-hunter2"); got != "zc-r…" {
		t.Errorf("%q", got)
	}
	if got := knows(issued).MaskField("token", issued+"!hunter2"); got != "zc-r…" {
		t.Errorf("%q", got)
	}
}

// What is left of a receipt that nobody knows is too little to hold a secret;
// one that is known stands as it was.
func FuzzMaskReceipts(f *testing.F) {
	for _, s := range []string{"1-SECRETSECRET", "-1-x", "17746086001-abcdefghi", "/" + issued, issued[11:], "SECRETSECRETSECRETSECRET", "1-ab…cdefgh", "é1-x", "0000-="} {
		f.Add("a ", s, " b")
	}
	left := regexp.MustCompile(`(?i)zc-receipt-(?:[0-9]{1,11}-)?[a-z0-9+/=_-]*`)
	f.Fuzz(func(t *testing.T, before, s, after string) {
		text := before + receiptPrefix + s + after
		got := Mask(text)
		for _, l := range left.FindAllString(got, -1) {
			rest := regexp.MustCompile(`(?i)^zc-receipt-(?:[0-9]{1,11}-)?`).ReplaceAllString(l, "")
			if len(rest) >= 20 && strings.Trim(rest, "_-/") != "" {
				t.Errorf("%q: %q is left of %q", got, l, text)
			}
		}
		if again := Mask(got); again != got {
			t.Errorf("%q, then %q", got, again)
		}
		known := knows(issued)
		if got := known.Mask(issued + " " + text); !strings.HasPrefix(got, issued+" ") {
			t.Errorf("%q", got)
		}
	})
}
