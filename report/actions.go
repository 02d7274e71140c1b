package report

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// actions is the block of what needs a decision. Its first two lines and the
// form of its Story lines are read by scripts.
func (p *printer) actions(v *view) {
	p.line()
	if len(v.waiting) == 0 {
		p.line("No deferred actions.")
	} else {
		p.line(p.Danger.Render("DEFERRED ACTIONS REQUIRE REVIEW"))
		p.line(strconv.Itoa(len(v.waiting)), " external command(s) detected.")
	}
	for _, a := range v.waiting {
		p.line()
		p.action(v, a)
	}
	if n := p.o.Earlier; n > 0 {
		p.line()
		p.line(strconv.Itoa(n), " more of other sessions still wait; loop list shows them")
	}
	p.foldedMentions(v)
	p.unfinished(v)
	p.decisions(v)
	p.whatToType(v)
}

// action is one entry: what, then how it is known and where, then why.
func (p *printer) action(v *view, a *queue.Action) {
	p.storyLine(a)
	if a.Evidence == policy.Executed {
		p.line("  ", p.Danger.Render("ran: it got past the firewall"))
	}
	if a.Tampering {
		p.line("  ", p.Danger.Render("tampering: "+tamperingWords))
	}
	p.flow(2, p.meta(v, a)...)
	for _, text := range againWords(a) {
		p.prose(p.Warn, 2, text)
	}
	if a.Why != "" {
		p.prose(p.Faint, 2, p.known(a.Why))
	}
}

// againWords say how an action and others are one intent in several spellings.
func againWords(a *queue.Action) (out []string) {
	if n := len(a.Again); n > 0 {
		var text strings.Builder
		text.WriteString("tried again in another spelling: " + plural(n, "time", "times") + ",")
		for _, w := range a.Again {
			text.WriteString(" #" + strconv.FormatUint(w, 10))
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
	if room = p.width - 2; term.Cells(rest) > room {
		head, rest = breakAt(rest, room)
		p.line("  ", p.Bold.Render(strings.TrimRight(head, " ")))
	}
	p.line("  ", p.Bold.Render(cutCommand(rest, room)))
}

// what is the one line an action is known by: its command, or the words that
// were found where nothing was called.
func what(a *queue.Action) string { return cmp.Or(a.Command, a.Excerpt, a.Tool) }

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

// meta is the line under an action.
func (p *printer) meta(v *view, a *queue.Action) [][]span {
	how := "#" + strconv.FormatUint(a.Number, 10) + " " + evidence(a)
	if a.Repeats > 0 {
		how += " ×" + strconv.Itoa(a.Repeats+1)
	}
	parts := []string{how, p.known(strings.Join(a.Rules, ", "))}
	if a.Undo != "" {
		parts = append(parts, undoWords(a.Undo))
	}
	if a.Opaque {
		parts = append(parts, "cannot be seen through")
	}
	if a.Agent != "" {
		parts = append(parts, "subagent "+p.Line(a.Agent))
	}
	parts = append(parts, p.known(relative(v.Session.Dir, a.Cwd)), p.known(a.GitBranch))
	var groups [][]span
	for _, s := range parts {
		if s != "" {
			groups = append(groups, []span{{p.o.fit(s, p.width-2), p.Faint}})
		}
	}
	return groups
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
		p.flow(2, p.meta(v, a)...)
	}
}

// unfinished lists actions that were approved and are not at an end.
func (p *printer) unfinished(v *view) {
	if len(v.open) == 0 {
		return
	}
	p.line()
	p.line(p.Warn.Render("Approved, but not finished"))
	for _, a := range v.open {
		head := "  #" + strconv.FormatUint(a.Number, 10) + " "
		p.command(head, len(head), len(head), what(a))
		style := p.Faint
		if a.Status == queue.Unknown {
			style = p.Danger
		}
		p.prose(style, len(head), openWord(a))
	}
}

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

func (p *printer) decisions(v *view) {
	var parts []string
	for _, s := range []queue.Status{queue.Replayed, queue.Rejected, queue.Superseded, queue.Answered} {
		if n := v.decided[s]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+string(s))
		}
	}
	if len(parts) > 0 {
		p.line()
		p.line(p.Faint.Render("Decided before: " + strings.Join(parts, ", ")))
	}
}

// whatToType ends the block with commands that work as they stand: what has
// run cannot simply be approved, what is tampering hardly ever, and a mention
// not at all.
func (p *printer) whatToType(v *view) {
	var number uint64
	approve := false
	for _, a := range v.waiting {
		fit := a.Evidence != policy.Executed && !a.Tampering
		if number == 0 || !approve && fit {
			number, approve = a.Number, fit
		}
	}
	if number == 0 && len(v.mentions) > 0 {
		number = v.mentions[0].Number
	}
	if number == 0 {
		return
	}
	n := strconv.FormatUint(number, 10)
	groups := [][]span{{{"loop show " + n, term.Style{}}}}
	if approve {
		groups = append(groups, []span{{"loop approve " + n, term.Style{}}})
	}
	p.line()
	p.flow(0, append(groups, []span{{"loop reject " + n, term.Style{}}})...)
}
