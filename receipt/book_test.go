package receipt

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func bash(scope, id string) Call {
	return Call{Scope: scope, ToolUseID: id, Tool: "Bash", Args: []byte(`{"command": "date"}`), Result: []byte("Mon"), Unix: 7}
}

func TestIssue(t *testing.T) {
	b := NewBook(hexKey(t, ""), V2)
	c := bash("s", "toolu_1")
	c.Seq = 99 // the book numbers
	e, err := b.Issue(c)
	if err != nil {
		t.Fatal(err)
	}
	if e.Seq != 1 || fmt.Sprintf("%x", e.ArgsSHA256) != SumHex([]byte(`{"command":"date"}`)) || fmt.Sprintf("%x", e.ResultSHA256) != SumHex([]byte("Mon")) {
		t.Errorf("entry %+v", e)
	}
	if !b.Verify(e, c) {
		t.Error("the entry does not verify")
	}
	c.Result = []byte("Tue")
	if b.Verify(e, c) {
		t.Error("the entry verifies with another result")
	}
	if _, err := b.Issue(c); !errors.Is(err, ErrIssued) {
		t.Errorf("a second receipt for the call: %v", err)
	}
	other, err := b.Issue(bash("t", "toolu_1"))
	if err != nil || other.Seq != 1 || other.Token == e.Token {
		t.Errorf("the same id in another attempt: %+v, %v", other, err)
	}
	if diff := cmp.Diff([]Entry{e}, b.Lookup(e.Token), cmp.Comparer(func(a, b Token) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if got := b.Lookup(Token{}); got != nil {
		t.Errorf("found %+v", got)
	}
	if _, err := b.Issue(bash("s", "")); err == nil {
		t.Error("a receipt for a call without an id")
	}
}

// A call that was refused leaves no gap and no entry.
func TestIssueThatFails(t *testing.T) {
	b := NewBook(hexKey(t, ""), ZCv1)
	c := bash("s", "toolu_1")
	c.Tool = "a|b"
	if _, err := b.Issue(c); err == nil {
		t.Fatal("issued")
	}
	e, err := b.Issue(bash("s", "toolu_1"))
	if err != nil || e.Seq != 1 {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestRevokeAndCover(t *testing.T) {
	b := NewBook(hexKey(t, ""), V2)
	for _, id := range []string{"a", "b", "c"} {
		if _, err := b.Issue(bash("s", id)); err != nil {
			t.Fatal(err)
		}
	}
	if !b.Revoke("s", "b", "contradicted") || !b.Revoke("s", "b", "again") || !b.Revoke("s", "c", "") {
		t.Error("nothing to revoke")
	}
	if b.Revoke("s", "x", "no such call") || b.Revoke("t", "b", "no such scope") {
		t.Error("revoked what was never issued")
	}
	if e, ok := b.Call("s", "b"); !ok || e.Revoked != "contradicted" {
		t.Errorf("entry %+v, %t", e, ok)
	}
	if e, _ := b.Call("s", "c"); e.Revoked == "" {
		t.Error("not revoked without a reason")
	}
	if _, err := b.Issue(bash("s", "b")); !errors.Is(err, ErrIssued) {
		t.Errorf("a new receipt after the revocation: %v", err)
	}
}

func TestBookFromManyGoroutines(t *testing.T) {
	b := NewBook(hexKey(t, ""), V2)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seqs := map[uint64]bool{}
	for i := range 50 {
		for range 2 { // of two reports for a call, one gets the receipt
			wg.Go(func() {
				e, err := b.Issue(bash("s", fmt.Sprint(i)))
				if err != nil {
					return
				}
				b.Lookup(e.Token)
				b.Revoke("s", e.ToolUseID, "x")
				mu.Lock()
				defer mu.Unlock()
				seqs[e.Seq] = true
			})
		}
	}
	wg.Wait()
	if len(seqs) != 50 || !seqs[1] || !seqs[50] {
		t.Errorf("%d numbers", len(seqs))
	}
}

func TestBookAfterClose(t *testing.T) {
	key := hexKey(t, "")
	b := NewBook(key, V2)
	e, err := b.Issue(bash("s", "a"))
	if err != nil {
		t.Fatal(err)
	}
	key.Close()
	if _, err := b.Issue(bash("s", "b")); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
	if got := b.Lookup(e.Token); len(got) != 1 || !bytes.Equal(got[0].ResultSHA256[:], e.ResultSHA256[:]) {
		t.Errorf("the table is gone with the key: %+v", got)
	}
}
