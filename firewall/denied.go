package firewall

import (
	"slices"

	"github.com/seed-b23e517c/loop/policy"
)

// DeniedCall is a call that was refused because of a rule of the user's own
// that refuses it for good, and how often.
type DeniedCall struct {
	Rule, Command string
	Times         int
}

// DeniedCalls are the calls that the user's own rules refused for good.
func (g *Guard) DeniedCalls() []DeniedCall {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.denied)
}

// denyForGood refuses a call about which the person has decided already: it is
// counted, not queued.
func (g *Guard) denyForGood(h policy.Hit, call policy.Call) Reply {
	command := policy.CommandOf(call)
	g.mu.Lock()
	i := slices.IndexFunc(g.denied, func(d DeniedCall) bool { return d.Rule == h.Rule && d.Command == command })
	if i < 0 {
		i = len(g.denied)
		g.denied = append(g.denied, DeniedCall{Rule: h.Rule, Command: command})
	}
	g.denied[i].Times++
	g.mu.Unlock()
	return Deny("refused for good, and not queued: " + sentence(h.Why) + " Go on without it, do not work round it, and say in your last message that it was refused.")
}
