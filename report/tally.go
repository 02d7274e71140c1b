package report

import (
	"cmp"
	"hash/fnv"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
)

// Seen is one hit in a session file of the client: a call, or words. Its texts
// are hostile.
type Seen struct {
	File      string
	Line      int
	Folder    string // the client's name of the project
	Cwd       string // "" when the record does not say
	ToolUseID string
	Tool      string
	Command   string
	Rule      string
	Family    string
	Undo      string
	Tier      policy.Tier
	Evidence  policy.Evidence
	Outcome   string // of an executed one: "ok", "failed" or "unknown"
	Time      time.Time
}

// Failed says that it ran and did not succeed, as far as the client saw.
func (s *Seen) Failed() bool { return s.Outcome == "failed" }

const (
	maxTallied = 400      // bytes of a command that are kept
	maxMasked  = 64 << 10 // bytes of a command that are looked at
)

// Tally counts hits of many session files, each call once: sessions that were
// resumed or forked hold copies of each other's records. What it comes to does
// not depend on the order in which hits are added. It keeps a short record of
// each call that reaches outside, and of anything else a number only.
type Tally struct {
	calls    map[uint64]*Seen
	shared   map[uint64]bool
	mentions map[uint64]bool
	texts    map[string]string // each text once
}

// NewTally returns an empty tally.
func NewTally() *Tally {
	return &Tally{calls: map[uint64]*Seen{}, shared: map[uint64]bool{}, mentions: map[uint64]bool{}, texts: map[string]string{}}
}

// Add counts one hit.
func (t *Tally) Add(s Seen) {
	key := s.key()
	switch {
	case s.Evidence == policy.Mentioned:
		t.mentions[key] = true
	case s.Tier == policy.Shared:
		if s.Evidence == policy.Executed {
			t.shared[key] = true
		}
	default:
		if before := t.calls[key]; before == nil || s.compare(before) < 0 {
			t.calls[key] = t.short(s)
		}
	}
}

// key tells calls apart. The same id with another command, white space apart,
// is another call, because an id can be made up; without an id the time has to
// do, and without that the place.
func (s *Seen) key() uint64 {
	h := fnv.New64a()
	part := func(text string) { h.Write(append([]byte(text), 0)) }
	part(s.Tool)
	part(strings.Join(strings.Fields(s.Command), ""))
	switch {
	case s.ToolUseID != "":
		part(s.ToolUseID)
	case !s.Time.IsZero():
		part(s.Time.UTC().Format(time.RFC3339Nano) + s.Rule)
	default:
		part(s.File + ":" + strconv.Itoa(s.Line) + s.Rule)
	}
	return h.Sum64()
}

// compare orders copies of one call: the one that knows most first, then the
// oldest.
func (s *Seen) compare(o *Seen) int {
	return cmp.Or(
		cmp.Compare(o.knows(), s.knows()), s.Time.Compare(o.Time),
		strings.Compare(s.File, o.File), cmp.Compare(s.Line, o.Line),
	)
}

func (s *Seen) knows() int {
	switch {
	case s.Evidence == policy.Executed && s.Outcome != "unknown" && s.Outcome != "":
		return 3
	case s.Evidence == policy.Blocked:
		return 2
	case s.Evidence == policy.Executed:
		return 1
	}
	return 0
}

// short is what is kept of a call. Secrets are masked before the end is cut
// off, because half a secret may not look like one.
func (t *Tally) short(s Seen) *Seen {
	s.Command = cutBytes(term.Mask(cutBytes(s.Command, maxMasked)), maxTallied)
	for _, p := range []*string{&s.File, &s.Folder, &s.Cwd, &s.Tool, &s.Command, &s.Rule, &s.Family, &s.Undo} {
		*p = t.intern(*p)
	}
	return &s
}

func (t *Tally) intern(s string) string {
	if kept, ok := t.texts[s]; ok {
		return kept
	}
	s = strings.Clone(s)
	t.texts[s] = s
	return s
}

func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + term.Ellipsis
}
