package receipt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestKeyIsNeverPrinted(t *testing.T) {
	k := hexKey(t, "")
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	log.Info("x", "key", k, "pointer", &k, "within", struct{ K Key }{k})
	asJSON, err := json.Marshal(map[string]any{"key": k, "pointer": &k})
	if err != nil {
		t.Fatal(err)
	}
	within := struct {
		Key  Key
		own  Key
		book *Book
	}{k, k, NewBook(k, V2)}
	printed := []string{logged.String(), string(asJSON), k.String(), fmt.Sprint(errors.New("x"), k)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		printed = append(printed, fmt.Sprintf(verb, k), fmt.Sprintf(verb, &k), fmt.Sprintf(verb, within), fmt.Sprintf(verb, within.book))
	}
	for _, s := range printed {
		if strings.Contains(s, "42 42") || strings.Contains(strings.ToLower(s), "2a2a") || strings.Contains(s, "****") ||
			strings.Contains(s, "0x2a, 0x2a") || strings.Contains(s, "KioqKio") {
			t.Errorf("printed the key: %s", s)
		}
	}
	if want := `{"key":"redacted","pointer":"redacted"}`; string(asJSON) != want {
		t.Errorf("JSON %s, want %s", asJSON, want)
	}
}

func TestClose(t *testing.T) {
	k := hexKey(t, "")
	c := Call{Tool: "Bash", Args: json.RawMessage(`{}`)}
	token, err := k.Mint(V2, c)
	if err != nil {
		t.Fatal(err)
	}
	v1, v2, copied := k.s().v1, k.s().v2, k
	k.Close()
	k.Close()
	if !bytes.Equal(v1, make([]byte, 32)) || !bytes.Equal(v2, make([]byte, 32)) {
		t.Error("the key is still there")
	}
	for _, closed := range []Key{k, copied, {}} {
		if _, err := closed.Mint(V2, c); !errors.Is(err, ErrClosed) {
			t.Errorf("Mint: %v", err)
		}
		if closed.Verify(V2, c, token) {
			t.Error("a closed key verified")
		}
	}
	Key{}.Close()
}

func TestNewKeyNeedsRandomness(t *testing.T) {
	if _, err := NewKey(strings.NewReader("too short")); err == nil {
		t.Error("made a key of 9 bytes")
	}
	a, err := NewKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(a.s().v1, b.s().v1) {
		t.Error("two keys are one")
	}
}

func TestMintRefuses(t *testing.T) {
	k := hexKey(t, "")
	for name, v := range map[string]struct {
		format Format
		call   Call
	}{
		"no arguments":           {V2, Call{Tool: "Bash"}},
		"broken arguments":       {V2, Call{Tool: "Bash", Args: json.RawMessage(`{"a":`)}},
		"unknown format":         {"v3", Call{Tool: "Bash", Args: json.RawMessage(`{}`)}},
		"v1, pipe in the name":   {ZCv1, Call{Tool: "a|b", Args: json.RawMessage(`{}`)}},
		"v1, no name":            {ZCv1, Call{Args: json.RawMessage(`{}`)}},
		"v1, accent in the name": {ZCv1, Call{Tool: "é", Args: json.RawMessage(`{}`)}},
		"v1, array":              {ZCv1, Call{Tool: "a", Args: json.RawMessage(`[]`)}},
		"v1, string":             {ZCv1, Call{Tool: "a", Args: json.RawMessage(`"{}"`)}},
	} {
		if token, err := k.Mint(v.format, v.call); err == nil {
			t.Errorf("%s: minted %s", name, token)
		}
		if k.Verify(v.format, v.call, Token{}) {
			t.Errorf("%s: verified the zero token", name)
		}
	}
}

// Every part of a call counts in v2; in zc-v1 scope, id and number do not.
func TestWhatIsBound(t *testing.T) {
	k := hexKey(t, "")
	call := Call{Scope: "s", ToolUseID: "t", Seq: 1, Tool: "Bash", Args: json.RawMessage(`{"a":1}`), Result: []byte("r"), Unix: 9}
	for name, v := range map[string]struct {
		change func(*Call)
		inV1   bool
	}{
		"scope":  {func(c *Call) { c.Scope = "S" }, false},
		"id":     {func(c *Call) { c.ToolUseID = "u" }, false},
		"number": {func(c *Call) { c.Seq = 2 }, false},
		"tool":   {func(c *Call) { c.Tool = "bash" }, true},
		"args":   {func(c *Call) { c.Args = json.RawMessage(`{"a":"1"}`) }, true},
		"result": {func(c *Call) { c.Result = []byte("r\n") }, true},
		"time":   {func(c *Call) { c.Unix = 10 }, true},
	} {
		other := call
		v.change(&other)
		for format, bound := range map[Format]bool{V2: true, ZCv1: v.inV1} {
			token, err := k.Mint(format, call)
			if err != nil {
				t.Fatal(err)
			}
			if k.Verify(format, other, token) == bound {
				t.Errorf("%s: %s is bound: %t", format, name, !bound)
			}
		}
	}
}

func TestFormatsDoNotMix(t *testing.T) {
	k := hexKey(t, "")
	c := Call{Tool: "Bash", Args: json.RawMessage(`{}`)}
	token, err := k.Mint(ZCv1, c)
	if err != nil {
		t.Fatal(err)
	}
	if k.Verify(V2, c, token) {
		t.Error("a token of zc-v1 verifies as v2")
	}
}

func TestParseFormat(t *testing.T) {
	for _, f := range []Format{V2, ZCv1} {
		if got, err := ParseFormat(string(f)); err != nil || got != f {
			t.Errorf("ParseFormat(%q) = %q, %v", f, got, err)
		}
	}
	for _, s := range []string{"", "V2", "v1"} {
		if got, err := ParseFormat(s); err == nil {
			t.Errorf("ParseFormat(%q) = %q", s, got)
		}
	}
}

func BenchmarkMint(b *testing.B) {
	k := hexKey(b, "")
	for name, size := range map[string]int{"1KiB": 1 << 10, "50KiB": 50 << 10, "1MiB": 1 << 20} {
		for _, f := range []Format{V2, ZCv1} {
			b.Run(string(f)+"/"+name, func(b *testing.B) {
				c := Call{
					Scope: "s", ToolUseID: "toolu_01A", Seq: 1, Tool: "Bash", Unix: 1774608600,
					Args: json.RawMessage(`{"description":"run tests","command":"go test ./..."}`), Result: bytes.Repeat([]byte("x"), size),
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := k.Mint(f, c); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
