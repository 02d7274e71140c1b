package scanner

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

const (
	maxRecent      = 1024 // calls remembered with their input
	maxRecentBytes = 8 << 20
)

// calls remembers calls: which were seen, which wait for their result.
type calls struct {
	*known
	pending map[string]*pendingCall
	recent  map[string]*pendingCall
	order   []string // of recent
	bytes   int
}

type pendingCall struct {
	entry      *entry // nil: it is no hit
	line       int
	hit        Hit    // Tool, Command, Input of the call
	key        string // what its result names it by, when it has no id
	background bool
}

func newCalls() calls {
	return calls{
		known:   newKnown(),
		pending: map[string]*pendingCall{}, recent: map[string]*pendingCall{},
	}
}

func (c *calls) waiting() bool { return len(c.pending) > 0 }

// remember keeps a call for those that ask for it by its id.
func (c *calls) remember(id string, p *pendingCall) {
	if id == "" {
		return
	}
	if before := c.recent[id]; before != nil {
		c.bytes -= before.size()
	} else {
		c.order = append(c.order, id)
	}
	c.recent[id] = p
	c.bytes += p.size()
	for len(c.order) > maxRecent || c.bytes > maxRecentBytes && len(c.order) > 1 {
		c.bytes -= c.recent[c.order[0]].size()
		delete(c.recent, c.order[0])
		c.order = c.order[1:]
	}
}

func (p *pendingCall) size() int { return len(p.hit.Input) + len(p.hit.Command) }

// call classifies one call.
func (s *scanning) call(ev transcript.Event, known ruleSet) {
	said := inValue(s.words, ev.Call.Input, nil)
	known.add(said)
	if ev.Call.Again && s.calls.seen(ev.Call.ID) || s.calls.repeated(ev.Call) {
		return
	}
	s.stats.Calls++
	s.catchUp(ev.Time)
	h := s.hit(ev)
	h.Tool, h.ToolUseID, h.Input = ev.Call.Name, ev.Call.ID, ev.Call.Input
	h.Cwd = s.cwd
	if ev.Cwd != "" {
		h.Cwd = ev.Cwd
	}
	target := targetOf(h.Tool, h.Input)
	c := policy.Call{Tool: h.Tool, Input: h.Input, Cwd: h.Cwd, Guarded: s.o.Guarded, Annotations: s.hints.of(ev.Call), NoWords: s.o.CallsOnly && !target.script()}
	if len(h.Input) > policy.MaxInput {
		h.Command = longCommand(c, target)
	} else {
		c = c.Decoded()
		h.Command = policy.CommandOf(c)
	}
	res := s.classify(c)
	if s.o.Cleared != nil && res.Verdict == policy.VerdictExternal && s.o.Cleared(h.ToolUseID) {
		res = withoutNames(res)
	}
	s.judge(h, ev.Call.Key, res, said, target)
	s.remember(c, h.Line)
}

// judge makes a hit of what was said of a call.
func (s *scanning) judge(h Hit, key string, res policy.Result, said []found, into target) {
	p := &pendingCall{line: h.Line, hit: h, key: key}
	s.calls.remember(h.ToolUseID, p)
	h.Rules, h.Opaque, h.Tampering, h.Target = res.Rules(), res.Opaque, res.Tampers(), res.Target()
	_, h.Denied = res.Denied()
	if len(res.Hits) > 0 {
		h.Why = res.Hits[0].Why
	}
	words := !s.o.CallsOnly || into.script()
	if !words && res.Tier == policy.Local {
		if res.Opaque {
			s.stats.Opaque++
		}
		return
	}
	if h.Excerpt = s.bothLines(h, res); h.Excerpt == "" {
		h.Excerpt = s.excerptOf(h, res)
	}
	switch res.Verdict {
	case policy.VerdictExternal, policy.VerdictShared:
		h.Tier = policy.External
		h.Evidence = policy.Executed
		if res.Verdict == policy.VerdictShared {
			h.Tier = policy.Shared
		}
		h.Outcome = OutcomeUnknown
		s.await(p, h, res.Verdict == policy.VerdictShared)
		if res.Verdict == policy.VerdictExternal {
			return
		}
	default:
		if res.Opaque {
			s.stats.Opaque++
		}
	}
	if words {
		s.callWords(p, h, res, said, into)
	}
}

// callWords reports what a call that is not external speaks of. In a script
// it is written, for later; anywhere else it is words.
func (s *scanning) callWords(p *pendingCall, h Hit, res policy.Result, said []found, into target) {
	h.Tier, h.Evidence, h.Outcome, h.Opaque = policy.External, policy.Mentioned, "", false
	h.Rules, h.Why, h.Target = nil, "", ""
	for _, f := range into.files {
		if f.isScript() && s.script(&h, f, res) {
			h.Evidence = policy.Written
		}
	}
	if into.redirects {
		h.Evidence = policy.Written
	}
	h.addMentions(res)
	for _, f := range said {
		for _, r := range f.rules {
			h.addRule(r, f.why)
		}
	}
	if len(h.Rules) == 0 || s.o.CallsOnly && h.Evidence != policy.Written {
		return
	}
	if len(said) > 0 {
		h.Excerpt = said[0].excerpt
	}
	if h.Evidence == policy.Written && p.entry == nil {
		s.await(p, h, false)
		return
	}
	s.out.put(h, false, false)
}

// script says whether what is put into a script speaks of something external
// or would do it, and adds the rules to the hit.
func (s *scanning) script(h *Hit, f file, res policy.Result) bool {
	if f.edited {
		// without what is taken out
		input, err := json.Marshal(map[string]string{"file_path": f.name, "content": f.text})
		if err != nil {
			return true
		}
		res = s.rules.Classify(policy.Call{Tool: "Write", Input: input, Cwd: h.Cwd})
	}
	h.addMentions(res)
	for _, command := range f.commands() {
		r := s.rules.ClassifyCommand(command, h.Cwd)
		if r.Verdict != policy.VerdictExternal {
			continue
		}
		for _, m := range r.Hits {
			if m.Tier == policy.External && !m.Mention {
				h.addRule(m.Rule, m.Why)
			}
		}
		h.Excerpt = excerpt([]byte(command), 0, 0)
	}
	return len(h.Rules) > 0 || len(s.words.inText(f.text)) > 0
}

func (h *Hit) addMentions(res policy.Result) {
	for _, m := range res.Hits {
		if m.Mention {
			h.addRule(m.Rule, m.Why)
		}
	}
}

func (h *Hit) addRule(rule, why string) {
	if slices.Contains(h.Rules, rule) {
		return
	}
	h.Rules = append(h.Rules, rule)
	if h.Why == "" {
		h.Why = why
	}
}

// await puts a hit out that waits for the result of its call.
func (s *scanning) await(p *pendingCall, h Hit, shared bool) {
	id := h.ToolUseID
	if id == "" {
		id = p.key
	}
	p.entry = s.out.put(h, shared, id != "")
	if id != "" {
		s.calls.pending[id] = p
		s.calls.trim()
	}
}

// trim forgets waiting calls whose hits have been given out without them.
func (c *calls) trim() {
	if len(c.pending) <= 2*maxWaiting {
		return
	}
	for id, p := range c.pending {
		if !p.entry.waiting {
			delete(c.pending, id)
		}
	}
}

// settle decides the hit that waits for this result, and says whether the
// call is an external one that ran.
func (s *scanning) settle(r *transcript.Result) bool {
	p := s.calls.pending[r.CallID]
	if p == nil {
		return false
	}
	h := &p.entry.hit
	external := h.Evidence == policy.Executed && h.Tier == policy.External && !r.NotRun
	switch {
	case r.NotRun && h.Evidence == policy.Executed:
		h.Evidence, h.Outcome = policy.Blocked, ""
	case r.NotRun:
		h.Evidence = policy.Mentioned
	case h.Evidence != policy.Executed || r.Interrupted:
	case r.Background:
		p.background = true
		return external // its task ends it
	case r.IsError:
		h.Outcome = OutcomeFailed
	default:
		h.Outcome = OutcomeOK
	}
	delete(s.calls.pending, r.CallID)
	s.out.done(p.entry)
	return external
}

// task settles a call in the background at the end of its task.
func (s *scanning) task(t *transcript.Task) {
	p := s.calls.pending[t.ToolUseID]
	if p == nil || !p.background {
		return
	}
	switch t.Status {
	case "completed":
		p.entry.hit.Outcome = OutcomeOK
	case "failed":
		p.entry.hit.Outcome = OutcomeFailed
	case "killed", "stopped":
	default:
		return
	}
	delete(s.calls.pending, t.ToolUseID)
	s.out.done(p.entry)
}

// denied handles one refused or deferred call of a result record.
func (s *scanning) denied(ev transcript.Event, d transcript.Denial, known ruleSet) {
	if d.ToolUseID == "" {
		return // its words count as words
	}
	known.add(inValue(s.words, d.Input, nil))
	if s.calls.seen(d.ToolUseID) {
		s.settle(&transcript.Result{CallID: d.ToolUseID, NotRun: true})
		return
	}
	ev.Call = &transcript.Call{ID: d.ToolUseID, Name: d.Tool, Input: d.Input}
	s.call(ev, ruleSet{})
	s.settle(&transcript.Result{CallID: d.ToolUseID, NotRun: true})
}

// excerptOf is the part of a call's line that the gravest rule speaks of.
func (s *scanning) excerptOf(h Hit, res policy.Result) string {
	text := []byte(h.Command)
	if len(res.Hits) > 0 {
		if t := res.Hits[0].Text; t != "" {
			if i := strings.Index(h.Command, t); i >= 0 {
				return excerpt(text, i, i+len(t))
			}
		}
	}
	return excerpt(text, 0, 0)
}
