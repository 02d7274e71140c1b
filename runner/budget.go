package runner

import (
	"fmt"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

// Caps bound what a session and each of its stories may cost; 0 = no cap. An
// attempt is told what money is left, and is ended when it has used what tokens
// are. Tokens are those of input, output and writes to the cache, subagents'
// included; reads from the cache are not counted.
type Caps struct {
	SessionUSD, StoryUSD       float64
	SessionTokens, StoryTokens int64
}

// spending is what was spent, with what is not known counted as the most that
// it can be.
type spending struct {
	usd    float64
	tokens int64
}

func (s *spending) add(o spending) { s.usd += o.usd; s.tokens += o.tokens }

// charge counts an attempt for the session. One that was killed has told
// nobody what it cost: it counts with its own cap, where it has one.
func (r *run) charge(a *queue.Attempt) spending {
	s := spending{a.CostUSD, a.Tokens}
	if a.CostUnknown {
		s.usd = max(s.usd, r.o.CostUSD)
	}
	r.cost += a.CostUSD
	r.spent.add(s)
	return s
}

// within is the run as a story's next attempt sees it: at the story's level,
// and with what is left of the caps.
func (r *run) within(s stories.Story, story spending) *run {
	return r.at(s).allowed(r.o.allowance(story).and(r.o.Caps, r.spent))
}

// allowance is what an attempt may use; 0 and nil = as much as it wants.
type allowance struct {
	usd    float64
	tokens *tokenCap
}

// allowance is what the caps of an attempt and of its story leave, of which so
// much is spent.
func (o *Options) allowance(story spending) allowance {
	return allowance{least(o.CostUSD, left(o.Caps.StoryUSD, story.usd)), tokensLeft("story", o.Caps.StoryTokens, story.tokens)}
}

// and is no more than what the session's caps leave either.
func (a allowance) and(c Caps, session spending) allowance {
	a.usd = least(a.usd, left(c.SessionUSD, session.usd))
	if left := tokensLeft("session", c.SessionTokens, session.tokens); a.tokens == nil || left != nil && left.most < a.tokens.most {
		a.tokens = left
	}
	return a
}

// most is all of an allowance; 0 = there is no end to it.
func (a allowance) most() spending {
	s := spending{usd: a.usd}
	if a.tokens != nil {
		s.tokens = a.tokens.most
	}
	return s
}

// allowed is the run as an attempt sees it that may use so much.
func (r *run) allowed(most allowance) *run {
	own, o := *r, *r.o
	o.CostUSD, o.tokens = most.usd, most.tokens
	own.o = &o
	return &own
}

// tokenCap is how many tokens an attempt may use.
type tokenCap struct {
	most  int64
	whose string
	of    int64 // the whole cap
}

func (c *tokenCap) text(used int64) string {
	return fmt.Sprintf("the %s's cap of %d tokens is reached: %d with this attempt", c.whose, c.of, c.of-c.most+used)
}

// tokensLeft is what a cap of tokens leaves; nil = there is no cap.
func tokensLeft(whose string, most, spent int64) *tokenCap {
	if most <= 0 {
		return nil
	}
	return &tokenCap{most: max(most-spent, 1), whose: whose, of: most}
}

// left is what a cap leaves; 0 = there is no cap.
func left(most, spent float64) float64 {
	if most <= 0 {
		return 0
	}
	return max(most-spent, 0.01)
}

// least is the smallest of the caps that there are.
func least(caps ...float64) float64 {
	out := 0.0
	for _, c := range caps {
		if c > 0 && (out == 0 || c < out) {
			out = c
		}
	}
	return out
}

// fits reports whether an attempt with such an end to what it uses may begin
// beside others, which may use what is reserved.
func fits[N int64 | float64](session, spent, reserved, own N) bool {
	return session <= 0 || reserved == 0 || own > 0 && own <= session-spent-reserved
}

// capped turns another attempt at a story down when nothing is left for it.
func (r *run) capped(v verdict, story spending) verdict {
	if v.do != tryAgain && v.do != waitFirst {
		return v
	}
	if over := overCap("session", r.o.Caps.SessionUSD, r.o.Caps.SessionTokens, r.spent); over != "" {
		return verdict{do: block, reason: over}
	}
	if over := overCap("story", r.o.Caps.StoryUSD, r.o.Caps.StoryTokens, story); over != "" {
		return verdict{do: block, reason: over}
	}
	return v
}

// spentUp ends the session when its cap is reached.
func (r *run) spentUp() bool {
	over := overCap("session", r.o.Caps.SessionUSD, r.o.Caps.SessionTokens, r.spent)
	if over == "" {
		return false
	}
	r.session.Stopped, r.session.StopKind = over, queue.Budget
	return true
}

func overCap(whose string, usd float64, tokens int64, s spending) string {
	switch {
	case usd > 0 && s.usd >= usd:
		return fmt.Sprintf("the %s's cap of $%.2f is reached: $%.2f", whose, usd, s.usd)
	case tokens > 0 && s.tokens >= tokens:
		return fmt.Sprintf("the %s's cap of %d tokens is reached: %d", whose, tokens, s.tokens)
	}
	return ""
}
