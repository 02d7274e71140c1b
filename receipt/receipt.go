// Package receipt mints and verifies tool receipts and keeps the record of
// them that outlives the key.
//
// A receipt is an HMAC-SHA256 token over one tool call and its result, made by
// the program that saw the result come back. A valid one proves that: this
// result of this call, seen by the holder of the key, in the scope named. It
// proves nothing about the sentence it is quoted beside, nor that the tool
// itself told the truth, nor that the holder of the key was honest.
//
// The invariant: a Token that a Key verifies was minted by that Key for exactly
// that Call. A model can repeat a token; it cannot make one.
//
// The package stores nothing, reads no clock and no environment. It neither
// reads nor writes bodies: what it keeps of arguments and results are hashes.
package receipt

import (
	"encoding/json"
	"fmt"
)

// Format names what goes into the MAC. The token looks the same in both, so
// only the table that issued it knows which one it is.
type Format string

const (
	// V2 binds the scope, the call's id and its number, with a length before
	// every part. It is the one to use.
	V2 Format = "v2"
	// ZCv1 gives the same bytes as ZeroClaw. The same call twice within one
	// second has one token, whatever the scope.
	ZCv1 Format = "zc-v1"
)

// ParseFormat reads the name of a format.
func ParseFormat(s string) (Format, error) {
	switch f := Format(s); f {
	case V2, ZCv1:
		return f, nil
	}
	return "", fmt.Errorf("unknown receipt format %q: it is %q or %q", s, V2, ZCv1)
}

// Call is one tool call and what came back.
type Call struct {
	Scope     string          // the attempt it was made in
	ToolUseID string          // the client's id of the call
	Seq       uint64          // number of the receipt in its scope, from 1
	Tool      string          // as the client names it: Bash, mcp__github__create_issue
	Args      json.RawMessage // its input; spacing and order of keys do not matter
	Result    []byte          // the bytes that are signed, before anything is cut
	Unix      int64           // seconds when the result came; before 1970 counts as 0
}
