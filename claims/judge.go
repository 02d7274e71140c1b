package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// maxResult bounds what is searched of one result.
const maxResult = 4 << 20

// ranks order the sources: the first that is found of the highest rank counts.
// What a doubt hangs on ranks below all that has none.
var ranks = map[queue.ClaimSource]int{
	queue.SourceNone: 0, queue.SourceAgent: 11, queue.SourceAgentFile: 12, queue.SourceSubagent: 13,
	queue.SourcePage: 14, queue.SourceStory: 15, queue.SourceFile: 16, queue.SourceResult: 17,
}

// open is a claim that is being judged.
type open struct {
	claim
	at       int // in the list of all
	call     int // of Judge's calls
	found    queue.Claim
	rank     int
	done     bool     // it was looked for in what it could be derived from
	programs standing // of a number, in programs that the agent wrote
	whole    bool     // of a run: the last that went well was not a part only
}

// place is where a claimed number is looked for.
type place struct {
	least, most float64 // in the base unit
	claim       *open
}

type judge struct {
	calls   []Call
	open    []bool // the call has not been made yet
	claims  []*open
	places  []place // of kindNumber, by least
	widest  float64
	lines   map[string][]*open // of quoted output
	o       Options
	own     own
	waiting map[string]*made
	behind  map[string]*made // what goes on in the background, by its call and by the file of its output
	earlier bool             // what is seen is of an earlier attempt
}

func newJudge(calls []Call, claims [][]claim, o Options) *judge {
	j := &judge{calls: calls, open: make([]bool, len(calls)), lines: map[string][]*open{}, o: o, own: newOwn(o.Memory), waiting: map[string]*made{}, behind: map[string]*made{}}
	for i := range calls {
		j.open[i] = true
		for _, c := range claims[i] {
			x := &open{claim: c, call: i, at: len(j.claims)}
			x.found = queue.Claim{Kind: string(c.kind), Text: clip(c.text, 200), Where: clip(c.where, 80), Source: queue.SourceNone}
			if c.kind == kindRun && c.work.unseen != "" {
				x.found.Note, x.found.Doubt = c.work.unseen, queue.DoubtUnseen
			}
			j.claims = append(j.claims, x)
		}
	}
	for _, c := range j.claims {
		if c.kind == kindNumber {
			half := c.number.half * c.number.dimension().worth
			values := c.number.bases()
			if !slices.Contains(values, c.number.value) {
				values = append(values, c.number.value) // without its unit
			}
			for _, v := range values {
				j.places = append(j.places, place{v - half - 1e-9*v, v + half + 1e-9*v, c})
				j.widest = max(j.widest, 2*half+2e-9*v)
			}
		}
		for _, l := range c.lines {
			j.lines[l] = append(j.lines[l], c)
		}
	}
	slices.SortStableFunc(j.places, func(a, b place) int { return cmp.Compare(a.least, b.least) })
	return j
}

func (j *judge) see(ev transcript.Event) {
	switch ev.Kind {
	case transcript.KindPrompt:
		switch {
		case strings.HasPrefix(strings.TrimSpace(ev.Text), "[Subagent"):
			j.match(ev.Text, &made{source: queue.SourceSubagent}, ev.Line)
		case !ev.Synthetic && ev.Agent == "":
			j.match(ev.Text, &made{source: queue.SourceStory}, ev.Line)
		}
	case transcript.KindTask:
		if m := j.behind[ev.Task.ToolUseID]; m != nil && (ev.Task.Status == "completed" || ev.Task.Status == "failed") {
			delete(j.behind, ev.Task.ToolUseID)
			j.ran(m, &transcript.Result{IsError: ev.Task.Status == "failed"}, ev.Line)
		}
	case transcript.KindCall:
		j.call(ev.Call)
	case transcript.KindResult:
		m := j.waiting[ev.Result.CallID]
		if m == nil || ev.Result.NotRun {
			return
		}
		delete(j.waiting, ev.Result.CallID)
		if ev.Result.Background && m.line != "" {
			j.behind[ev.Result.CallID] = m
			if path := outputFile(ev.Result.Text); path != "" {
				j.behind[path] = m
			}
			return
		}
		j.match(clip(ev.Result.Text, maxResult), m, ev.Line)
		j.ran(m, ev.Result, ev.Line)
	}
}

func (j *judge) call(c *transcript.Call) {
	for i := range j.calls {
		if j.calls[i].ID != "" && j.calls[i].ID == c.ID {
			j.open[i] = false
		}
	}
	m := j.own.read(c)
	for _, name := range m.names {
		if b := j.behind[name]; b != nil && m.reads && m.source == queue.SourceFile {
			out := *b // what it has printed so far
			out.call = c
			m = &out
			m.partial = true
			break
		}
	}
	j.waiting[c.ID] = m
	if m.changes {
		j.stale()
	}
	for _, text := range j.own.take(m) {
		j.eachNumber(text, func(x *open, n number, _ likeness) { x.programs |= x.standing(text, n) })
	}
}

// outputFile is where the client says that a background command's output goes.
func outputFile(text string) string {
	_, rest, ok := strings.Cut(text, "Output is being written to: ")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, " ")
	return strings.TrimSuffix(strings.TrimSpace(name), ".")
}

// eachNumber finds the claimed numbers in a text.
func (j *judge) eachNumber(text string, do func(x *open, n number, how likeness)) {
	if len(j.places) == 0 {
		return
	}
	for _, n := range numbers(text) {
		seen := map[*open]bool(nil)
		for _, v := range n.bases() {
			i, _ := slices.BinarySearchFunc(j.places, v-j.widest, func(p place, v float64) int { return cmp.Compare(p.least, v) })
			for ; i < len(j.places) && j.places[i].least <= v; i++ {
				x := j.places[i].claim
				if v > j.places[i].most || seen[x] {
					continue
				}
				if how := x.number.says(n); how != unlike {
					if len(n.bases()) > 1 {
						if seen == nil {
							seen = map[*open]bool{}
						}
						seen[x] = true
					}
					do(x, n, how)
				}
			}
		}
	}
}

// match looks for the claims of the calls to come in one text.
func (j *judge) match(text string, m *made, line int) {
	at, near := -1, context{}
	j.eachNumber(text, func(x *open, n number, how likeness) {
		if !j.open[x.call] || x.rank > 3*ranks[queue.SourceResult] {
			return // nothing better can come
		}
		if n.start != at {
			at, near = n.start, printed(text, n)
		}
		j.number(text, x, n, near, how, m, line)
	})
	for _, x := range j.claims {
		switch {
		case x.kind == kindURL && strings.Contains(text, x.url):
			own := func(text string) bool { return strings.Contains(text, x.url) }
			at := strings.Index(text, x.url)
			quote := lineAround(text, at, at+len(x.url))
			j.take(x, sighting{source: j.own.worth(m, quote, own, false), made: m, line: line, quote: quote})
		case x.kind == kindCommand && m.source == queue.SourceStory && strings.Contains(text, x.command):
			j.take(x, sighting{source: queue.SourceStory, made: m, line: line, note: "the story names it"})
		}
	}
	j.output(text, m, line)
}

// number holds one number of a source against one that is claimed.
func (j *judge) number(text string, x *open, n number, c context, how likeness, m *made, line int) {
	if m.source == queue.SourceFile && isLineNumber(text, n) {
		return
	}
	quote := lineAround(text, n.start, n.end)
	if strings.Contains(quote, "characters truncated]") || strings.Contains(quote, "lines truncated]") {
		return // the client's own words
	}
	s := sighting{made: m, line: line, quote: quote}
	if how == rounds {
		s.rounded = strings.TrimSpace(text[n.start:n.end])
	}
	near := x.isNear(text, n, c, how, m)
	if m.prints != "" && x.number.digits >= 2 && j.prints(m.prints, x) {
		s.source = m.told()
		j.take(x, s)
		return
	}
	if m.computes != "" && overlap(x.about.all(), content(m.computes)) {
		s.source = m.told()
		j.take(x, s)
		return
	}
	if (m.source == queue.SourceAgent || m.source == queue.SourceAgentFile) && x.number.digits >= 2 {
		near = true // whatever it prints, the agent has told it to
	}
	if !near {
		if x.number.digits < 2 {
			return // it stands everywhere
		}
		s.doubt = queue.DoubtOther
	}
	s.source = j.own.worth(m, quote, func(own string) bool { return x.held(j.holds(m, own)[x], near) }, x.held(x.programs, near))
	j.take(x, s)
}

// isNear reports whether a number in a result is a number of what is claimed.
func (x *open) isNear(text string, n number, c context, how likeness, m *made) bool {
	if how == bare && c.unit != x.number.unit {
		return false
	}
	if m.lists && x.number.dimension().of == "size" {
		c.label = append(slices.Clone(c.label), content(lineAround(text, n.start, n.end))...)
	}
	return x.sameThing(c, m) || m.prose() && x.sameThing(claimed(text, "", n), nil)
}

// standing is how a claimed number stands in a text of the agent's.
type standing uint8

const (
	stands   standing = 1 << iota
	standsBy          // beside a word of the claim
)

func (x *open) standing(text string, n number) standing {
	if x.likely(printed(text, n)) || x.likely(claimed(text, "", n)) {
		return stands | standsBy
	}
	return stands
}

// held reports whether that makes it the agent's own. near says that the result
// has it as a number of what is claimed.
func (x *open) held(s standing, near bool) bool {
	return s&standsBy != 0 || s != 0 && near && x.number.digits >= 3
}

// holds finds the claimed numbers that stand in a text of the agent's, once for
// all that is asked of one result.
func (j *judge) holds(m *made, text string) map[*open]standing {
	found, ok := m.held[text]
	if ok {
		return found
	}
	found = map[*open]standing{}
	j.eachNumber(text, func(x *open, n number, _ likeness) { found[x] |= x.standing(text, n) })
	if m.held == nil {
		m.held = map[string]map[*open]standing{}
	}
	m.held[text] = found
	return found
}

// likely: a word is enough to doubt that a number is more than the agent's own.
func (x *open) likely(c context) bool {
	about := x.about.all()
	return len(about) == 0 || overlap(about, c.all()) || x.about.which != "" && x.about.which == c.which
}

// prints reports whether a number stands in what a command was told to print.
func (j *judge) prints(text string, of *open) (found bool) {
	j.eachNumber(text, func(x *open, n number, _ likeness) { found = found || x == of })
	return found
}

// output looks for quoted lines in a result; the result with the most of them
// is the source.
func (j *judge) output(text string, m *made, line int) {
	if len(j.lines) == 0 {
		return
	}
	here := map[*open]map[string]bool{}
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimSpace(l)
		for _, x := range j.lines[l] {
			if here[x] == nil {
				here[x] = map[string]bool{}
			}
			here[x][l] = true
		}
	}
	for x, lines := range here {
		own := func(text string) bool { return strings.Contains(text, x.lines[0]) }
		s := sighting{source: j.own.worth(m, x.lines[0], own, false), made: m, line: line, quote: x.lines[0]}
		if len(lines) < len(x.lines) {
			s.note, s.doubt = fmt.Sprintf("%d of its %d lines", len(lines), len(x.lines)), queue.DoubtPart
		}
		j.take(x, s)
	}
}

// sighting is a place where a claim's words stand.
type sighting struct {
	source      queue.ClaimSource
	doubt       queue.ClaimDoubt
	made        *made
	line        int
	quote, note string
	rounded     string
	failed      bool // the call failed
	last        bool // the latest one counts, not the first
}

func (s *sighting) rank() int {
	rank := 3 * ranks[s.source]
	switch {
	case s.doubt != "" && !s.last:
		rank = ranks[s.source] / 10
	case s.rounded == "":
		rank++
	}
	return rank
}

// take keeps a source that is better than what was found before.
func (j *judge) take(x *open, s sighting) {
	rank := s.rank()
	if !j.open[x.call] || rank < x.rank || rank == x.rank && !s.last {
		return
	}
	x.rank = rank
	f := &x.found
	f.Source, f.Doubt, f.Line, f.Quote, f.Note, f.Failed = s.source, s.doubt, s.line, strings.Clone(clip(s.quote, 200)), s.note, s.failed
	f.Rounded, f.Earlier = strings.Clone(clip(s.rounded, 40)), j.earlier
	f.CallID, f.Tool, f.Command = "", "", ""
	if c := s.made.call; c != nil {
		f.CallID, f.Tool, f.Command = c.ID, c.Name, clip(cmp.Or(s.made.line, strings.Join(s.made.names, " ")), 200)
	}
}

// told is the claim with its source, for the queue.
func (c *open) told(o Options) queue.Claim {
	f := c.found
	if f.CallID != "" && o.Receipt != nil {
		f.Receipt = o.Receipt(f.CallID)
	}
	return f
}
