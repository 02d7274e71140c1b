package runner

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// cause is why loop itself ended a child.
type cause int

const (
	notStopped     cause = iota
	stopInterrupt        // the person's signal
	stopSilence          // no sign of life for too long
	stopWall             // the wall limit of the attempt
	stopGrace            // the client stayed after its last result
	stopUnguarded        // the hooks are not live
	stopTranscript       // the transcript could not be written
	stopDisk             // because the disk is full
	stopMemory           // its processes have too much memory
	stopTokens           // the cap of tokens is reached
	stopBilled           // a key would be billed that must not be
)

// ending is all that is known about how a child ended.
type ending struct {
	cause   cause
	detail  string                // with cause: which call, which error
	started bool                  // the client said init
	final   *transcript.Final     // the last result record
	limit   *transcript.RateLimit // the last limit event, when it was a rejection
	bare    bool                  // the last limit event said nothing but that it is one
	state   proc.State
	stderr  string // its last part

	apiError *transcript.APIError // what the client said in the model's place, when nothing came after it
	retrying *transcript.Retry    // a request that was being tried again when nothing came any more
}

// judgement is what an ending means.
type judgement struct {
	outcome  queue.Outcome
	reason   string
	cause    queue.Cause
	resetsAt time.Time
}

// judge reads the result record, the process's exit and loop's own doing
// together; none of them is right alone: the client says "success" for API
// errors and exits with 0 after an interrupt.
func judge(e ending, now time.Time) judgement {
	if j, ok := judgeRetrying(e); ok {
		return j
	}
	if j, ok := judgeStop(e); ok {
		return j
	}
	if j, ok := judgeProvider(e, now); ok {
		return j
	}
	f := e.final
	switch {
	case f == nil && !e.started && causeOfText(lastLine(e.stderr)) == queue.NotLoggedIn:
		// Nothing had run yet, so these words are the client's own.
		return judgement{outcome: queue.Auth, cause: queue.NotLoggedIn, reason: clip(lastLine(e.stderr), 300)}
	case f == nil && !e.started:
		return judgement{outcome: queue.CouldNotStart, reason: withStderr("the client ended with "+exitText(e.state)+" before it began", e.stderr)}
	case f == nil:
		return judgement{outcome: queue.AgentFailed, reason: withStderr("the client ended with "+exitText(e.state)+" and without a result", e.stderr)}
	case f.TerminalReason == "budget_exhausted" || f.Subtype == "error_max_budget_usd":
		return judgement{outcome: queue.AgentFailed, cause: queue.OverBudget, reason: finalText(f)}
	case f.IsError || f.Subtype != "success":
		return judgement{outcome: queue.AgentFailed, reason: finalText(f)}
	case f.TerminalReason != "" && f.TerminalReason != "completed":
		return judgement{outcome: queue.AgentFailed, reason: "the client stopped early: " + f.TerminalReason}
	case e.cause != stopGrace && (e.state.ExitCode != 0 || e.state.Signal != ""):
		return judgement{outcome: queue.AgentFailed, reason: withStderr("the client reported success and then ended with "+exitText(e.state), e.stderr)}
	}
	return judgement{outcome: queue.Done}
}

func judgeStop(e ending) (judgement, bool) {
	switch e.cause {
	case stopInterrupt:
		return judgement{outcome: queue.Interrupted, reason: e.detail}, true
	case stopSilence:
		return judgement{outcome: queue.Hung, reason: "no sign of life for " + e.detail}, true
	case stopWall:
		return judgement{outcome: queue.Hung, reason: "still running after the wall limit of " + e.detail}, true
	case stopUnguarded:
		return judgement{outcome: queue.Unguarded, reason: e.detail}, true
	case stopMemory:
		return judgement{outcome: queue.HostFailed, reason: e.detail}, true
	case stopDisk:
		return judgement{outcome: queue.HostFailed, reason: diskFull + "; " + e.detail}, true
	case stopTranscript:
		return judgement{outcome: queue.AgentFailed, reason: "the transcript could not be kept: " + e.detail}, true
	case stopTokens:
		return judgement{outcome: queue.AgentFailed, cause: queue.OverTokens, reason: e.detail}, true
	case stopBilled:
		return judgement{outcome: queue.Auth, cause: queue.NotLoggedIn, reason: e.detail}, true
	case notStopped, stopGrace:
	}
	return judgement{}, false
}

// judgeProvider tells what is not the story's fault: a limit, an outage, a
// refused login. Only what the client says in its own name counts: the
// transcript of an agent that works on such texts is full of them.
func judgeProvider(e ending, now time.Time) (judgement, bool) {
	s, ok := signalsOf(e)
	if !ok {
		return judgement{}, false
	}
	j := judgement{cause: causeOf(s), reason: s.text}
	if e.final != nil && s.text == "" {
		j.reason = finalText(e.final)
	}
	if j.reason == "" {
		j.reason = j.cause.String()
	}
	switch j.cause {
	case queue.FiveHourLimit, queue.WeeklyLimit, queue.ModelLimit, queue.UsageLimit, queue.SpendLimit, queue.RateLimit,
		queue.Credit, queue.Disabled, queue.LongContext, queue.ModelCredits:
		j.outcome, j.resetsAt = queue.Limit, resetTime(s.limit, s.text, j.cause, now)
	case queue.Overloaded, queue.ServerError, queue.Network, queue.Untrusted, queue.Proxy, queue.Unexplained:
		j.outcome = queue.Outage
	case queue.NotLoggedIn:
		j.outcome = queue.Auth
	case queue.NoModel, queue.Outdated:
		// Every other story would end the same way.
		j.outcome = queue.CouldNotStart
	case queue.PromptTooLong, queue.ReplyTooLong, queue.BadRequest, queue.OverBudget:
		j.outcome = queue.AgentFailed
	case "":
		return judgement{}, false
	}
	return j, true
}

// judgeRetrying: the client was asking a provider again and again when it fell
// silent or its time was over, so that it is not the agent that hung.
func judgeRetrying(e ending) (judgement, bool) {
	if e.retrying == nil || e.cause != stopSilence && e.cause != stopWall {
		return judgement{}, false
	}
	c := causeOf(signals{status: e.retrying.Status, kind: e.retrying.Error})
	switch c {
	case queue.ServerError, queue.Overloaded:
	case queue.RateLimit:
		return judgement{outcome: queue.Limit, cause: c, reason: "the provider's rate limit did not lift while the client tried again"}, true
	default:
		c = queue.Network
	}
	return judgement{outcome: queue.Outage, cause: c, reason: c.String() + " while the client tried again and again"}, true
}

// finalText is what a result record says for a person, one line.
func finalText(f *transcript.Final) string {
	text := f.Result
	if text == "" {
		text = strings.Join(f.Errors, "; ")
	}
	if text == "" {
		text = strings.TrimSpace(f.Subtype + " " + f.TerminalReason)
	}
	return oneLine(text)
}

func exitText(s proc.State) string {
	if s.Signal != "" {
		return "signal " + s.Signal
	}
	return fmt.Sprintf("exit code %d", s.ExitCode)
}

func withStderr(reason, stderr string) string {
	if last := lastLine(stderr); last != "" {
		return reason + ": " + clip(last, 300)
	}
	return reason
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndex(text, "\n")+1:])
}

// clip cuts a text to n runes.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
