package policy

import "bytes"

// jsonTable is the automaton for text in which JSON escapes stand. It answers
// only whether a phrase may stand somewhere, and is never wrong about a no.
type jsonTable struct {
	a       *automaton
	class   [256]uint8
	next    []uint32
	code    uint32 // the u of an escape by number has been read; the first of those that need a look
	matches uint32 // the first that ends the beginning of a phrase
	ascii   bool
}

// fill makes the table. Behind the states of a that end nothing come those
// behind a backslash, one for each state of a, then code, then the others of a.
func (j *jsonTable) fill(a *automaton) {
	states := uint32(len(a.next))
	j.a, j.ascii = a, a.ascii
	j.code = a.match + states
	j.matches = j.code + 1<<classShift
	j.class = a.class
	for i, c := range []byte(upperEscape + `\`) {
		j.class[c] = uint8(manyClasses + 1 + i)
	}
	var sample [1 << classShift]byte // a byte of each class
	for c := 255; c >= 0; c-- {
		sample[j.class[c]] = byte(c)
	}
	j.next = make([]uint32, j.matches+states-a.match)
	for s := uint32(0); s < states; s += 1 << classShift {
		plain, escaped := j.next[j.state(s):], j.next[a.match+s:]
		for class, c := range sample {
			plain[class] = j.state(a.step(s, c))
			escaped[class] = j.escaped(s, c)
		}
		plain[j.class['\\']] = a.match + s
	}
}

// state is a state of the automaton as one of the table.
func (j *jsonTable) state(s uint32) uint32 {
	if s >= j.a.match {
		return j.matches + s - j.a.match
	}
	return s
}

// escaped is the state behind a backslash and c. A backslash that begins no
// escape stands for itself.
func (j *jsonTable) escaped(s uint32, c byte) uint32 {
	a := j.a
	switch c {
	case 'u':
		return j.code
	case 'n', 't', 'r', 'f':
		return j.state(a.step(s, ' '))
	case 'b':
		return j.state(a.step(s, '\b'))
	case '"', '\\', '/':
		return j.state(a.step(s, c))
	}
	return j.state(a.step(a.step(s, '\\'), c))
}

// lanes is how many parts of a text are read side by side: one by one, each
// step would wait for the memory that the one before asked for.
const (
	lanes    = 4
	longText = 128 // from here on it pays
	cutReach = 256 // how far a cut may move to find a byte of class 0
)

// mayHold reports whether a phrase may stand in the text when its escapes are
// resolved.
func (j *jsonTable) mayHold(text []byte) bool {
	cut, ok := j.cuts(text)
	if !ok {
		return j.run(text, 0, len(text), 0)
	}
	from, ends := [lanes]int{0, cut[0], cut[1], cut[2]}, [lanes]int{cut[0], cut[1], cut[2], len(text)}
	n := len(text)
	for k := range lanes {
		n = min(n, ends[k]-from[k])
	}
	t0, t1, t2, t3 := text[:n], text[cut[0]:][:n], text[cut[1]:][:n], text[cut[2]:][:n]
	next, class, events := j.next, &j.class, j.code
	var s0, s1, s2, s3 uint32
	for i := range t0 {
		s0 = next[s0|uint32(class[t0[i]])]
		s1 = next[s1|uint32(class[t1[i]])]
		s2 = next[s2|uint32(class[t2[i]])]
		s3 = next[s3|uint32(class[t3[i]])]
		if max(s0, s1, s2, s3) < events {
			continue
		}
		s, hit := [lanes]uint32{s0, s1, s2, s3}, false
		for k := range s {
			if s[k] >= events {
				if s[k], hit = j.look(text, from[k]+i+1, s[k]); hit {
					return true
				}
			}
		}
		s0, s1, s2, s3 = s[0], s[1], s[2], s[3]
	}
	for k, s := range [lanes]uint32{s0, s1, s2, s3} {
		if j.run(text, from[k]+n, ends[k], s) {
			return true
		}
	}
	return false
}

// run is mayHold for text[from:to], from the state s on.
func (j *jsonTable) run(text []byte, from, to int, s uint32) bool {
	for i := from; i < to; i++ {
		s = j.next[s|uint32(j.class[text[i]])]
		if s >= j.code {
			hit := false
			if s, hit = j.look(text, i+1, s); hit {
				return true
			}
		}
	}
	return false
}

// look says whether the state s behind text[:end] means that a phrase may
// stand there, and with which state to go on if it does not.
func (j *jsonTable) look(text []byte, end int, s uint32) (uint32, bool) {
	if s == j.code {
		return 0, !j.harmless(text[end:])
	}
	for _, n := range j.a.outputs[(s-j.matches)>>classShift] {
		p := &j.a.x.all[n]
		beginning := p.beginning()
		if (p.exact || mayStart(text[:end], beginning)) && mayGoOn(text[end:], p.text[len(beginning):], !p.exact && wordByte(p.text[len(p.text)-1])) {
			return s, true
		}
	}
	return s, false
}

// mayStart reports whether a word may begin where the words do that the text
// ends in. Near an escape it may.
func mayStart(text []byte, words string) bool {
	i := len(text)
	for k := len(words) - 1; k >= 0; k-- {
		i--
		for words[k] == ' ' && i > 0 && isSpace(text[i-1]) {
			i--
		}
		if i <= 1 || text[i] == '\\' || text[i-1] == '\\' {
			return true
		}
	}
	return !wordByte(text[i-1]) || bytes.IndexByte(text[max(0, i-longestEscape):i], '\\') >= 0
}

const longestEscape = len(`\u0020`)

// mayGoOn reports whether the text may go on with the words, and behind them,
// where that is asked for, with no more of the last one. At an escape by number
// it may.
func mayGoOn(text []byte, words string, bounded bool) bool {
	i := 0
	for k := range len(words) {
		spaces := 0
		for {
			c, n := unescaped(text[i:])
			if c == 'u' && n == 2 {
				return true
			}
			if n == 0 || (words[k] == ' ') != isSpace(c) || words[k] != ' ' && lower(c) != words[k] {
				if spaces == 0 {
					return false
				}
				break
			}
			i += n
			if spaces++; words[k] != ' ' {
				break
			}
		}
	}
	c, n := unescaped(text[i:])
	return !bounded || n != 1 || !wordByte(c)
}

// unescaped is the byte at the start of the text and the length of how it is
// written, 0 at the end; 'u' of length 2 is an escape by number.
func unescaped(text []byte) (c byte, n int) {
	switch {
	case len(text) == 0:
		return 0, 0
	case text[0] != '\\' || len(text) == 1:
		return text[0], 1
	}
	switch c = text[1]; c {
	case 'n', 't', 'r', 'f':
		return ' ', 2
	case 'b':
		return '\b', 2
	case '"', '\\', '/', 'u':
		return c, 2
	}
	return '\\', 1
}

// cuts divides the text into parts that begin behind a byte that no phrase
// holds, so that each can be read by itself.
func (j *jsonTable) cuts(text []byte) (cut [lanes - 1]int, ok bool) {
	if len(text) < longText {
		return cut, false
	}
	for k := range cut {
		at := len(text) * (k + 1) / lanes
		end := min(len(text), at+cutReach, len(text)*(k+2)/lanes)
		for at < end && j.class[text[at]] != 0 {
			at++
		}
		if at == end {
			return cut, false
		}
		cut[k] = at + 1
	}
	return cut, true
}

// harmless reports whether the four digits of an escape stand for a character
// that no phrase holds.
func (j *jsonTable) harmless(digits []byte) bool {
	if len(digits) < 4 {
		return false
	}
	n := 0
	for _, c := range digits[:4] {
		switch c = lower(c); {
		case c >= '0' && c <= '9':
			n = n<<4 | int(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | int(c-'a'+10)
		default:
			return false
		}
	}
	return n >= 0x80 && j.ascii || n < 0x80 && j.class[n] == 0
}
