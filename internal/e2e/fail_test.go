//go:build e2e

package e2e

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
	"github.com/seed-b23e517c/loop/queue"
)

func TestUsageLimitStopsCleanly(t *testing.T) {
	t.Parallel()
	first, next := "Hit the limit", "Never begun"
	reset := time.Now().Add(3 * time.Hour).Truncate(time.Minute)
	w := newWorld(t, fakeapi.Script{{Match: first, Turns: []fakeapi.Turn{
		fakeapi.Call(write("part.txt", "half\n")), fakeapi.Always(fakeapi.UsageLimit(reset)),
	}}})
	w.setenv("ANTHROPIC_API_KEY", "")
	w.setenv("CLAUDE_CODE_OAUTH_TOKEN", "dummy")
	w.stories("[limits]\nwait = \"0\"\n", first, next)
	w.loop("run").want(t, exitStopped, "limit", reset.Local().Format("15:04"))
	diff(t, "passed", nil, w.passed(first, next))
	s := w.report()
	diff(t, "outcomes", []string{"S1 limit"}, outcomes(s))
	diff(t, "reset time", reset.UTC(), s.Session.ResetsAt.UTC())
}

// The night goes on after the reset, with the same story and without a spent
// try.
func TestUsageLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	first, next := "Hit the limit", "Go on"
	limit := fakeapi.UsageLimit(time.Now().Add(15 * time.Second))
	w := newWorld(t, fakeapi.Script{
		{Match: first, Turns: []fakeapi.Turn{{Blocks: []fakeapi.Block{write("part.txt", "whole\n")}, Faults: []fakeapi.Fault{limit}}, fakeapi.Say("done")}},
		{Match: next, Turns: []fakeapi.Turn{fakeapi.Call(write("next.txt", "x\n")), fakeapi.Say("done")}},
	})
	w.setenv("ANTHROPIC_API_KEY", "")
	w.setenv("CLAUDE_CODE_OAUTH_TOKEN", "dummy")
	w.stories("[retries]\nattempts = 1\n", first, next)
	// On a slow machine the reset has passed when the answer comes: the probe is
	// made after a minute then.
	w.loop("run").want(t, exitDone, "account: a subscription", "limit: waiting until")
	diff(t, "passed", []string{"S1", "S2"}, w.passed(first, next))
	s := w.report()
	diff(t, "outcomes", []string{"S1 limit", "S1 unproven", "S2 unproven"}, outcomes(s))
	if len(s.Session.Waits) != 1 || s.Session.Waits[0].Cause != queue.FiveHourLimit {
		t.Errorf("waits %+v", s.Session.Waits)
	}
}

func TestRefusedKeyStopsCleanly(t *testing.T) {
	t.Parallel()
	first, next := "Be refused", "Never begun"
	w := newWorld(t, fakeapi.Script{{Match: first, Turns: []fakeapi.Turn{
		fakeapi.Always(fakeapi.Fault{Status: 401, Message: "invalid x-api-key"}),
	}}})
	w.stories("", first, next)
	w.loop("run").want(t, exitStopped)
	diff(t, "passed", nil, w.passed(first, next))
	diff(t, "outcomes", []string{"S1 auth"}, outcomes(w.report()))
}

func TestNotLoggedInStopsCleanly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.setenv("ANTHROPIC_API_KEY", "")
	w.stories("", "Nobody is there")
	w.loop("run").want(t, exitStopped)
	diff(t, "outcomes", []string{"S1 auth"}, outcomes(w.report()))
	if n := len(w.api.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestMissingClientIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.stories("", "Nothing to run it with")
	w.loop("run", "--claude", filepath.Join(w.root, "bin", "none")).want(t, exitFailed, "hint:", "--claude")
	diff(t, "passed", nil, w.passed("Nothing to run it with"))
}

func TestBrokenMCPConfigIsSaid(t *testing.T) {
	t.Parallel()
	title := "Never begun"
	w := newWorld(t, nil)
	w.write("repo/broken.json", "{no")
	w.stories("[mcp]\nconfig = \"broken.json\"\n", title, "Nor this")
	w.loop("run").want(t, exitFailed, "MCP config")
	diff(t, "outcomes", []string{"S1 could-not-start"}, outcomes(w.report()))
	w.write("repo/loop.toml", "[mcp]\nconfig = \"none.json\"\n")
	w.loop("run").want(t, exitFailed, "none.json")
}

// What fails in one attempt is that story's affair, and the next one gets a
// fresh client; what the client mends by itself is no failure.
func TestOtherFailuresGoOnWithTheNextStory(t *testing.T) {
	t.Parallel()
	needPython(t)
	titles := []string{"Kill the client", "Meet a busy service", "Be too long", "Lose the connection"}
	w := newWorld(t, fakeapi.Script{
		{Match: titles[0], Turns: unseen("os.kill(client(), 9)")},
		{Match: titles[1], Turns: []fakeapi.Turn{fakeapi.Always(fakeapi.Fault{Status: 529})}},
		{Match: titles[2], Turns: []fakeapi.Turn{fakeapi.Always(fakeapi.Fault{Status: 400, Message: "prompt is too long"})}},
		{Match: titles[3], Turns: []fakeapi.Turn{{
			Blocks: []fakeapi.Block{fakeapi.Text("done all the same")},
			Faults: []fakeapi.Fault{{Cut: true, Events: 2}},
		}}},
	})
	w.stories("[limits]\nwait = \"0\"\n[retries]\nattempts = 1\n", titles...)
	w.loop("run").want(t, exitFailed)
	diff(t, "outcomes", []string{"S1 failed", "S2 outage", "S3 failed", "S4 unproven"}, outcomes(w.report()))
	diff(t, "passed", []string{"S4"}, w.passed(titles...))
}

// Silence is ended after its limit, and the story stays open.
func TestSilentClientIsEnded(t *testing.T) {
	t.Parallel()
	title := "Say nothing"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Always(fakeapi.Fault{Hold: make(chan struct{}), Events: 2}),
	}}})
	w.stories("[budget]\nsilence = \"2s\"\n[retries]\nattempts = 1\n", title)
	w.loop("run").want(t, exitFailed)
	w.nothingIsLeft()
	diff(t, "passed", nil, w.passed(title))
	diff(t, "outcomes", []string{"S1 hung"}, outcomes(w.report()))
}
