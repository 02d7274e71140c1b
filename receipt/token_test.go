package receipt

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

const sample = "zc-receipt-1711547700-o-VeWF6HDZEymxexr5E8vjz_SSpj0-2oImTkQeDgeBY"

func TestParseToken(t *testing.T) {
	digest := strings.Repeat("A", 43)
	for _, s := range []string{
		sample, "zc-receipt-0-" + digest, "zc-receipt-18446744073709551615-" + digest,
		"zc-receipt-7-" + strings.Repeat("-", 42) + "8",
	} {
		token, err := ParseToken(s)
		if err != nil || token.String() != s {
			t.Errorf("ParseToken(%q) = %q, %v", s, token, err)
		}
	}
	for _, s := range []string{
		"", "zc-receipt-", "zc-receipt--" + digest, "zc-receipt-00-" + digest, "zc-receipt--1-" + digest,
		"zc-receipt-18446744073709551616-" + digest, "zc-receipt-99999999999999999999-" + digest,
		"zc-receipt-1-" + digest + "A", "zc-receipt-1-" + digest[1:] + "\n", " " + sample, sample + "\n", sample + " ",
		"zc-receipt-１-" + digest, "zc-receipt-1-" + digest[:42] + "B",
	} {
		if token, err := ParseToken(s); !errors.Is(err, ErrMalformed) || !token.IsZero() {
			t.Errorf("ParseToken(%q) = %q, %v", s, token, err)
		}
	}
}

func TestTokenAsText(t *testing.T) {
	type within struct{ A, B Token }
	token, err := ParseToken(sample)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(within{A: token})
	if want := `{"A":"` + sample + `","B":""}`; err != nil || string(raw) != want {
		t.Errorf("%s, %v, want %s", raw, err, want)
	}
	var back within
	if err := json.Unmarshal(raw, &back); err != nil || back.A != token || !back.B.IsZero() {
		t.Errorf("%+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"A":"zc-receipt-1"}`), &back); !errors.Is(err, ErrMalformed) {
		t.Errorf("error %v", err)
	}
}
