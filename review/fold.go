package review

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

var seed = maphash.MakeSeed()

// sameCall is the hash of what actions have in common that are the same call once
// more.
func sameCall(a *queue.Action) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, s := range []string{a.Tool, a.Command, a.Cwd, string(a.Evidence)} {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	_, _ = h.Write(a.Input)
	return h.Sum64()
}

// again: b is the call of a once more, and nothing of it is graver.
func again(a, b *queue.Action) bool {
	return a.Tool == b.Tool && a.Command == b.Command && a.Cwd == b.Cwd && bytes.Equal(a.Input, b.Input) && a.Evidence == b.Evidence &&
		a.Asked == b.Asked && a.Tampering == b.Tampering && a.Opaque == b.Opaque
}

// foldable: nobody has done anything with it, and it is a call.
func foldable(a *queue.Action) bool {
	return a.Status == queue.Pending && a.Edited == nil && !a.IsQuestion()
}

// fold puts behind the first of the rows what is the same call once more, and what
// the queue has as another spelling of it, as the report does. What a person has
// marked, changed or decided stays a row, and so does what is graver.
func (l *list) fold() {
	l.behind = map[string][]int{}
	if l.calls == nil {
		l.calls = make([]uint64, len(l.all))
		for i := range l.all {
			l.calls[i] = sameCall(&l.all[i])
		}
	}
	firstOf, numbers := make(map[uint64]int, len(l.shown)), map[string]int{}
	rows := make([]int, 0, len(l.shown))
	for _, i := range l.shown {
		a := &l.all[i]
		if !foldable(a) {
			rows = append(rows, i)
			continue
		}
		at, ok := firstOf[l.calls[i]]
		if ok = ok && again(&l.all[at], a); !ok && a.RelatedTo != "" {
			at, ok = numbers[a.RelatedTo]
			ok = ok && spelling(&l.all[at], a)
		}
		switch {
		case !ok:
			firstOf[l.calls[i]] = i
			if len(a.Again) > 0 {
				numbers[strconv.FormatUint(a.Number, 10)] = i
			}
			fallthrough
		case l.marks[a.ID]:
			rows = append(rows, i)
			continue
		}
		id := l.all[at].ID
		l.behind[id] = append(l.behind[id], i)
		if l.laidOut[id] {
			rows = append(rows, i)
		}
	}
	l.shown = rows
}

// spelling: b tries again what was refused as a, and nothing of it is graver.
func spelling(a, b *queue.Action) bool {
	return a.Evidence == policy.Blocked && b.Evidence == policy.Blocked && a.Asked == b.Asked && a.Tampering == b.Tampering && (a.Opaque || !b.Opaque)
}

// row is the action of a row, and those that are folded behind it and are no rows
// of their own.
func (l *list) row(a queue.Action) []queue.Action {
	out := []queue.Action{a}
	if l.laidOut[a.ID] {
		return out
	}
	for _, i := range l.behind[a.ID] {
		out = append(out, l.all[i])
	}
	return out
}

// rowsOf are the actions of several rows.
func (l *list) rowsOf(list []queue.Action) (out []queue.Action) {
	for _, a := range list {
		out = append(out, l.row(a)...)
	}
	return out
}

// layOut shows what is folded behind a row as rows, or folds it again. It reports
// whether there is anything.
func (l *list) layOut(a *queue.Action) bool {
	id := a.ID
	if len(l.behind[id]) == 0 {
		for first, list := range l.behind {
			if slices.ContainsFunc(list, func(i int) bool { return l.all[i].ID == a.ID }) {
				id = first
			}
		}
	}
	if len(l.behind[id]) == 0 {
		return false
	}
	l.laidOut[id] = !l.laidOut[id]
	l.choose(id)
	return true
}

// count says in a row how often its call came, and how many others are folded
// behind it.
func (l *list) count(a *queue.Action) string {
	text := ""
	if a.Repeats > 0 {
		text = fmt.Sprintf("×%d ", a.Repeats+1)
	}
	if n := len(l.behind[a.ID]); n > 0 && !l.laidOut[a.ID] {
		text += fmt.Sprintf("+%d ", n)
	}
	return text
}

// maxFolded is how many are told of, where there are more.
const maxFolded = 12

// folded tells what is folded behind an action: each of them is an action of its
// own, and what is run of the row is the first.
func (l *list) folded(first *queue.Action) string {
	behind := l.behind[first.ID]
	if len(behind) == 0 || l.laidOut[first.ID] {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nfolded with it (+ shows each as a row); a runs #%d alone, r rejects all %d\n", first.Number, len(behind)+1)
	for n, i := range behind {
		if n == maxFolded && len(behind) > maxFolded+1 {
			fmt.Fprintf(&b, "  and %d more\n", len(behind)-n)
			break
		}
		behindIt(&b, first, &l.all[i])
	}
	return b.String()
}

func behindIt(b *strings.Builder, first, a *queue.Action) {
	other := a.Command != first.Command || !bytes.Equal(a.Input, first.Input)
	what := "the same again"
	if other {
		what = "tried as"
	}
	if a.Story != first.Story {
		what += ", story " + term.Line(a.Story)
	}
	if a.GitHead != first.GitHead && a.GitHead != "" {
		what += ", at " + term.Line(a.GitHead[:min(12, len(a.GitHead))])
	}
	if a.Repeats > 0 {
		what += fmt.Sprintf(", %d times", a.Repeats+1)
	}
	text := exact(*a)
	switch {
	case !other:
		fmt.Fprintf(b, "  %s  %s\n", number(*a), what)
	case strings.Contains(text, "\n"):
		fmt.Fprintf(b, "  %s  %s\n", number(*a), what)
		numbered(b, text)
	default:
		fmt.Fprintf(b, "  %s  %s: %s\n", number(*a), what, term.Quote(term.Lookalikes(text)))
	}
}
