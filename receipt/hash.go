package receipt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// SumHex is the hash of a body as a Record has it.
func SumHex(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

func isSumHex(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, hexDigits) == ""
}

// Hash is a node of the tree. As text it is lowercase hex.
type Hash [32]byte

// String is lowercase hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText gives String.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads lowercase hex.
func (h *Hash) UnmarshalText(text []byte) error {
	if !isSumHex(string(text)) {
		return fmt.Errorf("not a root or node of a log: %q", shorten(string(text)))
	}
	_, err := hex.Decode(h[:], text)
	return err
}
