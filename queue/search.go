package queue

import (
	"slices"
	"strconv"
	"strings"
)

// Search is what a person looks for: words, each of which stands somewhere in
// what is known of an action, in whatever case.
type Search []string

// NewSearch takes the words of a text; without any it finds everything.
func NewSearch(text string) Search { return strings.Fields(strings.ToLower(text)) }

// Finds reports whether every word stands in the action: its number, its command
// in the agent's and in the person's form, what a tool was given, story, tool,
// where it leads, session, what the agent said before it, and how it stands.
func (s Search) Finds(a *Action) bool {
	if len(s) == 0 {
		return true
	}
	texts := []string{
		"#" + strconv.FormatUint(a.Number, 10), a.Command, a.Story, a.StoryTitle, a.Tool, a.Target, string(a.Status), string(a.Evidence), a.Session,
	}
	if e := a.Edited; e != nil {
		texts = append(texts, e.Command)
	}
	if a.Said != nil {
		texts = append(texts, a.Said.Text)
	}
	if a.Tool != "Bash" {
		texts = append(texts, string(a.Input))
	}
	for i, t := range texts {
		texts[i] = strings.ToLower(t)
	}
	for _, word := range s {
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, word) }) {
			return false
		}
	}
	return true
}
