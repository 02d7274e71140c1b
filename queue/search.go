package queue

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
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
	var room [4 << 10]byte // most actions fit, and ten thousand are looked at for each key
	known := room[:0]
	add := func(text string) { known = appendLower(append(known, '\n'), text) }
	add("#" + strconv.FormatUint(a.Number, 10))
	for _, text := range []string{a.Command, a.Story, a.StoryTitle, a.Tool, a.Target, string(a.Status), string(a.Evidence), a.Session} {
		add(text)
	}
	if e := a.Edited; e != nil {
		add(e.Command)
	}
	if a.Said != nil {
		add(a.Said.Text)
	}
	if a.Tool != "Bash" {
		add(string(a.Input))
	}
	for _, word := range s { // a word holds no line break
		if !bytes.Contains(known, []byte(word)) {
			return false
		}
	}
	return true
}

func appendLower(b []byte, text string) []byte {
	from := len(b)
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return append(b[:from], strings.ToLower(text)...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}
