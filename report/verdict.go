package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
)

// The grades of a session.
const (
	gradeNone    = "none"    // nothing was run
	gradeRunning = "running" //
	gradeGood    = "good"    // every story is done and proven, and nothing is in doubt
	gradeMixed   = "mixed"   //
	gradeBad     = "bad"     // something got past the firewall, or it was not live, or loop died, or nothing came of it
)

// Verdict is the session in one sentence.
type Verdict struct {
	Grade string `json:"grade"` // good, mixed, bad, running, none
	Text  string `json:"text"`
}

// verdict judges a session. It says nothing better than what is known: a
// transcript that was not read whole may hide a call.
func (v *view) verdict(o Options) Verdict {
	grade := v.grade(o)
	if len(v.stories) == 0 {
		text := v.safety() + "."
		return Verdict{grade, strings.ToUpper(text[:1]) + text[1:]}
	}
	noun := "session"
	if s := &v.Session; isNight(s.Started.In(o.location()), s.Ended.In(o.location())) {
		noun = "night"
	}
	head := map[string]string{
		gradeRunning: "So far: ", gradeGood: "A good " + noun + ": ", gradeMixed: "A mixed " + noun + ": ", gradeBad: "A bad " + noun + ": ",
	}[grade]
	parts := []string{v.workDone(), v.safety()}
	if v.escaped > 0 || v.unguarded() {
		slices.Reverse(parts)
	}
	return Verdict{grade, head + strings.Join(parts, "; ") + "."}
}

func (v *view) grade(o Options) string {
	s := &v.Session
	switch {
	case v.escaped > 0 || v.unguarded():
		return gradeBad
	case len(v.stories) == 0:
		return gradeNone
	case s.Ended.IsZero() && o.Alive:
		return gradeRunning
	case s.Ended.IsZero(), v.counts[classDone]+v.counts[classUnproven]+v.counts[classAsks] == 0:
		return gradeBad
	case v.counts[classDone] == len(v.stories) && s.StopKind == "" && s.Stopped == "" && v.tampers == 0 && !v.unread() && !v.hasDoubt("tampered", "weakened", "claim"):
		return gradeGood
	}
	return gradeMixed
}

// workDone counts the stories by how they ended.
func (v *view) workDone() string {
	n, done := len(v.stories), v.counts[classDone]
	var text string
	switch {
	case n == 1 && done == 1:
		text = "the one story is done and proven"
	case done == n:
		text = "all " + strconv.Itoa(n) + " stories are done and proven"
	case done == 0 && n == 1:
		text = "the one story is not proven"
	case done == 0:
		text = "none of " + strconv.Itoa(n) + " stories done and proven"
	default:
		text = strconv.Itoa(done) + " of " + strconv.Itoa(n) + " stories done and proven"
	}
	var rest []string
	for c := classUnproven; c < classes; c++ {
		if k := v.counts[c]; k > 0 {
			rest = append(rest, strconv.Itoa(k)+" "+classWords[c])
		}
	}
	if len(rest) > 0 {
		text += ", " + strings.Join(rest, ", ")
	}
	return text
}

// safety says whether anything left the machine that nobody had approved, as far
// as is known.
func (v *view) safety() string {
	if v.escaped > 0 {
		return plural(v.escaped, "call", "calls") + " got out"
	}
	if v.unguarded() {
		return "whether anything got out is not certain"
	}
	text := "nothing got out"
	if v.hasDoubt("allowed") {
		text += " but what your rules allow"
	}
	if v.unread() {
		text += ", as far as the transcripts could be read"
	}
	return text
}

// unread reports whether a transcript was not read, or not all of it.
func (v *view) unread() bool { return v.hasDoubt("scan-gap") || v.unscanned() }

// unscanned reports whether an attempt is over and nobody has scanned it.
func (v *view) unscanned() bool {
	for i := range v.Attempts {
		if a := &v.Attempts[i]; !a.Ended.IsZero() && !a.Scanned && a.Outcome != queue.CouldNotStart {
			return true
		}
	}
	return false
}

func (v *view) hasDoubt(kinds ...string) bool {
	return slices.ContainsFunc(v.doubts, func(d doubt) bool { return slices.Contains(kinds, d.Kind) })
}
