package runner

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/queue"
)

const (
	firstPause   = time.Minute
	longestPause = 30 * time.Minute
	afterReset   = 2 * time.Second // clocks differ
	tellAfter    = 3               // probes after which a limit without a good time is a finding
	serverTries  = 5               // errors of the server that one story may meet
	configTries  = 3               // failures to connect that waiting does not mend
	mostClashes  = 1               // conflicts after which a story is tried once more
	mostAttempts = 200             // at one story in one session, whatever they end with
)

// verdict is what follows an attempt.
type verdict struct {
	do     step
	until  time.Time // of a wait
	reason string    // of a block or a stop
	tell   string    // something a person should know by now; "" = nothing
}

type step int

const (
	goOn      step = iota // with the next story
	tryAgain              // at once: the agent's fault
	waitFirst             // then try again: not the agent's fault
	block                 // leave the story and go on
	halt                  // end the session
)

// tally is what has been tried at one story.
type tally struct {
	attempts int
	tries    int            // spent: attempts that the agent failed
	faults   int            // server errors, refused connections
	clashes  int            // times that its work did not go together with that of others
	probes   int            // failures in a row without any work between them
	since    time.Time      // when the row began
	last     *queue.Attempt // that the agent failed, of this session or an earlier one
}

// next decides by whose doing the attempt ended. It reads no clock and keeps
// nothing but the tally.
func (t *tally) next(o *Options, a *queue.Attempt, now time.Time) verdict {
	t.attempts++
	switch {
	case a.Outcome.Passed(), a.Outcome == queue.Question:
		return verdict{do: goOn}
	case a.Outcome == queue.Limit, a.Outcome == queue.Outage:
		return t.provider(o, a, now.Round(0))
	case a.Outcome == queue.HostFailed && strings.HasPrefix(a.Reason, diskFull):
		return verdict{do: halt, reason: a.Reason}
	case a.Outcome == queue.Conflict:
		if t.clashes++; t.clashes > mostClashes {
			return verdict{do: block, reason: fmt.Sprintf("its work did not go together with that of other stories, %d times", t.clashes)}
		}
		return verdict{do: tryAgain}
	case a.Outcome == queue.HostFailed:
		return verdict{do: block, reason: a.Reason}
	case a.Cause == queue.SetupFailed:
		return verdict{do: block, reason: a.Reason}
	case stops(a.Outcome):
		return verdict{do: halt, reason: a.Reason}
	case a.Fault() == queue.ConfigFault:
		return verdict{do: block, reason: a.Cause.String() + ": another try would end the same way"}
	}
	t.probes = 0
	t.tries++
	last := t.last
	t.last = a
	switch most := max(1, o.Tries); {
	case noProgress(last, a):
		return verdict{do: block, reason: "no progress: failed as before, nothing changed"}
	case t.tries >= most && most > 1:
		return verdict{do: block, reason: fmt.Sprintf("%d of %d tries did not pass", t.tries, most)}
	case t.tries >= most:
		return verdict{do: block, reason: "it did not pass, and one try is allowed"}
	}
	return verdict{do: tryAgain}
}

// provider decides about a limit or an outage. It costs the story no try.
func (t *tally) provider(o *Options, a *queue.Attempt, now time.Time) verdict {
	if a.Calls > 0 || a.CostUSD > 0 || t.since.IsZero() {
		t.since, t.probes = now, 0 // work was done: what came then is new
	}
	t.probes++
	switch a.Cause {
	case queue.ServerError, queue.Unexplained, queue.Untrusted, queue.Proxy:
		t.faults++
	}
	resets := a.ResetsAt.After(now)
	switch {
	case a.Fault() == queue.PersonFault || a.Cause == queue.LongContext || a.Cause == queue.ModelCredits || a.Cause == queue.SpendLimit && a.ResetsAt.IsZero():
		return verdict{do: halt, reason: a.Reason + " (" + toDo(a.Cause) + ")"}
	case o.Wait <= 0 && a.Outcome == queue.Limit:
		return verdict{do: halt, reason: a.Reason}
	case o.Wait <= 0:
		return verdict{do: block, reason: a.Cause.String()}
	case t.faults >= configTries && (a.Cause == queue.Untrusted || a.Cause == queue.Proxy):
		return verdict{do: halt, reason: a.Reason + " (" + toDo(a.Cause) + ")"}
	case t.faults >= serverTries && (a.Cause == queue.ServerError || a.Cause == queue.Unexplained):
		return verdict{do: block, reason: fmt.Sprintf("%s, %d times", a.Cause, t.faults)}
	case t.attempts >= mostAttempts:
		return verdict{do: block, reason: fmt.Sprintf("%d attempts", t.attempts)}
	}
	v := verdict{do: waitFirst, until: now.Add(withJitter(o, t.pause()))}
	if resets {
		v.until = a.ResetsAt.Add(afterReset + o.Jitter(min(time.Minute, a.ResetsAt.Sub(now)/10)))
	}
	if v.until.After(t.since.Add(o.Wait)) {
		return verdict{do: halt, reason: fmt.Sprintf("%s (longer than limits.wait = %s allows)", a.Reason, span(o.Wait))}
	}
	if t.probes == tellAfter && !resets {
		v.tell = fmt.Sprintf("%s: tried %d times, and it holds on", a.Cause, t.probes)
		if !a.ResetsAt.IsZero() {
			v.tell += " although its reset time has passed"
		}
		v.tell += "; loop goes on trying, at most for " + span(o.Wait)
	}
	return v
}

// pause grows with the probes.
func (t *tally) pause() time.Duration {
	d := firstPause
	for n := 1; n < t.probes && d < longestPause; n++ {
		d *= 2
	}
	return min(d, longestPause)
}

func withJitter(o *Options, d time.Duration) time.Duration { return d + o.Jitter(d/5) }

// randomJitter spreads those who wait for the same moment.
func randomJitter(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	return rand.N(most)
}

// toDo is what a person has to do about a cause that no waiting mends.
func toDo(c queue.Cause) string {
	switch c {
	case queue.Credit:
		return "add credit, then `loop run`"
	case queue.Disabled:
		return "ask the administrator, then `loop run`"
	case queue.LongContext:
		return "choose a model without the long context, or switch extra usage on, then `loop run`"
	case queue.ModelCredits:
		return "choose another model with --model, or switch usage credits on, then `loop run`"
	case queue.SpendLimit:
		return "raise the limit, then `loop run`"
	case queue.Untrusted:
		return "give the client the certificate of your proxy or gateway: NODE_EXTRA_CA_CERTS"
	case queue.Proxy:
		return "give the proxy's login in HTTPS_PROXY"
	default:
		return "then `loop run`"
	}
}

// noProgress reports whether an attempt failed as the last one had, without
// having changed anything. Where the work tree is not known the agent's last
// words stand for it.
func noProgress(last, a *queue.Attempt) bool {
	if last == nil || last.StoryHash != a.StoryHash || failure(last) != failure(a) {
		return false
	}
	if a.TreeAfter == "" {
		return last.FinalText == a.FinalText
	}
	return a.TreeBefore == a.TreeAfter || last.TreeAfter == a.TreeAfter
}

var numbers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`) })

// failure is how an attempt failed, without its times and addresses.
func failure(a *queue.Attempt) string {
	text := a.Reason
	for _, g := range a.Gates {
		if !g.Passed {
			text = fmt.Sprintf("%s\n%d\n%s\n%s", g.Command, g.ExitCode, g.Error, g.Output)
		}
	}
	return string(a.Outcome) + "\n" + numbers().ReplaceAllString(text, "0")
}

// span is a duration as people read it: 40 s, 10 m, 2 h 10 m, 3 d 4 h.
func span(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m", int(d.Round(time.Minute).Minutes()))
	}
	d = d.Round(time.Minute)
	h, m := int(d.Hours()), int(d.Minutes())%60
	switch {
	case h >= 24 && h%24 == 0:
		return fmt.Sprintf("%d d", h/24)
	case h >= 24:
		return fmt.Sprintf("%d d %d h", h/24, h%24)
	case m == 0:
		return fmt.Sprintf("%d h", h)
	}
	return fmt.Sprintf("%d h %d m", h, m)
}
