package claims

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// number is a number as it stands in a text.
type number struct {
	start, end int // of the digits with their sign of a currency and their suffix
	value      float64
	half       float64 // half of the last digit's worth: what rounds to it lies within
	digits     int     // significant ones
	unit       string  // suffix or currency, in one spelling; "" = none
}

// units are the suffixes of numbers and words for them, each in one spelling.
var units = map[string]string{
	"%": "%", "percent": "%", "pct": "%",
	"x": "x", "×": "x", "times": "x", "fold": "x",
	"ns": "ns", "nanosecond": "ns", "us": "us", "µs": "us", "μs": "us", "microsecond": "us",
	"ms": "ms", "msec": "ms", "millisecond": "ms", "s": "s", "sec": "s", "second": "s",
	"m": "min", "min": "min", "mins": "min", "minute": "min", "h": "h", "hr": "h", "hrs": "h", "hour": "h", "d": "day", "day": "day",
	"b": "b", "byte": "b", "kb": "kb", "kib": "kib", "mb": "mb", "mib": "mib", "gb": "gb", "gib": "gib", "tb": "tb", "tib": "tib",
	"megabyte": "mb", "kilobyte": "kb", "gigabyte": "gb",
	"$": "$", "usd": "$", "dollar": "$", "€": "€", "eur": "€", "euro": "€", "£": "£", "gbp": "£",
}

// scales are suffixes that multiply.
var scales = map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "bn": 1e9, "B": 1e9, "G": 1e9}

// ordinals follow a number that counts nothing.
var ordinals = map[string]bool{"st": true, "nd": true, "rd": true, "th": true}

// numbers finds the numbers of a text: not the digits of names, versions,
// dates, times, hashes, references and list markers.
func numbers(text string) []number {
	var out []number
	for i := 0; i < len(text); {
		if c := text[i]; c < '0' || c > '9' {
			i++
			continue
		}
		if !beginsNumber(text, i) {
			_, i = plainDigits(text, i, len(text))
			continue
		}
		end := tokenEnd(text, i)
		if n, ok := readNumber(text, i, end); ok {
			out = append(out, n)
			end = n.end
		}
		i = end
	}
	return out
}

// tokenEnd is the end of the run of letters, digits and what binds them that
// begins with the digit at i.
func tokenEnd(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		next := byte(0)
		if i+size < len(text) {
			next = text[i+size]
		}
		digitNext := next >= '0' && next <= '9'
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '%' || r == '×':
		case strings.ContainsRune(".,:'’\u00a0\u202f-+", r) && digitNext:
		default:
			return i
		}
		i += size
	}
	return i
}

func readNumber(text string, i, end int) (number, bool) {
	n := number{start: i}
	if r, size := utf8.DecodeLastRuneInString(text[:i]); strings.ContainsRune("$€£", r) {
		n.unit, n.start = string(r), i-size
	}
	digits, i := digitRun(text, i, end)
	whole := digits
	decimals := 0
	if i+1 < end && text[i] == '.' && isDigit(text[i+1]) {
		var part string
		part, i = plainDigits(text, i+1, end)
		decimals = len(part)
		digits += "." + part
		if i+1 < end && text[i] == '.' && isDigit(text[i+1]) {
			return n, false // a version or an address
		}
	}
	suffix := text[i:end]
	// 2026-11-30, 12:08, 10-20x4: what goes on with digits is no plain number,
	// but for a range.
	if strings.ContainsAny(suffix, ":'’,") || strings.Count(suffix, "-") > 1 || suffix != "" && suffix[0] != '-' && strings.ContainsAny(suffix, "0123456789") {
		return n, false
	}
	if rest, isRange := strings.CutPrefix(suffix, "-"); isRange {
		if len(whole) == 4 && strings.HasPrefix(rest, "0") || strings.HasPrefix(rest, "1") && len(whole) == 4 {
			return n, false // a month
		}
		suffix, end = "", i
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(value, 0) {
		return n, false
	}
	scale, ok := n.suffix(suffix)
	if !ok || marksListItem(text, n.start, end) || n.unit == "" && isYear(text, n.start, whole, decimals) {
		return n, false
	}
	n.end, n.value = end, value*scale
	n.half = scale * math.Pow(10, -float64(decimals)) / 2
	trimmed := strings.TrimLeft(strings.ReplaceAll(digits, ".", ""), "0")
	if decimals == 0 {
		trimmed = strings.TrimRight(trimmed, "0")
	}
	n.digits = max(len(trimmed), 1)
	return n, true
}

// suffix reads what stands on the number without a space.
func (n *number) suffix(s string) (scale float64, ok bool) {
	switch {
	case s == "":
		return 1, true
	case ordinals[s]:
		return 0, false
	}
	if f, ok := scales[s]; ok {
		return f, true
	}
	if u, ok := units[strings.ToLower(s)]; ok {
		n.unit = u
		return 1, true
	}
	for prefix, f := range scales { // 3kB is no scale with a unit; 41kreq is
		if rest, ok := strings.CutPrefix(s, prefix); ok && len(rest) > 2 {
			n.unit = stem(rest)
			return f, true
		}
	}
	n.unit = stem(s)
	return 1, !strings.ContainsRune(s, '_')
}

// beginsNumber: no digit of a name, a reference or a path.
func beginsNumber(text string, i int) bool {
	r, size := utf8.DecodeLastRuneInString(text[:i])
	if size == 0 {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i-size])
	switch {
	case unicode.IsLetter(r) || r == '_' || r == '#' || r == '@' || r == '\\':
		return false
	case r == '/' || r == '.':
		return before == ' ' || i == size
	case r == '-':
		return !unicode.IsLetter(before) && before != '-'
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func plainDigits(text string, i, end int) (string, int) {
	from := i
	for i < end && isDigit(text[i]) {
		i++
	}
	return text[from:i], i
}

// separators stand between groups of three digits.
var separators = []string{",", "'", "’", "_", "\u00a0", "\u202f"}

// digitRun reads digits with their separators of thousands.
func digitRun(text string, i, end int) (digits string, next int) {
	digits, i = plainDigits(text, i, end)
	if len(digits) > 3 {
		return digits, i
	}
	for {
		sep := ""
		for _, s := range separators {
			if strings.HasPrefix(text[i:end], s) {
				sep = s
			}
		}
		if sep == "" {
			return digits, i
		}
		group, j := plainDigits(text, i+len(sep), end)
		if len(group) != 3 {
			return digits, i
		}
		digits, i = digits+group, j
	}
}

// marksListItem: "1. " and "2) " at the start of a line.
func marksListItem(text string, start, end int) bool {
	if end+1 >= len(text) || text[end] != '.' && text[end] != ')' || text[end+1] != ' ' {
		return false
	}
	line := text[strings.LastIndexByte(text[:start], '\n')+1 : start]
	return strings.TrimLeft(line, " \t>*-(") == ""
}

// datesBefore are the words after which four digits are a year.
var datesBefore = map[string]bool{
	"in": true, "since": true, "of": true, "by": true, "until": true, "copyright": true, "c": true, "year": true,
	"jan": true, "feb": true, "mar": true, "apr": true, "may": true, "jun": true, "jul": true, "aug": true, "sep": true, "oct": true, "nov": true, "dec": true,
	"january": true, "february": true, "march": true, "april": true, "june": true, "july": true, "august": true, "september": true, "october": true, "november": true, "december": true,
}

func isYear(text string, start int, whole string, decimals int) bool {
	if decimals > 0 || len(whole) != 4 || whole < "1900" || whole > "2099" || strings.ContainsAny(whole, ",'") {
		return false
	}
	words := strings.FieldsFunc(text[max(0, start-20):start], func(r rune) bool { return !unicode.IsLetter(r) })
	return len(words) > 0 && datesBefore[strings.ToLower(words[len(words)-1])]
}

// says reports whether a source's number is the claimed one, or rounds to it.
func (n number) says(source number) bool {
	if n.unit != "" && source.unit != "" && n.unit != source.unit {
		return false
	}
	// A sum in the last bits of a float is no difference.
	return math.Abs(n.value-source.value) <= n.half*rounding(n)+1e-9*math.Abs(n.value)
}

// rounding is 1 where a number has enough digits that another one hardly rounds
// to it by chance.
func rounding(n number) float64 {
	if n.digits >= 3 {
		return 1
	}
	return 0
}

// stem is a word in the form in which words are compared.
func stem(word string) string {
	w := strings.ToLower(word)
	if u, ok := units[w]; ok {
		return u
	}
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		w = w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		w = w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		w = w[:len(w)-1]
	}
	if u, ok := units[w]; ok {
		return u
	}
	return w
}
