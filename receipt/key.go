package receipt

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	keySize = 32
	// v2Info keeps the key of v2 apart from that of zc-v1, which is the
	// session key itself.
	v2Info = "loop-receipt/v2 mac key"
)

// ErrClosed is what a Key and a Signer say after Close.
var ErrClosed = errors.New("the key is closed")

// Key is the secret of one session. It has no method that gives it out and
// prints as "redacted". Copies share one secret: Close closes them all. The
// zero Key is closed.
type Key struct {
	redacted
	s hidden[secret]
}

type secret struct {
	mu sync.RWMutex
	v1 []byte // the session key, nil once closed
	v2 []byte // derived from it
}

// NewKey makes a key of 32 bytes from random, or from the system's source when
// random is nil. Anything but a cryptographic source is for tests.
func NewKey(random io.Reader) (Key, error) {
	if random == nil {
		random = rand.Reader
	}
	v1 := make([]byte, keySize)
	if _, err := io.ReadFull(random, v1); err != nil {
		return Key{}, fmt.Errorf("make a receipt key: %w", err)
	}
	v2, err := hkdf.Key(sha256.New, v1, nil, v2Info, keySize)
	if err != nil {
		clear(v1)
		return Key{}, fmt.Errorf("derive the receipt key: %w", err)
	}
	return Key{s: hide(&secret{v1: v1, v2: v2})}, nil
}

// Close zeroes the key. Copies that the runtime or crypto/hmac made of it are
// out of reach and go with the process.
func (k Key) Close() {
	if k.s == nil {
		return
	}
	s := k.s()
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.v1)
	clear(s.v2)
	s.v1, s.v2 = nil, nil
}

// Mint makes the receipt of a call. It refuses what the format cannot sign
// without ambiguity, and everything after Close.
func (k Key) Mint(f Format, c Call) (Token, error) {
	in, err := f.input(c)
	if err != nil {
		return Token{}, err
	}
	sum, err := k.sum(f, in)
	if err != nil {
		return Token{}, err
	}
	return Token{unix: c.unix(), mac: sum, minted: true}, nil
}

// Verify reports whether this key minted t for c. The comparison takes the
// same time wherever the digests differ.
func (k Key) Verify(f Format, c Call, t Token) bool {
	want, err := k.Mint(f, c)
	if err != nil || t.IsZero() {
		return false
	}
	same := hmac.Equal(want.mac[:], t.mac[:])
	return same && want.unix == t.unix
}

func (k Key) sum(f Format, in input) (sum [sha256.Size]byte, err error) {
	if k.s == nil {
		return sum, ErrClosed
	}
	s := k.s()
	s.mu.RLock()
	defer s.mu.RUnlock()
	key := s.v2
	if f == ZCv1 {
		key = s.v1
	}
	if key == nil {
		return sum, ErrClosed
	}
	h := hmac.New(sha256.New, key)
	for _, part := range in {
		h.Write(part)
	}
	h.Sum(sum[:0])
	return sum, nil
}
