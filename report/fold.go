package report

import (
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// likeShown is how many actions of one kind are shown in full.
const likeShown = 3

// item is one action of the report, and those that are folded behind it.
type item struct {
	*queue.Action

	spellings []*queue.Action // that tried the same again
	like      []*queue.Action // further ones of the same kind
}

// kind is what actions have in common that are folded: how they are known, how
// far they can be undone, by which rule, and where they lead.
type kind struct {
	evidence           policy.Evidence
	tampering, opaque  bool
	undo, rule, target string
}

func kindOf(a *queue.Action) kind {
	k := kind{evidence: a.Evidence, tampering: a.Tampering, opaque: a.Opaque, undo: a.Undo, target: a.Target}
	if len(a.Rules) > 0 {
		k.rule = a.Rules[0]
	}
	return k
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
	last := map[kind]int{}
	shown := map[kind]int{}
	for _, a := range list {
		if i, ok := first[relatedNumber(a)]; ok && a.Evidence == policy.Blocked && out[i].Evidence == policy.Blocked {
			out[i].spellings = append(out[i].spellings, a)
			continue
		}
		k := kindOf(a)
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

// numbersOf are the numbers of actions, as a person reads them.
func numbersOf(list []*queue.Action) string {
	n := make([]uint64, len(list))
	for i, a := range list {
		n[i] = a.Number
	}
	return numbers(n)
}
