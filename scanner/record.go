package scanner

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

// refusal is how a refusal of our own begins.
const refusal = "queued as #"

// record handles the events of one record.
func (s *scanning) record(events []transcript.Event) {
	first := events[0]
	if first.Kind == transcript.KindTools {
		s.hints.learn(first.Tools)
		events = events[1:] // the record itself follows
		first = events[0]
	}
	if first.Request {
		return
	}
	known := ruleSet{} // rules whose words in this record are accounted for
	for _, ev := range events {
		s.event(ev, known)
	}
	if first.Record == "" || isOwn(first) {
		return
	}
	// Whatever else the record says, in whatever field.
	s.mention(first, inValue(s.words, first.Record, known), known, "")
}

func (s *scanning) event(ev transcript.Event, known ruleSet) {
	switch ev.Kind {
	case transcript.KindInit:
		if ev.Init.Cwd != "" {
			s.cwd = ev.Init.Cwd
		}
	case transcript.KindCall:
		s.call(ev, known)
	case transcript.KindResult:
		s.result(ev, known)
	case transcript.KindFinal:
		s.final(ev, known)
	case transcript.KindVCS:
		s.vcs.notice(s, ev)
	case transcript.KindTask:
		s.task(ev.Task)
	case transcript.KindText, transcript.KindThinking, transcript.KindPrompt:
		if list := s.words.inText(ev.Text); len(list) > 0 {
			s.mention(ev, list, known, "")
			if ev.Kind == transcript.KindText {
				s.lastText = ev.Text
			}
		}
	case transcript.KindPlain:
		s.mention(ev, s.words.inPlain(ev.Text), known, "")
	}
}

// mention reports the places whose rules are not yet known in this record.
func (s *scanning) mention(ev transcript.Event, list []found, known ruleSet, callID string) {
	for _, f := range list {
		if known.hasAll(f.rules) {
			continue
		}
		known.add([]found{f})
		h := s.hit(ev)
		h.ToolUseID = callID
		h.Evidence, h.Tier, h.Rules, h.Why, h.Excerpt = policy.Mentioned, f.tier, f.rules, f.why, f.excerpt
		s.out.put(h, false, false)
	}
}

// hit begins a hit with where and when.
func (s *scanning) hit(ev transcript.Event) Hit {
	return Hit{File: s.o.File, Line: ev.Line, Agent: ev.Agent, Time: ev.Time}
}

// isOwn says whether a record carries a refusal of our own: the output of the
// hook that answered before the call.
func isOwn(ev transcript.Event) bool {
	if !strings.Contains(ev.Record, refusal) {
		return false
	}
	return ev.Kind == transcript.KindHook && ev.Hook.Event == "PreToolUse" ||
		ev.Kind == transcript.KindOther && strings.Contains(ev.Record, `"permission_denied"`)
}

// result handles a tool result: it settles the hit of its call, and is a text
// like any other unless it is our own refusal.
func (s *scanning) result(ev transcript.Event, known ruleSet) {
	r := ev.Result
	external := s.settle(r)
	s.vcs.result(s, ev, external)
	list := s.words.inText(r.Text)
	if r.NotRun && strings.Contains(r.Text, refusal) {
		known.add(list)
		return
	}
	s.mention(ev, list, known, r.CallID)
}

// final handles a result record: refused and deferred calls of which nothing
// else was seen are hits, and the last text said again is not said twice.
func (s *scanning) final(ev transcript.Event, known ruleSet) {
	f := ev.Final
	list := f.Denials
	if f.Deferred != nil {
		list = append(list[:len(list):len(list)], *f.Deferred)
	}
	for _, d := range list {
		s.denied(ev, d, known)
	}
	if f.Result != "" && f.Result == s.lastText {
		known.add(s.words.inText(f.Result))
	}
}
