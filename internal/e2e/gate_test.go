//go:build e2e

package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

func TestFailedGateIsToldToTheNextAttempt(t *testing.T) {
	t.Parallel()
	title := "Try once more"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{fakeapi.Say("done")}}})
	w.stories("gates = [\"echo GATE-SAYS-WHY; false\"]\n[checks]\nbaseline = false\n[retries]\nattempts = 1\n", title)
	w.loop("run").want(t, exitFailed, "GATE-SAYS-WHY")
	w.loop("run").want(t, exitFailed)
	first, second := w.api.Requests()[0].FirstUser(), w.api.Requests()[1].FirstUser()
	if strings.Contains(first, "did not pass") || !strings.Contains(second, "did not pass") || !strings.Contains(second, "GATE-SAYS-WHY\n") {
		t.Errorf("the first prompt:\n%s\nthe second:\n%s", first, second)
	}
	diff(t, "passed", nil, w.passed(title))
}

// A gate has a limit of its own, and all of its tree goes with it.
func TestGateThatHangsIsEnded(t *testing.T) {
	t.Parallel()
	title := "Hang at the gate"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{fakeapi.Say("done")}}})
	w.stories("gates = [\"(tail -f /dev/null); true\"]\n[budget]\ngate = \"1s\"\n[checks]\nbaseline = false\n[retries]\nattempts = 1\n", title)
	w.loop("run").want(t, exitFailed)
	w.nothingIsLeft()
	diff(t, "outcomes", []string{"S1 gate-failed"}, outcomes(w.report()))
}

func TestInterruptAtTheGateLeavesNothing(t *testing.T) {
	t.Parallel()
	title := "Be stopped at the gate"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{fakeapi.Say("done")}}})
	w.stories("gates = [\"echo $$ > near; tail -f /dev/null\"]\n[checks]\nbaseline = false\n", title)
	p := w.startLoop("run")
	near := w.pid(p, "repo/near")
	p.signal(syscall.SIGINT)
	p.wait().want(t, exitInterrupted)
	if alive(near) {
		t.Errorf("the gate %d is still there", near)
	}
	w.nothingIsLeft()
	diff(t, "passed", nil, w.passed(title))
	diff(t, "outcomes", []string{"S1 interrupted"}, outcomes(w.report()))
}
