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
)

// ending is all that is known about how a child ended.
type ending struct {
	cause   cause
	detail  string                // with cause: which call, which error
	started bool                  // the client said init
	final   *transcript.Final     // the last result record
	limit   *transcript.RateLimit // the last limit event, when it was a rejection
	state   proc.State
	stderr  string // its last part
}

// judgement is what an ending means.
type judgement struct {
	outcome  queue.Outcome
	reason   string
	resetsAt time.Time
}

// judge reads the result record, the process's exit and loop's own doing
// together; none of them is right alone: the client says "success" for API
// errors and exits with 0 after an interrupt.
func judge(e ending, now time.Time) judgement {
	if j, ok := judgeStop(e); ok {
		return j
	}
	if j, ok := judgeProvider(e, now); ok {
		return j
	}
	f := e.final
	switch {
	case f == nil && !e.started:
		return judgement{outcome: queue.CouldNotStart, reason: withStderr("the client ended with "+exitText(e.state)+" before it began", e.stderr)}
	case f == nil:
		return judgement{outcome: queue.AgentFailed, reason: withStderr("the client ended with "+exitText(e.state)+" and without a result", e.stderr)}
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
		return judgement{outcome: queue.Interrupted, reason: "interrupted by a signal"}, true
	case stopSilence:
		return judgement{outcome: queue.Hung, reason: "no sign of life for " + e.detail}, true
	case stopWall:
		return judgement{outcome: queue.Hung, reason: "still running after the wall limit of " + e.detail}, true
	case stopUnguarded:
		return judgement{outcome: queue.Unguarded, reason: e.detail}, true
	case stopTranscript:
		return judgement{outcome: queue.AgentFailed, reason: "the transcript could not be kept: " + e.detail}, true
	case notStopped, stopGrace:
	}
	return judgement{}, false
}

// judgeProvider tells what is not the story's fault: a limit, a refused login.
// Only the result record and the limit event count: the transcript of an agent
// that works on such texts is full of them.
func judgeProvider(e ending, now time.Time) (judgement, bool) {
	f := e.final
	if f == nil || !f.IsError {
		return judgement{}, false
	}
	text := finalText(f)
	low := strings.ToLower(text)
	switch {
	case f.APIErrorStatus == 429 || f.APIErrorStatus == 0 && e.limit != nil || isLimitText(low):
		return judgement{outcome: queue.Limit, reason: text, resetsAt: resetTime(e.limit, text, now)}, true
	case f.APIErrorStatus == 401 || f.APIErrorStatus == 403,
		strings.HasPrefix(low, "not logged in"), strings.HasPrefix(low, "invalid api key"):
		return judgement{outcome: queue.Auth, reason: text}, true
	case f.APIErrorStatus == 404:
		// An unknown model: every other story would end the same way.
		return judgement{outcome: queue.CouldNotStart, reason: text}, true
	}
	return judgement{}, false
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
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return clip(text, 300)
}

func exitText(s proc.State) string {
	if s.Signal != "" {
		return "signal " + s.Signal
	}
	return fmt.Sprintf("exit code %d", s.ExitCode)
}

func withStderr(reason, stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return reason + ": " + clip(last, 300)
	}
	return reason
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
