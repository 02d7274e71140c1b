package claims

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// maxResult bounds what is searched of one result.
const maxResult = 4 << 20

// ranks order the sources: the first that is found of the highest rank counts.
var ranks = map[queue.ClaimSource]int{
	queue.SourceNone: 0, queue.SourceAgent: 1, queue.SourceAgentFile: 2, queue.SourceSubagent: 3,
	queue.SourcePage: 4, queue.SourceStory: 5, queue.SourceFile: 6, queue.SourceResult: 7,
}

// open is a claim that is being judged.
type open struct {
	claim
	at    int // in the list of all
	call  int // of Judge's calls
	found queue.Claim
	rank  int
}

// made is a call that was seen, and waits for its result.
type made struct {
	call    *transcript.Call
	line    string // of a shell command
	source  queue.ClaimSource
	names   []string     // files that it names
	of      *written     // what the agent had written into them
	echoes  map[int]bool // claims whose words stand in the call itself
	reads   bool         // it only shows files
	changes bool         // it changes files
}

type judge struct {
	calls   []Call
	open    []bool // the call has not been made yet
	claims  []*open
	numbers []*open // of kindNumber, by the least number that rounds to it
	widest  float64
	lines   map[string][]*open // of quoted output
	o       Options
	files   written
	waiting map[string]*made
}

func newJudge(calls []Call, claims [][]claim, o Options) *judge {
	j := &judge{calls: calls, open: make([]bool, len(calls)), lines: map[string][]*open{}, o: o, files: newWritten(), waiting: map[string]*made{}}
	for i := range calls {
		j.open[i] = true
		for _, c := range claims[i] {
			x := &open{claim: c, call: i, at: len(j.claims)}
			x.found = queue.Claim{Kind: string(c.kind), Text: clip(c.text, 200), Where: clip(c.where, 80), Source: queue.SourceNone}
			j.claims = append(j.claims, x)
		}
	}
	for _, c := range j.claims {
		if c.kind == kindNumber {
			j.numbers = append(j.numbers, c)
			j.widest = max(j.widest, 2*c.number.half)
		}
		for _, l := range c.lines {
			j.lines[l] = append(j.lines[l], c)
		}
	}
	slices.SortStableFunc(j.numbers, func(a, b *open) int { return cmp.Compare(a.least(), b.least()) })
	return j
}

func (c *open) least() float64 { return c.number.value - c.number.half }

func (j *judge) see(ev transcript.Event) {
	switch ev.Kind {
	case transcript.KindPrompt:
		if !ev.Synthetic && ev.Agent == "" {
			j.match(ev.Text, &made{source: queue.SourceStory, echoes: map[int]bool{}}, ev.Line)
		}
	case transcript.KindCall:
		j.call(ev.Call)
	case transcript.KindResult:
		m := j.waiting[ev.Result.CallID]
		if m == nil || ev.Result.NotRun {
			return
		}
		delete(j.waiting, ev.Result.CallID)
		text := clip(ev.Result.Text, maxResult)
		j.match(text, m, ev.Line)
		j.ran(m, ev.Result, ev.Line)
	}
}

func (j *judge) call(c *transcript.Call) {
	for i := range j.calls {
		if j.calls[i].ID != "" && j.calls[i].ID == c.ID {
			j.open[i] = false
		}
	}
	m := j.read(c)
	j.waiting[c.ID] = m
	if m.changes {
		for _, x := range j.claims {
			if x.kind == kindRun && j.open[x.call] && x.found.Source == queue.SourceResult && x.found.Note == "" {
				x.found.Note = "files were changed after it"
			}
		}
	}
	j.files.write(c)
}

// read finds out what a result of this call would be worth.
func (j *judge) read(c *transcript.Call) *made {
	m := &made{call: c, source: queue.SourceResult, of: &j.files, echoes: map[int]bool{}}
	var in struct {
		Command      string `json:"command"`
		FilePath     string `json:"file_path"`
		Path         string `json:"path"`
		NotebookPath string `json:"notebook_path"`
	}
	_ = json.Unmarshal(c.Input, &in)
	switch c.Name {
	case "Bash":
		m.line = in.Command
		j.readLine(m)
	case "Read", "Grep", "Glob", "LS", "NotebookRead":
		m.source, m.reads = queue.SourceFile, true
		m.names = []string{cmp.Or(in.FilePath, in.NotebookPath, in.Path)}
	case "WebFetch", "WebSearch":
		m.source = queue.SourcePage
	case "Task", "Agent":
		m.source = queue.SourceSubagent
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		m.changes = true
	}
	j.eachNumber(unescaped(c), func(x *open, _ number) { m.echoes[x.at] = true })
	return m
}

// unescaped is the text of a call's input.
func unescaped(c *transcript.Call) string { return string(transcript.Unescape(nil, c.Input)) }

// readers only show what stands in files.
var readers = wordSet("cat head tail less more bat grep rg egrep fgrep sed awk jq yq cut sort uniq wc nl tac column strings fold tr echo printf ls find file stat")

// fetchers bring what stands elsewhere.
var fetchers = wordSet("curl wget http https xh lynx w3m gh glab")

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

func (j *judge) readLine(m *made) {
	read := shell.Read(m.line, shell.Options{})
	m.reads = len(read.Commands) > 0
	fetches := false
	for _, c := range read.Commands {
		program := c.Program()
		m.reads = m.reads && (readers[program] || program == "cd")
		fetches = fetches || fetchers[program]
		for _, w := range c.Argv {
			if !strings.HasPrefix(w.Text, "-") && !strings.ContainsAny(w.Text, " \n") {
				m.names = append(m.names, w.Text)
			}
		}
		for _, r := range c.Redirects {
			if r.Op == "<" {
				m.names = append(m.names, r.Target.Text)
			}
		}
	}
	m.changes = len(read.Written) > 0
	switch {
	case m.reads:
		m.source = queue.SourceFile
	case fetches:
		m.source = queue.SourcePage
	}
}

// eachNumber finds the claimed numbers in a text. A number with few digits
// stands everywhere: it counts only beside what it counts.
func (j *judge) eachNumber(text string, do func(x *open, n number)) {
	if len(j.numbers) == 0 {
		return
	}
	for _, n := range numbers(text) {
		i, _ := slices.BinarySearchFunc(j.numbers, n.value-j.widest-1e-9, func(x *open, v float64) int { return cmp.Compare(x.least(), v) })
		for ; i < len(j.numbers) && j.numbers[i].least() <= n.value+1e-9; i++ {
			if x := j.numbers[i]; x.number.says(n) && (x.number.digits >= 3 || x.counts(text, n)) {
				do(x, n)
			}
		}
	}
}

// counts reports whether the words of a claim stand beside a number of a source.
func (c *open) counts(text string, n number) bool {
	if len(c.words) == 0 {
		return c.number.digits >= 2
	}
	if n.unit != "" && slices.Contains(c.words, n.unit) {
		return true
	}
	for _, w := range splitWords(lineAround(text, n.start, n.end)) {
		if slices.Contains(c.words, stem(w)) {
			return true
		}
	}
	return false
}

// match looks for the claims of the calls to come in one text.
func (j *judge) match(text string, m *made, line int) {
	j.eachNumber(text, func(x *open, n number) {
		note := ""
		near := x.counts(text, n)
		if !near {
			note = "the same number; what it counts does not stand beside it"
		}
		j.take(x, sighting{
			source: j.worth(m, x, func(own string) bool { return j.holds(own, x) }), near: near,
			made: m, line: line, quote: lineAround(text, n.start, n.end), note: note,
		})
	})
	for _, x := range j.claims {
		switch {
		case x.kind == kindURL && strings.Contains(text, x.url):
			own := func(text string) bool { return strings.Contains(text, x.url) }
			m.echoes[x.at] = m.call != nil && own(unescaped(m.call))
			at := strings.Index(text, x.url)
			j.take(x, sighting{source: j.worth(m, x, own), near: true, made: m, line: line, quote: lineAround(text, at, at+len(x.url))})
		case x.kind == kindCommand && m.source == queue.SourceStory && strings.Contains(text, x.command):
			j.take(x, sighting{source: queue.SourceStory, near: true, made: m, line: line, note: "the story names it"})
		}
	}
	j.output(text, m, line)
}

// holds reports whether a claimed number stands in a text of the agent's.
func (j *judge) holds(text string, claimed *open) (found bool) {
	j.eachNumber(text, func(x *open, _ number) { found = found || x == claimed })
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
		m.echoes[x.at] = m.call != nil && own(unescaped(m.call))
		s := sighting{source: j.worth(m, x, own), near: len(lines) == len(x.lines), made: m, line: line, quote: x.lines[0]}
		if !s.near {
			s.note = fmt.Sprintf("%d of its %d lines", len(lines), len(x.lines))
		}
		j.take(x, s)
	}
}

// worth is what a result says for a claim: nothing when the agent itself put
// it there. own reports whether a text of the agent's holds it.
func (j *judge) worth(m *made, x *open, own func(text string) bool) queue.ClaimSource {
	if m.call == nil {
		return m.source
	}
	if m.echoes[x.at] {
		return queue.SourceAgent
	}
	for _, name := range m.names {
		if text, ok := m.of.text(name); ok && own(text) {
			return queue.SourceAgentFile
		}
		if m.source == queue.SourceFile && j.remembered(name) {
			return queue.SourceAgentFile
		}
	}
	return m.source
}

// remembered: a file by which one session tells the next what it thinks.
func (j *judge) remembered(name string) bool {
	base := strings.ToLower(path.Base(name))
	if base == "memory.md" || base == "progress.txt" || base == "progress.md" || base == "notes.md" || strings.Contains(name, "/memory/") {
		return true
	}
	return slices.ContainsFunc(j.o.Memory, func(m string) bool { return sameFile(path.Clean(m), path.Clean(name)) })
}

// sighting is a place where a claim's words stand.
type sighting struct {
	source      queue.ClaimSource
	near        bool // with what it counts, or whole
	made        *made
	line        int
	quote, note string
	failed      bool // the call failed
	last        bool // the latest one counts, not the first
}

// take keeps a source that is better than what was found before.
func (j *judge) take(x *open, s sighting) {
	rank := 2 * ranks[s.source]
	if s.near {
		rank++
	}
	if !j.open[x.call] || rank < x.rank || rank == x.rank && !s.last {
		return
	}
	x.rank = rank
	f := &x.found
	f.Source, f.Line, f.Quote, f.Note, f.Failed = s.source, s.line, strings.Clone(clip(s.quote, 200)), s.note, s.failed
	f.CallID, f.Tool, f.Command = "", "", ""
	if c := s.made.call; c != nil {
		f.CallID, f.Tool, f.Command = c.ID, c.Name, clip(cmp.Or(s.made.line, strings.Join(s.made.names, " ")), 200)
	}
}

// failures stand in the output of programs whose exit code a pipe has hidden.
var failures = lazy(`(?m)^(--- )?FAIL\b|\b[1-9]\d* (tests? )?(failed|failing|failures?|errors?)\b|\b(failures|failed|errors): *[1-9]`)

// ran holds what a call did against the claims that something was run.
func (j *judge) ran(m *made, r *transcript.Result, line int) {
	if m.line == "" || r.Background {
		return
	}
	command := strings.Join(strings.Fields(m.line), " ")
	fails := failures().FindString(r.Text)
	for _, x := range j.claims {
		s := sighting{source: queue.SourceResult, near: true, made: m, line: line, last: true, failed: r.IsError, quote: lastLine(r.Text)}
		if !r.IsError && fails != "" {
			s.failed, s.quote = true, lineAround(r.Text, strings.Index(r.Text, fails), strings.Index(r.Text, fails)+len(fails))
		}
		switch {
		case x.kind == kindCommand && strings.Contains(command, x.command):
			j.take(x, s)
		case x.kind == kindRun && x.work.call != nil && x.work.call().MatchString(m.line):
			j.take(x, s)
		case x.kind == kindRun && x.work.call == nil && !m.reads:
			s.near, s.note = false, "the text does not say what was run; this ran last"
			j.take(x, s)
		}
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(clip(text, maxResult)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// told is the claim with its source, for the queue.
func (c *open) told(o Options) queue.Claim {
	f := c.found
	if f.CallID != "" && o.Receipt != nil {
		f.Receipt = o.Receipt(f.CallID)
	}
	return f
}
