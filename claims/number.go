package claims

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// number is a number as it stands in a text.
type number struct {
	start, end int // of the digits with their sign of a currency, their suffix and their unit
	value      float64
	half       float64 // half of the last digit's worth: what rounds to it lies within
	digits     int     // significant ones
	decimals   int
	scaled     bool   // 12k
	ranged     bool   // an end of a range
	about      bool   // the text says that it is rounded
	spelled    bool   // in words: "twice"
	unit       string // in one spelling; "" = none
}

// ordinals follow a number that counts nothing.
var ordinals = map[string]bool{"st": true, "nd": true, "rd": true, "th": true}

// numbers finds the numbers of a text: not the digits of names, versions,
// dates, times, hashes, references and list markers.
func numbers(text string) []number {
	var out []number
	named, was := 0, 0 // the ends of the last number that was a name, and of the last one
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
		n, ok := readDuration(text, i, end)
		if !ok {
			n, ok = readNumber(text, i, end)
		}
		if ok {
			end = n.end
			n.start = max(n.start, was)
			was = end
			switch last := len(out) - 1; {
			case last >= 0 && isRange(text[out[last].end:n.start]):
				out[last].unit = cmp.Or(out[last].unit, n.unit)
				out[last].ranged, n.ranged = true, true
				out = append(out, n)
			case named > 0 && (isRange(text[named:n.start]) || goesOn(text[named:n.start])):
				named = n.end
			case isReference(text, n):
				named = n.end
			default:
				out = append(out, n)
			}
		}
		i = end
	}
	return out
}

// isRange: the number behind it is the other end of a range.
func isRange(between string) bool {
	return between == " ± " || between == "±" || between == "-" || between == "–" || between == " to " || between == "..." || between == " – " || between == " - "
}

// goesOn: "Node >=18 and <=22" names two versions.
func goesOn(between string) bool {
	return strings.Trim(between, "<>=^~") == " and " && between != " and "
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
	if word, size := scaleAfter(text[end:]); scale == 1 && n.unit == "" && size > 0 { // 40 thousand
		scale, end = word, end+size
	}
	n.end, n.value, n.decimals, n.scaled = end, value*scale, decimals, scale != 1
	if n.unit == "" {
		unit, size := unitAfter(text[end:])
		n.unit, n.end = unit, end+size
	}
	n.about = saysAbout(text[:n.start])
	n.half = scale * math.Pow(10, -float64(decimals)) / 2
	trimmed := strings.TrimLeft(strings.ReplaceAll(digits, ".", ""), "0")
	if decimals == 0 {
		zeros := len(trimmed) - len(strings.TrimRight(trimmed, "0"))
		trimmed = trimmed[:len(trimmed)-zeros]
		if n.about && !n.scaled {
			n.half *= math.Pow(10, float64(zeros))
		}
	}
	n.digits = max(len(trimmed), 1)
	return n, true
}

// scaleAfter reads a word that multiplies the number before it.
func scaleAfter(text string) (scale float64, size int) {
	rest, ok := strings.CutPrefix(text, " ")
	if !ok {
		return 1, 0
	}
	word := leadingWord(rest)
	switch v := counting[strings.ToLower(word)]; v {
	case 100, 1000, 1e6, 1e9:
		return v, 1 + len(word)
	}
	return 1, 0
}

var duration = lazy(`^(?:(\d+)h)?(?:(\d+)m)?(\d+(?:\.\d+)?)s$`)

// readDuration reads 1m3.2s and 2h3m4s.
func readDuration(text string, i, end int) (number, bool) {
	if text[end-1] != 's' || !strings.ContainsAny(text[i:end], "mh") {
		return number{}, false
	}
	m := duration().FindStringSubmatch(text[i:end])
	if m == nil || m[1] == "" && m[2] == "" {
		return number{}, false
	}
	n := number{start: i, end: end, unit: "s", digits: 3, about: saysAbout(text[:i])}
	for k, worth := range []float64{3600, 60, 1} {
		v, _ := strconv.ParseFloat(cmp.Or(m[k+1], "0"), 64)
		n.value += v * worth
	}
	if _, part, ok := strings.Cut(m[3], "."); ok {
		n.decimals = len(part)
	}
	n.half = math.Pow(10, -float64(n.decimals)) / 2
	return n, true
}

// saysAbout: the words before a number say that it is rounded.
func saysAbout(before string) bool {
	before = strings.TrimRight(before[max(0, len(before)-24):], " ")
	if strings.HasSuffix(before, "~") || strings.HasSuffix(before, "≈") {
		return true
	}
	return aboutWords[lastField(before)]
}

var aboutWords = wordSet("about around approximately approx roughly nearly almost circa ca some")

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

// likeness is how a source's number is the claimed one.
type likeness int

const (
	unlike likeness = iota
	bare            // the same digits, and no unit
	rounds          // it rounds to the claimed one
	equals
)

// says reports whether a source's number is the claimed one, or rounds to it.
// One that counts is not rounded, and one with a single digit only where the
// text says so: too much rounds to it.
func (n number) says(source number) likeness {
	best := unlike
	if source.unit == "" && n.unit != "" && math.Abs(n.value-source.value) <= 1e-9*n.value {
		best = bare
	}
	if !n.comparable(source) {
		return best
	}
	half := n.half * n.dimension().worth
	mayRound := n.about || n.digits >= 3 || n.digits >= 2 && (n.unit != "" || n.decimals > 0 || n.scaled)
	if n.about && n.digits == 1 && n.unit == "" && n.value < 10 {
		mayRound = false
	}
	for _, a := range n.bases() {
		for _, b := range source.bases() {
			off := math.Abs(a - b)
			switch {
			case off <= 1e-9*math.Abs(a): // a sum in the last bits of a float is no difference
				return equals
			case mayRound && off <= half*(1+1e-9):
				best = rounds
			}
		}
	}
	return best
}
