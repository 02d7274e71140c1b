package policy

import (
	"slices"
	"strings"
)

// phrase is one text that counts as a mention of a rule. It is kept in lower
// case, its words divided by one space; in a text any run of white space will
// do. An exact phrase counts anywhere, the others only at word boundaries.
type phrase struct {
	text  string
	of    *phraseRule
	exact bool
	loose bool // found by its first byte
}

// phraseRule is the rule that a phrase speaks of; external, all of them.
type phraseRule struct{ id, why string }

// place is where a phrase stands.
type place struct {
	phrase     int32
	start, end int
}

// phraseIndex finds phrases by their first word, and those that count
// anywhere, or have one word only, by their first byte.
type phraseIndex struct {
	all   []phrase
	words []wordPhrases // in the order of their words
	loose *[256][]int32
}

// wordPhrases are the phrases that begin with a word.
type wordPhrases struct {
	word    string
	phrases []int32
}

// classics are the patterns that scripts round such loops have always looked
// for; they count wherever they stand.
func classics() []phrase {
	var out []phrase
	for _, p := range []string{
		"git push", "gh pr create", "gh pr merge", "railway deploy", "npm publish",
		"curl -x post", "curl -x put", "curl -x patch", "curl -x delete",
	} {
		out = append(out, phrase{
			text: p, exact: true, of: &phraseRule{
				"classic-" + strings.ReplaceAll(strings.ReplaceAll(p, " -", "-"), " ", "-"), "A text that loops have always looked for.",
			},
		})
	}
	return out
}

// phraseSet is the phrases of the embedded packs, which are laid out with them,
// and of a user's own.
func (s *Set) phraseSet() *phraseIndex {
	s.phrasesOnce.Do(func() {
		s.phrases = phraseIndex{all: builtinPhrases[:], words: builtinWords[:], loose: &builtinLoose}
		own := s.packs[len(builtinDefs):]
		if len(own)+len(s.patterns) == 0 {
			return
		}
		x := &phraseIndex{}
		english := s.table().english.all()
		for _, p := range own {
			for i := range p.def.Rules {
				x.add(&p.def.Rules[i], english)
			}
		}
		for _, p := range s.patterns {
			of := &phraseRule{"pattern:" + p, "A text that your configuration lists as external."}
			x.all = append(x.all, phrase{text: strings.Join(strings.Fields(p), " "), of: of, exact: true})
		}
		s.phrases.addLoose(x.all)
	})
	return &s.phrases
}

// addLoose adds phrases that are found by their first byte.
func (x *phraseIndex) addLoose(list []phrase) {
	loose := *x.loose
	x.all = slices.Clip(x.all)
	for _, p := range list {
		p.loose = true
		c, n := p.text[0], int32(len(x.all))
		loose[c] = append(slices.Clip(loose[c]), n)
		if c >= 'a' && c <= 'z' {
			loose[c-32] = append(slices.Clip(loose[c-32]), n)
		}
		x.all = append(x.all, p)
	}
	x.loose = &loose
}

// beginWith are the phrases that begin with a word.
func (x *phraseIndex) beginWith(word []byte) []int32 {
	lo, hi := 0, len(x.words)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if x.words[mid].word < string(word) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(x.words) && x.words[lo].word == string(word) {
		return x.words[lo].phrases
	}
	return nil
}

// add adds the phrases of an external rule, those apart that begin with an
// English word.
func (x *phraseIndex) add(d *ruleDef, english map[string]bool) {
	if d.Tier != "external" {
		return
	}
	of := &phraseRule{d.ID, d.Why}
	for _, text := range d.makePhrases() {
		if strings.Contains(text, "  ") {
			text = strings.Join(strings.Fields(text), " ")
		}
		if first, _, _ := strings.Cut(text, " "); text != "" && !english[first] {
			x.all = append(x.all, phrase{text: strings.ToLower(text), of: of})
		}
	}
}

// maxFirstWord bounds the first word of the phrases in the word index.
const maxFirstWord = 24

// at returns the end of the phrase when it stands at i.
func (p *phrase) at(text []byte, i int) (end int, ok bool) {
	for k := 0; k < len(p.text); k++ {
		if i >= len(text) {
			return 0, false
		}
		if p.text[k] == ' ' {
			n := whiteSpace(text, i)
			if n == 0 {
				return 0, false
			}
			i += n
			continue
		}
		if lower(text[i]) != p.text[k] {
			return 0, false
		}
		i++
	}
	return i, true
}

// whiteSpace is the length of the run of white space at i.
func whiteSpace(text []byte, i int) int {
	n := 0
	for i+n < len(text) && isSpace(text[i+n]) {
		n++
	}
	return n
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 32
	}
	return c
}

// bounded reports whether text[start:end] does not stand inside a longer
// word. An escaped line end of JSON text (\n) is a boundary too.
func bounded(text []byte, start, end int) bool {
	return startsWord(text, start) && (end >= len(text) || !wordByte(text[end]) || !wordByte(text[end-1]))
}

// startsWord reports whether no word goes on into start.
func startsWord(text []byte, start int) bool {
	if start == 0 || !wordByte(text[start-1]) {
		return true
	}
	c := text[start-1]
	return start > 1 && text[start-2] == '\\' && (c == 'n' || c == 't' || c == 'r')
}

func wordByte(c byte) bool { return isIdent(c) || c == '-' }

// Mention is one place where a text speaks of what a rule means.
type Mention struct {
	Rule       string
	Tier       Tier
	Why        string
	Start, End int
}

func (x *phraseIndex) mention(at place) Mention {
	p := &x.all[at.phrase]
	return Mention{p.of.id, External, p.of.why, at.start, at.end}
}

// scan calls yield for each phrase of the text, in order of their start. It
// is for the first short texts; the automaton does the same.
func (x *phraseIndex) scan(text []byte, yield func(Mention) bool) {
	var buf [maxFirstWord]byte
	for i := range text {
		if !x.yieldAll(text, i, x.loose[text[i]], yield) {
			return
		}
		if isSpace(text[i]) || !startsWord(text, i) {
			continue
		}
		n := 0
		for n < maxFirstWord && i+n < len(text) && !isSpace(text[i+n]) {
			buf[n] = lower(text[i+n])
			n++
		}
		if !x.yieldAll(text, i, x.beginWith(buf[:n]), yield) {
			return
		}
	}
}

// yieldAll yields those of the phrases that stand at i.
func (x *phraseIndex) yieldAll(text []byte, i int, phrases []int32, yield func(Mention) bool) bool {
	for _, n := range phrases {
		p := &x.all[n]
		end, ok := p.at(text, i)
		if ok && (p.exact || bounded(text, i, end)) && !yield(x.mention(place{n, i, end})) {
			return false
		}
	}
	return true
}

// shortText is the length up to which the mentions of a text come in the
// order of their start, and how much a set looks through word by word before
// it pays to make the automaton.
const shortText = 32 << 10

// FindMentions looks through any text for what the rules name, in time
// proportional to its length, and calls yield for each place until it says
// false.
func (s *Set) FindMentions(text []byte, yield func(Mention) bool) {
	x := s.phraseSet()
	short := len(text) <= shortText
	switch {
	case short && s.looked.Load() <= shortText:
		s.looked.Add(int64(len(text)))
		x.scan(text, yield)
	case short:
		s.automaton().sorted(text, yield)
	default:
		s.automaton().find(text, func(p place) bool { return yield(x.mention(p)) })
	}
}

// MayMention reports whether FindMentions may find something in the text once
// the escapes of its JSON strings are resolved. A no is certain, a yes is not:
// it is a quick look at much text that holds little of interest.
func (s *Set) MayMention(text []byte) bool { return s.automaton().json.mayHold(text) }

func (s *Set) automaton() *automaton {
	s.dfaOnce.Do(func() { s.dfa = newAutomaton(s.phraseSet()) })
	return s.dfa
}
