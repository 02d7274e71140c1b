package term

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// receiptPrefix begins a receipt, in any case.
const receiptPrefix = "zc-receipt-"

// receiptShape finds what passes for a receipt: the prefix and as much as can
// belong to it. The first group is what a person may see of it: a number as
// long as seconds are.
var receiptShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + receiptPrefix + `([+-]?[0-9]{1,11}-)?([A-Za-z0-9_+/=-]*)`)
})

// receiptAlone reports whether a value is like a receipt and nothing else: so
// much of it may be seen as of any other.
func receiptAlone(value string) bool {
	loc := receiptShape().FindStringSubmatchIndex(value)
	return loc != nil && loc[0] == 0 && loc[1] == len(value) && loc[2] >= 0
}

// maskReceipts hides what is dressed up as a receipt and stands in no table: it
// would be a hiding place for a secret otherwise. Words such as
// zc-receipt-format are neither.
func maskReceipts(s string, known [][2]int) string {
	var b strings.Builder
	last, next := 0, 0
	for _, loc := range receiptShape().FindAllStringSubmatchIndex(s, -1) {
		from, to := loc[4], loc[5]
		if from == to || loc[2] < 0 && !looksIssued(s[from:to]) {
			continue
		}
		for next < len(known) && known[next][1] <= loc[0] {
			next++
		}
		// What is known is left out; receipts may be joined to one another.
		for at, end := max(from, last), 0; end < to; at = last {
			end = to
			after := to
			if next < len(known) && known[next][0] < to {
				end, after = known[next][0], known[next][1]
				next++
			}
			if hides(s, at, end) {
				b.WriteString(s[last:at])
				b.WriteString(hide(s[at:end]))
				last = end
			}
			if end < to {
				b.WriteString(s[last:after])
				last = after
			}
		}
	}
	return b.String() + s[last:]
}

// hides reports whether a part of a text is to be hidden: not the marks between
// receipts, nor what was hidden before.
func hides(s string, from, to int) bool {
	return from < to && strings.Trim(s[from:to], "_-/") != "" && (to-from > 4 || !strings.HasPrefix(s[to:], Ellipsis))
}

// looksIssued tells what may be a receipt without seconds, or with too many,
// from a word.
func looksIssued(rest string) bool {
	const digest = 20 // no word is that long
	return strings.ContainsAny(rest[:1], "0123456789+") || len(rest) >= digest
}

// within reports whether a part of a text lies in a known receipt.
func within(known [][2]int, from, to int) bool {
	return slices.ContainsFunc(known, func(k [2]int) bool { return k[0] <= from && to <= k[1] })
}
