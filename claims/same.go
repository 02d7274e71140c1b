package claims

import "slices"

// all are the words of a context.
func (c context) all() []string {
	return slices.DeleteFunc(slices.Concat(c.noun, c.label, c.head), func(w string) bool { return w == "" })
}

// sameThing reports whether a source's number is a number of what is claimed.
// command are the words of the command that printed it: they stand for a line
// that says nothing itself.
func (c *claim) sameThing(s context, m *made) bool {
	said := s.all()
	var command []string
	if m != nil {
		command = m.words
		if len(said) == 0 {
			said = command
			s.ended = ending(said)
		}
		said = append(said, m.counts...)
		if s.table {
			said = append(said, command...)
			mine := slices.DeleteFunc(c.about.all(), func(w string) bool { return slices.Contains(command, w) })
			if !overlap(c.about.all(), s.col) && overlap(mine, s.cols) {
				return false
			}
		}
	}
	if c.about.per == "" && s.per != "" {
		said = append(said, s.per)
	}
	if s.unit != "" && c.number.unit != "" && s.unit != c.number.unit && c.number.dimension().of == dimensions[s.unit].of {
		return false
	}
	if c.about.per != s.per && !(s.per == "" && slices.Contains(said, c.about.per)) && !(c.about.per == "" && slices.Contains(c.about.all(), s.per)) {
		return false
	}
	if c.about.which != s.which && (c.about.which != "" || (s.which == "min" || s.which == "max") && !c.number.ranged) {
		return false
	}
	if !sameEnding(c.about, s) || c.about.elsewhere(s) {
		return false
	}
	if c.number.dimension().of == "" && len(c.about.noun) > 0 {
		return countsSame(c.about.noun, said, command)
	}
	about := c.about.all()
	return len(about) == 0 || c.about.which != "" && c.about.which == s.which || overlap(about, said)
}

// countsSame: what is counted stands there, or the source says only what became
// of it, and a test runner said so.
func countsSame(noun, said, command []string) bool {
	things := slices.DeleteFunc(slices.Clone(noun), func(w string) bool { return outcomes[w] })
	switch {
	case len(things) == 0:
		return overlap(noun, said)
	case overlap(things, said):
		return true
	}
	isTest := func(w string) bool { return tested[w] }
	return slices.ContainsFunc(things, isTest) && slices.ContainsFunc(said, func(w string) bool { return outcomes[w] || tested[w] }) &&
		(slices.Contains(command, "test") || slices.ContainsFunc(said, isTest))
}

// sameEnding: 12 failed are not 12 that passed.
func sameEnding(c, s context) bool {
	switch c.ended {
	case s.ended:
		return true
	case "":
		return s.ended == "pass" || s.ended == "total" || slices.Contains(c.label, s.ended)
	case "pass":
		return s.ended == ""
	}
	return slices.Contains(s.noun, c.ended) || slices.Contains(c.noun, s.ended) && s.ended != ""
}

// elsewhere: what both speak of is another one each time, like the cost of
// storage and that of computing.
func (c context) elsewhere(s context) bool {
	shared, apart := 0, 0
	mine, theirs := c.all(), s.all()
	for _, a := range [][]string{c.noun, c.label} {
		for _, b := range [][]string{s.noun, s.label} {
			for i, w := range a {
				if w == "" {
					continue
				}
				k := slices.Index(b, w)
				if k < 0 {
					continue
				}
				shared++
				if i > 0 && k > 0 && a[i-1] != "" && a[i-1] != b[k-1] && !slices.Contains(theirs, a[i-1]) && !slices.Contains(mine, b[k-1]) && !outcomes[b[k-1]] {
					apart++
				}
			}
		}
	}
	return shared > 0 && shared == apart
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(w string) bool { return slices.Contains(b, w) })
}
