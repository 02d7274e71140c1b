package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-b23e517c/loop/audit"
	"github.com/seed-b23e517c/loop/receipt"
)

// A file is looked through piece by piece, and nothing is lost or doubled where
// one ends, whatever is broken there.
func TestReceiptsInALongFile(t *testing.T) {
	token := "zc-receipt-1774608600-1XtPXYvlaO_jajLo6iGoZzQ4oQdVlHqDYIJFbZDyXkE"
	for _, at := range []int{piece, piece + beyond} {
		for before := at - 80; before <= at+80; before += 7 {
			for name, cited := range map[string]string{"plain": token, "broken": token[:11] + "\n  " + token[11:], "dashes": strings.ReplaceAll(token, "-", "‑")} {
				text := "\n" + strings.Repeat("é", before/2-1) + " " + cited + "\n" + strings.Repeat("\n", piece) + token + " " + token
				found, more, err := inFile(t.Context(), iotest.HalfReader(strings.NewReader(text)))
				if err != nil || more != 0 || len(found) != 3 {
					t.Fatalf("%s at %d: %d found, %d more, %v", name, before, len(found), more, err)
				}
				last := 3 + piece + strings.Count(cited, "\n")
				if found[0].Text != cited || found[0].line != 2 || found[1].line != last || found[2].line != last || found[0].Strict != (name == "plain") {
					t.Fatalf("%s at %d: %q in line %d, then %d and %d; want %d", name, before, found[0].Text, found[0].line, found[1].line, found[2].line, last)
				}
			}
		}
	}
}

func TestReceiptsInAFileAreBounded(t *testing.T) {
	text := strings.Repeat("zc-receipt-1 ", maxJudged+5)
	if found, more, err := inFile(t.Context(), strings.NewReader(text)); err != nil || len(found) != maxJudged || more != 5 {
		t.Errorf("%d found, %d more, %v", len(found), more, err)
	}
	if found, _, err := inFile(t.Context(), strings.NewReader("")); err != nil || found != nil {
		t.Errorf("%v, %v", found, err)
	}
	broken := errors.New("broken")
	if _, _, err := inFile(t.Context(), io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := inFile(ctx, endless{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// An export says what is wrong with what it has printed.
func TestExportOfADamagedTrail(t *testing.T) {
	record, err := receipt.Record{Event: receipt.StoryOpen, Scope: "other/1-1"}.Next(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	trail := audit.Trail{Session: "s", Records: [][]byte{record}, PublicKey: receipt.Origin("s") + "+x"}
	if err := undamaged(trail, nil); err == nil || !strings.Contains(err.Error(), "record 0 is of another session") {
		t.Error(err)
	}
	trail.Session, trail.PublicKey = "other", receipt.Origin("other")+"+x"
	if err := undamaged(trail, nil); err != nil {
		t.Error(err)
	}
}

// endless is a device that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A text with receipts in it is as good an argument as a receipt.
func TestReceiptsInAnArgument(t *testing.T) {
	token := "zc-receipt-1774608600-1XtPXYvlaO_jajLo6iGoZzQ4oQdVlHqDYIJFbZDyXkE"
	a := &app{}
	for arg, want := range map[string]string{
		token: "true " + token, "[receipt: " + token + "]": "true " + token, "All 41 pass [receipt: " + token + "].": "true " + token,
		token + "/" + token: "true " + token + " true " + token, token + "x": "false " + token + "x", "zc-receipt-": "false zc-receipt-",
		strings.ReplaceAll(token, "-", "–"): "false " + strings.ReplaceAll(token, "-", "–"), "ZC-RECEIPT-x": "false ZC-RECEIPT-x",
		"nothing": "", "": "", "no/such/file": "",
	} {
		found, _, err := a.candidates(t.Context(), arg)
		var got []string
		for _, c := range found {
			got = append(got, fmt.Sprint(c.Strict, " ", c.Text))
		}
		if strings.Join(got, " ") != want || (err == nil) == (want == "") {
			t.Errorf("%q: %q, %v", arg, got, err)
		}
	}
}
