package report

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// teller finds the words for what a report tells, the same for every form that
// it is printed in. What it returns is masked and quoted, and the parts of it
// that loop did not write are marked in the way of the form.
type teller struct {
	term.Masker
	o    Options
	seen map[string]string   // of known
	mark func(string) string // marks a quoted text that is not loop's; nil leaves it
}

func newTeller(o Options) *teller {
	return &teller{Masker: o.masker(), o: o, seen: map[string]string{}}
}

func (t *teller) marked(s string) string {
	if t.mark == nil || s == "" {
		return s
	}
	return t.mark(s)
}

// Line is term.Line for who knows receipts, and marked.
func (t *teller) Line(s string) string { return t.marked(t.Masker.Line(s)) }

// Command is term.Command for who knows receipts, and marked.
func (t *teller) Command(s string) string { return t.marked(t.Masker.Command(s)) }

// short is Line of at most n cells.
func (t *teller) short(s string, n int) string {
	return t.marked(term.Truncate(t.Masker.Line(s), n))
}

// known is term.Command for the few texts that nearly every action repeats:
// rules, reasons, folders, branches.
func (t *teller) known(s string) string {
	safe, ok := t.seen[s]
	if !ok {
		safe = t.Command(s)
		t.seen[s] = safe
	}
	return safe
}

// what is the one line an action is known by: its command, or the words that
// were found where nothing was called.
func what(a *queue.Action) string { return cmp.Or(a.Command, a.Excerpt, a.Tool) }

// number is how people name an action.
func number(a *queue.Action) string { return "#" + strconv.FormatUint(a.Number, 10) }

// how is the number of an action with what is known of it.
func how(a *queue.Action) string {
	s := number(a) + " " + evidence(a)
	if a.Repeats > 0 {
		s += " ×" + strconv.Itoa(a.Repeats+1)
	}
	return s
}

// facts are where a call would lead, how far that can be undone, and where it
// was made, the most important first.
func (t *teller) facts(v *view, a *queue.Action) []string {
	list := []string{t.where(a), undoOf(a)}
	if a.Opaque {
		list = append(list, "cannot be seen through")
	}
	if a.Agent != "" {
		list = append(list, "subagent "+t.Line(a.Agent))
	}
	if a.GitBranch != "" {
		list = append(list, "on "+t.known(a.GitBranch))
	}
	if dir := relative(v.Session.Dir, a.Cwd); dir != "" {
		list = append(list, "in "+t.known(dir))
	}
	out := list[:0]
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// undoOf says how far an action can be undone; it says so too where no rule
// knows it.
func undoOf(a *queue.Action) string {
	if a.Undo == "" {
		return "how far it can be undone is not known"
	}
	return undoWords(a.Undo)
}

// where is where a call leads, as it says itself or as its kind of command
// does.
func (t *teller) where(a *queue.Action) string {
	if a.Target == "" {
		return familyPlace(a.Family)
	}
	target := t.known(a.Target)
	switch {
	case a.Family == "git" && !strings.ContainsAny(a.Target, ".:/"):
		return "to the remote " + target
	case strings.HasPrefix(a.Tool, "mcp__"):
		return "to the MCP server " + target
	}
	return "to " + target
}

// familyPlace is where the commands of a family lead when they do not say it.
func familyPlace(family string) string {
	switch family {
	case "git":
		return "to the branch's own remote"
	case "forge":
		return "to the repository's code forge"
	case "http":
		return "to an address that it does not name"
	case "package":
		return "to a package registry"
	case "container":
		return "to a container registry or cluster"
	case "infra", "cloud":
		return "to infrastructure in a cloud"
	case "deploy":
		return "to where this project is deployed"
	case "transfer":
		return "to another machine"
	case "message":
		return "to people, as mail or message"
	case "database":
		return "to a database"
	}
	return ""
}

// relative is a folder as seen from the repository, "" for the repository
// itself, which is where nearly everything happens.
func relative(root, dir string) string {
	if dir == root {
		return ""
	}
	if below, ok := strings.CutPrefix(dir, root+"/"); ok && root != "" {
		return "./" + below
	}
	return dir
}

// quotation is what an agent said, and a label in loop's own words.
type quotation struct{ label, text string }

// ownWords are why an agent wanted a call, in its own words: what it said last
// before it, or else what it wrote beside it.
func (t *teller) ownWords(a *queue.Action) quotation {
	if s := a.Said; s != nil && s.Text != "" {
		label := "it said"
		if s.Delegated {
			label = "who started it said"
		}
		if s.Calls > 0 {
			label += ", " + plural(s.Calls, "call", "calls") + " before"
		}
		return quotation{label, t.quoted(s.Text)}
	}
	if d := description(a); d != "" {
		return quotation{"it called it", t.quoted(d)}
	}
	if a.Said != nil {
		return quotation{label: "it said nothing before it"}
	}
	return quotation{}
}

// quoted is an agent's text on one line. What would end the quotation is shown
// as an escape.
func (t *teller) quoted(s string) string {
	s = t.Masker.Line(strings.Join(strings.Fields(s), " "))
	for _, r := range "“”" {
		s = strings.ReplaceAll(s, string(r), term.Escape(r))
	}
	return t.marked(s)
}

// description is what the model wrote beside a shell command.
func description(a *queue.Action) string {
	if a.Tool != "Bash" || len(a.Input) > 1<<20 {
		return ""
	}
	var in struct {
		Description string `json:"description"`
	}
	if json.Unmarshal(a.Input, &in) != nil {
		return ""
	}
	return strings.TrimSpace(in.Description)
}

// againWords say how an action and others are one intent in several spellings.
// decided says what became of those that wait no longer; nil knows of none.
func againWords(a *queue.Action, decided map[uint64]queue.Status) (out []string) {
	if n := len(a.Again); n > 0 {
		var text strings.Builder
		text.WriteString("tried again in another spelling: " + plural(n, "time", "times") + ", " + numbers(a.Again))
		for _, w := range a.Again {
			if s := decided[w]; s != "" {
				text.WriteString("; #" + strconv.FormatUint(w, 10) + " is " + term.Line(string(s)) + " by now")
			}
		}
		out = append(out, text.String())
	}
	if n := relatedNumber(a); n != "" && a.Evidence == policy.Blocked {
		out = append(out, "tries again what was refused as #"+n)
	}
	return out
}

// relatedNumber is the number of the action that this one has to do with; ""
// when there is none.
func relatedNumber(a *queue.Action) string {
	if _, err := strconv.ParseUint(a.RelatedTo, 10, 64); err != nil {
		return ""
	}
	return a.RelatedTo
}

// tamperingWords say what an action is that a guard rule speaks of.
const tamperingWords = "it reached for what guards the run"

// escapedWords say what an action is that ran.
const escapedWords = "it got past the firewall"

// askedOnly: the person at the client's prompt was asked, and nothing says what
// the answer was.
func askedOnly(a *queue.Action) bool { return a.Asked && a.Evidence == policy.Blocked }

// evidence is the word for what is known, with the outcome of what ran.
func evidence(a *queue.Action) string {
	if a.IsQuestion() {
		return "question"
	}
	if askedOnly(a) {
		return "asked"
	}
	word := term.Truncate(term.Line(string(a.Evidence)), 16)
	if a.Evidence == policy.Executed && a.Outcome != "" {
		word += " (" + term.Truncate(term.Line(a.Outcome), 16) + ")"
	}
	return word
}

// openWord is how far an action has come that was approved.
func openWord(a *queue.Action) string {
	switch a.Status {
	case queue.Approved:
		return "approved, not replayed yet"
	case queue.Replaying:
		return "being replayed now"
	case queue.Unknown:
		return "loop died while replaying it; it may have run"
	case queue.Failed:
		return failedWord(a)
	}
	return "status " + term.Line(string(a.Status))
}

func failedWord(a *queue.Action) string {
	if a.Replay != nil && a.Replay.Error == "" {
		return "replay failed with exit " + strconv.Itoa(a.Replay.ExitCode)
	}
	return "replay failed"
}

// numbers lists numbers of actions; neighbours become a range.
func numbers(list []uint64) string {
	var b strings.Builder
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("#" + strconv.FormatUint(list[i], 10))
		switch {
		case j == i+1:
			b.WriteString(" #" + strconv.FormatUint(list[j], 10))
		case j > i:
			b.WriteString("–#" + strconv.FormatUint(list[j], 10))
		}
		i = j + 1
	}
	return b.String()
}
