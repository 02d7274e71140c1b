package receipt

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// figure is a number as it was written.
type figure struct {
	text     string // digits and point only
	value    float64
	decimals int
	unit     string // in a sentence: lower case, empty if none
}

// unseenNumber gives the first number of a sentence that the result does not
// bear out; empty if there is none.
func unseenNumber(claim string, src Source) string {
	claimed := claimedFigures(claim)
	if len(claimed) == 0 {
		return ""
	}
	seen := evidence{figures: figuresIn(src.Result), counts: countsIn(src.Result)}
	seen.figures = append(seen.figures, figuresIn(src.Input)...)
	var borne, left []figure
	for _, f := range claimed {
		if seen.bears(f) {
			borne = append(borne, f)
		} else {
			left = append(left, f)
		}
	}
	for _, f := range left {
		if !follows(f, borne) {
			return f.text + f.unit
		}
	}
	return ""
}

// evidence is what can be read out of a result: its numbers, and what a reader
// may have counted in it.
type evidence struct {
	figures []figure
	counts  map[int]bool
}

func (e evidence) bears(f figure) bool {
	if f.value == 0 || f.value == 1 || f.value == 100 && f.unit == "%" {
		return true // all, none: said of results that have no number
	}
	if f.decimals == 0 && f.value < math.MaxInt32 && e.counts[int(f.value)] {
		return true
	}
	return slices.ContainsFunc(e.figures, func(seen figure) bool { return sameFigure(f, seen) })
}

// sameFigure allows for rounding, and for another unit where one is named.
func sameFigure(f, seen figure) bool {
	if f.text == seen.text || f.value == seen.value {
		return true
	}
	if seen.decimals > f.decimals && rounds(seen.value, f) {
		return true
	}
	for _, factor := range factors(f.unit) {
		if rounds(seen.value*factor, f) {
			return true
		}
	}
	return false
}

// rounds reports whether f is what v comes to at f's precision, rounded or cut.
func rounds(v float64, f figure) bool {
	scale := math.Pow(10, float64(f.decimals))
	want := math.Round(f.value * scale)
	return math.Round(v*scale) == want || math.Floor(v*scale+1e-9) == want
}

// factors are those between units of one kind.
func factors(unit string) []float64 {
	switch kind := units[unit]; kind {
	case "time":
		return []float64{1e3, 1e-3, 1e6, 1e-6, 1e-9, 60, 1. / 60, 1. / 3600, 1. / 60000}
	case "size":
		return []float64{1e3, 1e-3, 1e-6, 1e-9, 1024, 1. / 1024, 1. / (1 << 20), 1. / (1 << 30)}
	case "share":
		return []float64{100}
	case "scale":
		return []float64{1e-3, 1e-6}
	}
	return nil
}

var units = map[string]string{
	"ns": "time", "µs": "time", "μs": "time", "us": "time", "ms": "time", "s": "time", "sec": "time", "secs": "time", "second": "time",
	"seconds": "time", "milliseconds": "time", "microseconds": "time", "m": "time", "min": "time", "mins": "time", "minute": "time", "minutes": "time",
	"h": "time", "hour": "time", "hours": "time",
	"b": "size", "byte": "size", "bytes": "size", "kb": "size", "mb": "size", "gb": "size", "kib": "size", "mib": "size", "gib": "size",
	"%": "share", "percent": "share",
	"k": "scale", "million": "scale", "x": "plain", "×": "plain",
}

// follows reports whether a number follows from two that are borne out: their
// sum, their difference, the share or the change of one in the other.
func follows(f figure, borne []figure) bool {
	for i, a := range borne {
		for k, b := range borne {
			if i == k {
				continue
			}
			results := []float64{a.value + b.value, a.value - b.value}
			if b.value != 0 {
				results = append(results, 100*a.value/b.value, 100*math.Abs(b.value-a.value)/b.value, a.value/b.value)
			}
			if slices.ContainsFunc(results, func(v float64) bool { return rounds(v, f) }) {
				return true
			}
		}
	}
	return false
}

// figuresIn gives the numbers of a result. Digits with letters on both sides
// belong to a word, most often to a hash.
func figuresIn(text string) []figure {
	text = stripColour(text)
	var all []figure
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		end := numberEnd(text, i)
		if inWord := i > 0 && isLetter(text[i-1]) && end < len(text) && isLetter(text[end]); !inWord {
			all = append(all, pieces(text[i:end])...)
		}
		i = end
	}
	return all
}

// numberEnd passes over digits and what joins them: 1,234.5 and 1_000.
func numberEnd(text string, i int) int {
	for i < len(text) {
		joined := strings.IndexByte(".,_", text[i]) >= 0 && i+1 < len(text) && isDigit(text[i+1])
		if !isDigit(text[i]) && !joined {
			break
		}
		i++
	}
	return i
}

// pieces gives every reading of a run of digits and joints: 1,234 is 1234, or
// 1 and 234; 1.2.3 is three numbers, 1.2 is one.
func pieces(run string) []figure {
	var all []figure
	if f, ok := readFigure(run); ok {
		all = append(all, f)
	}
	for _, joint := range []string{",", "_", "."} {
		if parts := strings.Split(run, joint); len(parts) > 2 || len(parts) > 1 && joint != "." {
			for _, part := range parts {
				if f, ok := readFigure(part); ok {
					all = append(all, f)
				}
			}
		}
	}
	return all
}

// readFigure reads digits with thousands in groups and one point.
func readFigure(s string) (figure, bool) {
	whole, frac, point := strings.Cut(s, ".")
	if point && (frac == "" || strings.Trim(frac, "0123456789") != "") {
		return figure{}, false
	}
	whole, ok := ungroup(whole)
	if !ok {
		return figure{}, false
	}
	f := figure{text: whole, decimals: len(frac)}
	if point {
		f.text += "." + frac
	}
	var err error
	f.value, err = strconv.ParseFloat(f.text, 64)
	return f, err == nil
}

func ungroup(s string) (string, bool) {
	groups := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '_' })
	if len(groups) == 0 {
		return "", false
	}
	for i, g := range groups {
		if strings.Trim(g, "0123456789") != "" || i > 0 && len(g) != 3 || len(groups) > 1 && len(groups[0]) > 3 {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// stripColour takes out the sequences that colour a terminal; their digits
// say nothing.
func stripColour(text string) string {
	if !strings.Contains(text, "\x1b[") {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		text = strings.TrimLeft(rest, "0123456789;?")
		if text != "" {
			text = text[1:]
		}
	}
}

// countsIn gives what a reader may have counted in a result: its lines, those
// that begin alike, and how many different beginnings there are.
func countsIn(text string) map[int]bool {
	text = stripColour(text)
	counts := map[int]bool{}
	starts := map[string]int{}
	files := map[string]bool{}
	lines, full := 0, 0
	for line := range strings.Lines(text) {
		lines++
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		full++
		starts[words[0]]++
		if len(words) > 1 {
			starts[words[0]+" "+words[1]]++
		}
		file, _, _ := strings.Cut(words[0], ":")
		files[file] = true
	}
	counts[lines], counts[full], counts[len(files)] = true, true, true
	for _, n := range starts {
		counts[n] = true
	}
	return counts
}
