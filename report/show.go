package report

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// labelWidth is the column in which the values of Show begin.
const labelWidth = 12

// Show prints everything about one action. Nothing is cut, whatever the
// options say; long lines are broken, so that no text of the agent's begins
// at the left margin.
func Show(w io.Writer, a queue.Action, o Options) error {
	o.All = true
	p := newPrinter(w, o)
	if a.IsQuestion() {
		p.oneQuestion(&a)
		return p.flush()
	}
	p.line(p.Bold.Render("#"+strconv.FormatUint(a.Number, 10)), " ", p.statusText(&a), dot, p.evidenceText(&a))
	p.line()
	p.block(always(p.Bold), 2, p.commandLines(what(&a)), 0)
	p.line()
	p.origin(&a)
	p.standing(&a)
	p.claims(&a)
	p.input(&a)
	p.edited(&a)
	p.history(&a)
	if s, ok := o.Said[a.Attempt]; ok {
		p.heading("What the agent said last in that attempt")
		p.said(s)
	}
	return p.flush()
}

func (p *printer) statusText(a *queue.Action) string {
	return p.listStyle(columnStatus, a).Render(p.Line(string(a.Status)))
}

func (p *printer) evidenceText(a *queue.Action) string {
	word := p.listStyle(columnEvidence, a).Render(evidence(a))
	switch a.Evidence {
	case policy.Executed:
		word += ": it got past the firewall"
	case policy.Blocked:
		if askedOnly(a) {
			word += " at the prompt: whether it ran then is not known"
		} else {
			word += ": the firewall stopped it"
		}
	case policy.Written:
		word += ": put into a file, to run later"
	case policy.Mentioned:
		word += ": only words"
	}
	if a.Repeats > 0 {
		word += ", " + strconv.Itoa(a.Repeats+1) + " times"
	}
	return word
}

// commandLines keeps the lines of a command and shows what deceives in each.
func (p *printer) commandLines(command string) []string {
	return strings.Split(term.QuoteLines(term.Lookalikes(p.Mask(command))), "\n")
}

// field prints a label and the text beside it; an empty text prints nothing.
func (p *printer) field(label, text string) {
	if text == "" {
		return
	}
	for i, l := range p.pieces(text, p.width-labelWidth) {
		if i > 0 {
			label = ""
		}
		p.line(p.Faint.Render(label), term.Spaces(labelWidth-len(label)), l)
	}
}

// origin is where the action comes from.
func (p *printer) origin(a *queue.Action) {
	story := p.Line(a.Story)
	if a.StoryTitle != "" {
		story += "  " + p.Line(a.StoryTitle)
	}
	p.field("story", story)
	p.field("found", stamp(a.DetectedAt)+p.ago(a.DetectedAt)+by(a.FoundBy))
	p.field("tool", p.Line(a.Tool)+subagent(a.Agent))
	p.field("folder", p.Command(a.Cwd))
	git := p.Command(a.GitBranch)
	if a.GitHead != "" {
		git = strings.TrimSpace(git + " at " + p.Line(a.GitHead))
	}
	p.field("git", git)
	transcript := p.Command(a.Transcript)
	if transcript != "" && a.Line > 0 {
		transcript += ":" + strconv.Itoa(a.Line)
	}
	p.field("transcript", transcript)
	p.field("excerpt", p.Command(a.Excerpt))
	p.saidBefore(a)
	p.field("id", p.Line(a.ID))
	p.field("session", p.Line(a.Session))
	p.field("attempt", p.Line(a.Attempt))
	p.field("call", p.Line(a.ToolUseID))
	p.field("related to", p.Line(a.RelatedTo))
	for _, text := range againWords(a, nil) {
		p.field("again", text)
	}
}

// saidBefore is what the agent said last before the call, marked as its words.
func (p *printer) saidBefore(a *queue.Action) {
	q := p.ownWords(a)
	if q.text != "" {
		q.text = ": “" + q.text + "”"
	}
	if q.label != "" {
		p.field("its words", q.label+q.text)
	}
}

func (p *printer) ago(t time.Time) string {
	if p.o.Now.IsZero() || t.IsZero() {
		return ""
	}
	return " (" + age(p.o.Now.Sub(t)) + " ago)"
}

func by(f queue.FoundBy) string {
	switch f {
	case queue.ByHook:
		return ", by the firewall"
	case queue.ByScan:
		return ", by the scan of the transcript"
	}
	return ""
}

func subagent(agent string) string {
	if agent == "" {
		return ""
	}
	return ", by subagent " + term.Line(agent)
}

// standing is why it is in the queue.
func (p *printer) standing(a *queue.Action) {
	p.line()
	p.field("tier", a.Tier.String())
	p.field("rules", p.Line(strings.Join(a.Rules, ", ")))
	p.field("leads", p.where(a))
	if a.Undo != "" {
		p.field("undo", undoWords(a.Undo))
	}
	p.field("why", p.Line(a.Why))
	if a.Tampering {
		p.field("tampering", tamperingWords)
	}
	if a.Opaque {
		p.field("opaque", "it cannot be seen through: what it runs is not known before it runs")
	}
}

// input is the call as the client made it.
func (p *printer) input(a *queue.Action) {
	if len(a.Input) == 0 {
		return
	}
	p.heading("Input (secrets masked; the queue holds the exact bytes)")
	p.json(a.Input)
}

func (p *printer) json(input json.RawMessage) {
	var buf bytes.Buffer
	if err := json.Indent(&buf, input, "", "  "); err != nil {
		p.block(always(term.Style{}), 2, strings.Split(p.Lines(string(input)), "\n"), 0)
		return
	}
	p.block(always(term.Style{}), 2, strings.Split(term.Lookalikes(string(safeJSON(buf.Bytes(), p.Masker))), "\n"), 0)
}

// edited is the form in which a person has it run, beside the agent's own.
func (p *printer) edited(a *queue.Action) {
	e := a.Edited
	if e == nil {
		return
	}
	p.heading("Edited by " + p.Line(e.Who) + ", " + stamp(e.When) + ": this is what runs in its place")
	p.block(always(p.Bold), 2, p.commandLines(e.Command), 0)
	p.line()
	p.field("tier", e.Tier.String())
	p.field("rules", p.Line(strings.Join(e.Rules, ", ")))
	p.field("why", p.Line(e.Why))
	if a.Tool != "Bash" {
		p.line()
		p.json(e.Input)
	}
}

// history is what people did with the action, and what came of it.
func (p *printer) history(a *queue.Action) {
	if len(a.Decisions) > 0 {
		p.heading("Decisions")
	}
	for _, d := range a.Decisions {
		text := stamp(d.When) + " " + p.Line(d.Verb) + " by " + p.Line(d.Who)
		if d.Reason != "" {
			text += ": " + p.Line(d.Reason)
		}
		for _, l := range p.pieces(text, p.width-2) {
			p.line("  ", l)
		}
	}
	if a.Replay == nil {
		return
	}
	r := a.Replay
	p.heading("Replay")
	p.line("  ", stamp(r.Started), ", ", duration(r.Duration), ", exit ", strconv.Itoa(r.ExitCode))
	if r.Error != "" {
		p.prose(p.Danger, 2, p.Line(r.Error))
	}
	if r.Cut {
		p.line("  ", p.Faint.Render("only the end of the output was kept"))
	}
	if out := strings.Trim(p.Lines(r.Output), "\n"); out != "" {
		p.line()
		p.block(always(term.Style{}), 2, strings.Split(out, "\n"), 0)
	}
}
