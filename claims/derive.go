package claims

import (
	"math"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// maxMeasured bounds the numbers that a claim may be derived from.
const maxMeasured = 400

// measured is a number of a result, with what it is of.
type measured struct {
	number
	about context
	label []string // noun, label and head, sorted
	text  string   // as it stands
	quote string
	line  int
	call  string
}

// deriver says of numbers without a source from which two numbers they could be
// computed. That is a hint for a person, and no source.
type deriver struct {
	*judge
	own      own
	waiting  map[string]*made
	measured []measured
	words    map[string]bool // of the claims that are looked for
}

// finish looks for what could be derived, once all else was looked for.
func (j *judge) finish(t *tape) {
	d := &deriver{judge: j, own: newOwn(j.o.Memory), waiting: map[string]*made{}, words: map[string]bool{}}
	for _, x := range j.claims {
		if x.derivable() {
			for _, w := range x.about.all() {
				d.words[w] = true
			}
		}
	}
	if len(d.words) == 0 {
		return
	}
	for _, e := range t.events {
		d.see(e.event)
	}
	for _, x := range j.claims {
		d.derive(x)
	}
}

func (c *open) derivable() bool {
	return c.kind == kindNumber && (c.found.Source == queue.SourceNone || c.found.Doubt == queue.DoubtOther)
}

func (d *deriver) see(ev transcript.Event) {
	switch ev.Kind {
	case transcript.KindCall:
		for _, x := range d.claims {
			if id := d.calls[x.call].ID; id != "" && id == ev.Call.ID {
				d.derive(x)
				x.done = true
			}
		}
		m := d.own.read(ev.Call)
		d.waiting[ev.Call.ID] = m
		d.own.take(m)
	case transcript.KindResult:
		m := d.waiting[ev.Result.CallID]
		delete(d.waiting, ev.Result.CallID)
		if m != nil && !ev.Result.NotRun && m.source == queue.SourceResult {
			d.measure(clip(ev.Result.Text, 256<<10), m, ev.Line)
		}
	}
}

// measure keeps the numbers of a result that share a word with a claim.
func (d *deriver) measure(text string, m *made, line int) {
	for _, n := range numbers(text) {
		if len(d.measured) >= maxMeasured {
			return
		}
		c := printed(text, n)
		label := c.all()
		if !slices.ContainsFunc(label, func(w string) bool { return d.words[w] }) {
			continue
		}
		as, quote := strings.TrimSpace(text[n.start:n.end]), lineAround(text, n.start, n.end)
		if d.own.worth(m, quote, func(own string) bool { return strings.Contains(own, as) }, false) != queue.SourceResult {
			continue
		}
		slices.Sort(label)
		d.measured = append(d.measured, measured{number: n, about: c, label: slices.Compact(label), text: as, quote: quote, line: line, call: m.call.ID})
	}
}

// derive looks for two numbers of the same thing that give the claimed one.
func (d *deriver) derive(x *open) {
	if x.done || !x.derivable() {
		return
	}
	for i := len(d.measured) - 1; i > 0; i-- {
		b := &d.measured[i]
		if !overlap(x.about.all(), b.label) {
			continue
		}
		for k := i - 1; k >= 0; k-- {
			a := &d.measured[k]
			if !slices.Equal(a.label, b.label) || a.dimension().of != b.dimension().of || a.about.per != b.about.per || a.about.which != b.about.which {
				continue
			}
			how := x.from(a.number, b.number)
			if how == "" {
				continue
			}
			f := &x.found
			*f = queue.Claim{
				Kind: f.Kind, Text: f.Text, Where: f.Where, Source: queue.SourceNone, Doubt: queue.DoubtDerived,
				Note: how + " of " + clip(a.text, 40) + " and " + clip(b.text, 40), CallID: b.call, Line: b.line, Quote: clip(a.quote, 100) + " … " + clip(b.quote, 100),
			}
			return
		}
	}
}

// changes are words that make of a percentage a change.
var changes = wordSet("fast slow less more fewer few reduc reduction improv improvement increas decreas drop fell sav gain up down cut low high rais regress overhead small larg big")

// from says how two numbers give the claimed one; "" = not.
func (c *open) from(a, b number) string {
	x, y := a.bases()[0], b.bases()[0]
	if x <= 0 || y <= 0 || x == y {
		return ""
	}
	v, n := c.number.bases()[0], c.number
	near := func(got, half float64) bool { return math.Abs(got-v) <= min(half, 0.05*v)+1e-9*v }
	switch n.dimension().of {
	case "times":
		if near(x/y, n.half) || near(y/x, n.half) {
			return "ratio"
		}
	case "ratio":
		if !overlapSet(c.about.all(), changes) {
			return ""
		}
		if half := n.half * n.dimension().worth; near(math.Abs(x-y)/x, half) || near(math.Abs(x-y)/y, half) {
			return "change"
		}
	case a.dimension().of:
		switch half := n.half * n.dimension().worth; {
		case n.value < 10 && n.unit == "":
		case near(math.Abs(x-y), half):
			return "difference"
		case near(x+y, half):
			return "sum"
		}
	}
	return ""
}

func overlapSet(words []string, set map[string]bool) bool {
	return slices.ContainsFunc(words, func(w string) bool { return set[w] })
}
