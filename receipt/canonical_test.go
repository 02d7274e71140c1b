package receipt

import (
	"encoding/json"
	"strings"
	"testing"
)

// Numbers and strings were checked against serde_json 1.0.87.
func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		" { \"b\" : 1 , \"a\" : [ ] }\r\n\t": `{"a":[],"b":1}`,
		`{"a":1,"b":2,"a":3}`:                `{"a":3,"b":2}`,
		`{"a":{"z":1},"a":2}`:                `{"a":2}`,
		`{"a":1,"\u0061":2}`:                 `{"a":2}`,
		`{"":1,"a\u0000":2,"a":3}`:           `{"":1,"a":3,"a\u0000":2}`,
		`"\/\u00e9\ud83d\ude00"`:             `"/é😀"`,
		`"\u001F\u007f\u2028"`:               "\"\\u001f\x7f\u2028\"",
		`"\ud83d"`:                           `"\ud83d"`,
		`"\uD83D\uD83D\uDE00\uDE00"`:         `"\ud83d😀\ude00"`,
		`"\ude00\ud83d"`:                     `"\ude00\ud83d"`,
		`{"\ud83d":1,"\uffff":2,"퟿":3}`:      "{\"퟿\":3,\"\\ud83d\":1,\"\uffff\":2}",
		`-0`:                                 `-0.0`,
		`0`:                                  `0`,
		`-9223372036854775809`:               `-9.223372036854776e18`,
		`18446744073709551616`:               `1.8446744073709552e19`,
		`123456789012345.6`:                  `123456789012345.6`,
		`0.00001234`:                         `0.00001234`,
		`0.000001`:                           `1e-6`,
		`1E+2`:                               `100.0`,
		`12.50`:                              `12.5`,
		`1e-400`:                             `0.0`,
		`-1e-99999999999`:                    `-0.0`,
		`0e99999999999`:                      `0.0`,
	} {
		got, err := Canonical(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("Canonical(%q) = %s, %v, want %s", in, got, err, want)
		}
	}
}

// serde_json reads numbers of many digits a step off the nearest float64, and
// ZeroClaw signs what it read.
func TestFloatsOfZeroClaw(t *testing.T) {
	for in, want := range map[string][2]string{
		`1.5`:                      {`1.5`, `1.5`},
		`8.69864022836007e73`:      {`8.69864022836007e73`, `8.698640228360069e73`},
		`9007199254740993.0`:       {`9007199254740992.0`, `9007199254740994.0`},
		`1.234567890123456789e-7`:  {`1.2345678901234568e-7`, `1.2345678901234566e-7`},
		`100000000000015000000e00`: {`1.00000000000015e20`, `1.0000000000001499e20`},
	} {
		exact, err := Canonical(json.RawMessage(in))
		if err != nil || string(exact) != want[0] {
			t.Errorf("Canonical(%s) = %s, %v, want %s", in, exact, err, want[0])
		}
		serde, err := canonicalZC(json.RawMessage(in))
		if err != nil || string(serde) != want[1] {
			t.Errorf("in zc-v1 %s is %s, %v, want %s", in, serde, err, want[1])
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, in := range []string{
		"", " ", "{", "[1", `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1,}`, "[1,]", "[1 2]", "1 2", "nul", "nulll", "True", "'a'",
		`"a`, "\"a\nb\"", `"\x"`, `"\u12g4"`, `"\u123`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc0\x80\"", "\xef\xbb\xbf1",
		"01", "-", "+1", "1.", ".1", "1e", "1e+", "-01", "1e309", "1e99999999999", "0x1", "NaN",
		strings.Repeat("[", 128) + strings.Repeat("]", 128), strings.Repeat(`{"a":`, 1<<20),
	} {
		if got, err := Canonical(json.RawMessage(in)); err == nil {
			t.Errorf("Canonical(%.60q) = %s", in, got)
		}
	}
	deep := strings.Repeat("[", 127) + strings.Repeat("]", 127)
	if got, err := Canonical(json.RawMessage(deep)); err != nil || string(got) != deep {
		t.Errorf("127 levels: %v", err)
	}
}
