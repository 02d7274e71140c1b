package policy

// automaton finds all phrases in one pass (Aho and Corasick, 1975), as a
// table of states by byte class. White space is one class, and a state behind
// white space stays where it is on more of it, so that a run counts as one.
type automaton struct {
	x       *phraseIndex
	class   [256]uint8
	next    []uint32 // state<<shift | class to state<<shift; states that end a phrase come last
	match   uint32   // the first state<<shift that ends a phrase
	outputs [][]int32
}

const classShift = 6 // up to 64 classes of bytes

// trie is the automaton in the making.
type trie struct {
	next [][]int32 // 0 = none
	out  [][]int32
	fail []int32
}

func (t *trie) add() int32 {
	t.next = append(t.next, make([]int32, 1<<classShift))
	t.out = append(t.out, nil)
	t.fail = append(t.fail, 0)
	return int32(len(t.next) - 1)
}

func newAutomaton(x *phraseIndex) *automaton {
	a := &automaton{x: x}
	a.classes()
	t := &trie{}
	t.add()
	for i, p := range x.all {
		s := int32(0)
		for k := 0; k < len(p.text); k++ {
			c := a.class[p.text[k]]
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
	return a
}

// classes gives each byte that phrases use a class, letters without case;
// class 0 is every other byte.
func (a *automaton) classes() {
	n := uint8(0)
	for _, p := range a.x.all {
		for k := 0; k < len(p.text); k++ {
			c := p.text[k]
			if a.class[c] != 0 || n == 1<<classShift-1 {
				continue
			}
			n++
			a.class[c] = n
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		a.class[c-32] = a.class[c]
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

// flatten numbers the states so that those that end a phrase come last.
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
	for s, row := range t.next {
		for c, to := range row {
			a.next[number[s]<<classShift|uint32(c)] = number[to] << classShift
		}
	}
}

// find calls yield for each phrase of the text, in order of their end.
func (a *automaton) find(text []byte, yield func(Mention) bool) {
	s := uint32(0)
	next, class, match := a.next, &a.class, a.match
	for i := range text {
		s = next[s|uint32(class[text[i]])]
		if s >= match && !a.report(text, i+1, a.outputs[(s-match)>>classShift], yield) {
			return
		}
	}
}

// report yields the phrases that end at end.
func (a *automaton) report(text []byte, end int, phrases []int32, yield func(Mention) bool) bool {
	for _, n := range phrases {
		p := &a.x.all[n]
		start := end
		for k := len(p.text) - 1; k >= 0; k-- {
			start--
			if p.text[k] == ' ' {
				for start > 0 && isSpace(text[start-1]) {
					start--
				}
			}
		}
		if (p.exact || bounded(text, start, end)) && !yield(Mention{p.rule, p.tier, p.why, start, end}) {
			return false
		}
	}
	return true
}
