package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-b23e517c/loop/receipt"
)

// fileVersion is the form of an exported trail.
const fileVersion = 1

// head is the line between the records and the signed states of an exported
// trail. Records have no key "trail", and so cannot be taken for it.
type head struct {
	Trail     int    `json:"trail"`
	Session   string `json:"session"`
	PublicKey string `json:"public_key"`
}

type signedLine struct {
	Checkpoint string `json:"checkpoint"`
}

// Write exports a trail as JSON lines: the records byte for byte, a line with
// the session and the public key, then the signed states.
func (t Trail) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i, r := range t.Records {
		if len(r) == 0 || bytes.ContainsAny(r, "\r\n") || bytes.HasPrefix(r, []byte(`{"trail":`)) {
			return fmt.Errorf("export the audit trail: record %d is no record, and cannot be a line of the export", i)
		}
		b.Write(r)
		b.WriteByte('\n')
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(head{fileVersion, t.Session, t.PublicKey}); err != nil {
		return fmt.Errorf("export the audit trail: %w", err)
	}
	for _, c := range t.Checkpoints {
		if err := enc.Encode(signedLine{string(c)}); err != nil {
			return fmt.Errorf("export the audit trail: %w", err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("export the audit trail: %w", err)
	}
	return nil
}

// The bounds of what is read of a file: a trail has half a kilobyte a call. Of
// lines that are no records, because somebody changed them, there are few.
const (
	maxFile    = 1 << 30
	maxLine    = 1 << 20
	maxUnknown = 1000
)

// ErrNoTrail is what a file gets that is no exported trail.
var ErrNoTrail = errors.New("no exported audit trail")

// Read takes an exported trail. Records stay as they are, whatever they are:
// Check says what is wrong with them.
func Read(r io.Reader) (Trail, error) {
	lines, err := fileLines(r)
	if err != nil {
		return Trail{}, err
	}
	var t Trail
	var h *head
	for n, line := range lines {
		switch {
		case h == nil && isHead(line):
			h = new(head)
			if err := strict(line, h); err != nil {
				return Trail{}, fmt.Errorf("line %d: %w: %w", n+1, ErrNoTrail, err)
			}
			t.Session, t.PublicKey = h.Session, h.PublicKey
		case h == nil:
			t.Records = append(t.Records, line)
		default:
			var s signedLine
			if err := strict(line, &s); err != nil {
				return Trail{}, fmt.Errorf("line %d: after the records come signed states: %w: %w", n+1, ErrNoTrail, err)
			}
			t.Checkpoints = append(t.Checkpoints, []byte(s.Checkpoint))
		}
	}
	switch {
	case h == nil:
		return Trail{}, cutOff(t.Records)
	case h.Trail != fileVersion:
		return Trail{}, fmt.Errorf("%w: form %d is not known to this version of loop (it reads %d)", ErrNoTrail, h.Trail, fileVersion)
	}
	return t, nil
}

func isHead(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"trail":`)) }

// fileLines splits a file, and gives up where it can be no trail. One that was
// sent through a program that ends lines in another way is read as it was: no
// record has such an end.
func fileLines(r io.Reader) (lines [][]byte, err error) {
	b := bufio.NewReaderSize(r, 64<<10)
	size, unknown, returns, headed := 0, 0, 0, false
	for {
		line, err := fileLine(b)
		size += len(line) + 1
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			if returns == len(lines) {
				for i := range lines {
					lines[i] = bytes.TrimSuffix(lines[i], []byte("\r"))
				}
			}
			return lines, nil
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("read an audit trail: line %d: %w", len(lines)+1, err)
		case size > maxFile:
			return nil, fmt.Errorf("read an audit trail: longer than %d bytes", maxFile)
		}
		headed = headed || isHead(line)
		if !headed && !bytes.HasPrefix(line, []byte(`{"args_sha256":`)) { // the first field of a record
			if unknown++; unknown > maxUnknown {
				return nil, fmt.Errorf("%w: %d lines in it are no records", ErrNoTrail, unknown)
			}
		}
		if bytes.HasSuffix(line, []byte("\r")) {
			returns++
		}
		lines = append(lines, line)
	}
}

// fileLine gives the next line without its end; io.EOF comes with the last one or
// after it.
func fileLine(b *bufio.Reader) (line []byte, err error) {
	for {
		part, err := b.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("%w: longer than a record can be", ErrNoTrail)
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return bytes.TrimSuffix(line, []byte("\n")), err
		}
	}
}

// cutOff says what a file without the line of the public key is.
func cutOff(lines [][]byte) error {
	whole := 0
	for whole < len(lines) {
		if _, err := receipt.ParseRecord(lines[whole]); err != nil {
			break
		}
		whole++
	}
	if whole == 0 {
		return fmt.Errorf("%w: the line with the public key is missing", ErrNoTrail)
	}
	end := "after"
	if whole < len(lines) {
		end = "in the record after"
	}
	return fmt.Errorf("%w: it ends %s record %d, and the public key and the signed states are missing: the file was cut off", ErrNoTrail, end, whole-1)
}

func strict(line []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind the value")
	}
	return nil
}
