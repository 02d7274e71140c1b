package runner

import (
	"fmt"
	"slices"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/stories"
)

// StoryLevel is the level at which a story's attempt runs: the session's, or
// the story's own where that is stricter. What the story asks for and does not
// get is a warning; it never loosens, because an agent can write the story.
func StoryLevel(session policy.Level, s stories.Story) (level policy.Level, warning string) {
	if s.Level == "" {
		return session, ""
	}
	own, err := policy.ParseLevel(s.Level)
	switch {
	case err != nil:
		return session, fmt.Sprintf("level %q is not known and ignored; the story runs at %s", s.Level, session)
	case own < session:
		return session, fmt.Sprintf("level %s is looser than the session's and ignored; the story runs at %s", own, session)
	}
	return own, ""
}

// at is the run as a story sees it: at its own level, with the rules of that.
func (r *run) at(s stories.Story) *run {
	o := forStory(r.o, s)
	if o == r.o {
		return r
	}
	own := *r
	own.o = o
	return &own
}

// forStory are the options of a story's attempt.
func forStory(o *Options, s stories.Story) *Options {
	level, _ := StoryLevel(o.Level, s)
	if level == o.Level {
		return o
	}
	own := *o
	own.Level = level
	if o.RulesAt != nil {
		own.RulesText = o.RulesAt(level)
	}
	return &own
}

// rulesTexts are the constraint rules in every form in which this run may have
// told them.
func rulesTexts(o *Options) []string {
	out := []string{o.RulesText}
	if o.RulesAt == nil {
		return out
	}
	for l := policy.Supervised; l <= policy.Lockdown; l++ {
		if text := o.RulesAt(l); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
