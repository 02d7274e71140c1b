package receipt

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	prefix      = "zc-receipt-"
	digestChars = 43 // 32 bytes in base64url without padding
	trailerHead = "[receipt: "
)

// ErrMalformed is what everything that is not a token in its one strict form
// gets.
var ErrMalformed = errors.New("not a receipt")

// Token is a receipt in its strict form: there is one text for each Token and
// one Token for each text. Tokens can be compared and used as keys of a map.
// A Token that was parsed says nothing yet: Verify it or look it up.
type Token struct {
	unix   uint64
	mac    [32]byte
	minted bool // false only in the zero Token
}

// ParseToken reads zc-receipt-SECONDS-DIGEST. It refuses signs, leading zeros,
// padding, line breaks, other alphabets, bits left over in the last character
// and seconds of more than 64 bits: each would give one receipt many texts.
func ParseToken(s string) (Token, error) {
	seconds, digest, ok := cutToken(s)
	if !ok {
		return Token{}, fmt.Errorf("%w: %q", ErrMalformed, shorten(s))
	}
	unix, err := strconv.ParseUint(seconds, 10, 64)
	if err != nil {
		return Token{}, fmt.Errorf("%w: %q: seconds out of range", ErrMalformed, shorten(s))
	}
	t := Token{unix: unix, minted: true}
	// Every character has been checked, among them those that Go's decoder
	// would skip.
	if _, err := base64.RawURLEncoding.Strict().Decode(t.mac[:], []byte(digest)); err != nil {
		return Token{}, fmt.Errorf("%w: %q", ErrMalformed, shorten(s))
	}
	return t, nil
}

func cutToken(s string) (seconds, digest string, ok bool) {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return "", "", false
	}
	seconds, digest, ok = strings.Cut(rest, "-")
	if !ok || !isSeconds(seconds) || len(digest) != digestChars {
		return "", "", false
	}
	for i := range len(digest) {
		if !isDigestByte(digest[i]) {
			return "", "", false
		}
	}
	return seconds, digest, true
}

// isSeconds reports whether s is an unsigned decimal with one way to write it.
func isSeconds(s string) bool {
	if s == "" || len(s) > 20 || len(s) > 1 && s[0] == '0' {
		return false
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

func isDigestByte(b byte) bool { return isDigit(b) || isLetter(b) || b == '-' || b == '_' }

// String is the token as it is shown and parsed; empty for the zero Token.
func (t Token) String() string {
	if t.IsZero() {
		return ""
	}
	return prefix + strconv.FormatUint(t.unix, 10) + "-" + base64.RawURLEncoding.EncodeToString(t.mac[:])
}

// IsZero reports whether t is no token at all.
func (t Token) IsZero() bool { return !t.minted }

// Unix is the second that stands in the token.
func (t Token) Unix() uint64 { return t.unix }

// MarshalText gives String.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a token; empty text is the zero Token.
func (t *Token) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*t = Token{}
		return nil
	}
	*t, err = ParseToken(string(text))
	return err
}

// Trailer is what is appended to a result for the model to read.
func Trailer(t Token) string { return "\n\n" + trailerHead + t.String() + "]" }

// shorten keeps a hostile text from filling an error.
func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
