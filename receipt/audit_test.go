package receipt

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"
)

func auditRecords(t *testing.T) [][]byte {
	t.Helper()
	var records [][]byte
	for _, r := range loadVectors(t).Audit.Records {
		records = append(records, []byte(r))
	}
	if len(records) != 5 {
		t.Fatalf("%d records, want 5", len(records))
	}
	return records
}

// Writing the vectors' records anew gives their bytes, their hashes and, at
// every size, their root.
func TestLogWritesTheVectors(t *testing.T) {
	a := loadVectors(t).Audit
	l := NewLog()
	for i := 0; ; i++ {
		tree, err := l.Tree()
		if err != nil {
			t.Fatal(err)
		}
		if want := a.Roots[strconv.Itoa(i)]; tree != (Tree{int64(i), want}) {
			t.Errorf("tree %+v, want root %s", tree, want)
		}
		if i == len(a.Records) {
			break
		}
		r, err := ParseRecord([]byte(a.Records[i]))
		if err != nil {
			t.Fatal(err)
		}
		r.V, r.Seq, r.Prev = 0, 99, "not looked at"
		got, err := l.Append(r, nil)
		if err != nil || string(got) != a.Records[i] {
			t.Errorf("record %d: %v\n got %s\nwant %s", i, err, got, a.Records[i])
		}
		if SumHex(got) != a.RecordSHA256[i] {
			t.Errorf("hash of record %d is %s", i, SumHex(got))
		}
		if leaf := sha256.Sum256(append([]byte{0}, got...)); hex.EncodeToString(leaf[:]) != a.LeafHash[i] {
			t.Errorf("leaf of record %d is %x", i, leaf)
		}
	}
}

func TestProofsOfTheVectors(t *testing.T) {
	a, records := loadVectors(t).Audit, auditRecords(t)
	l, err := Resume(records)
	if err != nil {
		t.Fatal(err)
	}
	root := a.Roots["5"]
	for i, record := range records {
		p, err := l.Prove(int64(i))
		if err != nil {
			t.Fatal(err)
		}
		want := Proof{Index: int64(i), Size: 5, Path: a.Proofs[strconv.Itoa(i)]}
		if diff := cmp.Diff(want, p); diff != "" {
			t.Errorf("proof %d:\n%s", i, diff)
		}
		if err := CheckProof(p, root, record); err != nil {
			t.Error(err)
		}
		checkBadProofs(t, p, root, record)
	}
	for _, i := range []int64{-1, 5} {
		if _, err := l.Prove(i); err == nil {
			t.Errorf("proof of record %d", i)
		}
	}
}

func checkBadProofs(t *testing.T, p Proof, root Hash, record []byte) {
	t.Helper()
	bad := map[string]error{}
	bad["another record"] = CheckProof(p, root, append([]byte(" "), record...))
	bad["another root"] = CheckProof(p, Hash{1}, record)
	moved := p
	moved.Index = (p.Index + 1) % 4
	bad["another place"] = CheckProof(moved, root, record)
	cut := p
	cut.Path = p.Path[1:]
	bad["a path cut short"] = CheckProof(cut, root, record)
	outside := p
	outside.Index = p.Size
	bad["a place outside"] = CheckProof(outside, root, record)
	for what, err := range bad {
		if err == nil {
			t.Errorf("proof %d holds for %s", p.Index, what)
		}
	}
}

func TestVerifyChainNamesTheFirstBadRecord(t *testing.T) {
	for name, c := range map[string]struct {
		change func([][]byte) [][]byte
		want   int // -1: nothing is wrong
	}{
		"as it was":  {func(r [][]byte) [][]byte { return r }, -1},
		"empty":      {func([][]byte) [][]byte { return nil }, -1},
		"cut at end": {func(r [][]byte) [][]byte { return r[:4] }, -1}, // only a root tells
		"one removed": {func(r [][]byte) [][]byte {
			return append(r[:2:2], r[3:]...)
		}, 2},
		"first removed": {func(r [][]byte) [][]byte { return r[1:] }, 0},
		"two swapped": {func(r [][]byte) [][]byte {
			r[1], r[2] = r[2], r[1]
			return r
		}, 1},
		"one changed": {func(r [][]byte) [][]byte {
			r[1] = bytes.Replace(r[1], []byte("Bash"), []byte("Read"), 1)
			return r
		}, 2},
		"one doubled": {func(r [][]byte) [][]byte {
			return append(append(r[:2:2], r[1]), r[2:]...)
		}, 2},
		"a space": {func(r [][]byte) [][]byte {
			r[3] = bytes.Replace(r[3], []byte(`"v":1`), []byte(`"v": 1`), 1)
			return r
		}, 3},
		"another field": {func(r [][]byte) [][]byte {
			r[3] = bytes.Replace(r[3], []byte(`"v":1`), []byte(`"v":1,"w":2`), 1)
			return r
		}, 3},
		"unknown event": {func(r [][]byte) [][]byte {
			r[4] = bytes.Replace(r[4], []byte("story_close"), []byte("story_klose"), 1)
			return r
		}, 4},
		"a later version": {func(r [][]byte) [][]byte {
			r[0] = bytes.Replace(r[0], []byte(`"v":1`), []byte(`"v":2`), 1)
			return r
		}, 0},
		"not JSON": {func(r [][]byte) [][]byte {
			r[2] = r[2][:len(r[2])-3]
			return r
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			err := VerifyChain(c.change(auditRecords(t)))
			var broken *ChainError
			if c.want < 0 {
				if err != nil {
					t.Error(err)
				}
			} else if !errors.As(err, &broken) || broken.Index != c.want {
				t.Errorf("error %v, want record %d", err, c.want)
			}
		})
	}
}

// A decision is appended by a later process, which has no key. What was
// signed before still stands for what was there.
func TestResumeAppends(t *testing.T) {
	records := auditRecords(t)
	signer, err := NewSigner("loop.local/s", nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := Resume(records)
	if err != nil {
		t.Fatal(err)
	}
	before, err := first.Tree()
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(before)
	if err != nil {
		t.Fatal(err)
	}
	later, err := Resume(records)
	if err != nil {
		t.Fatal(err)
	}
	record, err := later.Append(Record{Event: Approved, Tool: "Bash", ToolUseID: "toolu_01D", TS: 1774612200}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := VerifyChain(append(records, record)); err != nil {
		t.Error(err)
	}
	c, err := OpenCheckpoint(signed, signer.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	if then, err := later.TreeAt(c.Size); err != nil || then != c.Tree {
		t.Errorf("tree at %d is %+v, %v; signed was %+v", c.Size, then, err, c.Tree)
	}
	if _, err := later.TreeAt(7); err == nil {
		t.Error("a tree of more records than there are")
	}
	if _, err := Resume(records[1:]); err == nil {
		t.Error("resumed a log without its head")
	}
}

func TestAppendThatIsNotKeptChangesNothing(t *testing.T) {
	l := NewLog()
	full := errors.New("disk full")
	if _, err := l.Append(Record{Event: StoryOpen}, func([]byte) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	var kept []byte
	record, err := l.Append(Record{Event: StoryOpen}, func(r []byte) error {
		kept = bytes.Clone(r)
		return nil
	})
	if err != nil || !bytes.Equal(kept, record) || VerifyChain([][]byte{kept}) != nil {
		t.Errorf("kept %s, returned %s, %v", kept, record, err)
	}
}

func TestAppendRefuses(t *testing.T) {
	token, err := hexKey(t, "").Mint(V2, Call{Args: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Record{
		{},
		{Event: "story_begin"},
		{Event: CallFail, Receipt: token},
		{Event: CallOK, ArgsSHA256: "abc"},
		{Event: CallOK, ResultSHA256: strings.Repeat("A", 64)},
	} {
		if record, err := NewLog().Append(r, nil); err == nil {
			t.Errorf("wrote %s", record)
		}
	}
}

func TestHostileTextInARecord(t *testing.T) {
	r := Record{Event: CallOK, Tool: "a\x00\"\\\u2028<&>", ToolUseID: "x\xff\xed\xa0\x80", Scope: "日本 😀"}
	record, err := NewLog().Append(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseRecord(record)
	if err != nil {
		t.Fatalf("%v in %s", err, record)
	}
	if back.Tool != r.Tool || back.Scope != r.Scope || back.ToolUseID != "x\uFFFD" {
		t.Errorf("read back %+v", back)
	}
	if canonical, err := Canonical(record); err != nil || !bytes.Equal(canonical, record) {
		t.Errorf("canonical %s, %v, written %s", canonical, err, record)
	}
}

func TestUnclosed(t *testing.T) {
	l := NewLog()
	var records [][]byte
	for _, r := range []Record{
		{Event: StoryOpen, Scope: "a"},
		{Event: StoryOpen, Scope: "b"},
		{Event: StoryClose, Scope: "a"},
		{Event: StoryOpen, Scope: "c"},
		{Event: Approved, Scope: "a"},
	} {
		record, err := l.Append(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	if diff := cmp.Diff([]string{"b", "c"}, Unclosed(records)); diff != "" {
		t.Error(diff)
	}
}

func TestCheckpointOfTheVectors(t *testing.T) {
	a := loadVectors(t).Audit
	seed, err := hex.DecodeString(a.Seed)
	if err != nil {
		t.Fatal(err)
	}
	origin, _, _ := strings.Cut(a.Body, "\n")
	signer, err := NewSigner(origin, bytes.NewReader(seed))
	if err != nil {
		t.Fatal(err)
	}
	if public := hex.EncodeToString(ed25519.NewKeyFromSeed(seed)[32:]); public != a.Public {
		t.Errorf("public key %s, want %s", public, a.Public)
	}
	tree := Tree{5, a.Roots["5"]}
	signed, err := signer.Sign(tree)
	if err != nil {
		t.Fatal(err)
	}
	body, line, _ := strings.Cut(string(signed), "\n\n")
	if body+"\n" != a.Body {
		t.Errorf("body %q, want %q", body+"\n", a.Body)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(line[strings.LastIndex(line, " ")+1:]))
	if err != nil || hex.EncodeToString(raw[4:]) != a.Signature {
		t.Errorf("signature %x, %v, want %s", raw, err, a.Signature)
	}
	c, err := OpenCheckpoint(signed, signer.PublicKey())
	if err != nil || c != (Checkpoint{origin, tree}) {
		t.Errorf("opened %+v, %v", c, err)
	}
}

func TestCheckpointRefuses(t *testing.T) {
	signer, err := NewSigner("loop.local/s", nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(Tree{Size: 3})
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewSigner("loop.local/s", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCheckpoint(signed, other.PublicKey()); !errors.Is(err, ErrSignature) {
		t.Errorf("under another key: %v", err)
	}
	changed := bytes.Replace(signed, []byte("\n3\n"), []byte("\n2\n"), 1)
	if _, err := OpenCheckpoint(changed, signer.PublicKey()); !errors.Is(err, ErrSignature) {
		t.Errorf("changed: %v", err)
	}
	stranger, err := note.Sign(&note.Note{Text: Checkpoint{"loop.local/t", Tree{Size: 3}}.body()}, noteSigner{signer})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCheckpoint(stranger, signer.PublicKey()); !errors.Is(err, ErrSignature) {
		t.Errorf("of another log: %v", err)
	}
	root := base64.StdEncoding.EncodeToString(make([]byte, 32)) + "\n"
	for _, body := range []string{"loop.local/s\n03\n" + root, "loop.local/s\n+3\n" + root, "loop.local/s\n3\n" + root + root, "loop.local/s\n-1\n", "loop.local/s\n3\nAAAA\n", "loop.local/s\n3\n\nmore\n"} {
		odd, err := note.Sign(&note.Note{Text: body}, noteSigner{signer})
		if err != nil {
			t.Fatal(err)
		}
		if c, err := OpenCheckpoint(odd, signer.PublicKey()); err == nil {
			t.Errorf("read %q as %+v", body, c)
		}
	}
	if _, err := OpenCheckpoint(signed, "not a key"); err == nil {
		t.Error("opened with no key")
	}
	signer.Close()
	signer.Close()
	if _, err := signer.Sign(Tree{}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := OpenCheckpoint(signed, signer.PublicKey()); err != nil {
		t.Errorf("what was signed before Close: %v", err)
	}
	for _, origin := range []string{"", "a b", "a+b"} {
		if _, err := NewSigner(origin, nil); err == nil {
			t.Errorf("a key named %q", origin)
		}
	}
}

func TestSignerIsNeverPrinted(t *testing.T) {
	signer, err := NewSigner("loop.local/s", bytes.NewReader(bytes.Repeat([]byte{42}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	within := struct{ own *Signer }{signer}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if got := fmt.Sprintf(verb, signer); got != "redacted" {
			t.Errorf("%s prints %s", verb, got)
		}
		got := strings.ToLower(fmt.Sprintf(verb, within))
		if strings.Contains(got, "42 42") || strings.Contains(got, "2a2a") || strings.Contains(got, "****") {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}
