package main

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/scanner"
)

// encodeHit writes a hit as one line of JSON. The input of a long call goes
// out as it stands in the transcript: the encoder would hold it three times.
func encodeHit(w io.Writer, h scanner.Hit) error {
	input := h.Input
	if len(input) <= policy.MaxInput || !json.Valid(input) {
		return json.NewEncoder(w).Encode(h)
	}
	h.Input = json.RawMessage("null")
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	before, after, _ := bytes.Cut(line, []byte(`"input":null`)) // in a string the quotes would be escaped
	parts := [][]byte{before, []byte(`"input":`)}
	for line := range bytes.Lines(input) {
		parts = append(parts, bytes.TrimRight(line, "\r\n")) // a record over several lines
	}
	for _, part := range append(parts, after, []byte("\n")) {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
