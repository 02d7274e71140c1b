package policy

import (
	"cmp"
	"slices"
	"strings"
)

// automaton finds where phrases may begin in one pass (Aho and Corasick,
// 1975). It knows only the beginning of each phrase, so that its table stays
// in the processor's cache; whoever asks where a phrase stands compares the
// rest. White space is one class of bytes, and a state behind white space
// stays where it is on more of it, so that a run counts as one.
type automaton struct {
	x       *phraseIndex
	class   [256]uint8
	ascii   bool     // no phrase holds any other byte
	next    []uint32 // state<<shift | class to state<<shift; states that end a beginning come last
	match   uint32   // the first of them
	outputs [][]int32
	json    jsonTable
}

// The classes of bytes. Class 0 is every byte that no phrase holds: behind one
// the automaton is where it began.
const (
	classShift  = 6
	upperEscape = "NTRFBU" // no escapes of JSON, as their small letters are
	manyClasses = 1<<classShift - 1 - len(upperEscape) - 1
)

// behindSpace is how much of a phrase behind its first word the automaton
// knows: with 3 bytes it has a quarter of the states that whole phrases need.
const behindSpace = 3

// beginning is what the automaton knows of a phrase.
func (p *phrase) beginning() string {
	i := strings.IndexByte(p.text, ' ')
	if i < 0 {
		return p.text
	}
	return strings.TrimRight(p.text[:min(len(p.text), i+1+behindSpace)], " ")
}

// trie is the automaton in the making.
type trie struct {
	next [][1 << classShift]int32 // 0 = none
	out  [][]int32
	fail []int32
}

func (t *trie) add() int32 {
	t.next = append(t.next, [1 << classShift]int32{})
	t.out = append(t.out, nil)
	t.fail = append(t.fail, 0)
	return int32(len(t.next) - 1)
}

func newAutomaton(x *phraseIndex) *automaton {
	a := &automaton{x: x, ascii: true}
	a.classes()
	t := &trie{next: make([][1 << classShift]int32, 0, 8192)}
	t.add()
	for i := range x.all {
		s := int32(0)
		text := x.all[i].beginning()
		for k := range len(text) {
			c := a.class[text[k]]
			if t.next[s][c] == 0 {
				n := t.add()
				t.next[s][c] = n
			}
			s = t.next[s][c]
		}
		t.out[s] = append(t.out[s], int32(i))
	}
	t.complete(a.class[' '])
	a.flatten(t)
	a.json.fill(a)
	return a
}

// classes gives each byte that phrases use a class, letters without case. The
// last class is shared when there are too many.
func (a *automaton) classes() {
	n := 0
	give := func(c byte) {
		if a.class[c] == 0 {
			n = min(n+1, manyClasses)
			a.class[c] = uint8(n)
			a.ascii = a.ascii && c < 0x80
		}
	}
	give(' ')
	for c := byte('a'); c <= 'z'; c++ {
		give(c)
		a.class[c-32] = a.class[c]
	}
	for _, p := range a.x.all {
		for k := range len(p.text) {
			give(p.text[k])
		}
	}
	for _, c := range []byte("\t\n\r\v\f") {
		a.class[c] = a.class[' ']
	}
}

// complete turns the trie into a state table, breadth first.
func (t *trie) complete(space uint8) {
	var queue []int32
	for _, n := range t.next[0] {
		if n != 0 {
			queue = append(queue, n)
		}
	}
	behindSpace := make([]bool, len(t.next))
	for i := range t.next {
		if n := t.next[i][space]; n != 0 {
			behindSpace[n] = true
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		f := t.fail[s]
		t.out[s] = append(t.out[s], t.out[f]...)
		for c := range t.next[s] {
			n := t.next[s][c]
			switch {
			case n != 0:
				t.fail[n] = t.next[f][c]
				queue = append(queue, n)
			case behindSpace[s] && uint8(c) == space:
				t.next[s][c] = s
			default:
				t.next[s][c] = t.next[f][c]
			}
		}
	}
}

// flatten numbers the states so that those that end a beginning come last.
func (a *automaton) flatten(t *trie) {
	number := make([]uint32, len(t.next))
	n := uint32(0)
	for _, ends := range []bool{false, true} {
		if ends {
			a.match = n << classShift
		}
		for s := range t.next {
			if (len(t.out[s]) > 0) == ends {
				number[s] = n
				n++
				if ends {
					a.outputs = append(a.outputs, t.out[s])
				}
			}
		}
	}
	a.next = make([]uint32, len(t.next)<<classShift)
	for s := range t.next {
		row := a.next[number[s]<<classShift:]
		for c, to := range &t.next[s] {
			row[c] = number[to] << classShift
		}
	}
}

// step is the state behind one more byte.
func (a *automaton) step(s uint32, c byte) uint32 { return a.next[s|uint32(a.class[c])] }

// find calls yield for each phrase of the text, in order of where their
// beginnings end.
func (a *automaton) find(text []byte, yield func(place) bool) {
	s := uint32(0)
	next, class, match := a.next, &a.class, a.match
	for i := range text {
		s = next[s|uint32(class[text[i]])]
		if s >= match && !a.report(text, i+1, a.outputs[(s-match)>>classShift], yield) {
			return
		}
	}
}

// sorted calls yield for each phrase of the text, in the order of scan.
func (a *automaton) sorted(text []byte, yield func(Mention) bool) {
	var places []place
	a.find(text, func(p place) bool {
		places = append(places, p)
		return true
	})
	slices.SortFunc(places, func(p, q place) int {
		if c := cmp.Compare(p.start, q.start); c != 0 || a.x.all[p.phrase].loose == a.x.all[q.phrase].loose {
			return cmp.Or(c, cmp.Compare(p.phrase, q.phrase))
		}
		if a.x.all[p.phrase].loose {
			return -1
		}
		return 1
	})
	for _, p := range places {
		if !yield(a.x.mention(p)) {
			return
		}
	}
}

// report yields the phrases whose beginnings end at end.
func (a *automaton) report(text []byte, end int, phrases []int32, yield func(place) bool) bool {
	for _, n := range phrases {
		p := &a.x.all[n]
		start := end
		for _, c := range slices.Backward([]byte(p.beginning())) {
			start--
			if c == ' ' {
				for start > 0 && isSpace(text[start-1]) {
					start--
				}
			}
		}
		if !p.exact && !startsWord(text, start) {
			continue
		}
		stop, ok := p.at(text, start)
		if ok && (p.exact || bounded(text, start, stop)) && !yield(place{n, start, stop}) {
			return false
		}
	}
	return true
}
