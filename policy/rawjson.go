package policy

// jsonTable is the automaton for text in which JSON escapes stand. It answers
// only whether a phrase may begin somewhere, and is never wrong about a no.
type jsonTable struct {
	class  [256]uint8
	next   []uint32
	events uint32 // the first of the two states below
	hit    uint32 // the beginning of a phrase has been read
	code   uint32 // the u of an escape by number has been read
	ascii  bool
}

// fill makes the table: each state of a, then for each the one behind a
// backslash.
func (j *jsonTable) fill(a *automaton) {
	states := a.match >> classShift
	j.ascii = a.ascii
	j.events = 2 * a.match
	j.hit, j.code = j.events, j.events+1<<classShift
	j.class = a.class
	for i, c := range []byte(upperEscape + `\`) {
		j.class[c] = uint8(manyClasses + 1 + i)
	}
	var sample [1 << classShift]byte // a byte of each class
	for c := 255; c >= 0; c-- {
		sample[j.class[c]] = byte(c)
	}
	sample[0] = 0
	j.next = make([]uint32, 2*states<<classShift)
	for s := range states {
		plain, escaped := j.next[s<<classShift:], j.next[(states+s)<<classShift:]
		for class, c := range sample {
			plain[class] = j.state(a, a.step(s<<classShift, c))
			escaped[class] = j.escaped(a, s<<classShift, c)
		}
		plain[j.class['\\']] = (states + s) << classShift
	}
}

// state is a state of a as one of the table.
func (j *jsonTable) state(a *automaton, s uint32) uint32 {
	if s >= a.match {
		return j.hit
	}
	return s
}

// escaped is the state behind a backslash and c. A backslash that begins no
// escape stands for itself.
func (j *jsonTable) escaped(a *automaton, s uint32, c byte) uint32 {
	switch c {
	case 'u':
		return j.code
	case 'n', 't', 'r', 'f':
		return j.state(a, a.step(s, ' '))
	case 'b':
		return j.state(a, a.step(s, '\b'))
	case '"', '\\', '/':
		return j.state(a, a.step(s, c))
	}
	if s = a.step(s, '\\'); s >= a.match {
		return j.hit
	}
	return j.state(a, a.step(s, c))
}

// lanes is how many parts of a text are read side by side: one by one, each
// step would wait for the memory that the one before asked for.
const (
	lanes    = 4
	longText = 512 // from here on it pays
	cutReach = 256 // how far a cut may move to find a byte of class 0
)

// mayHold reports whether a phrase may stand in the text when its escapes are
// resolved.
func (j *jsonTable) mayHold(text []byte) bool {
	cut, ok := j.cuts(text)
	if !ok {
		_, hit := j.run(text, 0, len(text), 0)
		return hit
	}
	t0, t1, t2, t3 := text[:cut[0]], text[cut[0]:cut[1]], text[cut[1]:cut[2]], text[cut[2]:]
	n := min(len(t0), len(t1), len(t2), len(t3))
	next, class, events := j.next, &j.class, j.events
	s := [lanes]uint32{}
	from := [lanes]int{0, cut[0], cut[1], cut[2]}
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	t0, t1, t2, t3 = t0[:n], t1[:n], t2[:n], t3[:n]
	for i := range t0 {
		s0 = next[s0|uint32(class[t0[i]])]
		s1 = next[s1|uint32(class[t1[i]])]
		s2 = next[s2|uint32(class[t2[i]])]
		s3 = next[s3|uint32(class[t3[i]])]
		if max(s0, s1, s2, s3) < events {
			continue
		}
		s = [lanes]uint32{s0, s1, s2, s3}
		for k := range s {
			if s[k] >= events {
				if s[k] == j.hit || !j.harmless(text[from[k]+i+1:]) {
					return true
				}
				s[k] = 0
			}
		}
		s0, s1, s2, s3 = s[0], s[1], s[2], s[3]
	}
	s = [lanes]uint32{s0, s1, s2, s3}
	ends := [lanes]int{cut[0], cut[1], cut[2], len(text)}
	for k := range s {
		if _, hit := j.run(text, from[k]+n, ends[k], s[k]); hit {
			return true
		}
	}
	return false
}

// run reads text[from:to] from the state s on.
func (j *jsonTable) run(text []byte, from, to int, s uint32) (uint32, bool) {
	for i := from; i < to; i++ {
		if s = j.next[s|uint32(j.class[text[i]])]; s >= j.events {
			if s == j.hit || !j.harmless(text[i+1:]) {
				return s, true
			}
			s = 0
		}
	}
	return s, false
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
