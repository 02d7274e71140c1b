package receipt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// recordVersion is the v of every record.
const recordVersion = 1

// Record is one line of the audit log. The order of the fields is that of
// their keys, which is the order they are written in.
type Record struct {
	ArgsSHA256   string `json:"args_sha256"` // lowercase hex, or empty
	Event        Event  `json:"event"`
	Prev         string `json:"prev"`          // SHA-256 of the record before, 64 zeros in the first
	Receipt      Token  `json:"receipt"`       // zero: none
	ResultSHA256 string `json:"result_sha256"` // lowercase hex, or empty
	Scope        string `json:"scope"`         // the attempt
	Seq          uint64 `json:"seq"`           // place in the log, from 0
	Tool         string `json:"tool"`
	ToolUseID    string `json:"tool_use_id"`
	TS           int64  `json:"ts"` // Unix seconds, as the writer's clock had them
	V            int    `json:"v"`
}

// Encode gives the record's bytes: canonical JSON, without a line break.
// Invalid UTF-8 becomes U+FFFD.
func (r Record) Encode() []byte {
	out := make([]byte, 0, 512)
	text := func(key, value string) {
		out = append(append(append(out, '"'), key...), `":`...)
		out = append(appendString(out, []byte(strings.ToValidUTF8(value, "\uFFFD"))), ',')
	}
	out = append(out, '{')
	text("args_sha256", r.ArgsSHA256)
	text("event", string(r.Event))
	text("prev", r.Prev)
	text("receipt", r.Receipt.String())
	text("result_sha256", r.ResultSHA256)
	text("scope", r.Scope)
	out = append(strconv.AppendUint(append(out, `"seq":`...), r.Seq, 10), ',')
	text("tool", r.Tool)
	text("tool_use_id", r.ToolUseID)
	out = append(strconv.AppendInt(append(out, `"ts":`...), r.TS, 10), ',')
	return append(strconv.AppendInt(append(out, `"v":`...), int64(r.V), 10), '}')
}

// ParseRecord reads a record and takes it only in the exact bytes that Encode
// gives: another spelling of the same record would have another hash.
func ParseRecord(line []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return Record{}, fmt.Errorf("read an audit record: %w", err)
	}
	if err := r.check(); err != nil {
		return Record{}, fmt.Errorf("read an audit record: %w", err)
	}
	if !bytes.Equal(r.Encode(), line) {
		return Record{}, errors.New("read an audit record: not in its canonical form")
	}
	return r, nil
}

func (r Record) check() error {
	if r.V != recordVersion {
		return fmt.Errorf("version %d is unknown: it needs a newer loop", r.V)
	}
	if !r.Event.Known() {
		return fmt.Errorf("unknown event %q", shorten(string(r.Event)))
	}
	if !r.Receipt.IsZero() && r.Event != CallOK {
		return fmt.Errorf("event %q with a receipt", r.Event)
	}
	for _, h := range []struct{ name, sum string }{{"args_sha256", r.ArgsSHA256}, {"result_sha256", r.ResultSHA256}} {
		if h.sum != "" && !isSumHex(h.sum) {
			return fmt.Errorf("%s is no SHA-256: %q", h.name, shorten(h.sum))
		}
	}
	return nil
}
