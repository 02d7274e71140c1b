package selftest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// Calls of the scene of results: three at once, then one that fails.
const (
	callFailing = "toolu_selftest_failing"
	receiptText = "self-test-receipt-"
)

func callsAtOnce() []string {
	return []string{"toolu_selftest_once1", "toolu_selftest_once2", "toolu_selftest_once3"}
}

// results is a sound supervisor that marks every result.
func (t *test) results(ctx context.Context) (findings, error) {
	h, err := newHooks(t.settings("results"), markResults)
	if err != nil {
		return nil, err
	}
	defer h.close()
	var early atomic.Bool // the model was asked before the handshake
	w, err := t.newWorld("results", func(*world) fakeapi.Script {
		first := fakeapi.Turn{From: func(fakeapi.Request) []fakeapi.Block {
			early.Store(early.Load() || !h.live())
			return nil
		}}
		for i, id := range callsAtOnce() {
			first.Blocks = append(first.Blocks, called(id, fakeapi.Bash(fmt.Sprintf("echo out%d && echo x > once%d.txt", i, i))))
		}
		return fakeapi.Script{{Turns: []fakeapi.Turn{
			first, fakeapi.Call(called(callFailing, fakeapi.Bash("echo failing; exit 3"))), fakeapi.Say("Done."),
		}}}
	})
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.start(ctx, h, "Do what the script says."); err != nil {
		return nil, err
	}
	return w.judgeResults(h, early.Load()), nil
}

// markResults allows everything and puts a mark into each result: into the
// output of a call that succeeded, beside that of one that failed.
func markResults(r firewall.Request) answer {
	out := map[string]any{"hookEventName": r.Event}
	switch r.Event {
	case firewall.EventPreToolUse:
		return of(firewall.Allow())
	case firewall.EventPostToolUse:
		var response map[string]any
		if json.Unmarshal(r.Response, &response) != nil {
			return of(firewall.NoObjection())
		}
		response["stderr"] = receiptText + r.ToolUseID
		out["updatedToolOutput"] = response
	case firewall.EventPostToolUseFailure:
		out["additionalContext"] = receiptText + r.ToolUseID
	default:
		return of(firewall.NoObjection())
	}
	return says(asJSON(map[string]any{"hookSpecificOutput": out}))
}

func (w *world) judgeResults(h *hooks, early bool) findings {
	f := findings{}
	if len(w.api.Requests()) == 0 {
		return f
	}
	f.is(HooksLive, h.live() && !early, "%s", orElse(h.live(), "the model was asked before loop", "the hooks were never called"))
	asked, results, marked := w.counts(h)
	calls := len(callsAtOnce())
	switch {
	case !h.live():
		return f
	case toldOf(w, callsAtOnce()[0]) == nil:
		return f
	}
	f.is(Parallel, asked == calls, "%d of %d calls were asked about", asked, calls)
	all := append(callsAtOnce(), callFailing)
	f.is(Reported, results == len(all), "%d of %d results came back", results, len(all))
	f.is(Receipts, len(marked) == len(all), "%d of %d marks reached the model", len(marked), len(all))
	return f
}

// counts is how many of the calls made at once were asked about, how many
// results of all calls came back, and which marks the model was given.
func (w *world) counts(h *hooks) (asked, results int, marked []string) {
	for _, id := range callsAtOnce() {
		if h.askedOf(id) > 0 {
			asked++
		}
	}
	for _, id := range slices.Concat(callsAtOnce(), []string{callFailing}) {
		if h.resultsOf(id) > 0 {
			results++
		}
		told, _ := w.told(id)
		if strings.Contains(told.Text, receiptText+id) || id == callFailing && w.sent(receiptText+id) {
			marked = append(marked, id)
		}
	}
	return asked, results, marked
}
