package scanner

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

const (
	windowSize    = 256 << 10
	windowOverlap = 4 << 10
	largeValue    = 1 << 20 // a longer value is looked through piece by piece, not string by string
	ownLine       = 24      // a shorter line of ours is too common to be taken for ours
)

// phrase is one spelling that a line holds of what a rule names.
type phrase struct {
	rule    string
	tier    policy.Tier
	why     string
	literal string
}

// spellings bounds the spellings kept of one rule in one line.
const spellings = 16

// phrases gathers what was found in one line, each spelling once. That is
// done for many lines together; where in the line a phrase stands is then
// found by a plain search, and only if it is asked for.
type phrases struct {
	list []phrase
	seen map[[2]string]bool
	of   map[string]int // how many spellings of a rule
}

func (p *phrases) add(m policy.Mention, text []byte) {
	if p.of == nil {
		p.seen, p.of = map[[2]string]bool{}, map[string]int{}
	}
	if p.of[m.Rule] >= spellings {
		return
	}
	literal := string(text[m.Start:m.End])
	if key := [2]string{m.Rule, literal}; !p.seen[key] {
		p.seen[key] = true
		p.of[m.Rule]++
		p.list = append(p.list, phrase{m.Rule, m.Tier, m.Why, literal})
	}
}

// words looks for the phrases of the line at hand in its texts, but not in
// texts that are ours.
type words struct {
	rules    classifier
	line     []phrase
	ignore   [][]byte
	ownLines map[string]bool // the lines of ignore, for logs that were split at them
	scratch  []byte
	blanked  []byte
}

func newWords(rules classifier, ignore []string) *words {
	w := &words{rules: rules, ownLines: map[string]bool{}}
	quoteAgain := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)
	for _, text := range ignore {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		w.ignore = append(w.ignore, []byte(text))
		if quoted := quoteAgain.Replace(text); quoted != text {
			w.ignore = append(w.ignore, []byte(quoted)) // JSON inside a string, as hooks print it
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) >= ownLine {
				w.ownLines[line] = true
			}
		}
	}
	return w
}

// found is one place of a text, with every rule that speaks of it.
type found struct {
	rules      []string
	tier       policy.Tier
	why        string
	excerpt    string
	start, end int
}

// in lists the places of the text, each rule at its first one. Rules that
// overlap share a place.
func (w *words) in(text []byte) []found {
	if len(w.line) == 0 || len(text) == 0 {
		return nil
	}
	readable := w.blank(text)
	var places []found
	at := map[string]int{} // rule to its place
	for _, p := range w.line {
		i := bytes.Index(readable, []byte(p.literal))
		if i < 0 {
			continue
		}
		f := found{[]string{p.rule}, p.tier, p.why, "", i, i + len(p.literal)}
		if n, ok := at[p.rule]; !ok {
			at[p.rule] = len(places)
			places = append(places, f)
		} else if i < places[n].start {
			places[n] = f
		}
	}
	slices.SortStableFunc(places, func(a, b found) int { return a.start - b.start })
	return join(places, text)
}

// inText is in for a text of any length.
func (w *words) inText(text string) []found {
	if len(text) <= largeValue || len(w.line) == 0 {
		return w.in([]byte(text))
	}
	var out []found
	seen := ruleSet{}
	for at := 0; at < len(text) && !w.allKnown(seen); at += largeValue {
		for _, f := range w.in([]byte(text[max(0, at-windowOverlap):min(len(text), at+largeValue)])) {
			if !seen.hasAll(f.rules) {
				seen.add([]found{f})
				out = append(out, f)
			}
		}
	}
	return out
}

// join puts overlapping places together and cuts the excerpts.
func join(places []found, text []byte) []found {
	var out []found
	for _, f := range places {
		if n := len(out) - 1; n >= 0 && f.start < out[n].end {
			out[n].rules = append(out[n].rules, f.rules...)
			out[n].tier = max(out[n].tier, f.tier)
			out[n].end = max(out[n].end, f.end)
			continue
		}
		out = append(out, f)
	}
	for i := range out {
		out[i].excerpt = excerpt(text, out[i].start, out[i].end)
	}
	return out
}

// inValue is in for a whole JSON value: its strings one by one, for the better
// excerpts, then whatever stands in no single string. Rules that are known
// already are left out.
func inValue[T ~string | ~[]byte](w *words, js T, known ruleSet) []found {
	if w.allKnown(known) {
		return nil
	}
	var out []found
	seen := ruleSet{}
	take := func(list []found) {
		for _, f := range list {
			if !seen.hasAll(f.rules) && !known.hasAll(f.rules) {
				seen.add([]found{f})
				out = append(out, f)
			}
		}
	}
	if len(js) <= largeValue {
		eachString(gjson.Parse(string(js)), func(text string) { take(w.in([]byte(text))) })
	}
	for at := 0; at < len(js) && !w.allKnown(known, seen); at += largeValue {
		take(inJSON(w, js[max(0, at-windowOverlap):min(len(js), at+largeValue)]))
	}
	return out
}

// allKnown says whether every rule of the line is in one of the sets.
func (w *words) allKnown(sets ...ruleSet) bool {
	for _, p := range w.line {
		if !slices.ContainsFunc(sets, func(s ruleSet) bool { return s[p.rule] }) {
			return false
		}
	}
	return true
}

// eachString calls f for every string in v that is no key.
func eachString(v gjson.Result, f func(string)) {
	switch {
	case v.Type == gjson.String:
		f(v.String())
	case v.IsObject() || v.IsArray():
		v.ForEach(func(_, e gjson.Result) bool {
			eachString(e, f)
			return true
		})
	}
}

// inJSON is in for a piece of JSON, whole or torn, with its escapes resolved.
func inJSON[T ~string | ~[]byte](w *words, js T) []found {
	w.scratch = append(w.scratch[:0], js...)
	n := len(w.scratch)
	w.scratch = transcript.Unescape(w.scratch, w.scratch[:n:n])
	return w.in(w.scratch[n:])
}

// inPlain is in for a line of a log, which may be a torn piece of JSON.
func (w *words) inPlain(line string) []found {
	if w.ownLines[strings.TrimSpace(line)] {
		return nil
	}
	out := w.in([]byte(line))
	if len(w.line) == 0 || strings.IndexByte(line, '\\') < 0 {
		return out
	}
	seen := rulesOf(out)
	for _, f := range inJSON(w, line) {
		if !seen.hasAll(f.rules) {
			out = append(out, f)
		}
	}
	return out
}

// inLine finds the phrases of a line, but not in the part that stands there
// again.
func (w *words) inLine(line []byte, again span) []phrase {
	isJSON := shapeOf(line) == shapeJSON
	if again.end == 0 || !isJSON {
		return w.inPart(nil, line, isJSON).list
	}
	return w.inPart(w.inPart(nil, line[:again.start], true), line[again.end:], true).list
}

// inPart adds the phrases of a part of a line to those at hand. Most parts
// hold none, and need no copy without escapes.
func (w *words) inPart(p *phrases, part []byte, isJSON bool) *phrases {
	if p == nil {
		p = &phrases{}
	}
	if !w.mayHold(part, isJSON) {
		return p
	}
	for at := 0; at < len(part); at += windowSize {
		window := part[max(0, at-windowOverlap):min(len(part), at+windowSize)]
		if len(window) < len(part) && !w.mayHold(window, isJSON) {
			continue
		}
		w.scratch = readable(w.scratch[:0], window, isJSON)
		w.rules.FindMentions(w.scratch, func(m policy.Mention) bool {
			p.add(m, w.scratch)
			return true
		})
	}
	return p
}

func (w *words) mayHold(text []byte, isJSON bool) bool {
	return !isJSON && bytes.IndexByte(text, '\\') >= 0 || w.rules.MayMention(text)
}

// readable appends a text to look through: with its escapes resolved, and as
// it stands too where it need not be JSON.
func readable(dst, text []byte, isJSON bool) []byte {
	if !isJSON {
		dst = append(append(dst, text...), 0)
		if bytes.IndexByte(text, '\\') < 0 {
			return dst
		}
	}
	return append(transcript.Unescape(dst, text), 0)
}

// blank returns the text with what is ours made unreadable.
func (w *words) blank(text []byte) []byte {
	copied := false
	for _, own := range w.ignore {
		for at := 0; ; {
			i := bytes.Index(text[at:], own)
			if i < 0 {
				break
			}
			if !copied {
				w.blanked = append(w.blanked[:0], text...)
				text, copied = w.blanked, true
			}
			clear(text[at+i : at+i+len(own)])
			at += i + len(own)
		}
	}
	return text
}

// ruleSet is a set of rule ids.
type ruleSet map[string]bool

func rulesOf(list []found) ruleSet {
	set := ruleSet{}
	set.add(list)
	return set
}

func (s ruleSet) add(list []found) {
	for _, f := range list {
		for _, r := range f.rules {
			s[r] = true
		}
	}
}

func (s ruleSet) hasAll(rules []string) bool {
	for _, r := range rules {
		if !s[r] {
			return false
		}
	}
	return true
}
