package firewall

import (
	"fmt"
	"slices"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// Protect tells the guard what the run keeps from the agent.
func (g *Guard) Protect(own policy.Guarded) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.own = &own
}

// ProtectRun adds what becomes known as a run goes on: a process of it, and a
// port on which hooks are answered; 0 is none.
func (g *Guard) ProtectRun(pid, port int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := policy.Guarded{}
	if g.own != nil {
		own = *g.own
	}
	if pid > 0 {
		own.Pids = append(slices.Clone(own.Pids), pid)
	}
	if port > 0 {
		own.Ports = append(slices.Clone(own.Ports), port)
	}
	g.own = &own
}

// protected is what the run keeps from the agent. It is never changed, only
// replaced.
func (g *Guard) protected() *policy.Guarded {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.own
}

// tamperingReason is what the agent is told of a call that would take the
// guard away, and what it may do in place of a call.
func tamperingReason(res policy.Result) string {
	text := ""
	if res.Tampers() {
		text = "The report shows it as tampering. "
	}
	if instead := res.Instead(); instead != "" {
		text += fmt.Sprintf("Instead: %s ", sentence(instead))
	}
	return text
}

// family is the family of the gravest rule, as far as the classifier knows
// families.
func (g *Guard) family(res policy.Result) string {
	c, ok := g.Classifier.(interface{ FamilyOf(rule string) string })
	if !ok || len(res.Hits) == 0 {
		return ""
	}
	return c.FamilyOf(res.Hits[0].Rule)
}

// againReason is what the agent is told of a call that tries a refused one
// again in another spelling.
func againReason(a queue.Action) string {
	if a.RelatedTo == "" {
		return ""
	}
	return fmt.Sprintf("The same was refused and queued before, as #%s: this other spelling is noted as an attempt to work round it. ", a.RelatedTo)
}
