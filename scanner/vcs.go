package scanner

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

// What the client's own notice of a push or a publication is called.
const (
	RuleVCS = "client-vcs-push"
	WhyVCS  = "The client itself saw a push or a publication, and no call that was known to make one."
)

const maxNotices = 1024

// vcs is the second detector: what the client says that version control did.
// A notice that no external call accounts for is a hit.
type vcs struct {
	notices []notice
	credit  map[string]int          // pushes that a call accounts for and whose notice is still to come
	told    map[transcript.VCS]bool // publications, which are told again and again
}

type notice struct {
	entry *entry
	kind  string
	line  int
}

func (v *vcs) waiting() bool { return len(v.notices) > 0 }

// notice takes a notice, which comes while its call runs.
func (v *vcs) notice(s *scanning, ev transcript.Event) {
	if k := ev.VCS.Kind; k != transcript.VCSPush && k != transcript.VCSPublished {
		return
	}
	if v.known(*ev.VCS) {
		return
	}
	h := s.hit(ev)
	h.Excerpt = oneLine(strings.Join(strings.Fields(ev.VCS.Kind+" "+ev.VCS.Action+" "+ev.VCS.Branch+" "+ev.VCS.URL), " "))
	e := s.out.put(vcsHit(h), false, true)
	v.notices = append(v.notices, notice{e, ev.VCS.Kind, ev.Line})
	if len(v.notices) > maxNotices {
		s.out.done(v.notices[0].entry)
		v.notices = v.notices[1:]
	}
}

// known says whether a notice needs no hit: its call was accounted for before
// it came, or it tells of a publication again.
func (v *vcs) known(n transcript.VCS) bool {
	if v.credit[n.Kind] > 0 {
		v.credit[n.Kind]--
		return true
	}
	if n.Kind != transcript.VCSPublished {
		return false
	}
	if v.told[n] {
		return true
	}
	if v.told == nil || len(v.told) >= maxNotices {
		v.told = map[transcript.VCS]bool{}
	}
	v.told[n] = true
	return false
}

func vcsHit(h Hit) Hit {
	h.Tier, h.Evidence, h.Outcome = policy.External, policy.Executed, OutcomeOK
	h.Rules, h.Why = []string{RuleVCS}, WhyVCS
	return h
}

// result matches a result with the notices that came since its call. external
// says that the call has a hit of its own, which accounts for them.
func (v *vcs) result(s *scanning, ev transcript.Event, external bool) {
	r := ev.Result
	if r.NotRun {
		return
	}
	call := s.calls.recent[r.CallID]
	since := 0
	if call != nil {
		since = call.line
	}
	if external = external || call != nil && isExternal(call.entry); external {
		v.account(s, r, since)
		return
	}
	kinds := r.VCS
	if !r.Detailed && call != nil && v.waiting() && !s.calls.externalWaits() {
		kinds = v.kinds(since)
	}
	for _, kind := range kinds {
		n, ok := v.take(kind, since)
		if !ok {
			h := s.hit(ev)
			h.Excerpt = kind
			n.entry = s.out.put(vcsHit(h), false, true)
		}
		h := &n.entry.hit
		h.ToolUseID = r.CallID
		h.Agent = ev.Agent
		if call != nil {
			h.Tool, h.Command, h.Input, h.Cwd = call.hit.Tool, call.hit.Command, call.hit.Input, call.hit.Cwd
		}
		s.out.done(n.entry)
	}
}

func isExternal(e *entry) bool {
	return e != nil && e.hit.Tier == policy.External && e.hit.Evidence == policy.Executed
}

// externalWaits says whether an external call is still running.
func (c *calls) externalWaits() bool {
	for _, p := range c.pending {
		if isExternal(p.entry) {
			return true
		}
	}
	return false
}

// account drops the notices that an external call explains: those of the
// kinds that its result names, or all of them when it has no details.
func (v *vcs) account(s *scanning, r *transcript.Result, since int) {
	kinds := r.VCS
	if !r.Detailed || r.Background {
		kinds = v.kinds(since)
	}
	for _, kind := range kinds {
		if n, ok := v.take(kind, since); ok {
			s.out.drop(n.entry)
			continue
		}
		if v.credit == nil {
			v.credit = map[string]int{}
		}
		v.credit[kind] = 1
	}
}

// kinds lists the kinds of the notices after a line, one for each.
func (v *vcs) kinds(since int) []string {
	var out []string
	for _, n := range v.notices {
		if n.line >= since {
			out = append(out, n.kind)
		}
	}
	return out
}

// take removes the first notice of a kind after a line.
func (v *vcs) take(kind string, since int) (notice, bool) {
	for i, n := range v.notices {
		if n.kind == kind && n.line >= since {
			v.notices = append(v.notices[:i], v.notices[i+1:]...)
			return n, true
		}
	}
	return notice{}, false
}

// finish reports the notices that nothing accounts for. A call whose end was
// not seen accounts for those after it.
func (v *vcs) finish(s *scanning) {
	first := -1
	for _, p := range s.calls.pending {
		if isExternal(p.entry) && (first < 0 || p.line < first) {
			first = p.line
		}
	}
	for _, n := range v.notices {
		if first >= 0 && n.line >= first {
			s.out.drop(n.entry)
			continue
		}
		s.out.done(n.entry)
	}
	v.notices = nil
}
