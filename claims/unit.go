package claims

import (
	"strings"
	"unicode/utf8"
)

// units are the units of numbers and words for them, each in one spelling.
var units = map[string]string{
	"%": "%", "percent": "%", "pct": "%",
	"x": "x", "×": "x", "times": "x", "fold": "x",
	"ns": "ns", "nanosecond": "ns", "us": "us", "µs": "us", "μs": "us", "usec": "us", "microsecond": "us",
	"ms": "ms", "msec": "ms", "millisecond": "ms", "s": "s", "sec": "s", "secs": "s", "second": "s",
	"m": "min", "min": "min", "mins": "min", "minute": "min", "h": "h", "hr": "h", "hrs": "h", "hour": "h", "d": "day", "day": "day",
	"b": "b", "byte": "b", "kb": "kb", "kib": "kib", "mb": "mb", "mib": "mib", "gb": "gb", "gib": "gib", "tb": "tb", "tib": "tib",
	"kilobyte": "kb", "megabyte": "mb", "gigabyte": "gb", "terabyte": "tb",
	"$": "$", "usd": "$", "dollar": "$", "€": "€", "eur": "€", "euro": "€", "£": "£", "gbp": "£",
}

// dimension is what a unit measures, and its worth in the base unit of that.
// binary is its worth where people count in powers of 1024; 0 = the same.
type dimension struct {
	of            string
	worth, binary float64
}

var dimensions = map[string]dimension{
	"": {"", 1, 0}, "%": {"ratio", 0.01, 0}, "x": {"times", 1, 0},
	"ns": {"time", 1e-9, 0}, "us": {"time", 1e-6, 0}, "ms": {"time", 1e-3, 0}, "s": {"time", 1, 0}, "min": {"time", 60, 0}, "h": {"time", 3600, 0}, "day": {"time", 86400, 0},
	"b": {"size", 1, 0}, "kib": {"size", 1 << 10, 0}, "mib": {"size", 1 << 20, 0}, "gib": {"size", 1 << 30, 0}, "tib": {"size", 1 << 40, 0},
	"kb": {"size", 1e3, 1 << 10}, "mb": {"size", 1e6, 1 << 20}, "gb": {"size", 1e9, 1 << 30}, "tb": {"size", 1e12, 1 << 40},
	"$": {"$", 1, 0}, "€": {"€", 1, 0}, "£": {"£", 1, 0},
}

// scales are suffixes that multiply.
var scales = map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "bn": 1e9, "B": 1e9, "G": 1e9}

// dimension of a number's unit; a unit that is not known is its own.
func (n number) dimension() dimension {
	if d, ok := dimensions[n.unit]; ok {
		return d
	}
	return dimension{of: n.unit, worth: 1}
}

// bases are the values that a number may have in its base unit: two for a unit
// that is counted in powers of 1000 and of 1024.
func (n number) bases() []float64 {
	d := n.dimension()
	if d.binary > 0 {
		return []float64{n.value * d.worth, n.value * d.binary}
	}
	return []float64{n.value * d.worth}
}

// comparable: a ratio may be written without a unit, and so may a factor.
func (n number) comparable(o number) bool {
	a, b := n.dimension().of, o.dimension().of
	switch {
	case a == b:
		return true
	case a == "ratio" && b == "":
		return o.decimals > 0
	case a == "" && b == "ratio":
		return n.decimals > 0
	case a == "times" && b == "":
		return true
	case a == "size" && b == "" && o.scaled: // 12M
		return true
	}
	return false
}

// unitAfter reads a unit that stands behind a number with a space between.
func unitAfter(text string) (unit string, size int) {
	rest := strings.TrimPrefix(text, " ")
	space := len(text) - len(rest)
	if space == 0 {
		for _, s := range []string{"\u00a0", "\u202f", "-"} {
			if cut, ok := strings.CutPrefix(text, s); ok {
				rest, space = cut, len(s)
			}
		}
	}
	if inner := strings.TrimLeft(rest, "[("); inner != rest && space == 1 { // 8.100 [ms]
		word := leadingWord(inner)
		u := units[strings.ToLower(word)]
		if tail := inner[len(word):]; u != "" && tail != "" && (tail[0] == ']' || tail[0] == ')') {
			return u, space + 1 + len(word) + 1
		}
		return "", 0
	}
	word := leadingWord(rest)
	if word == "" {
		return "", 0
	}
	u, ok := units[strings.ToLower(word)]
	if !ok {
		u, ok = units[singular(strings.ToLower(word))]
	}
	if !ok || space == 0 && word != "%" || shortWord[strings.ToLower(word)] && word != "B" {
		return "", 0
	}
	return u, space + len(word)
}

// shortWord: letters that are a unit only where they stand on a number.
var shortWord = wordSet("m d b")

// leadingWord is the letters, or the one sign, that a text begins with.
func leadingWord(text string) string {
	for i, r := range text {
		switch {
		case i == 0 && strings.ContainsRune("%×€£$", r):
			return text[:utf8.RuneLen(r)]
		case r == 'µ' || r == 'μ' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		case r >= '0' && r <= '9' || r == '_':
			return ""
		default:
			return text[:i]
		}
	}
	return text
}
