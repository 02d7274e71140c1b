package replay

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
)

// ref compares one ref here, as it was, and there.
func (g git) ref(p Push, w wanted, there map[string]string, a queue.Action) PushRef {
	r := PushRef{Source: w.src, Forced: w.force, Dest: w.dst}
	if w.dst != "" && !strings.HasPrefix(w.dst, "refs/") {
		r.Dest = w.dests()[0]
		if strings.HasPrefix(w.src, "refs/tags/") || there[r.Dest] == "" && there[w.dests()[1]] != "" {
			r.Dest = w.dests()[1]
		}
	}
	r.There = there[r.Dest]
	branch, ok := strings.CutPrefix(r.Dest, "refs/heads/")
	if ok {
		r.Seen, _ = g.line("rev-parse", "--verify", "-q", "refs/remotes/"+p.Remote+"/"+branch)
	}
	if w.src == "" {
		// What other branches of the remote have is not lost.
		r.Lost = g.lost(p.base(r), "--not", "--exclude="+p.Remote+"/"+branch, "--remotes="+p.Remote)
		return r
	}
	r.Now, _ = g.line("rev-parse", "--verify", "-q", w.src)
	if r.Now != "" {
		r.Was = g.was(w, a)
		g.compare(p, &r)
	}
	return r
}

// base is what the remote has of a ref, as far as is known.
func (p Push) base(r PushRef) string {
	if p.Asked {
		return r.There
	}
	return r.Seen
}

// was is where the source stood when the push was deferred: as the action has
// it, else as the branch's own log does.
func (g git) was(w wanted, a queue.Action) string {
	if w.pinned {
		return ""
	}
	if w.byHead || w.src == "refs/heads/"+a.GitBranch {
		return a.GitHead
	}
	if !strings.HasPrefix(w.src, "refs/heads/") || a.DetectedAt.IsZero() {
		return ""
	}
	// A log that does not go back so far gives its first entry and says so.
	out := proc.Run(g.ctx, proc.RunOptions{
		Argv: []string{"git", "--no-optional-locks", "rev-parse", "--verify", w.src + "@{" + a.DetectedAt.UTC().Format(time.RFC3339) + "}"},
		Dir:  g.dir, Env: quiet(g.env), Plain: true, Timeout: gitTimeout, Separate: true,
	})
	if !out.OK() || len(out.Stderr) > 0 {
		return ""
	}
	return strings.TrimSpace(string(out.Tail))
}

// grown reports whether a commit goes on from another, or is the same.
func (g git) grown(was, now string) bool { return g.is("merge-base", "--is-ancestor", was, now) }

// lost counts the commits of the remote's ref that are not in what the rest of
// the arguments of rev-list names; -1 when they are not here.
func (g git) lost(there string, without ...string) int {
	switch {
	case there == "":
		return 0
	case !g.is("cat-file", "-e", there+"^{commit}"):
		return -1
	}
	n, err := g.line(append([]string{"rev-list", "--count", there}, without...)...)
	count, err2 := strconv.Atoi(n)
	if err != nil || err2 != nil {
		return -1
	}
	return count
}

// compare counts and lists what the ref would send.
func (g git) compare(p Push, r *PushRef) {
	newer := map[string]bool{}
	if r.Was != "" && r.Was != r.Now && g.grown(r.Was, r.Now) {
		for _, h := range g.lines("rev-list", r.Now, "^"+r.Was) {
			newer[h] = true
		}
		r.Newer = len(newer)
	}
	there := p.base(*r)
	if r.Now == there {
		return
	}
	r.Lost = g.lost(there, "^"+r.Now)
	if strings.HasPrefix(r.Dest, "refs/tags/") && there != "" {
		r.Lost = -1 // git replaces no tag that is there
	}
	span := []string{r.Now}
	known := there != "" && g.is("cat-file", "-e", there+"^{commit}")
	switch {
	case known:
		span = append(span, "^"+there)
	case !strings.ContainsAny(p.Remote, "/:"):
		span = append(span, "--not", "--remotes="+p.Remote)
	}
	if n, err := g.line(append([]string{"rev-list", "--count"}, span...)...); err == nil {
		r.Count, _ = strconv.Atoi(n)
	}
	g.commits(r, span, newer)
	base := there
	if !known {
		base = g.before(span)
	}
	g.stat(r, base)
}

// before is the commit below the first that would be sent, or the empty tree.
func (g git) before(span []string) string {
	if first := g.lines(append([]string{"rev-list", "--topo-order", "--reverse"}, span...)...); len(first) > 0 {
		if parent, err := g.line("rev-parse", "--verify", "-q", first[0]+"^"); err == nil {
			return parent
		}
		empty, _ := g.line("hash-object", "-t", "tree", os.DevNull)
		return empty
	}
	return ""
}

func (g git) commits(r *PushRef, span []string, newer map[string]bool) {
	args := []string{"rev-list", "-n", strconv.Itoa(maxCommits), "--format=%H%x09%at%x09%an%x09%s"}
	for _, line := range g.lines(append(args, span...)...) {
		f := strings.SplitN(line, "\t", 4)
		if len(f) < 4 {
			continue // rev-list's own line before each
		}
		sec, _ := strconv.ParseInt(f[1], 10, 64)
		r.Commits = append(r.Commits, Commit{Hash: f[0], When: time.Unix(sec, 0).UTC(), Author: f[2], Subject: f[3], Newer: newer[f[0]]})
	}
}

func (g git) stat(r *PushRef, base string) {
	if base == "" {
		return
	}
	out, err := g.run(gitTimeout, "diff-tree", "-r", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", "-z", base, r.Now, "--")
	if err != nil {
		return
	}
	for rec := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		f := strings.SplitN(rec, "\t", 3)
		if len(f) < 3 {
			continue
		}
		s := FileStat{Path: f[2], Added: count(f[0]), Removed: count(f[1])}
		r.Changed++
		r.Added += max(0, s.Added)
		r.Removed += max(0, s.Removed)
		if len(r.Files) < maxFiles {
			r.Files = append(r.Files, s)
		}
	}
}

func count(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1 // a binary file
	}
	return n
}
