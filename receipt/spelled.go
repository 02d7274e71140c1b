package receipt

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// The least of a spelled receipt that is taken for one: of its seconds and of its
// digest. Only all of it together looks like nothing else.
const (
	spelledSeconds = 6
	spelledDigest  = 20
)

// spelled is the length of a receipt with other marks between its parts than
// hyphens: spaces, underscores, hyphens with spaces. 0 = there is none.
func spelled(s string) int {
	if len(s) < len(prefix)+spelledSeconds+spelledDigest || s[1] != 'c' && s[1] != 'C' {
		return 0
	}
	rest, ok := betweenParts(s[2:])
	if !ok || len(rest) < len("receipt") || !strings.EqualFold(rest[:len("receipt")], "receipt") {
		return 0
	}
	if rest, ok = betweenParts(rest[len("receipt"):]); !ok {
		return 0
	}
	seconds := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if seconds < spelledSeconds {
		return 0
	}
	if rest, ok = betweenParts(rest[seconds:]); !ok {
		return 0
	}
	digest := 0
	for digest < len(rest) && isDigestByte(rest[digest]) {
		digest++
	}
	if digest < spelledDigest {
		return 0
	}
	return len(s) - len(rest) + digest
}

// betweenParts takes one to three marks away that may stand between the parts.
func betweenParts(s string) (rest string, ok bool) {
	n := 0
	for n < len(s) && n < 3 && strings.IndexByte(" \t_.:/|~-", s[n]) >= 0 {
		n++
	}
	return s[n:], n > 0
}

// turned finds receipts that stand the other way round, behind a mark that makes
// a reader see them as they should be.
func turned(text string) []Candidate {
	const override, pop = "\u202e", "\u202c"
	var found []Candidate
	for from := 0; ; {
		i := strings.Index(text[from:], override)
		if i < 0 {
			return found
		}
		start := from + i + len(override)
		end := len(text)
		if j := strings.IndexAny(text[start:], pop+"\n"); j >= 0 {
			end = start + j
		}
		runes := []rune(text[start:end])
		slices.Reverse(runes)
		if findPlain(string(runes)) != nil {
			found = append(found, Candidate{Start: start, End: end, Text: text[start:end], Disguised: true})
		}
		from = end
	}
}

// codes are what the prefix of a receipt is in base64, by where it stands among
// the groups of three bytes, and in hex. at is the place of the first sign in
// its group.
var codes = []struct {
	sign string
	at   int
	hex  bool
}{
	{"emMtcmVjZWlwdC", 0, false},
	{"pjLXJlY2VpcHQt", 2, false},
	{"6Yy1yZWNlaXB0LT", 3, false},
	{"7a632d726563656970742d", 0, true},
	{"7A632D726563656970742D", 0, true},
}

// encoded finds receipts in base64 and in hex.
func encoded(text string) []Candidate {
	var found []Candidate
	for _, code := range codes {
		for from := 0; ; {
			i := strings.Index(text[from:], code.sign)
			if i < 0 {
				break
			}
			start := from + i - code.at
			from += i + len(code.sign)
			if start < 0 {
				continue
			}
			end := start
			for end < len(text) && end-start < mostEncoded && (isDigestByte(text[end]) || text[end] == '+' || text[end] == '/') {
				end++
			}
			if inner := findPlain(decoded(text[start:end], code.hex)); inner != nil {
				c := Candidate{Start: start, End: end, Text: text[start:end], Disguised: true}
				if len(inner) == 1 {
					c.Encoded = inner[0].Token
				}
				found = append(found, c)
				from = max(from, end)
			}
		}
	}
	slices.SortFunc(found, func(a, b Candidate) int { return a.Start - b.Start })
	return found
}

// mostEncoded is more than a receipt takes in any code.
const mostEncoded = 256

func decoded(s string, isHex bool) string {
	if isHex {
		b, _ := hex.DecodeString(s[:len(s)&^1]) // up to what is none
		return string(b)
	}
	s = strings.NewReplacer("-", "+", "_", "/").Replace(s)
	if len(s)%4 == 1 {
		s = s[:len(s)-1]
	}
	b, _ := base64.RawStdEncoding.DecodeString(s)
	return string(b)
}
