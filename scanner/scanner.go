// Package scanner reads a whole transcript and reports what in it reaches
// outside: calls that ran or were stopped, scripts that were written, words.
//
// It decides nothing about what a hit is worth and prints nothing. The one
// invariant is recall before precision: every call is classified, every text
// is looked through, and what is unclear becomes a hit and not a gap. What is
// left out on purpose (the client's copies of its own requests, the rules and
// refusals of loop itself, repeats beyond a cap) is counted.
package scanner

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

// Hit is one thing in a transcript that reaches outside, or speaks of it.
// All its texts are hostile.
type Hit struct {
	File      string          `json:"file"`
	Line      int             `json:"line"`
	Tool      string          `json:"tool"`
	ToolUseID string          `json:"tool_use_id"`
	Agent     string          `json:"agent,omitempty"` // "" = the main agent
	Command   string          `json:"command"`
	Cwd       string          `json:"cwd,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"` // exactly as the agent gave it
	Tier      policy.Tier     `json:"tier"`            // of words, the tier that what they name would have
	Evidence  policy.Evidence `json:"evidence"`
	Rules     []string        `json:"rules"` // gravest first
	Why       string          `json:"why,omitempty"`
	Excerpt   string          `json:"excerpt"`           // one line round the match
	Outcome   string          `json:"outcome,omitempty"` // of what was executed
	Opaque    bool            `json:"opaque,omitempty"`
	Denied    bool            `json:"denied,omitempty"`    // a rule of the user's own refuses it for good
	Tampering bool            `json:"tampering,omitempty"` // it would take the guard of a run away
	Time      time.Time       `json:"time,omitzero"`
	Target    string          `json:"-"` // where the gravest rule's part of the call leads; "" = it does not say
}

// The outcomes of an executed hit.
const (
	OutcomeOK      = "ok"
	OutcomeFailed  = "failed"
	OutcomeUnknown = "unknown"
)

// Options say what is scanned and with what.
type Options struct {
	Set       *policy.Set
	File      string   // the name that hits carry
	Ignore    []string // texts that are ours: the injected rules
	Cwd       string   // where calls run when the transcript does not say
	CallsOnly bool     // leave words out
	MaxLine   int      // the longest line that is decoded; 0 = 16 MiB

	// Cleared says of a call, by its tool_use_id, that the files it ran were read
	// before it ran and that its name alone is no reason for a hit; may be nil.
	Cleared func(toolUseID string) bool

	// Session is what this file has in common with others, which are scanned
	// one after the other; may be nil.
	Session *Session

	Guarded *policy.Guarded // the run in which the calls were made; nil when there was none

	Shared func(Hit) error // called for calls of the shared tier, which are no hits; may be nil
}

// Stats counts what was read and found. Of lines that hold neither calls nor
// words of interest only the first and last character are looked at to count
// them as plain or broken.
type Stats struct {
	transcript.Stats
	Calls  int `json:"calls"`            // tool calls, each once
	Hits   int `json:"hits"`             // hits given to the caller
	Shared int `json:"shared"`           // calls of the shared tier
	Opaque int `json:"opaque,omitempty"` // calls that could not be seen through and are no hit
	Folded int `json:"folded,omitempty"` // words left out because they were repeated too often
}

// classifier is what of a rule set is used: a seam, so that tests can hold
// what the scanner does apart from what the rules say.
type classifier interface {
	Classify(policy.Call) policy.Result
	ClassifyCommand(command, cwd string) policy.Result
	MayMention(text []byte) bool
	FindMentions(text []byte, yield func(policy.Mention) bool)
	Writes(policy.Call) []policy.FileWrite
}

// Scan reads the transcript r to its end and calls yield for each hit, in the
// order of their lines as far as the results of calls are not waited for too
// long. An error of yield ends the scan and is returned. After a read error
// everything read before it has been reported.
func Scan(ctx context.Context, r io.Reader, o Options, yield func(Hit) error) (Stats, error) {
	if o.Set == nil {
		return Stats{}, errors.New("scan without a rule set")
	}
	return scan(ctx, r, o, o.Set, yield)
}

func scan(ctx context.Context, r io.Reader, o Options, rules classifier, yield func(Hit) error) (Stats, error) {
	s := newScan(o, rules, yield)
	lines := transcript.NewLines(r, transcript.Options{MaxLine: o.MaxLine, Chunk: s.chunk})
	err := s.readAll(ctx, lines)
	s.finish()
	s.stats.Bytes = lines.Read()
	if s.out.err != nil {
		err = s.out.err
	}
	return s.stats, err
}

// scanning is one scan at work.
type scanning struct {
	o     Options
	rules classifier
	stats Stats
	out   *outbox
	words *words
	calls calls
	vcs   vcs
	long  longLine
	files memory
	hints hints
	due   int // of the session's writes, the next that is to be remembered

	cwd      string // what the last init record said
	lastText string // the last text of an agent that held words of interest
}

func newScan(o Options, rules classifier, yield func(Hit) error) *scanning {
	s := &scanning{o: o, rules: rules, cwd: o.Cwd}
	s.words = newWords(rules, o.Ignore)
	s.out = &outbox{yield: yield, shared: o.Shared, stats: &s.stats}
	s.calls = newCalls()
	if o.Session != nil {
		s.calls.known = o.Session.known
	}
	return s
}

// readAll reads lines into hits.
func (s *scanning) readAll(ctx context.Context, lines *transcript.Lines) error {
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if line.Oversize {
			s.oversize(line)
		} else {
			s.line(line)
		}
		if s.out.err != nil {
			return s.out.err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// line handles one line. Most lines need no decoding: they hold no call, no
// result that is waited for and no words of interest.
func (s *scanning) line(l transcript.Line) {
	marks, again := survey(l.Bytes)
	var words []phrase
	if !s.o.CallsOnly {
		words = s.words.inLine(l.Bytes, again)
	}
	need := markCall | markNotice
	if s.calls.waiting() || s.vcs.waiting() {
		need |= markResult
	}
	shape := shapeOf(l.Bytes)
	switch {
	case l.Aider:
		shape = shapeOdd
	case shape == shapeJSON && marks&markClient == 0:
		if need |= markForeign; s.calls.waiting() {
			shape = shapeOdd // its result may have any form
		}
	}
	if len(words) == 0 && marks&need == 0 && shape != shapeOdd {
		s.stats.Lines += l.Count
		if shape == shapePlain {
			s.stats.Plain += l.Count
		}
		return
	}
	s.words.line = words
	events := l.Events(&s.stats.Stats)
	for from := 0; from < len(events); {
		to := from + 1
		for to < len(events) && events[to].Line == events[from].Line && events[to].Part == events[from].Part {
			to++
		}
		s.record(events[from:to])
		from = to
	}
}

// finish releases what still waits: no result will come.
func (s *scanning) finish() {
	s.vcs.finish(s)
	s.out.finish()
}
