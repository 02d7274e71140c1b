package queue

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/google/uuid"
)

// maxKeyText is the longest text that stands in a key as it is. bbolt refuses
// keys over 32 KiB, and an action is not lost for the length of a name.
const maxKeyText = 512

func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// idKey turns an id into its 16 bytes.
func idKey(id string) ([]byte, error) {
	u, err := uuid.Parse(id)
	if err != nil || len(id) != 36 {
		return nil, fmt.Errorf("id %q: not a UUID", id)
	}
	return u[:], nil
}

func idText(key []byte) string {
	u, err := uuid.FromBytes(key)
	if err != nil {
		return fmt.Sprintf("%x", key)
	}
	return u.String()
}

// newID makes a UUIDv7 and its key.
func newID() (string, []byte, error) {
	u, err := uuid.NewV7FromReader(chance{})
	if err != nil {
		return "", nil, fmt.Errorf("make an id: %w", err)
	}
	return u.String(), u[:], nil
}

// chance is randomness for ids, which are no secrets: to set up crypto/rand takes
// a hook longer than to write its record.
type chance struct{}

func (chance) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return len(b), nil
}

// textKey joins texts with NUL. A text that is long or holds a NUL stands for
// itself by its hash, so that no two lists of texts share a key.
func textKey(parts ...string) []byte {
	var k []byte
	for i, p := range parts {
		if i > 0 {
			k = append(k, 0)
		}
		if len(p) > maxKeyText || strings.IndexByte(p, 0) >= 0 {
			p = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(p)))
		}
		k = append(k, p...)
	}
	return k
}

// digest hashes texts so that where one ends and the next begins counts too.
func digest(parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}

// storedAction is an Action as it lies in the file. encoding/json compacts a
// RawMessage, so an input with white space between its tokens is kept as bytes
// too: what is replayed is what was called.
type storedAction struct {
	*Action
	ExactInput []byte `json:"exact_input,omitempty"`
}

func encodeAction(a Action) ([]byte, error) {
	rec := storedAction{Action: &a}
	var short bytes.Buffer
	if len(a.Input) > 0 {
		if err := json.Compact(&short, a.Input); err != nil {
			return nil, fmt.Errorf("input of action %s: %w", a.ID, err)
		}
		if !bytes.Equal(short.Bytes(), a.Input) {
			rec.ExactInput = a.Input
		}
	}
	if b, ok := writeAction(&a, short.Bytes(), rec.ExactInput); ok {
		return b, nil
	}
	return encode(rec)
}

// decodeAction reads what encodeAction wrote.
func decodeAction(raw string) (Action, error) {
	var a Action
	if err := a.decode(raw); err != nil {
		return Action{}, err
	}
	return a, nil
}

// decode is decodeAction in place, into an empty action.
func (a *Action) decode(raw string) error {
	if readAction(raw, a) {
		return nil
	}
	number := a.Number // as far as it could be read
	*a = Action{}
	rec := storedAction{Action: a}
	if err := json.Unmarshal([]byte(raw), &rec); err != nil {
		if number > 0 {
			return fmt.Errorf("damaged action #%d: %w", number, err)
		}
		return fmt.Errorf("damaged action: %w", err)
	}
	if rec.ExactInput != nil {
		a.Input = rec.ExactInput
	}
	return nil
}

// encode is json.Marshal without the escapes for HTML, which would change the
// bytes of an input.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decodeAll decodes raw values that were copied out of a transaction.
func decodeAll[T any](what string, raw [][]byte) ([]T, error) {
	out := make([]T, len(raw))
	for i, b := range raw {
		if err := json.Unmarshal(b, &out[i]); err != nil {
			return nil, fmt.Errorf("damaged %s: %w", what, err)
		}
	}
	return out, nil
}
