//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
)

// Exit codes of loop, as its help promises them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitWaiting     = 3
	exitBusy        = 4
	exitStopped     = 5
	exitInterrupted = 130
)

// storyFile is a prd.json with the stories S1, S2, ... of the given titles. They
// are checks: most of them change nothing, and are about something else.
func storyFile(titles ...string) string {
	items := make([]string, len(titles))
	for i, title := range titles {
		items[i] = fmt.Sprintf(`    {
      "id": "S%d",
      "title": %s,
      "acceptanceCriteria": ["it is there"],
      "priority": %d,
      "check": true,
      "passes": false
    }`, i+1, marshal(title), i+1)
	}
	return "{\n  \"project\": \"demo\",\n  \"userStories\": [\n" + strings.Join(items, ",\n") + "\n  ]\n}\n"
}

// stories gives the repository a committed prd.json, and a loop.toml unless it
// is "".
func (w *world) stories(toml string, titles ...string) {
	w.t.Helper()
	w.write("repo/prd.json", storyFile(titles...))
	if toml != "" {
		w.write("repo/loop.toml", "schema = 1\n"+toml)
	}
	w.commitAll()
	w.git(w.repo, "push", "-q", "origin", "main")
}

// passed says which stories' flags are set, and fails the test when anything
// but the flags has changed in the file.
func (w *world) passed(titles ...string) []string {
	w.t.Helper()
	got := w.read("repo/prd.json")
	if d := cmp.Diff(storyFile(titles...), strings.ReplaceAll(got, `"passes": true`, `"passes": false`)); d != "" {
		w.t.Errorf("prd.json but for its flags (-want +got):\n%s", d)
	}
	var file struct {
		UserStories []struct {
			ID     string
			Passes bool
		}
	}
	if err := json.Unmarshal([]byte(got), &file); err != nil {
		w.t.Fatal(err)
	}
	var ids []string
	for _, s := range file.UserStories {
		if s.Passes {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// report is what `loop report --json` says of the last session.
func (w *world) report() report.Document { w.t.Helper(); return w.reportOf() }

func (w *world) reportOf(session ...string) report.Document {
	w.t.Helper()
	return w.reportBy(program(), session...)
}

// reportBy asks a certain loop.
func (w *world) reportBy(loop string, session ...string) report.Document {
	w.t.Helper()
	r := w.start(w.repo, nil, loop, append([]string{"report", "--json"}, session...)...).wait()
	var s report.Document
	if err := json.Unmarshal([]byte(r.stdout), &s); err != nil || r.exit != exitDone {
		w.t.Fatalf("loop report --json: exit %d, %v\n%s%s", r.exit, err, r.stdout, r.stderr)
	}
	// Said of every run in these worlds, which leave the self-test out.
	s.Findings = slices.DeleteFunc(s.Findings, func(f queue.Finding) bool { return f.Kind == "untested" })
	return s
}

// waiting are the actions of the last session but mentions, as "evidence command".
func waiting(s report.Document) []string {
	var out []string
	for _, a := range s.Actions {
		if a.Status == queue.Pending && a.Evidence != policy.Mentioned {
			out = append(out, string(a.Evidence)+" "+a.Command)
		}
	}
	return out
}

func attempts(s report.Document) []queue.Attempt {
	var out []queue.Attempt
	for _, story := range s.Stories {
		out = append(out, story.Attempts...)
	}
	return out
}

// outcomes are the attempts of a session, as "story outcome".
func outcomes(s report.Document) []string {
	var out []string
	for _, a := range attempts(s) {
		out = append(out, a.Story+" "+string(a.Outcome))
	}
	return out
}

// told are the tool results that the model was given in a conversation.
func (w *world) told(match string) string {
	var b strings.Builder
	for _, q := range w.api.Requests() {
		if q.Conversation == match {
			for _, c := range q.Results() {
				fmt.Fprintf(&b, "%s\n", c.Text)
			}
		}
	}
	return b.String()
}

// want fails the test with everything there is to know about r.
func (r result) want(t *testing.T, exit int, texts ...string) {
	t.Helper()
	if r.exit != exit {
		t.Errorf("exit %d, want %d", r.exit, exit)
	}
	for _, text := range texts {
		if !strings.Contains(r.stdout+r.stderr, text) {
			t.Errorf("it does not say %q", text)
		}
	}
	if t.Failed() {
		t.Logf("stdout:\n%s\nstderr:\n%s", r.stdout, r.stderr)
	}
}

func diff[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func write(name, text string) fakeapi.Block {
	return fakeapi.Tool("Write", map[string]any{"file_path": name, "content": text})
}
