package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/claims"
	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/receipt"
	"github.com/seed-b23e517c/loop/transcript"
)

// claimed puts beside each action what its text claims and where that could
// come from: a result of this attempt, or of an earlier one at the same story
// in this session.
func claimed(ctx context.Context, o *Options, a *queue.Attempt, actions []queue.Action) error {
	if !anyClaims(actions) {
		return nil
	}
	paths, err := transcriptsOf(ctx, o, a, slices.ContainsFunc(actions, func(x queue.Action) bool { return hasClaims(&x) && sendsCommits(&x) }))
	if err != nil {
		return err
	}
	receipts, err := receiptsOf(ctx, o, a.Session)
	if err != nil {
		return err
	}
	s, err := o.Store.Session(ctx, a.Session)
	if err != nil {
		return err
	}
	_, err = AddClaims(ctx, paths, actions, Evidence{
		Root: o.Root, Env: o.Env, Since: s.Started, Memory: o.Memory, Now: o.Now, Receipt: func(id string) string { return receipts[id] },
	})
	return err
}

// Evidence is what claims are held against beside the transcripts.
type Evidence struct {
	Root    string // of the work tree: files in it may be read
	Env     []string
	Since   time.Time // when the session began: older commits are not its own
	Memory  []string  // files that outlive a session
	Now     func() time.Time
	Receipt func(toolUseID string) string // nil = there are none
}

// AddClaims puts beside each action that would publish something what its text
// claims, and where in the transcripts of its attempts, oldest first, that
// could come from. It reports of which actions the call was found.
func AddClaims(ctx context.Context, paths []string, actions []queue.Action, e Evidence) (found []bool, err error) {
	var calls []claims.Call
	var of []int
	for i := range actions {
		if hasClaims(&actions[i]) {
			calls, of = append(calls, e.call(ctx, &actions[i])), append(of, i)
		}
	}
	found = make([]bool, len(actions))
	if len(calls) == 0 {
		return found, nil
	}
	attempts := make([]claims.Events, len(paths))
	for i, path := range paths {
		attempts[i] = func(do func(transcript.Event)) error { return eachEvent(path, do) }
	}
	judged, err := claims.Judge(calls, attempts, claims.Options{Memory: e.Memory, Receipt: e.Receipt})
	if err != nil {
		return found, fmt.Errorf("judge what the actions claim: %w", err)
	}
	for k, j := range judged {
		actions[of[k]].Claims, actions[of[k]].MoreClaims = j.Claims, j.Beyond
		found[of[k]] = j.Found
	}
	return found, nil
}

func anyClaims(actions []queue.Action) bool {
	for i := range actions {
		if hasClaims(&actions[i]) {
			return true
		}
	}
	return false
}

// hasClaims: only what reaches out publishes something.
func hasClaims(x *queue.Action) bool {
	return x.Tier >= policy.External && x.Evidence != policy.Mentioned && !x.Tampering && len(x.Input) > 0
}

// call is an action's call with what it would publish besides its own text.
func (e *Evidence) call(ctx context.Context, x *queue.Action) claims.Call {
	files := firewall.FilesOf(e.Root, e.Env)
	return claims.Call{
		ID: x.ToolUseID, Input: x.Input, Commits: e.commits(ctx, x),
		ReadFile: func(name string) (string, bool) {
			if holdsSecrets(name) {
				return "", false
			}
			if !filepath.IsAbs(name) {
				name = filepath.Join(x.Cwd, name)
			}
			return files.Read(x.Cwd, name)
		},
	}
}

// holdsSecrets: what such a file holds is no claim, and belongs in no queue.
func holdsSecrets(name string) bool {
	base := strings.ToLower(filepath.Base(name))
	return strings.HasPrefix(base, ".env") || strings.HasPrefix(base, "id_") || strings.HasSuffix(base, ".pem") || strings.HasSuffix(base, ".key") || strings.Contains(base, "credential") || base == ".netrc" || base == ".npmrc"
}

// sendsCommits: it may; git is asked for nothing else.
func sendsCommits(x *queue.Action) bool {
	for _, word := range []string{"push", "--fill", "patch", "send-email"} {
		if strings.Contains(x.Command, word) {
			return true
		}
	}
	return false
}

// commits are the messages of the commits that an action would send, oldest
// first: those of its session that no remote branch known here has. nil = git
// knows none.
func (e *Evidence) commits(ctx context.Context, x *queue.Action) []string {
	if x.Cwd == "" || !sendsCommits(x) {
		return nil
	}
	args := gitArgv("log", "--no-show-signature", "--reverse", "--max-count=200", "--format=%B%x00")
	if !e.Since.IsZero() {
		args = append(args, "--since="+e.Since.Format(time.RFC3339))
	}
	head := x.GitHead
	if head == "" || strings.HasPrefix(head, "-") {
		head = "HEAD"
	}
	out := proc.Run(ctx, proc.RunOptions{
		Argv: append(args, head, "--not", "--remotes", "--"), Dir: x.Cwd, Env: e.Env, Plain: true, Timeout: gitTimeout, Tail: 256 << 10, Now: e.Now,
	})
	if out.Err != nil || out.ExitCode != 0 {
		return nil
	}
	var list []string
	for m := range strings.SplitSeq(string(out.Tail), "\x00") {
		if m = strings.TrimSpace(m); m != "" {
			list = append(list, m)
		}
	}
	return list
}

// mostOthers is how many attempts at other stories are read for what their
// commits say.
const mostOthers = 20

// transcriptsOf are the transcripts of a story's attempts in a session up to
// this one, oldest first. A push sends the commits of other stories too, and
// what they say was measured there: all is those as well, the latest ones.
func transcriptsOf(ctx context.Context, o *Options, a *queue.Attempt, all bool) ([]string, error) {
	attempts, err := o.Store.Attempts(ctx, a.Session)
	if err != nil {
		return nil, err
	}
	var paths, others []string
	for _, old := range attempts {
		path := filepath.Join(old.Dir, transcriptName)
		switch {
		case !old.Scanned || old.ID == a.ID:
		case old.Story != a.Story:
			if _, err := os.Stat(path); err == nil {
				others = append(others, path)
			}
		case old.Number < a.Number:
			paths = append(paths, path)
		}
	}
	paths = append(paths, filepath.Join(a.Dir, transcriptName))
	if all {
		paths = append(others[max(0, len(others)-mostOthers):], paths...)
	}
	return paths, nil
}

// receiptsOf are the receipts of a session by their calls.
func receiptsOf(ctx context.Context, o *Options, session string) (map[string]string, error) {
	trail, err := o.Store.Audit(ctx, session)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, line := range trail.Records {
		r, err := receipt.ParseRecord(line)
		switch {
		case err != nil || r.ToolUseID == "":
		case r.Event == receipt.CallRevoked:
			delete(out, r.ToolUseID) // it bears nothing out
		case !r.Receipt.IsZero():
			out[r.ToolUseID] = r.Receipt.String()
		}
	}
	return out, nil
}
