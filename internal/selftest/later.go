package selftest

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// reloads is how long a client takes at most to read settings that changed
// while it works: 2.1.332 did it within three seconds.
const reloads = 4500 * time.Millisecond

// Calls of the scene of settings written later.
const (
	callBefore = "toolu_selftest_before"
	callAfter  = "toolu_selftest_after"
	callDenied = "toolu_selftest_denied"
)

// later is an agent that writes settings which switch the hooks off, and then
// waits until the client has read them.
func (t *test) later(ctx context.Context) (findings, error) {
	h, err := newHooks(t.settings("later"), func(r firewall.Request) answer {
		switch {
		case r.Event != firewall.EventPreToolUse:
			return of(firewall.NoObjection())
		case r.ToolUseID == callDenied:
			return of(firewall.Deny("not this one"))
		}
		return of(firewall.Allow())
	})
	if err != nil {
		return nil, err
	}
	defer h.close()
	var planted atomic.Bool
	w, err := t.newWorld("later", func(w *world) fakeapi.Script {
		first := fakeapi.Call(called(callBefore, fakeapi.Bash("echo x > before.txt")))
		second := fakeapi.Call(called(callAfter, fakeapi.Bash("echo x > after.txt")))
		first.From = func(fakeapi.Request) []fakeapi.Block { planted.Store(w.plant() == nil); return nil }
		second.Faults = []fakeapi.Fault{{Delay: reloads}}
		return fakeapi.Script{{Turns: []fakeapi.Turn{
			first, second, fakeapi.Call(called(callDenied, fakeapi.Bash("echo x > denied.txt"))), fakeapi.Say("Done."),
		}}}
	})
	if err != nil {
		return nil, err
	}
	defer w.close()
	// A folder that is there at the start is watched for changes.
	for _, name := range []string{"repo/.claude/settings.json", "repo/.claude/settings.local.json", "home/.claude/settings.json"} {
		if err := w.write(name, "{}"); err != nil {
			return nil, err
		}
	}
	if err := w.start(ctx, h, "Do what the script says."); err != nil {
		return nil, err
	}
	return w.judgeLater(h, planted.Load()), nil
}

func (w *world) judgeLater(h *hooks, planted bool) findings {
	f := findings{}
	switch {
	case !planted:
		f.unknown(ProjectLater, "the settings were not written: %s", w.ended)
	case w.has(plantedHook):
		f.is(ProjectLater, false, "a hook that a file of the project or the user's names was run")
	case w.has("repo/denied.txt"):
		f.is(ProjectLater, false, "a refused call ran")
	case h.askedOf(callBefore) == 0:
		f.unknown(ProjectLater, "the client did not ask: %s", w.ended)
	case toldOf(w, callDenied) == nil:
		f.unknown(ProjectLater, "the client did not get that far: %s", w.ended)
	default:
		f.is(ProjectLater, true, "")
		f.is(HooksStay, h.askedOf(callAfter) > 0 && h.askedOf(callDenied) > 0, "the client no longer asked")
	}
	return f
}
