package receipt

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func FuzzTokenRoundTrip(f *testing.F) {
	for _, v := range []string{sample, "zc-receipt-0-", "zc-receipt-+1-" + strings.Repeat("A", 43), sample + "\n", ""} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, s string) {
		token, err := ParseToken(s)
		if err != nil {
			return
		}
		if token.String() != s {
			t.Errorf("%q is parsed and shown as %q", s, token)
		}
	})
}

// Candidates stand where they say, in order, apart, and a plain receipt is
// among them whatever stands round it.
func FuzzFindWithin(f *testing.F) {
	f.Add("", " ")
	f.Add("zc-\nreceipt-", "\u200b1")
	f.Add("zc&#45;receipt%2d1", `\u002d""''`+"\x1b[")
	f.Fuzz(func(t *testing.T, before, after string) {
		text := before + " " + sample + " " + after
		at, whole := 0, false
		for _, c := range Find(text) {
			if c.Start < at || c.End <= c.Start || c.End > len(text) || c.Text != text[c.Start:c.End] {
				t.Fatalf("%+v after %d in %q", c, at, text)
			}
			if _, err := ParseToken(c.Text); (err == nil) != c.Strict {
				t.Errorf("strict: %t, but %v of %q", c.Strict, err, c.Text)
			}
			at, whole = c.End, whole || c.Strict && c.Text == sample
		}
		if !whole {
			t.Errorf("%q was not found in %q", sample, text)
		}
	})
}

// Two calls that differ have two MAC inputs in v2, and in zc-v1 where it signs
// at all and they differ in what it signs.
func FuzzDifferentCallsDiffer(f *testing.F) {
	f.Add("s", "t", uint64(1), "a|{}", `{}`, []byte("x"), int64(5), "s", "t", uint64(1), "a", `{}`, []byte("{}|x"), int64(5))
	f.Add("s", "t1", uint64(1), "Bash", `{"a":1}`, []byte("x"), int64(5), "st", "1", uint64(1), "Bash", `{"a":1}`, []byte("x"), int64(5))
	f.Add("s", "t", uint64(1), "Bash", `{"x":1}`, []byte("23"), int64(4), "s", "t", uint64(1), "Bash", `{"x":1}`, []byte("2"), int64(34))
	f.Add("s", "t", uint64(1), "Bash", `{}`, []byte(""), int64(0), "s", "t", uint64(1), "Bash", `{}`, []byte("(no output)"), int64(-1))
	f.Fuzz(func(t *testing.T,
		scope1, id1 string, seq1 uint64, tool1, args1 string, result1 []byte, unix1 int64,
		scope2, id2 string, seq2 uint64, tool2, args2 string, result2 []byte, unix2 int64,
	) {
		a := Call{scope1, id1, seq1, tool1, json.RawMessage(args1), result1, unix1}
		b := Call{scope2, id2, seq2, tool2, json.RawMessage(args2), result2, unix2}
		same := func(read func(json.RawMessage) ([]byte, error), result func([]byte) []byte) bool {
			argsA, _ := read(a.Args)
			argsB, _ := read(b.Args)
			return tool1 == tool2 && a.unix() == b.unix() && bytes.Equal(argsA, argsB) && bytes.Equal(result(result1), result(result2))
		}
		sameV1 := same(canonicalZC, shownV1)
		sameV2 := scope1 == scope2 && id1 == id2 && seq1 == seq2 && same(Canonical, func(r []byte) []byte { return r })
		for format, same := range map[Format]bool{V2: sameV2, ZCv1: sameV1} {
			inA, errA := format.input(a)
			inB, errB := format.input(b)
			if errA != nil || errB != nil {
				continue
			}
			if bytes.Equal(bytes.Join(inA, nil), bytes.Join(inB, nil)) != same {
				t.Errorf("%s: the calls are the same: %t\n%+v\n%+v", format, same, a, b)
			}
		}
	})
}

func shownV1(result []byte) []byte {
	if len(result) == 0 {
		return []byte(noOutput)
	}
	return result
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		`{"b":[1,-0,1e21,0.1],"a":{"\ud83d":"\u0000"}}`, `{"a":1,"a":2}`, `"é😀\/"`, ` null `, "[[[]]]", `18446744073709551616.5e-3`, `100000000000015000000e00`, "\"\xed\xa0\x80\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := Canonical(raw)
		if err != nil {
			return
		}
		if !json.Valid(raw) || !json.Valid(once) {
			t.Errorf("%q gives %q; is that JSON: %t and %t", raw, once, json.Valid(raw), json.Valid(once))
		}
		if twice, err := Canonical(once); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%q gives %q and that %q, %v", raw, once, twice, err)
		}
	})
}

func FuzzFind(f *testing.F) {
	f.Add("All 42 tests pass [receipt: " + sample + "], and ZC-RECEIPT-1-x.")
	f.Add(sample + "/" + sample + "--" + sample[:30])
	f.Add("- a\n\n> `zc-receipt-+1-` é\n1. " + sample)
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, c := range Find(text) {
			if c.Start < end || c.End <= c.Start || c.Text != text[c.Start:c.End] {
				t.Fatalf("candidate %+v after %d", c, end)
			}
			end = c.End
			if token, err := ParseToken(c.Text); c.Strict != (err == nil) || token != c.Token {
				t.Errorf("candidate %+v: %v", c, err)
			}
			// Nothing an agent writes round a receipt may stop a Judge.
			Judge{}.Rule(Sighting{Candidate: c, In: text, Arrived: true})
			misfit(sentence(text, c), Source{Tool: "Bash", Input: text, Result: text})
		}
	})
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"args_sha256":"","event":"story_open","prev":"","receipt":"","result_sha256":"","scope":"","seq":0,"tool":"","tool_use_id":"","ts":0,"v":1}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := ParseRecord(line)
		if err != nil {
			return
		}
		if canonical, err := Canonical(line); err != nil || !bytes.Equal(canonical, r.Encode()) {
			t.Errorf("%q is taken as a record, its canonical form is %q, %v", line, canonical, err)
		}
	})
}
