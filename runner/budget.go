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
// and with a cost cap that is no more than what is left.
func (r *run) within(s stories.Story, story spending) *run {
	own := *r.at(s)
	o := *own.o
	o.tokens = tokensLeft("story", o.Caps.StoryTokens, story.tokens)
	if left := tokensLeft("session", o.Caps.SessionTokens, r.spent.tokens); o.tokens == nil || left != nil && left.most < o.tokens.most {
		o.tokens = left
	}
	o.CostUSD = least(o.CostUSD, left(o.Caps.StoryUSD, story.usd), left(o.Caps.SessionUSD, r.spent.usd))
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
