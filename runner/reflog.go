package runner

import (
	"bufio"
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/scanner"
)

// pushMark is how git notes in a reflog that a push of this repository moved a
// remote-tracking branch. It is written by whatever makes git push: a program
// or a script that nobody could read included. Source: git's transport.c.
const pushMark = "update by push"

// pushes are the lines of the remote-tracking branches' reflogs that a push
// wrote, with the branch in front. Without git, and for pushes to a URL that
// is no remote, there are none: it is a second look, not the guard.
func pushes(ctx context.Context, o *Options) map[string]bool {
	found := map[string]bool{}
	noteRemotes(o, found)
	dir := gitDir(ctx, o)
	if dir == "" {
		return found
	}
	logs := filepath.Join(dir, "logs", "refs", "remotes")
	// A log that cannot be read tells nothing; what it hides, the transcript
	// may still show.
	_ = filepath.WalkDir(logs, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		branch, err := filepath.Rel(logs, path)
		if err != nil {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			if strings.HasSuffix(lines.Text(), "\t"+pushMark) {
				found[filepath.ToSlash(branch)+" "+lines.Text()] = true
			}
		}
		return nil
	})
	return found
}

// unseenPushes are the pushes that happened since before and that neither the
// scan of the transcript found nor a person's approval made, as actions that
// ran. seen is what the scan found.
func unseenPushes(ctx context.Context, o *Options, was earlier, seen []queue.Action, a queue.Attempt) ([]queue.Action, error) {
	after := pushes(ctx, o)
	maps.DeleteFunc(after, func(line string, _ bool) bool { return was.pushes[line] })
	shown := slices.ContainsFunc(seen, func(x queue.Action) bool {
		// A push that failed moved nothing.
		return x.Evidence == policy.Executed && x.Outcome != scanner.OutcomeFailed && strings.Contains(strings.Join(x.Rules, " "), "push")
	})
	was.beside.settle(a.ID, after, shown)
	if len(after) == 0 || shown {
		return nil, nil
	}
	approved, err := o.Store.Actions(ctx, queue.Filter{Status: []queue.Status{queue.Replayed, queue.Failed}})
	if err != nil {
		return nil, err
	}
	var out []queue.Action
	noted := map[string]bool{} // where pushes went that git's own logs tell of
	for _, line := range slices.Sorted(maps.Keys(after)) {
		if strings.HasPrefix(line, remoteMark) || replayedAt(approved, line) {
			continue
		}
		branch, entry, _ := strings.Cut(line, " ")
		_, moved, _ := strings.Cut(entry, " ")
		to, _, _ := strings.Cut(moved, " ")
		noted[to] = true
		x := unseenPush(o, a, line)
		x.Command = "git push (seen in the reflog of " + branch + ")"
		x.Why = "git noted a push that no call in the transcript shows: a program made it, or you did."
		x.Excerpt = branch + " now at " + moved
		out = append(out, x)
	}
	for _, line := range slices.Sorted(maps.Keys(after)) {
		to := line[strings.LastIndexByte(line, ' ')+1:]
		if !strings.HasPrefix(line, remoteMark) || noted[to] || replayedSince(approved, a.Started) {
			continue
		}
		if x, ok := sentTo(ctx, o, line, a); ok {
			out = append(out, x)
		}
	}
	return out, nil
}

// replayedSince reports whether a person had a call run since then, which may
// have been a push.
func replayedSince(approved []queue.Action, since time.Time) bool {
	return slices.ContainsFunc(approved, func(x queue.Action) bool {
		return x.Replay != nil && !x.Replay.Started.Add(x.Replay.Duration).Before(since) && strings.Contains(strings.Join(x.Rules, " "), "push")
	})
}

// replayedAt reports whether the time of a reflog line lies in the replay of
// an approved action.
func replayedAt(approved []queue.Action, line string) bool {
	sec, ok := pushTime(line)
	if !ok {
		return false
	}
	for _, x := range approved {
		// git's times are whole seconds.
		if r := x.Replay; r != nil && sec >= r.Started.Unix() && sec <= r.Started.Add(r.Duration).Unix()+1 {
			return true
		}
	}
	return false
}

// pushTime is when git noted a push, in Unix seconds.
func pushTime(line string) (int64, bool) {
	head, _, _ := strings.Cut(line, "\t")
	fields := strings.Fields(head)
	if len(fields) < 2 {
		return 0, false
	}
	sec, err := strconv.ParseInt(fields[len(fields)-2], 10, 64)
	return sec, err == nil
}

// pushesApart are the pushes that git noted at another time than that of a dead
// attempt: what it had noted before is gone with the loop that died, so the
// times decide. An attempt is over soon after its transcript was written last,
// because its client ends with loop.
func pushesApart(ctx context.Context, o *Options, a *queue.Attempt) map[string]bool {
	info, err := os.Stat(filepath.Join(a.Dir, transcriptName))
	if err != nil {
		return nil
	}
	apart := pushes(ctx, o)
	maps.DeleteFunc(apart, func(line string, _ bool) bool {
		sec, ok := pushTime(line)
		// git's times are whole seconds; in the first one no client has yet made a call.
		return ok && sec > a.Started.Unix() && sec <= info.ModTime().Add(afterDeath).Unix()
	})
	return apart
}

// afterDeath is how long a client may work on behind a dead loop.
const afterDeath = time.Minute

// pushesBeside tells of attempts at the same time which one a push of theirs is
// put down to: git notes who pushed nowhere.
type pushesBeside struct {
	mu    sync.Mutex
	under map[string]map[string]bool // by attempt under way: what git had noted before it
	told  map[string]bool
}

// begin enters an attempt with what git has noted until now.
func (p *pushesBeside) begin(attempt string, noted map[string]bool) *pushesBeside {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under[attempt] = noted
	return p
}

// settle takes an attempt out that has ended, and from the pushes that were
// noted since it began those that are not its to tell: they are told already,
// explained by the calls of one of the attempts, or left to one that is still
// under way and may explain them.
func (p *pushesBeside) settle(attempt string, noted map[string]bool, shown bool) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.under, attempt)
	maps.DeleteFunc(noted, func(line string, _ bool) bool {
		if p.told[line] {
			return true
		}
		for _, before := range p.under {
			if !shown && !before[line] {
				return true
			}
		}
		p.told[line] = true
		return false
	})
}
