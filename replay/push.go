package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/queue"
)

const (
	// DefaultPushTimeout is how long a remote may take to say what it has.
	DefaultPushTimeout = 5 * time.Second

	maxPushRefs = 50
	maxCommits  = 50  // subjects of one ref
	maxFiles    = 200 // in the stat of one ref
)

// Push is one `git push` of an action: what it would send now, and whether
// that is still what was deferred. What git gave is in here as it is: names of
// refs and files, subjects and addresses are hostile text.
type Push struct {
	Line    string // the command, as it stands in the line
	Dir     string // where it runs
	Remote  string // its name or address; "" = not known
	URL     string // the address; may hold a password
	Refs    []PushRef
	Asked   bool   // the remote has said what it has; otherwise what was last seen of it counts
	Silent  string // why it was not asked or did not answer
	Guarded bool   // it was not asked because a program of somebody else's could run
	Problem string // why what would be pushed is not known; "" = it is

	Stale  []string // why it is not what was deferred: refused, if the person does not insist
	Doubts []string // what only a person can say yes to
	Notes  []string
}

// PushRef is one ref of a push.
type PushRef struct {
	Source string // full name, or what the line says for a commit; "" = Dest is deleted
	Dest   string // full name at the remote
	Forced bool
	Lease  bool

	Was   string // the source when the push was deferred; "" = not known
	Now   string // the source now; "" = it is gone
	There string // Dest at the remote; "" = it has none, or is not known
	Seen  string // Dest when this repository last heard of the remote; "" = never

	Count   int      // commits that would be sent
	Newer   int      // commits that came after the push was deferred
	Own     bool     // all of Newer are the session's own work
	Commits []Commit // newest first, the first of Count
	Lost    int      // commits that would be taken away at the remote; -1 = some, and they are not here
	Files   []FileStat
	Changed int // files; Files may have fewer
	Added   int // lines
	Removed int
}

// Commit is one commit of a push.
type Commit struct {
	Hash, Author, Subject string
	When                  time.Time
	Newer                 bool // it came after the push was deferred
}

// FileStat is what a push changes in one file.
type FileStat struct {
	Path           string
	Added, Removed int // lines; -1 in a binary file
}

// New reports whether the remote gets a ref that it has not.
func (r PushRef) New() bool { return r.Source != "" && r.There == "" && r.Seen == "" }

// UpToDate reports whether the remote has it already.
func (r PushRef) UpToDate() bool { return r.Now != "" && r.Now == r.There }

// PushOptions say how far to look.
type PushOptions struct {
	Env     []string      // the person's own
	Offline bool          // do not ask the remote
	Timeout time.Duration // for the remote's answer; 0 = DefaultPushTimeout
	Work    *queue.Work   // where the work of the action's session is; its own commits are no surprise
}

// LookPush finds the pushes of an action, in the form in which it would be
// replayed, and looks at what each would do now. It changes nothing, fetches
// nothing and asks for no password; a remote is asked for its refs and nothing
// else, and not where settings of the repository name programs for that.
func LookPush(ctx context.Context, a queue.Action, o PushOptions) (out []Push) {
	a = a.AsRun()
	for _, l := range pushLines(a) {
		out = append(out, lookPush(ctx, a, l, o))
	}
	return out
}

func lookPush(ctx context.Context, a queue.Action, l pushLine, o PushOptions) Push {
	p := Push{Line: l.line, Dir: l.dir, Remote: l.remote, Problem: l.problem}
	if l.mirror {
		p.Doubts = append(p.Doubts, "it makes the remote a mirror: what is not here is deleted there")
	}
	if l.follow {
		p.Notes = append(p.Notes, "and tags that point at these commits")
	}
	if l.dryRun {
		p.Notes = append(p.Notes, "it is a dry run: it sends nothing")
	}
	if p.Problem == "" {
		p.Problem = unusable(l.dir)
	}
	if p.Problem != "" {
		return p
	}
	g := git{ctx: ctx, dir: l.dir, env: o.Env}
	if _, err := g.line("rev-parse", "--git-dir"); err != nil {
		p.Problem = err.Error()
		return p
	}
	branch, _ := g.line("symbolic-ref", "-q", "HEAD")
	p.Remote = firstOf(l.remote, g.defaultRemote(branch))
	p.URL = g.pushURL(p.Remote)
	refs, problem := g.refs(l, branch, p.Remote)
	p.Problem = problem
	if len(refs) > maxPushRefs {
		p.Notes = append(p.Notes, fmt.Sprintf("and %d refs more", len(refs)-maxPushRefs))
		refs = refs[:maxPushRefs]
	}
	there := g.ask(&p, l, refs, o)
	for _, r := range refs {
		ref := g.ref(p, r, there, a)
		ref.Lease = l.lease
		ref.Own = ref.Newer > 0 && o.Work != nil && o.Work.Head != "" && strings.TrimPrefix(ref.Source, "refs/heads/") == o.Work.Branch &&
			g.grown(ref.Now, o.Work.Head)
		p.judge(r, ref, branch, a)
		p.Refs = append(p.Refs, ref)
	}
	p.settle(l)
	return p
}

// notThere is said of a ref that is gone. One that the line itself makes is not
// there yet.
const notThere = " is not there any more"

// judge says what of a ref is not as it was.
func (p *Push) judge(w wanted, ref PushRef, branch string, a queue.Action) {
	stale := func(format string, args ...any) { p.Stale = append(p.Stale, fmt.Sprintf(format, args...)) }
	doubt := func(format string, args ...any) { p.Doubts = append(p.Doubts, fmt.Sprintf(format, args...)) }
	here, there := shortRef(ref.Source), "the remote's "+shortRef(ref.Dest)
	switch checkedOut := firstOf(strings.TrimPrefix(branch, "refs/heads/"), "HEAD"); {
	case ref.Source == "":
		doubt("it deletes %s", there)
	case w.byHead && a.GitBranch != "" && a.GitBranch != checkedOut:
		stale("it was deferred on the branch %s, and %s is checked out now", a.GitBranch, firstOf(shortRef(branch), "none"))
	case ref.Now == "":
		stale("%s"+notThere, here)
	case ref.Was == "" || ref.Was == ref.Now:
	case ref.Newer > 0 && ref.Own:
		p.Notes = append(p.Notes, fmt.Sprintf("%s has %s since it was deferred, all from that session", here, plural(ref.Newer, "commit more", "commits more")))
	case ref.Newer > 0:
		doubt("%s has %s since it was deferred", here, plural(ref.Newer, "commit more", "commits more"))
	default:
		stale("%s was %s when it was deferred and is %s now, which does not contain it", here, short(ref.Was), short(ref.Now))
	}
	overwrites := ref.Forced || ref.Lease || ref.Source == ""
	switch {
	case !p.Asked && overwrites:
		doubt("it overwrites what is there, and the remote was not asked what that is")
	case ref.Lost == 0:
	case !overwrites:
		stale("%s is %s, which %s does not contain: git would refuse the push", there, short(p.base(ref)), here)
	case ref.Seen != "" && ref.Seen != ref.There && !ref.Lease:
		stale("%s has moved from %s to %s, and this push would overwrite that", there, short(ref.Seen), short(ref.There))
	default:
		doubt("it takes %s away from %s", lostWords(ref.Lost), there)
	}
}

// settle takes into account what the line does before the push.
func (p *Push) settle(l pushLine) {
	if l.before == "" {
		return
	}
	p.Notes = append(p.Notes, fmt.Sprintf("git %s comes before it in the line and may change what it sends", l.before))
	if l.makes {
		p.Stale = slices.DeleteFunc(p.Stale, func(why string) bool { return strings.HasSuffix(why, notThere) })
	}
	if l.moves {
		p.Doubts, p.Stale = append(p.Stale, p.Doubts...), nil
	}
}

func lostWords(n int) string {
	if n < 0 {
		return "commits that are not here"
	}
	return plural(n, "commit", "commits")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func short(hash string) string { return hash[:min(len(hash), 12)] }

func shortRef(name string) string {
	for _, p := range []string{"refs/heads/", "refs/"} {
		if s, ok := strings.CutPrefix(name, p); ok {
			return s
		}
	}
	return name
}
