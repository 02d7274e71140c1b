package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// likeShown is how many actions of one kind are shown in full.
const likeShown = 3

// entriesShown is how many entries of one block are shown one by one where not
// all is asked for. Nobody reads more in a morning; the others are counted.
const entriesShown = 30

// manyHidden is from how many folded actions on it is said above them.
const manyHidden = 100

// item is one action of the report, and those that are folded behind it.
type item struct {
	*queue.Action

	spellings []*queue.Action // that tried the same again
	like      []*queue.Action // further ones of the same kind
}

// items are actions in their order. Folded, the spellings of one intent stand
// with the first of them, and of each kind the first three are shown and what
// follows is named; one that remains alone is shown too.
func items(list []*queue.Action, folded bool) []item {
	out := make([]item, 0, min(len(list), 64))
	if !folded {
		for _, a := range list {
			out = append(out, item{Action: a})
		}
		return out
	}
	first := map[string]int{} // number -> index in out, of what others may try again
	last := map[queue.Likeness]int{}
	shown := map[queue.Likeness]int{}
	for _, a := range list {
		if i, ok := first[relatedNumber(a)]; ok && a.Evidence == policy.Blocked && out[i].Evidence == policy.Blocked {
			out[i].spellings = append(out[i].spellings, a)
			continue
		}
		k := a.Likeness()
		if shown[k] == likeShown {
			i := last[k]
			out[i].like = append(out[i].like, a)
			continue
		}
		shown[k]++
		last[k] = len(out)
		if len(a.Again) > 0 {
			first[number(a)[1:]] = len(out)
		}
		out = append(out, item{Action: a})
	}
	return unfoldSingles(out)
}

func unfoldSingles(list []item) []item {
	out := make([]item, 0, len(list))
	for _, it := range list {
		alone := it.like
		if len(alone) == 1 {
			it.like = nil
		}
		out = append(out, it)
		if len(alone) == 1 {
			out = append(out, item{Action: alone[0]})
		}
	}
	return out
}

// listing is a list of actions as it is shown: entries, and what is only counted.
type listing struct {
	items []item
	rest  []*queue.Action
}

// newListing shows at most that many entries of a folded list.
func newListing(list []*queue.Action, folded bool, most int) listing {
	b := listing{items: items(list, folded)}
	if !folded || len(b.items) <= most {
		return b
	}
	for _, it := range b.items[most:] {
		b.rest = append(append(append(b.rest, it.Action), it.spellings...), it.like...)
	}
	if len(b.rest) > 1 {
		b.items = b.items[:most]
	} else {
		b.rest = nil
	}
	return b
}

// listings are the three lists of what waits: what ran already, what was kept
// back, what reached for the guard.
func (v *view) listings(folded bool) (ran, kept, guard listing) {
	return newListing(v.ranAlready, folded, entriesShown), newListing(v.keptBack, folded, entriesShown), newListing(v.tampering, folded, entriesShown)
}

// hidden is how many actions have no entry of their own.
func (b listing) hidden() int {
	n := len(b.rest)
	for i := range b.items {
		n += len(b.items[i].like)
	}
	return n
}

// byFamily counts actions by what they are, the most frequent first: "40 more, 2
// of them already ran: HTTP requests 30, version control 10".
func (t *teller) byFamily(rest []*queue.Action) string {
	const named = 6
	counts, ran := map[string]int{}, ""
	for i, n := 0, 0; i < len(rest); i++ {
		counts[rest[i].Family]++
		if rest[i].Evidence == policy.Executed {
			n++
			ran = ", " + strconv.Itoa(n) + " of them already ran"
		}
	}
	families := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(families, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var parts []string
	for i, f := range families {
		if i == named && len(families) > named+1 {
			parts = append(parts, strconv.Itoa(len(families)-i)+" other kinds")
			break
		}
		title := "others"
		if f != "" {
			title = t.Line(familyTitle(f))
		}
		parts = append(parts, title+" "+strconv.Itoa(counts[f]))
	}
	return strconv.Itoa(len(rest)) + " more" + ran + ": " + strings.Join(parts, ", ")
}

// firstOf are those of a list that are shown where not all is asked for, and in
// words how many others there are; "" = none.
func firstOf(list []*queue.Action, folded bool) (first []*queue.Action, more string) {
	if !folded || len(list) <= entriesShown+1 {
		return list, ""
	}
	return list[:entriesShown], strconv.Itoa(len(list)-entriesShown) + " more, like these approved and not finished"
}

// hiddenWords says above a long list how much of it is shown, and how to see
// the others; "" where little is folded.
func (t *teller) hiddenWords(total int, blocks ...listing) string {
	n := 0
	for _, b := range blocks {
		n += b.hidden()
	}
	if n < manyHidden {
		return ""
	}
	return strconv.Itoa(total-n) + " of them stand below, " + strconv.Itoa(n) + " are folded. " +
		t.marked("loop review") + " goes through all, " + t.marked("loop list --search WORDS") + " looks among them."
}

// numbersOf are the numbers of actions, as a person reads them.
func numbersOf(list []*queue.Action) string {
	n := make([]uint64, len(list))
	for i, a := range list {
		n[i] = a.Number
	}
	return numbers(n)
}
