package audit

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/receipt"
)

// proofVersion is the form of a written proof.
const proofVersion = 1

// Proof shows, without the trail, that a record stands in it: the record, the
// way from it to a root, and the signed state with that root.
type Proof struct {
	Schema     int           `json:"schema"`
	Receipt    receipt.Token `json:"receipt"`
	Record     string        `json:"record"` // byte for byte
	Inclusion  receipt.Proof `json:"inclusion"`
	Checkpoint string        `json:"checkpoint"` // as it was signed
	PublicKey  string        `json:"public_key"`
}

// ErrUnsigned is what a record gets that no signed state covers.
var ErrUnsigned = errors.New("no signed state covers the record yet")

// Prove makes the proof of a record under the largest signed state.
func Prove(t Trail, r *Result, record int) (Proof, error) {
	if int64(record) >= r.Signed.Size {
		return Proof{}, fmt.Errorf("prove record %d: %w", record, ErrUnsigned)
	}
	rec, err := receipt.ParseRecord(t.Records[record])
	if err != nil {
		return Proof{}, fmt.Errorf("prove record %d: %w", record, err)
	}
	if r.signed == nil {
		if r.signed, err = receipt.Resume(t.Records[:r.Signed.Size]); err != nil {
			return Proof{}, fmt.Errorf("prove record %d: %w", record, err)
		}
	}
	inclusion, err := r.signed.Prove(int64(record))
	if err != nil {
		return Proof{}, err
	}
	p := Proof{
		Schema: proofVersion, Receipt: rec.Receipt, Record: string(t.Records[record]),
		Inclusion: inclusion, PublicKey: t.PublicKey,
	}
	for i, s := range r.States {
		if s.Problem == "" && s.Tree == r.Signed {
			p.Checkpoint = string(t.Checkpoints[i])
		}
	}
	return p, nil
}

// ErrRevoked is told of a receipt that was issued and withdrawn. Its proof holds:
// it shows that the receipt was issued.
var ErrRevoked = errors.New("the receipt was withdrawn later")

// ProveReceipt makes the proof of a receipt's record. A damaged trail proves
// nothing from its first bad record on. With ErrRevoked there is a proof.
func ProveReceipt(t Trail, token receipt.Token) (Proof, error) {
	r := Check(t, Ask{})
	for _, c := range Calls(t.Records) {
		if c.Receipt == token {
			if c.Record >= r.whole {
				return Proof{}, fmt.Errorf("prove record %d: the trail is damaged: %s", c.Record, r.Problems[0].Text)
			}
			p, err := Prove(t, &r, c.Record)
			if err == nil && c.Revoked {
				err = ErrRevoked
			}
			return p, err
		}
	}
	return Proof{}, fmt.Errorf("receipt %q has no record in the trail of session %s", token, t.Session)
}

// Check verifies a proof: the signature, the way to the root, and that the
// record is the receipt's. It gives the record and the state that it stands in.
func (p Proof) Check() (receipt.Record, receipt.Checkpoint, error) {
	c, err := receipt.OpenCheckpoint([]byte(p.Checkpoint), p.PublicKey)
	if err != nil {
		return receipt.Record{}, c, err
	}
	rec, err := receipt.ParseRecord([]byte(p.Record))
	if err != nil {
		return rec, c, err
	}
	switch {
	case p.Inclusion.Size != c.Size:
		return rec, c, fmt.Errorf("the way is through %d records, the signed state has %d: %w", p.Inclusion.Size, c.Size, receipt.ErrProof)
	case rec.Receipt != p.Receipt:
		return rec, c, fmt.Errorf("the record is of another receipt, %q: %w", rec.Receipt, receipt.ErrProof)
	case rec.Seq != uint64(p.Inclusion.Index):
		return rec, c, fmt.Errorf("the record is number %d, the proof is for number %d: %w", rec.Seq, p.Inclusion.Index, receipt.ErrProof)
	}
	return rec, c, receipt.CheckProof(p.Inclusion, c.Root, []byte(p.Record))
}

const proofHead = "loop audit proof "

// Text is a proof for people, and for ReadProof: a line for each part, then
// the signed state as it is.
func (p Proof) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%d\n", proofHead, p.Schema)
	fmt.Fprintf(&b, "receipt %s\n", p.Receipt)
	// Names of tools are strangers' texts, which a terminal may act on.
	if isASCII(p.Record) {
		fmt.Fprintf(&b, "record %s\n", p.Record)
	} else {
		fmt.Fprintf(&b, "record64 %s\n", base64.StdEncoding.EncodeToString([]byte(p.Record)))
	}
	fmt.Fprintf(&b, "index %d\nsize %d\n", p.Inclusion.Index, p.Inclusion.Size)
	for _, h := range p.Inclusion.Path {
		fmt.Fprintf(&b, "hash %s\n", h)
	}
	fmt.Fprintf(&b, "key %s\n\n%s", p.PublicKey, p.Checkpoint)
	return b.String()
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// maxProof is more than a proof can have.
const maxProof = 1 << 20

// ReadProof reads a proof in either form: Text, or JSON.
func ReadProof(r io.Reader) (Proof, error) {
	all, err := io.ReadAll(io.LimitReader(r, maxProof+1))
	switch {
	case err != nil:
		return Proof{}, fmt.Errorf("read a proof: %w", err)
	case len(all) > maxProof:
		return Proof{}, fmt.Errorf("read a proof: longer than %d bytes", maxProof)
	}
	p := Proof{Inclusion: receipt.Proof{Path: []receipt.Hash{}}}
	if bytes.HasPrefix(bytes.TrimSpace(all), []byte("{")) {
		err = strict(all, &p)
	} else {
		err = p.parse(string(all))
	}
	if err == nil && p.Schema != proofVersion {
		err = fmt.Errorf("form %d is not known to this version of loop (it reads %d)", p.Schema, proofVersion)
	}
	if err != nil {
		return Proof{}, fmt.Errorf("read a proof: %w", err)
	}
	return p, nil
}

func (p *Proof) parse(text string) error {
	parts, signed, ok := strings.Cut(text, "\n\n")
	if !ok || !strings.HasPrefix(parts, proofHead) {
		return errors.New("neither JSON nor what `loop audit prove` prints")
	}
	p.Checkpoint = signed
	lines := bufio.NewScanner(strings.NewReader(parts))
	lines.Buffer(nil, maxProof)
	for n := 1; lines.Scan(); n++ {
		if err := p.part(strings.TrimPrefix(lines.Text(), "loop audit ")); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

func (p *Proof) part(line string) (err error) {
	name, value, _ := strings.Cut(line, " ")
	switch name {
	case "proof":
		p.Schema, err = strconv.Atoi(value)
	case "receipt":
		err = p.Receipt.UnmarshalText([]byte(value))
	case "record":
		p.Record = value
	case "record64":
		var record []byte
		record, err = base64.StdEncoding.DecodeString(value)
		p.Record = string(record)
	case "index":
		p.Inclusion.Index, err = strconv.ParseInt(value, 10, 64)
	case "size":
		p.Inclusion.Size, err = strconv.ParseInt(value, 10, 64)
	case "hash":
		var h receipt.Hash
		err = h.UnmarshalText([]byte(value))
		p.Inclusion.Path = append(p.Inclusion.Path, h)
	case "key":
		p.PublicKey = value
	default:
		err = fmt.Errorf("%q is no part of a proof", name)
	}
	return err
}
