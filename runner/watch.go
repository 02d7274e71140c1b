package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/firewall/seal"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// guardian is what the watch asks of the firewall.
type guardian interface {
	Started() bool
	Fate(toolUseID string) firewall.Fate
	Deferred() int
}

// child is the process under watch.
type child interface {
	Stdout() io.ReadCloser
	Wait() proc.State
	Terminate() (proc.State, error)
	Kill() (proc.State, error)
}

// serverTools run at the provider; the client fires no hooks for them.
var serverTools = []string{"WebSearch"}

// The live line is told the time once in liveTick, and not more often than
// once in livePause however fast the stream is.
const (
	liveTick  = time.Second
	livePause = 100 * time.Millisecond
)

// watch follows one child to its end.
type watch struct {
	o       *Options
	child   child
	guard   guardian
	seal    *seal.Seal // nil = no receipts
	a       *queue.Attempt
	cost    float64   // of the attempts before
	keep    io.Writer // the transcript
	grace   time.Duration
	end     ending
	ran     func(escape)      // told of a call that ran and should not have; nil = nobody is
	calls   map[string]*shown // by id, those without a result yet
	used    map[string]int64  // tokens by message
	doing   string
	told    time.Time // when the live line was told last
	seen    time.Time // when the last event came
	weighed time.Time // when the memory was looked at last
	stopped bool
	halts   int // how often the client had been stopped by a signal

	silence, wall, afterResult *time.Timer
}

// run returns when the child and everything it wrote are done with.
func (w *watch) run(ctx context.Context) ending {
	events, readErr := w.decode()
	exited := make(chan proc.State, 1)
	go func() { exited <- w.child.Wait() }()
	w.calls = map[string]*shown{}
	w.silence, w.wall = time.NewTimer(w.o.Silence), time.NewTimer(w.o.Wall)
	w.afterResult = time.NewTimer(w.grace)
	w.afterResult.Stop()
	tick := time.NewTicker(liveTick)
	defer func() { w.silence.Stop(); w.wall.Stop(); w.afterResult.Stop(); tick.Stop() }()

	interrupted, kill := ctx.Done(), w.o.Kill
	for events != nil || exited != nil {
		select {
		case ev, ok := <-events:
			if !ok {
				events = nil
				w.readFailed(<-readErr)
				continue
			}
			w.silence.Reset(w.o.Silence)
			w.seen = w.o.Now()
			w.see(ev)
		case w.end.state = <-exited:
			exited, w.stopped = nil, true // what is left to read needs no stopping
		case <-w.silence.C:
			w.stop(stopSilence, w.o.Silence.String())
		case <-w.wall.C:
			w.stop(stopWall, w.o.Wall.String())
		case <-w.afterResult.C:
			w.stop(stopGrace, "")
		case <-interrupted:
			interrupted = nil
			w.stop(stopInterrupt, interruption(ctx))
		case <-kill:
			kill = nil
			w.stop(stopInterrupt, bySignal)
			go func() { _, _ = w.child.Kill() }()
		case <-tick.C:
			w.memory()
			if proc.GoOn(w.a.ChildPid) {
				w.halts++ // by whom is not known; nothing that loop starts is stopped by a terminal
			}
		}
		w.live()
	}
	w.a.Denied = w.guard.Deferred()
	return w.end
}

// decode reads the child's stream: to the transcript as it comes, and decoded
// at the same time. The second channel gives one error when the first closes.
func (w *watch) decode() (<-chan transcript.Event, <-chan error) {
	events, readErr := make(chan transcript.Event, 64), make(chan error, 1)
	go func() {
		defer close(events)
		readErr <- transcript.Each(io.TeeReader(w.child.Stdout(), w.keep), transcript.Options{}, func(ev transcript.Event) error {
			events <- ev
			return nil
		})
	}()
	return events, readErr
}

func (w *watch) readFailed(err error) {
	if err == nil {
		return
	}
	why := stopTranscript
	if errors.Is(err, syscall.ENOSPC) {
		why = stopDisk
	}
	w.stop(why, err.Error())
	if w.end.cause == notStopped {
		w.end.cause, w.end.detail = why, err.Error()
	}
}

// stop ends the child once, for the first cause.
func (w *watch) stop(c cause, detail string) {
	if w.stopped {
		return
	}
	w.stopped = true
	w.end.cause, w.end.detail = c, detail
	// The watch goes on reading meanwhile; how it ended comes from Wait.
	go func() { _, _ = w.child.Terminate() }()
}

// see takes one event into account.
func (w *watch) see(ev transcript.Event) {
	if ev.Kind != transcript.KindFinal && ev.Kind != transcript.KindHook {
		w.afterResult.Stop()
	}
	w.trouble(ev)
	w.count(ev)
	switch ev.Kind {
	case transcript.KindInit:
		w.end.started = true
		w.a.Model, w.a.KeySource = ev.Init.Model, ev.Init.APIKeySource
		if w.o.Keyless && isKey(w.a.KeySource) {
			// Nothing has been asked of the model yet.
			w.stop(stopBilled, fmt.Sprintf("the client has a key (%s) that would be billed; billing says %q", w.a.KeySource, BillSubscription))
		}
	case transcript.KindCall:
		w.a.Calls++
		w.calls[ev.Call.ID] = show(ev)
		if asked := askedByTool(ev.Call); asked != "" {
			w.a.Question = asked
		}
		w.doing = policy.CommandOf(policy.Call{Tool: ev.Call.Name, Input: ev.Call.Input})
		if w.seal != nil {
			w.seal.Shown(ev.Call.ID, ev.Call.Name, w.doing, ev.Call.Input)
		}
		if !w.guard.Started() {
			w.stop(stopUnguarded, fmt.Sprintf("the client called %q before its hooks had reported: the firewall was not live", ev.Call.Name))
		}
	case transcript.KindResult:
		w.result(ev)
	case transcript.KindFinal:
		w.end.final = ev.Final
		w.a.CostUSD, w.a.Turns = ev.Final.CostUSD, ev.Final.NumTurns
		if f := ev.Final; f.Tokens > 0 {
			w.a.Tokens = f.Tokens
		} else if n := f.InputTokens + f.OutputTokens + f.CacheCreationTokens; n > w.a.Tokens {
			w.a.Tokens = n
		}
		w.a.FinalText = clip(ev.Final.Result, 4000)
		w.doing = ""
		w.afterResult.Reset(w.grace)
	case transcript.KindRateLimit:
		w.end.limit = nil
		if ev.RateLimit.Status == "rejected" {
			w.end.limit = ev.RateLimit
		}
		w.end.bare = *ev.RateLimit == transcript.RateLimit{}
	}
}

// count adds up the tokens of the replies, each once, and ends the attempt when
// its cap is reached and more is to come: a reply without a call is the last.
// What a reply still writes is only known at its end.
func (w *watch) count(ev transcript.Event) {
	u, ok := ev.Usage()
	if !ok {
		return
	}
	if more := u.Counted() - w.used[u.Message]; more > 0 {
		if w.used == nil {
			w.used = map[string]int64{}
		}
		w.used[u.Message] += more
		w.a.Tokens += more
	}
	if c := w.o.tokens; c != nil && w.a.Tokens >= c.most && ev.Kind == transcript.KindCall {
		w.stop(stopTokens, c.text(w.a.Tokens))
	}
}

// trouble keeps what the client last said of requests that failed, until the
// model is heard again.
func (w *watch) trouble(ev transcript.Event) {
	switch ev.Kind {
	case transcript.KindRetry:
		w.end.retrying = ev.Retry
	case transcript.KindText, transcript.KindThinking, transcript.KindCall:
		if ev.Agent == "" {
			w.end.apiError = ev.APIError()
		}
		w.end.retrying = nil
	case transcript.KindResult, transcript.KindFinal:
		w.end.retrying = nil
	}
}

// result checks that a call that ran had been asked about.
func (w *watch) result(ev transcript.Event) {
	res := ev.Result
	call := w.calls[res.CallID]
	if call == nil {
		call = &shown{}
	}
	delete(w.calls, res.CallID)
	w.doing = ""
	elsewhere := slices.Contains(serverTools, call.tool)
	if w.seal != nil {
		switch {
		case elsewhere:
			w.seal.Elsewhere(res.CallID)
		case res.NotRun:
			w.seal.NotRun(res.CallID, res.Text)
		}
	}
	if res.NotRun || elsewhere {
		return
	}
	fate := w.guard.Fate(res.CallID)
	switch {
	case fate == firewall.Unasked:
		tool := "something that the client's stream does not show"
		if call.tool != "" {
			tool = strconv.Quote(call.tool)
		}
		w.stop(stopUnguarded, fmt.Sprintf("%s ran as call %q without asking: the firewall was not live", tool, res.CallID))
	case w.seal != nil:
		w.seal.Result(res.CallID, json.RawMessage(res.Structured), res.Text, res.IsError)
	}
	if w.ran != nil && (fate == firewall.Unasked || fate == firewall.Refused || fate == firewall.LetRun && len(res.VCS) > 0) {
		w.ran(escape{shown: *call, id: res.CallID, fate: fate, vcs: res.VCS, failed: res.IsError})
	}
}

func (w *watch) live() {
	now := w.o.Now()
	if now.Sub(w.told) < livePause {
		return
	}
	w.told = now
	w.o.Progress.Live(Live{
		Story: w.a.Story, Elapsed: now.Sub(w.a.Started), Calls: w.a.Calls,
		Denied: w.guard.Deferred(), Cost: w.cost, Doing: w.doing,
		Dir: w.a.Dir, Seen: w.seen, Over: w.stopped && w.end.final != nil,
	})
}
