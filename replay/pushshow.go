package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

const (
	shownCommits = 12 // of one ref, on the screen of an approval
	shownFiles   = 8
)

// writePushes says what each push of the action would send now.
func writePushes(b *strings.Builder, pushes []Push) {
	for _, p := range pushes {
		b.WriteString("\nwould push\n")
		put := func(format string, args ...any) { fmt.Fprintf(b, "  "+format+"\n", args...) }
		if p.Problem != "" {
			put("!! not known: %s", shown(p.Problem))
		}
		if p.Remote != "" {
			to := shown(p.Remote)
			if p.URL != p.Remote {
				to += ", " + term.Command(p.URL)
			}
			put("to %s", to)
		}
		for _, r := range p.Refs {
			writeRef(put, p, r)
		}
		if p.Silent != "" && len(p.Refs) > 0 {
			put("the remote was not asked, so this is by what was last seen of it: %s", shown(p.Silent))
		}
		for _, n := range p.Notes {
			put("%s", shown(n))
		}
		for _, n := range slices.Concat(p.Stale, p.Doubts) {
			put("!! %s", shown(n))
		}
	}
}

func writeRef(put func(string, ...any), p Push, r PushRef) {
	there := p.base(r)
	var what string
	switch {
	case r.Source == "":
		what = "deletes " + shown(shortRef(r.Dest))
	default:
		what = shown(shortRef(r.Source))
		if r.Source != r.Dest {
			what += " as " + shown(shortRef(r.Dest))
		}
	}
	switch {
	case r.Source == "" && there == "":
		put("%s: the remote has none", what)
	case r.Source == "":
		put("%s, which is %s", what, short(there))
	case r.Now == "":
		put("%s: it is not there", what)
	case r.Now == there:
		put("%s: nothing, the remote has it already (%s)", what, short(there))
	case there == "":
		put("%s: new there, %s", what, sizes(r))
	default:
		put("%s: %s, from %s", what, sizes(r), short(there))
	}
	for i, c := range r.Commits {
		if i == shownCommits {
			put("    and %d more", r.Count-i)
			break
		}
		newer := ""
		if c.Newer {
			newer = "  !! since it was deferred"
		}
		put("    %s %s%s", short(c.Hash), shown(c.Subject), newer)
	}
	for i, f := range r.Files {
		if i == shownFiles {
			put("    and %s more", plural(r.Changed-i, "file", "files"))
			break
		}
		lines := fmt.Sprintf("+%d -%d", f.Added, f.Removed)
		if f.Added < 0 {
			lines = "binary"
		}
		put("    %s %s", lines, shown(f.Path))
	}
}

func sizes(r PushRef) string {
	return fmt.Sprintf("%s, %s, +%d -%d", plural(r.Count, "commit", "commits"), plural(r.Changed, "file", "files"), r.Added, r.Removed)
}

// refusePushes says why pushes are not replayed as they are. asked is true
// when a person sees what they would do and is asked.
func refusePushes(a queue.Action, pushes []Push, asked bool) error {
	for _, p := range pushes {
		if len(p.Stale) > 0 {
			return &RefusedError{
				Action: a.Number,
				Reason: "the push is not what was deferred: " + term.Quote(strings.Join(p.Stale, "; ")),
				Advice: fmt.Sprintf("loop approve %d --anyway runs it all the same; loop reject %d closes it", a.Number, a.Number),
				Stale:  Since{Pushes: pushes}.Stale(),
			}
		}
		if len(p.Doubts) > 0 && !asked {
			return &RefusedError{
				Action: a.Number,
				Reason: "a person must see this push: " + term.Quote(strings.Join(p.Doubts, "; ")),
				Advice: fmt.Sprintf("loop approve %d at a terminal asks; --anyway runs it without", a.Number),
			}
		}
	}
	return nil
}

// samePushes reports whether the sources of the pushes are where they were.
func samePushes(x, y []Push) bool {
	return slices.EqualFunc(x, y, func(x, y Push) bool {
		return slices.EqualFunc(x.Refs, y.Refs, func(x, y PushRef) bool { return x.Source == y.Source && x.Now == y.Now })
	})
}
