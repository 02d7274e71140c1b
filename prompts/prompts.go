// Package prompts holds the constraint rules and the text of one attempt.
//
// It renders text and nothing else. The one invariant: whatever a user adds
// or a story says, the prompt begins with a fixed line, so that no story can
// be taken for a slash command, and the rules stand in it whole.
package prompts

import (
	_ "embed"
	"strings"
	"text/template"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/stories"
)

//go:embed rules.md
var rules string

//go:embed attempt.md
var attemptText string

// FirstLine begins every prompt; the client takes a prompt that begins with a
// slash for a command.
const FirstLine = "You are working on one story, unattended. Nobody can answer questions until the morning."

// RulesOptions change the constraint rules.
type RulesOptions struct {
	Level   policy.Level
	Replace string // text that stands in place of the embedded rules; "" = the embedded ones
	Append  string // text added after them
	Cite    bool   // ask for receipts beside what is reported
}

// Rules is the constraint text: it goes to the main agent, to its subagents
// and into the prompt.
func Rules(o RulesOptions) string {
	text := rules
	if o.Replace != "" {
		text = o.Replace
	}
	if o.Replace == "" && o.Level == policy.Lockdown {
		text = strings.TrimRight(text, "\n") + "\n\n" + lockdown
	}
	if o.Replace == "" && o.Cite {
		text = strings.TrimRight(text, "\n") + "\n\n" + cite
	}
	if strings.TrimSpace(o.Append) != "" {
		text = strings.TrimRight(text, "\n") + "\n\n" + o.Append
	}
	return strings.TrimRight(text, "\n") + "\n"
}

const lockdown = `This run is in lockdown: commits, branch changes, database writes and reads from the network
are refused and queued too. Leave your changes in the work tree.
`

const cite = `Results of tools carry a receipt, [receipt: zc-receipt-...]. Where your final report says what a command or a
test gave, put the receipt of that result beside it, unchanged. Never make one up, and keep them out of
files, commit messages and commands.
`

// Attempt is what the text of one attempt is made from.
type Attempt struct {
	Story      stories.Story
	Rules      string
	ClaudeMD   string   // text of CLAUDE.md; "" = none or switched off
	StoryFile  string   // where the story stands, relative to the repository
	Gates      []string // commands that will decide
	Unanswered []string // numbers and commands of this story's actions that already wait
	LastFailed string   // why the last attempt at this story did not pass, hostile text; "" = none
	Left       *Left    // what it, or one before it, left; nil = nothing that is not in the work tree
	Answers    []Answer // to what earlier attempts asked
	Said       []Word   // when the story was let go on
	Red        []string // gates that did not pass before the first story
	Beside     bool     // other stories are worked on at the same time
}

// Left is what an earlier attempt changed, kept as a commit of its own.
type Left struct {
	Ref, Base string
	Files     int
	Ended     string // how it ended
	When      time.Time
}

// Word is what a person said after looking at a story, or when asked whether
// one may be begun.
type Word struct{ Story, Text string }

// Answer is what a person said to a question of an earlier attempt.
type Answer struct{ Question, Answer string }

// Build is the prompt of one attempt.
func Build(a Attempt) (string, error) {
	t, err := template.New("attempt").Funcs(template.FuncMap{"trim": strings.TrimSpace, "quote": quote}).Parse(attemptText)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(FirstLine + "\n")
	if err := t.Execute(&b, a); err != nil {
		return "", err
	}
	return b.String(), nil
}

// quote marks every line of a text as quoted, so that nothing in it can be
// taken for a part of the prompt.
func quote(text string) string {
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "\r", "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("> "+l, " ")
	}
	return strings.Join(lines, "\n")
}
