package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/receipt"
)

func sameTokens(a, b receipt.Token) bool { return a == b }

func TestProof(t *testing.T) {
	n := newNight(t)
	tokens := n.story("a")
	a := n.open("b")
	odd := n.call(a, "odd", "mcp__\u202eevil\u009b__x")
	n.close(a)
	for _, token := range append(tokens, odd) {
		p, err := ProveReceipt(n.trail(), token)
		if err != nil {
			t.Fatal(err)
		}
		asJSON, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{p.Text(), string(asJSON)} {
			got, err := ReadProof(strings.NewReader(form))
			if diff := cmp.Diff(p, got, cmp.Comparer(sameTokens)); diff != "" || err != nil {
				t.Fatalf("%v (-made +read)\n%s", err, diff)
			}
			rec, c, err := got.Check()
			if err != nil || rec.Receipt != token || c.Size != 7 {
				t.Errorf("%v: %+v %+v", err, rec, c)
			}
		}
		// A terminal shows the text as it is.
		if i := strings.IndexFunc(p.Text(), func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') && r != '—' }); i >= 0 {
			t.Errorf("%q", p.Text()[i:])
		}
	}
}

func TestProofThatDoesNotHold(t *testing.T) {
	n, other := newNight(t), newNight(t)
	tokens := n.story("a")
	n.story("b")
	other.story("a")
	good, err := ProveReceipt(n.trail(), tokens[0])
	if err != nil {
		t.Fatal(err)
	}
	second, err := ProveReceipt(n.trail(), tokens[1])
	if err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func(*Proof){
		"another record":          func(p *Proof) { p.Record = second.Record },
		"another receipt":         func(p *Proof) { p.Receipt = tokens[1] },
		"a changed record":        func(p *Proof) { p.Record = strings.Replace(p.Record, "Bash", "Read", 1) },
		"another place":           func(p *Proof) { p.Inclusion.Index++ },
		"a place outside":         func(p *Proof) { p.Inclusion.Index = -1 },
		"another size":            func(p *Proof) { p.Inclusion.Size-- },
		"another way":             func(p *Proof) { p.Inclusion.Path = second.Inclusion.Path },
		"no way":                  func(p *Proof) { p.Inclusion.Path = nil },
		"a state of another log":  func(p *Proof) { p.Checkpoint = string(other.trail().Checkpoints[0]) },
		"the key of another":      func(p *Proof) { p.PublicKey = other.session.AuditKey },
		"a state of another size": func(p *Proof) { p.Checkpoint = string(n.trail().Checkpoints[0]) },
	} {
		p := good
		do(&p)
		if _, _, err := p.Check(); err == nil {
			t.Errorf("%s: it holds", name)
		}
	}
	if _, err := ProveReceipt(other.trail(), tokens[0]); err == nil {
		t.Error("a receipt of another session was proved")
	}
}

func TestProveNeedsASignedState(t *testing.T) {
	n := newNight(t)
	tokens := n.story("a")
	token := n.call(n.open("b"), "x", "Bash")
	if _, err := ProveReceipt(n.trail(), token); !errors.Is(err, ErrUnsigned) {
		t.Error(err)
	}
	damaged := n.trail()
	damaged.Records[1] = bytes.Replace(damaged.Records[1], []byte(`"Bash"`), []byte(`"Read"`), 1)
	if _, err := ProveReceipt(damaged, tokens[1]); err == nil || !strings.Contains(err.Error(), "record 1 was changed") {
		t.Error(err)
	}
}

func TestReadProofRefuses(t *testing.T) {
	for _, text := range []string{
		"", "{", `{"schema":1,"more":2}`, `{"schema":2}`, "loop audit proof 1\n", "loop audit proof x\n\n", "loop audit proof 1\nindex\n\n",
		"loop audit proof 1\nhash 12\n\n", "loop audit proof 1\nreceipt zc-receipt-1\n\n", "loop audit proof 1\nsomething else\n\n",
		"loop audit proof 1\nrecord64 !\n\n", strings.Repeat("x", maxProof+1),
	} {
		if p, err := ReadProof(strings.NewReader(text)); err == nil {
			t.Errorf("%.40q was read as %+v", text, p)
		}
	}
}

func TestExport(t *testing.T) {
	n := newNight(t)
	n.story("a")
	a := n.open("\u202eb <&> ")
	n.close(a)
	trail := n.trail()
	var b bytes.Buffer
	if err := trail.Write(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(b.Bytes(), append(bytes.Join(trail.Records, []byte("\n")), '\n')) {
		t.Errorf("the records are not byte for byte:\n%s", b.String())
	}
	got, err := Read(&b)
	if diff := cmp.Diff(trail, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	trail.Records = append(trail.Records, []byte("{}\n{}"))
	if err := trail.Write(&b); err == nil {
		t.Error("a record of two lines was exported")
	}
}

func TestReadRefuses(t *testing.T) {
	head := `{"trail":1,"session":"s","public_key":"k"}` + "\n"
	for _, text := range []string{
		"", "{}\n", strings.Replace(head, ":1", ":2", 1), strings.Replace(head, "}", `,"x":1}`, 1), head + "{}x\n", head + `{"checkpoint":1}`,
		head + `{"checkpoint":"a"} {"checkpoint":"b"}`, head + head,
	} {
		if got, err := Read(strings.NewReader(text)); !errors.Is(err, ErrNoTrail) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// A file that was cut off says where, and one whose lines were ended in another
// way is as it was.
func TestReadOfAFileThatTravelled(t *testing.T) {
	n := newNight(t)
	n.story("a")
	var b bytes.Buffer
	if err := n.trail().Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r\n"))))
	if diff := cmp.Diff(n.trail(), got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	lines := bytes.SplitAfter(b.Bytes(), []byte("\n"))
	for want, cut := range map[string][]byte{
		"it ends after record 2, ":               bytes.Join(lines[:3], nil),
		"it ends in the record after record 1, ": append(bytes.Join(lines[:2], nil), lines[2][:40]...),
	} {
		if _, err := Read(bytes.NewReader(cut)); !errors.Is(err, ErrNoTrail) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// The proof of a receipt that was withdrawn says only that it was issued.
func TestProofOfAWithdrawnReceipt(t *testing.T) {
	n := newNight(t)
	a := n.open("a")
	token := n.call(a, "x", "Bash")
	n.add(receipt.Record{Event: receipt.CallRevoked, Scope: a.Scope(), ToolUseID: "x"})
	n.close(a)
	p, err := ProveReceipt(n.trail(), token)
	if !errors.Is(err, ErrRevoked) {
		t.Fatal(err)
	}
	if _, _, err := p.Check(); err != nil {
		t.Error(err)
	}
}
