package report

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

const (
	spellingsShown = 3 // of one intent, at first
	wordsLines     = 2 // of an agent's words, where all is shown on a terminal
)

const moreWords = "loop list --search WORDS looks among them; loop report --all shows them whole"

// needsYou is all that a person has to decide: what ran already, what was kept
// back, what was asked, what reached for the guard. Its first two lines and the
// form of its Story lines are read by scripts.
func (p *printer) needsYou(v *view) {
	folded := p.o.Width > 0 && !p.o.All
	ran, kept, guard := v.listings(folded)
	p.line()
	if len(v.waiting) == 0 {
		p.line("No deferred actions.")
	} else {
		p.line(p.Danger.Render("DEFERRED ACTIONS REQUIRE REVIEW"))
		p.line(strconv.Itoa(len(v.waiting)), " external command(s) detected.")
		if text := p.hiddenWords(len(v.waiting), ran, kept, guard); text != "" {
			p.prose(p.Warn, 0, text)
		}
	}
	p.entries(v, ran)
	p.entries(v, kept)
	p.questions(v)
	p.guard(v, guard)
	if n := p.o.Earlier; n > 0 {
		p.line()
		p.line(strconv.Itoa(n), " more of other sessions still wait; loop list shows them")
	}
	p.foldedMentions(v)
	p.unfinished(v)
	p.decisions(v)
	p.whatToType(v)
}

// guard is what reached for the guard of the run, or went round it.
func (p *printer) guard(v *view, b listing) {
	grave := v.graveDoubts()
	if len(v.tampering)+len(grave) == 0 {
		return
	}
	p.line()
	p.rule(p.Danger, "What touched the guard")
	p.doubtLines(grave)
	p.entries(v, b)
}

func (p *printer) entries(v *view, b listing) {
	for i := range b.items {
		p.line()
		p.entry(v, &b.items[i])
	}
	if len(b.rest) > 0 {
		p.line()
		p.prose(p.Warn, 0, p.byFamily(b.rest))
		p.prose(p.Faint, 0, moreWords)
	}
}

// entry is one action in three lines: what; where it would go and how far it
// can be undone; why the agent wanted it, in its words.
func (p *printer) entry(v *view, it *item) {
	p.storyLine(it.Action)
	p.flow(2, p.meta(v, it.Action)...)
	p.why(it.Action)
	if text := p.unshown(it.Action); text != "" {
		p.prose(p.Warn, 2, text)
	}
	if p.o.All && it.Why != "" {
		p.prose(p.Faint, 2, p.known(strings.Join(it.Rules, ", "))+": "+p.known(it.Why))
	}
	if len(it.spellings) == 0 {
		for _, text := range againWords(it.Action, v.settled) {
			p.prose(p.Warn, 2, text)
		}
	}
	p.spellings(it)
	if len(it.like) > 0 {
		p.line()
		text := strconv.Itoa(len(it.like)) + " more of this kind: "
		p.prose(p.Warn, 2, text+term.Truncate(numbersOf(it.like), min(p.width, proseWidth)-2-len(text)))
		p.prose(p.Faint, 2, moreWords)
	}
}

// meta is the second line of an action.
func (p *printer) meta(v *view, a *queue.Action) [][]span {
	head := []span{{how(a), p.Faint}}
	switch {
	case a.Evidence == policy.Executed:
		head = []span{{how(a) + ":", p.Danger}, {escapedWords, p.Danger}}
	case a.Tampering:
		head[0].style = p.Danger
	}
	groups := [][]span{head}
	for _, s := range p.facts(v, a) {
		groups = append(groups, []span{{p.o.fit(s, p.width-2), p.Faint}})
	}
	return groups
}

// why is the third line of an action: the agent's own words, marked as such.
func (p *printer) why(a *queue.Action) {
	q := p.ownWords(a)
	switch {
	case q.label == "":
		return
	case q.text == "":
		p.line("  ", p.Faint.Render(q.label))
		return
	}
	label := q.label + ": "
	room := p.width - 2 - term.Cells(label) - 2
	text := q.text
	switch {
	case p.o.Width > 0 && !p.o.All:
		text = fitWords(text, max(room, 8))
	case p.o.Width > 0:
		text = fitWords(text, wordsLines*room)
	}
	p.hang("  "+p.Faint.Render(label), 2+term.Cells(label), 4, p.Said, "“"+text+"”")
}

// fitWords cuts quoted words to n cells: the last sentence is nearest to the
// call, and is kept where it fits.
func fitWords(s string, n int) string {
	if term.Cells(s) <= n {
		return s
	}
	for i := 0; ; {
		next := strings.Index(s[i:], ". ")
		if next < 0 {
			break
		}
		i += next + len(". ")
		if rest := term.Ellipsis + " " + s[i:]; term.Cells(rest) <= n {
			return rest
		}
	}
	return term.Truncate(s, n)
}

// spellings are the other forms in which the same was tried.
func (p *printer) spellings(it *item) {
	for i, a := range it.spellings {
		if i == spellingsShown {
			p.prose(p.Warn, 2, "and "+plural(len(it.spellings)-i, "more time", "more times")+": "+numbersOf(it.spellings[i:]))
			return
		}
		prefix := "tried again as " + number(a) + ": "
		p.command("  "+p.Warn.Render(prefix), 2+len(prefix), 4, what(a))
	}
}

// storyLine is "Story #3 [2026-02-23T08:15:00Z]: git push". A command that
// does not fit goes on below, so that its end can be read as well.
func (p *printer) storyLine(a *queue.Action) {
	// Without spaces an id cannot pass for the rest of the line.
	id := cmp.Or(strings.ReplaceAll(p.Line(a.Story), " ", `\x20`), "-")
	prefix := "Story #" + p.o.fit(id, 24) + " [" + stamp(a.DetectedAt) + "]: "
	command := p.Command(what(a))
	room := p.width - term.Cells(prefix)
	if p.o.All || p.o.Width <= 0 || term.Cells(command) <= room {
		p.hang(prefix, term.Cells(prefix), 2, p.Bold, command)
		return
	}
	head, rest := breakAt(command, max(room-1, 1))
	p.line(prefix, p.Bold.Render(strings.TrimRight(head, " ")+term.Ellipsis))
	p.line("  ", p.Bold.Render(cutCommand(rest, p.width-2)))
}

// breakAt splits text after n cells, at a space when one is near.
func breakAt(s string, n int) (head, rest string) {
	head, rest = term.Split(s, n)
	if i := strings.LastIndexByte(head, ' '); rest != "" && i > 0 && i > len(head)-20 {
		return s[:i+1], s[i+1:]
	}
	return head, rest
}

// cutCommand cuts a command to n cells and keeps its end: all of the last
// command of a chain where that fits, as it is often the one that matters.
func cutCommand(s string, n int) string {
	if term.Cells(s) <= n {
		return s
	}
	if i := max(strings.LastIndex(s, " && "), strings.LastIndex(s, "; ")); i > 0 {
		last := s[i:]
		if room := n - 1 - term.Cells(last); room >= n/4 {
			head, _ := term.Split(s, room)
			return head + term.Ellipsis + last
		}
	}
	return term.TruncateMiddle(s, n)
}

func (p *printer) foldedMentions(v *view) {
	n := len(v.mentions)
	if n == 0 {
		return
	}
	p.line()
	if !p.o.All {
		p.prose(p.Faint, 0, strconv.Itoa(n)+" mention(s) folded; loop report --all shows them")
		return
	}
	p.line(strconv.Itoa(n), " mention(s): words only, nothing ran")
	for _, a := range v.mentions {
		p.storyLine(a)
		p.flow(2, []span{{how(a), p.Faint}}, []span{{p.o.fit(p.known(strings.Join(a.Rules, ", ")), p.width-2), p.Faint}})
	}
}

// unfinished lists actions that were approved and are not at an end.
func (p *printer) unfinished(v *view) {
	if len(v.open) == 0 {
		return
	}
	p.line()
	p.line(p.Warn.Render("Approved, but not finished"))
	first, more := firstOf(v.open, p.o.Width > 0 && !p.o.All)
	for _, a := range first {
		head := "  " + number(a) + " "
		p.command(head, len(head), len(head), what(a))
		style := p.Faint
		if a.Status == queue.Unknown {
			style = p.Danger
		}
		p.prose(style, len(head), openWord(a))
	}
	if more != "" {
		p.prose(p.Warn, 2, more)
		p.prose(p.Faint, 2, moreWords)
	}
}

func (p *printer) decisions(v *view) {
	if text := v.decidedWords(); text != "" {
		p.line()
		p.line(p.Faint.Render("Decided before: " + text))
	}
}

// decidedWords counts what was decided; "" when nothing was.
func (v *view) decidedWords() string {
	var parts []string
	for _, s := range []queue.Status{queue.Replayed, queue.Rejected, queue.Superseded, queue.Answered} {
		if n := v.decided[s]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+string(s))
		}
	}
	return strings.Join(parts, ", ")
}

// whatToType ends the block with commands that work as they stand: what has
// run cannot simply be approved, what is tampering hardly ever, and a mention
// not at all.
func (p *printer) whatToType(v *view) {
	var groups [][]span
	for _, s := range v.commands() {
		groups = append(groups, []span{{s, term.Style{}}})
	}
	if len(groups) > 0 {
		p.line()
		p.flow(0, groups...)
	}
}

func (v *view) commands() []string {
	var first *queue.Action
	approve := false
	for _, a := range v.waiting {
		fit := a.Evidence != policy.Executed && !a.Tampering
		if first == nil || !approve && fit {
			first, approve = a, fit
		}
	}
	if first == nil && len(v.mentions) > 0 {
		first = v.mentions[0]
	}
	if first == nil {
		return nil
	}
	n := number(first)[1:]
	list := []string{"loop review", "loop show " + n}
	if approve {
		list = append(list, "loop approve "+n)
	}
	return append(list, "loop reject "+n)
}
