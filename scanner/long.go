package scanner

import (
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

// longLine gathers the words of a line that is too long to be decoded, while
// it goes by.
type longLine struct {
	number int
	words  []found
	known  ruleSet
}

// chunk looks through one piece of a long line. The pieces of the reader
// overlap by more than any phrase is long, and so do the windows here.
func (s *scanning) chunk(c transcript.Chunk) {
	if s.long.number != c.Line {
		s.long = longLine{number: c.Line, known: ruleSet{}}
	}
	if s.o.CallsOnly {
		return
	}
	for at := max(0, c.Overlap-windowOverlap); at < len(c.Data); at += windowSize {
		part := c.Data[max(0, at-windowOverlap):min(len(c.Data), at+windowSize)]
		if s.words.line = s.words.inPart(nil, part, false).list; len(s.words.line) == 0 {
			continue
		}
		for _, f := range s.words.in(readable(nil, part, false)) {
			if !s.long.known.hasAll(f.rules) {
				s.long.known.add([]found{f})
				s.long.words = append(s.long.words, f)
			}
		}
	}
}

// oversize handles a line that was too long to be decoded.
func (s *scanning) oversize(l transcript.Line) {
	for _, ev := range l.Events(&s.stats.Stats) {
		if ev.Request {
			continue
		}
		switch {
		case ev.Call != nil:
			s.longCall(ev)
		case ev.Result != nil:
			s.vcs.result(s, ev, s.settle(ev.Result))
			s.mention(ev, s.long.words, ruleSet{}, ev.Result.CallID)
		default:
			s.mention(ev, s.long.words, ruleSet{}, "")
		}
	}
	s.long = longLine{}
}

// longCall judges a call by the first part of its input and by the words in
// all of it. A tool that runs what it is given, with such words, is taken to
// have run them.
func (s *scanning) longCall(ev transcript.Event) {
	if s.calls.repeated(&transcript.Call{ID: ev.Call.ID, Name: ev.Call.Name, Input: []byte(ev.Text)}) {
		return
	}
	s.stats.Calls++
	h := s.hit(ev)
	h.Tool, h.ToolUseID, h.Cwd = ev.Call.Name, ev.Call.ID, s.cwd
	h.Command = ev.Text
	writes := writesFiles(h.Tool)
	res := policy.Result{Verdict: policy.VerdictLocal, Opaque: true}
	if !writes {
		res = s.rules.Classify(policy.Call{Tool: h.Tool, Input: []byte(ev.Text), Cwd: h.Cwd})
	}
	p := &pendingCall{line: h.Line, hit: h}
	s.calls.remember(h.ToolUseID, p)
	h.Rules, h.Opaque, h.Tier = res.Rules(), true, policy.External
	h.Excerpt = s.excerptOf(h, res)
	if len(res.Hits) > 0 {
		h.Why = res.Hits[0].Why
	}
	for _, f := range s.long.words {
		for _, r := range f.rules {
			h.addRule(r, f.why)
		}
		h.Excerpt = s.long.words[0].excerpt
	}
	switch {
	case writes && len(h.Rules) > 0:
		h.Evidence = policy.Written
	case res.Verdict == policy.VerdictExternal, !writes && len(s.long.words) > 0:
		h.Evidence, h.Outcome = policy.Executed, OutcomeUnknown
	default:
		s.stats.Opaque++
		return
	}
	s.await(p, h, false)
}
