package claims

import (
	"cmp"
	"slices"
	"strings"
)

// counting are the words for numbers that people write, with what they count
// behind them. One is left out: it is seldom a number.
var counting = map[string]float64{
	"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
	"forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "dozen": 12, "hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9,
}

// factors say how often by themselves.
var factors = map[string]float64{
	"twice": 2, "double": 2, "doubles": 2, "doubled": 2, "doubling": 2, "thrice": 3, "triple": 3, "triples": 3, "tripled": 3, "quadrupled": 4, "half": 0.5, "halves": 0.5, "halved": 0.5, "halving": 0.5,
}

// loose words are counted in talk, and nowhere else.
var loose = wordSet("things ways reasons options steps parts people sides sentences words lines-of others hands minds days weeks months years lists places points")

var spelledOut = lazy(`(?i)(^|[^\pL\pN_-])(twice|doubl(?:e|es|ed|ing)|thrice|tripl(?:e|es|ed)|quadrupled|halv(?:es|ed|ing)|half(?: (?:the|as|of))|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|(?:a )?(?:dozen|hundred|thousand|million|billion))\b(-?fold| times)?`)

// spelled finds the numbers that a text writes in words.
func spelled(text string) []number {
	var out []number
	was := 0
	for _, m := range spelledOut().FindAllStringSubmatchIndex(text, -1) {
		word, _, _ := strings.Cut(strings.TrimPrefix(strings.ToLower(text[m[4]:m[5]]), "a "), " ")
		n := number{start: m[4], end: m[1], digits: 1, spelled: true}
		if n.start < was {
			continue // of "ten thousand"
		}
		if v, ok := factors[word]; ok {
			n.value, n.unit = v, "x"
			n.end = m[4] + len(word)
			out = append(out, n)
			continue
		}
		n.value = counting[word]
		if scale, size := scaleAfter(text[n.end:]); size > 0 {
			n.value, n.end = n.value*scale, n.end+size
			was = n.end
		}
		switch {
		case m[6] >= 0:
			n.unit = "x"
		case !countsThings(text[n.end:]):
			continue
		}
		if unit, size := unitAfter(text[n.end:]); unit != "" && n.unit == "" {
			n.unit, n.end = unit, n.end+size
		}
		out = append(out, n)
	}
	return out
}

// countsThings: a word in the plural follows, with at most one before it.
func countsThings(after string) bool {
	if !strings.HasPrefix(after, " ") {
		return false
	}
	for _, w := range firstWords(after, 2) {
		w = strings.ToLower(w)
		if loose[w] || openers[w] || idle[w] {
			return false
		}
		if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			return true
		}
	}
	return false
}

// firstWords are the words at the start of a text, up to the end of its phrase.
func firstWords(text string, n int) []string {
	if i := strings.IndexAny(text, phraseEnds); i >= 0 {
		text = text[:i]
	}
	words := splitWords(clip(text, 80))
	return words[:min(n, len(words))]
}

// allNumbers are the numbers of a text in digits and in words, as they stand.
func allNumbers(text string) []number {
	digits := numbers(text)
	out := slices.Clone(digits)
	for _, n := range spelled(text) {
		i, _ := slices.BinarySearchFunc(digits, n.start, func(d number, at int) int { return cmp.Compare(d.start, at) })
		if i > 0 && digits[i-1].end > n.start || i < len(digits) && digits[i].start < n.end {
			continue // of "40 thousand"
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b number) int { return cmp.Compare(a.start, b.start) })
	return out
}
