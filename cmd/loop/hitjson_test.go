package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/scanner"
)

// A long input is written round the encoder, and what is read back is the same.
func TestEncodeHit(t *testing.T) {
	long := `{"command":"git push <x> ` + strings.Repeat(`a\n`, policy.MaxInput/3+1) + `",` + "\n\t" + `"n":1}`
	for _, input := range []string{`{"command":"git push"}`, long} {
		want := scanner.Hit{File: "f", Line: 1, Tool: "Bash", Command: `"input":null`, Input: json.RawMessage(input), Rules: []string{"git-push"}, Evidence: policy.Executed}
		var out bytes.Buffer
		if err := encodeHit(&out, want); err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(out.Bytes(), []byte("\n")); lines != 1 || !bytes.HasSuffix(out.Bytes(), []byte("}\n")) {
			t.Errorf("%d lines", lines)
		}
		var got scanner.Hit
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(got.Input, []byte("\n")) {
			t.Error("a line end in the input")
		}
		want.Input, got.Input = compact(t, want.Input), compact(t, got.Input)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("hit (-want +got):\n%.1000s", diff)
		}
	}
}

func compact(t *testing.T, js json.RawMessage) json.RawMessage {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, js); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
