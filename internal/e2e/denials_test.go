//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// The client's own rules against plain spellings stand under the hooks: these
// are asked first, so that the call is queued and the model reads why, and a
// dry run is no matter of theirs.
func TestPlainDenialsLeaveTheHooksFirst(t *testing.T) {
	t.Parallel()
	title := "Push plainly"
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		fakeapi.Call(fakeapi.Bash("git push origin main")),
		fakeapi.Call(fakeapi.Bash("gh release create v1")),
		fakeapi.Call(fakeapi.Bash("git push --dry-run origin HEAD:refs/heads/review && echo dry-run-ran")),
		fakeapi.Say("They wait."),
	}}})
	w.stories("", title)
	w.loop("run").want(t, exitWaiting)
	got := w.told(title)
	for _, want := range []string{"queued as #1", "queued as #2", "dry-run-ran"} {
		if !strings.Contains(got, want) {
			t.Errorf("the model was not told %q: %s", want, got)
		}
	}
	diff(t, "waiting", []string{"blocked git push origin main", "blocked gh release create v1"}, waiting(w.report()))
}
