//go:build e2e && linux && (amd64 || arm64)

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
	"github.com/seed-b23e517c/loop/internal/trap"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
)

// The stories of the long night that something happens to.
const (
	fiveHours = 3  // meets the limit of five hours before a word
	hangs     = 5  // is never answered
	week      = 7  // meets the week's limit when it has done a half
	crashes   = 9  // its client is killed
	killed    = 11 // loop itself is killed
	lies      = 13 // changes nothing but its own mark
	breaks    = 15 // fails the gate once
	fails     = 16 // fails it each time
	asks      = 17
	publishes = 19
	overload  = 21
	fills     = 23 // the disk is full when it has written its file
	nightly   = 25
)

func nightTitle(i int) string { return fmt.Sprintf("Write file %02d of the night", i) }
func nightStory(i int) string { return fmt.Sprintf("S%02d", i) }

// once is a turn that meets faults before it comes through.
func once(turn fakeapi.Turn, faults ...fakeapi.Fault) fakeapi.Turn {
	turn.Faults = faults
	return turn
}

// soonOver is a limit that the service says is over in a moment.
func soonOver(claim string) fakeapi.Fault {
	return fakeapi.Fault{Make: func() fakeapi.Fault {
		f := fakeapi.UsageLimit(time.Now().Add(4 * time.Second))
		f.Header.Set("anthropic-ratelimit-unified-representative-claim", claim)
		return f
	}}
}

// nightTurns is what the model says to a story. fill fills the disk.
func nightTurns(i int, fill func()) []fakeapi.Turn {
	work := fakeapi.Call(write(fmt.Sprintf("s%02d.txt", i), "work\n"))
	done := fakeapi.Say("It is written.")
	silent := fakeapi.Fault{Hold: make(chan struct{})}
	switch i {
	case fiveHours:
		return []fakeapi.Turn{once(work, soonOver("five_hour")), done}
	case hangs:
		return []fakeapi.Turn{once(work, silent), done}
	case week:
		return []fakeapi.Turn{work, once(done, soonOver("seven_day"))}
	case crashes, killed:
		return []fakeapi.Turn{work, once(done, silent)}
	case lies:
		mark := fmt.Sprintf(`sed -i '/"id": "%s"/,/passes/s/false/true/' prd.json`, nightStory(i))
		return []fakeapi.Turn{fakeapi.Call(fakeapi.Bash(mark)), fakeapi.Say("I wrote the file. All 41 tests pass.")}
	case breaks, fails:
		broken := fakeapi.Call(write(fmt.Sprintf("s%02d.txt", i), "BROKEN\n"))
		if i == fails {
			return []fakeapi.Turn{broken, done}
		}
		// What the prompt says of the first try makes the second a better one.
		return []fakeapi.Turn{{From: func(r fakeapi.Request) []fakeapi.Block {
			if strings.Contains(r.FirstUser(), "did not pass") {
				return []fakeapi.Block{fakeapi.Bash("echo work > s15.txt")}
			}
			return broken.Blocks
		}}, done}
	case asks:
		return []fakeapi.Turn{{From: func(r fakeapi.Request) []fakeapi.Block {
			if strings.Contains(r.FirstUser(), "make it green") {
				return work.Blocks
			}
			return []fakeapi.Block{fakeapi.Text("I need to know.\n\nQUESTION: Which colour shall it be?")}
		}}, done}
	case publishes:
		return []fakeapi.Turn{work, fakeapi.Call(fakeapi.Bash("git push origin HEAD:refs/heads/night")), done}
	case overload:
		busy := fakeapi.Fault{Status: 529, Message: "Overloaded"}
		return []fakeapi.Turn{once(work, busy, busy), done} // the client itself asks twice
	case fills:
		return []fakeapi.Turn{work, {From: func(fakeapi.Request) []fakeapi.Block {
			fill()
			return done.Blocks
		}}}
	}
	return []fakeapi.Turn{work, done}
}

func longNight(t *testing.T, fill func()) *world {
	t.Helper()
	var script fakeapi.Script
	var list []map[string]any
	for i := 1; i <= nightly; i++ {
		script = append(script, fakeapi.Conversation{Match: nightTitle(i), Turns: nightTurns(i, fill)})
		list = append(list, map[string]any{"id": nightStory(i), "title": nightTitle(i), "priority": i, "passes": false})
	}
	w := newWorld(t, script)
	w.patience = 8 * time.Minute
	w.setenv("ANTHROPIC_API_KEY", "")
	w.setenv("CLAUDE_CODE_OAUTH_TOKEN", "dummy") // limits are a subscription's
	prd, err := json.MarshalIndent(map[string]any{"userStories": list}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	w.write("repo/prd.json", string(prd)+"\n")
	w.write("repo/gate.sh", "! grep -l BROKEN s*.txt\n")
	w.write("repo/loop.toml", "schema = 1\ngates = [\"sh gate.sh\"]\n[budget]\nsilence = \"20s\"\n[retries]\nattempts = 2\n")
	w.commitAll()
	w.git(w.repo, "push", "-q", "origin", "main")
	return w
}

// asked waits until the model is asked for a turn of a story.
func (w *world) asked(p *process, story, turn int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), w.patience)
	defer cancel()
	go func() {
		select {
		case <-p.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	if _, err := w.api.Wait(ctx, func(q fakeapi.Request) bool { return q.Conversation == nightTitle(story) && q.Turn == turn }); err != nil {
		r := p.wait()
		w.t.Fatalf("%v; exit %d\n%s%s", err, r.exit, r.stdout, r.stderr)
	}
}

// client is the pid of the client that works now.
func (w *world) client() int {
	w.t.Helper()
	for _, p := range w.processes() {
		pid, command, _ := strings.Cut(p, " ")
		if n, err := strconv.Atoi(pid); err == nil && strings.Contains(command, "claude") && strings.Contains(command, "--print") {
			return n
		}
	}
	w.t.Fatalf("no client among %q", w.processes())
	return 0
}

// sessions are the reports of all sessions, oldest first.
func (w *world) sessions() []report.Document {
	w.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(w.state, "repo-*", "runs", "*"))
	if err != nil || len(dirs) == 0 {
		w.t.Fatalf("sessions: %q, %v", dirs, err)
	}
	slices.Sort(dirs) // the ids begin with the time
	var docs []report.Document
	for _, dir := range dirs {
		docs = append(docs, w.reportOf(filepath.Base(dir)))
	}
	return docs
}

// A whole night of 25 stories with the real client, and whatever goes wrong at
// night: in the morning no story is lost or done twice, none is done that is
// not, nothing runs on, nothing has left, and all of it is in the reports.
func TestTheWholeNight(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	w := longNight(t, func() { full.Store(true) })
	remote, main := w.git(w.repo, "ls-remote", w.remote), w.git(w.repo, "rev-parse", "main")

	first := w.startLoop("run")
	w.asked(first, crashes, 1)
	if err := syscall.Kill(w.client(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.asked(first, killed, 1)
	first.signal(syscall.SIGKILL)
	if r := first.wait(); strings.Count(r.stderr, "limit: waiting until") != 2 {
		t.Errorf("the first part of the night:\n%s", r.stderr)
	}

	// The second goes on until the disk is full, the third has room again and goes
	// on to the end, the fourth has the question's answer.
	disk := &trap.FullDisk{Root: w.root, Full: full.Load}
	w.begin = func(cmd *exec.Cmd) error {
		_, err := trap.Start(cmd, os.Args[0], disk.Answer)
		return err
	}
	second := w.startLoop("run")
	w.begin = (*exec.Cmd).Start
	second.wait().want(t, exitStopped, "picked up the attempt at story", "outage: waiting until", "the disk is full")
	if disk.Hit.Load() == 0 {
		t.Error("no write met the full disk")
	}
	w.nothingIsLeft()
	w.loop("run").want(t, exitFailed)
	w.nothingIsLeft()
	question := ""
	for _, a := range w.sessions()[1].Actions {
		if a.Kind == queue.KindQuestion {
			question = strconv.Itoa(int(a.Number))
		}
	}
	w.loop("answer", question, "make it green").want(t, exitDone)
	w.loop("run").want(t, exitFailed) // two stories still do not pass
	w.nothingIsLeft()

	docs := w.sessions()
	if len(docs) != 4 {
		t.Fatalf("%d sessions", len(docs))
	}
	w.nightWentAs(docs)
	w.nightIsTold(docs)
	w.nightIsKept(docs)
	diff(t, "the remote", remote, w.git(w.repo, "ls-remote", w.remote))
	diff(t, "main", main, w.git(w.repo, "rev-parse", "main"))
	var printed strings.Builder
	for _, d := range docs {
		printed.WriteString(w.loop("report", d.Session.ID).stdout + "\n")
	}
	t.Log(printed.String())
	for i, word := range map[int]string{
		fiveHours: "limit, waited", hangs: "hung", week: "limit, waited", crashes: "failed", killed: "interrupted",
		lies: "unchanged", breaks: "gate failed", fails: "gate failed", asks: "question", overload: "outage, waited", fills: "host failed",
	} {
		if !regexp.MustCompile(`\d\d:\d\d:\d\d  ` + nightStory(i) + `  ` + word).MatchString(printed.String()) {
			t.Errorf("the reports do not say when story %s met: %s", nightStory(i), word)
		}
	}
}

// nightWentAs: each story was worked on as often as it had to be, and is done
// if it is.
func (w *world) nightWentAs(docs []report.Document) {
	w.t.Helper()
	got, passed := map[string][]string{}, map[string]int{}
	for _, d := range docs {
		for _, a := range attempts(d) {
			got[a.Story] = append(got[a.Story], string(a.Outcome))
			if a.Outcome.Passed() {
				passed[a.Story]++
			}
		}
	}
	want := map[string][]string{}
	for i := 1; i <= nightly; i++ {
		want[nightStory(i)] = []string{"done"}
	}
	for i, outcome := range map[int]queue.Outcome{
		fiveHours: queue.Limit, hangs: queue.Hung, week: queue.Limit, crashes: queue.AgentFailed, killed: queue.Interrupted,
		breaks: queue.GateFailed, asks: queue.Question, overload: queue.Outage, fills: queue.HostFailed,
	} {
		want[nightStory(i)] = []string{string(outcome), "done"}
	}
	for i, outcome := range map[int]queue.Outcome{lies: queue.Unchanged, fails: queue.GateFailed} {
		id := nightStory(i)
		if others := slices.DeleteFunc(got[id], func(o string) bool { return o == string(outcome) }); len(others) > 0 || passed[id] > 0 {
			w.t.Errorf("%s: also %q", id, others)
		}
		delete(want, id)
		delete(got, id)
	}
	diff(w.t, "attempts of the stories", want, got)

	var file struct {
		UserStories []struct {
			ID     string
			Passes bool
		}
	}
	if err := json.Unmarshal([]byte(w.read("repo/prd.json")), &file); err != nil {
		w.t.Fatal(err)
	}
	for _, s := range file.UserStories {
		if open := s.ID == nightStory(lies) || s.ID == nightStory(fails); s.Passes == open {
			w.t.Errorf("%s: done %v", s.ID, s.Passes)
		}
	}
}

// nightIsTold: everything that happened is in the reports, with its time.
func (w *world) nightIsTold(docs []report.Document) {
	w.t.Helper()
	var waits, kinds, actions []string
	for _, d := range docs {
		for _, at := range d.Session.Waits {
			waits = append(waits, string(at.Cause))
			if at.From.IsZero() || at.Ended.Before(at.From) {
				w.t.Errorf("a wait without its times: %+v", at)
			}
		}
		for _, f := range d.Findings {
			kinds = append(kinds, f.Kind)
			if f.When.IsZero() {
				w.t.Errorf("a finding without its time: %+v", f)
			}
		}
		for _, a := range d.Actions {
			if a.Evidence != policy.Mentioned {
				actions = append(actions, fmt.Sprintf("%s %s: %s", a.Evidence, a.Status, a.Command))
			}
			if a.DetectedAt.IsZero() {
				w.t.Errorf("an action without its time: %+v", a)
			}
		}
		for _, a := range attempts(d) {
			if a.Started.IsZero() || a.Ended.Before(a.Started) {
				w.t.Errorf("an attempt without its times: %+v", a)
			}
		}
	}
	diff(w.t, "waits", []string{string(queue.FiveHourLimit), string(queue.WeeklyLimit), string(queue.Overloaded)}, waits)
	for _, kind := range []string{"recovered", "claim"} {
		if !slices.Contains(kinds, kind) {
			w.t.Errorf("no finding of kind %q: %q", kind, kinds)
		}
	}
	if len(actions) != 2 || !slices.Contains(actions, "blocked pending: git push origin HEAD:refs/heads/night") {
		w.t.Errorf("actions: %q", actions)
	}
}

// nightIsKept: the work that passed is committed once, with who did it, and
// what did not pass is put aside.
func (w *world) nightIsKept(docs []report.Document) {
	w.t.Helper()
	stories := strings.Fields(w.git(w.repo, "log", "--format=%(trailers:key=Loop-Story,valueonly)", "main..HEAD"))
	slices.Sort(stories)
	var want []string
	for i := 1; i <= nightly; i++ {
		if i != lies && i != fails {
			want = append(want, nightStory(i))
		}
	}
	diff(w.t, "stories with a commit", want, stories)
	ids := map[string]bool{}
	for _, key := range []string{"Loop-Session", "Loop-Receipts"} {
		values := strings.Fields(w.git(w.repo, "log", "--format=%(trailers:key="+key+",valueonly)", "main..HEAD"))
		if len(values) != len(want) {
			w.t.Errorf("%d commits with %s, want %d", len(values), key, len(want))
		}
		for _, v := range values {
			ids[v] = true
		}
	}
	for _, d := range docs {
		if !ids[d.Session.ID] {
			w.t.Errorf("no commit of session %s", d.Session.ID)
		}
	}
	last := docs[len(docs)-1].Session
	w.loop("report", last.ID).want(w.t, exitDone, "git switch main && git merge "+last.Work.Branch)
	diff(w.t, "left uncommitted", "", w.git(w.repo, "status", "--porcelain"))
	diff(w.t, "the failed story's file", "", w.read(fmt.Sprintf("repo/s%02d.txt", fails)))
	var aside strings.Builder
	for ref := range strings.FieldsSeq(w.git(w.repo, "for-each-ref", "--format=%(refname)", "refs/loop/parked")) {
		aside.WriteString(w.git(w.repo, "diff", "--name-only", ref+"^", ref) + "\n")
	}
	for _, i := range []int{killed, fails} {
		if !strings.Contains(aside.String(), fmt.Sprintf("s%02d.txt", i)) {
			w.t.Errorf("nothing of story %s was put aside: %q", nightStory(i), aside.String())
		}
	}
}
