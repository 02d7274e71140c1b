package runner

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/scanner"
	"github.com/seed-b23e517c/loop/transcript"
)

type fated struct {
	allAsked
	fate firewall.Fate
}

func (f fated) Fate(string) firewall.Fate { return f.fate }

// Which results are told of when they come: what ran unasked, what ran although
// it was refused, and what the client itself saw leave the machine; not what
// did not run, and not what a rule of the user's own let through.
func TestEscapesAreSeenInTheStream(t *testing.T) {
	pushed := transcript.Result{CallID: "c", VCS: []string{transcript.VCSPush}}
	tests := map[string]struct {
		tool, command string
		fate          firewall.Fate
		result        transcript.Result
		want          []string // tier and rules; nil = not told
	}{
		"unasked, external":          {"Bash", "git push", firewall.Unasked, transcript.Result{CallID: "c"}, []string{"external", "git-push"}},
		"unasked, local":             {"Bash", "ls", firewall.Unasked, transcript.Result{CallID: "c"}, []string{"local"}},
		"unasked, client saw it":     {"Bash", "ls", firewall.Unasked, pushed, []string{"external"}},
		"refused and ran":            {"Bash", "git push", firewall.Refused, transcript.Result{CallID: "c"}, []string{"external", "git-push"}},
		"refused":                    {"Bash", "git push", firewall.Refused, transcript.Result{CallID: "c", NotRun: true}, nil},
		"let run":                    {"Bash", "./x.py", firewall.LetRun, transcript.Result{CallID: "c"}, nil},
		"let run, client saw it":     {"Bash", "./x.py", firewall.LetRun, pushed, []string{"external", scanner.RuleVCS}},
		"the user's rule":            {"Bash", "git push", firewall.Overruled, pushed, nil},
		"at the provider's, no hook": {"WebSearch", "", firewall.Unasked, transcript.Result{CallID: "c"}, nil},
	}
	set, err := policy.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := &Options{Root: t.TempDir(), Set: set, Now: time.Now}
			r := &run{o: o}
			var got []string
			w := &watch{
				o: o, a: &queue.Attempt{}, child: deaf{}, guard: fated{fate: tt.fate}, calls: map[string]*shown{},
				grace: time.Hour, afterResult: time.NewTimer(time.Hour),
				ran: func(e escape) {
					x := r.escapedAction(t.Context(), queue.Action{}, e)
					got = append(append(got, x.Tier.String()), x.Rules...)
				},
			}
			defer w.afterResult.Stop()
			input, _ := json.Marshal(map[string]string{"command": tt.command})
			w.see(transcript.Event{Kind: transcript.KindCall, Call: &transcript.Call{ID: "c", Name: tt.tool, Input: input}})
			w.see(transcript.Event{Kind: transcript.KindResult, Result: &tt.result})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if stopped := w.end.cause == stopUnguarded; stopped != (tt.fate == firewall.Unasked && tt.tool == "Bash") {
				t.Errorf("stopped: %v", stopped)
			}
		})
	}
}
