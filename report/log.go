package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

// How much of what a person seldom reads is shown.
const (
	logResult   = 3 // lines of a result
	logThinking = 1
	logIndent   = 4  // of a subagent
	logName     = 24 // cells of a tool's name
)

// Log prints a transcript as a person reads it, event by event: what the agent
// says whole, its calls as one line each, the first lines of what they gave.
type Log struct {
	p      *printer
	number func(toolUseID string) uint64
	agents map[string]string // what a subagent was started for, by the id of the call
	agent  string            // whose line was printed last
	last   transcript.Kind
}

// NewLog prints to w. number is that of a refused call in the queue, 0 when it
// has none; nil knows none. With Options.All nothing is folded.
func NewLog(w io.Writer, o Options, number func(toolUseID string) uint64) *Log {
	if number == nil {
		number = func(string) uint64 { return 0 }
	}
	return &Log{p: newPrinter(w, o), number: number, agents: map[string]string{}}
}

// Event prints one event, and leaves nothing of it in a buffer.
func (l *Log) Event(ev transcript.Event) error {
	switch ev.Kind {
	case transcript.KindInit:
		l.note(ev, l.p.Faint, "client "+ev.Init.Version+", model "+ev.Init.Model)
	case transcript.KindPrompt:
		l.prompt(ev)
	case transcript.KindText:
		l.text(ev)
	case transcript.KindThinking:
		l.fold(ev, l.p.Faint, "thinking: ", ev.Text, logThinking)
	case transcript.KindCall:
		l.call(ev)
	case transcript.KindResult:
		l.result(ev)
	case transcript.KindFinal:
		l.final(ev)
	case transcript.KindRateLimit:
		l.limit(ev)
	case transcript.KindRetry:
		r := ev.Retry
		l.note(ev, l.p.Warn, fmt.Sprintf("the provider did not answer (%d %s), try %d of %d", r.Status, r.Error, r.Attempt, r.Max))
	case transcript.KindVCS:
		l.note(ev, l.p.Warn, strings.TrimSpace("git "+ev.VCS.Kind+" "+ev.VCS.Branch+" "+ev.VCS.Action+" "+ev.VCS.URL))
	case transcript.KindPlain:
		l.note(ev, l.p.Faint, ev.Text)
	case transcript.KindOversize:
		l.note(ev, l.p.Warn, "a line that is too long to be shown: "+head(ev.Text))
	case transcript.KindOther, transcript.KindHook, transcript.KindTask, transcript.KindTools:
	}
	return l.p.flush()
}

// at is where the lines of an event's agent begin; it names a subagent when
// the one before was another.
func (l *Log) at(ev transcript.Event) int {
	if ev.Agent == "" {
		l.agent, l.last = "", ev.Kind
		return 0
	}
	if ev.Agent != l.agent {
		name := cmp.Or(l.agents[ev.Agent], ev.Agent)
		l.p.line(term.Spaces(logIndent-2), l.p.Faint.Render(l.cut("subagent: "+l.p.Line(head(name)), logIndent-2)))
	}
	l.agent, l.last = ev.Agent, ev.Kind
	return logIndent
}

// cut cuts quoted text to what is left of a line.
func (l *Log) cut(s string, indent int) string { return l.p.o.fit(s, max(8, l.p.width-indent)) }

// note prints one line.
func (l *Log) note(ev transcript.Event, style term.Style, text string) {
	at := l.at(ev)
	l.p.line(term.Spaces(at), style.Render(l.cut("- "+l.p.Line(head(text)), at)))
}

// maxHead is more than a line of any terminal holds; what is masked and quoted
// for one line need not be a megabyte.
const maxHead = 2000

// head is the beginning of a text.
func head(s string) string {
	if len(s) > maxHead {
		return strings.ToValidUTF8(s[:maxHead], "") + term.Ellipsis
	}
	return s
}

func (l *Log) prompt(ev transcript.Event) {
	if ev.Synthetic {
		l.fold(ev, l.p.Faint, "told by the client: ", ev.Text, 1)
		return
	}
	l.fold(ev, l.p.Faint, "prompt: ", ev.Text, 1)
}

// text prints what the agent says, all of it, with its own line breaks.
func (l *Log) text(ev transcript.Event) {
	if l.last == transcript.KindResult || l.last == transcript.KindText {
		l.p.line()
	}
	at := l.at(ev)
	for line := range strings.SplitSeq(strings.TrimSpace(l.p.Lines(ev.Text)), "\n") {
		for _, piece := range l.broken(line, at+2) {
			l.p.line(term.Spaces(at+2), piece)
		}
	}
}

// broken is a line in pieces that fit.
func (l *Log) broken(line string, indent int) []string {
	room := max(8, l.p.width-indent)
	if l.p.o.Width <= 0 || term.Cells(line) <= room {
		return []string{line}
	}
	var out []string
	for rest := line; rest != ""; {
		var part string
		if part, rest = breakAt(rest, room); part == "" {
			break
		}
		out = append(out, strings.TrimRight(part, " "))
	}
	return out
}

func (l *Log) call(ev transcript.Event) {
	at := l.at(ev)
	command := policy.CommandOf(policy.Call{Tool: ev.Call.Name, Input: ev.Call.Input})
	name := term.Truncate(l.p.Command(head(ev.Call.Name)), logName)
	what := head(strings.TrimSpace(strings.TrimPrefix(command, ev.Call.Name)))
	if ev.Call.Name == "Agent" || ev.Call.Name == "Task" {
		l.agents[ev.Call.ID] = what
	}
	text, n := l.p.Command(what), at+term.Cells(name)+4
	if !l.p.o.All {
		text = l.cut(text, n)
	}
	l.p.hang(term.Spaces(at)+"> "+l.p.Bold.Render(name)+"  ", n, at+4, term.Style{}, text)
}

func (l *Log) result(ev transcript.Event) {
	r := *ev.Result
	r.Text = withoutReceipt(r.Text)
	switch {
	case r.NotRun:
		n := l.number(r.CallID)
		mark := "refused: "
		if n > 0 {
			mark = fmt.Sprintf("refused #%d: ", n)
		}
		if _, why, ok := strings.Cut(r.Text, " hook error: "); ok && strings.HasPrefix(r.Text, "PreToolUse:") {
			r.Text = why
		}
		l.fold(ev, l.p.Warn, mark, r.Text, 1)
	case r.IsError:
		l.fold(ev, l.p.Danger, "failed: ", r.Text, logResult)
	case strings.TrimSpace(r.Text) == "":
		l.fold(ev, l.p.Faint, "", "(nothing)", 1)
	case l.agents[r.CallID] != "": // what the subagent said stands above
		l.fold(ev, l.p.Faint, "", r.Text, 1)
	default:
		l.fold(ev, l.p.Faint, "", r.Text, logResult)
	}
}

// withoutReceipt leaves out the line that loop itself put below a result.
func withoutReceipt(text string) string {
	rest, last, ok := cutLast(strings.TrimRight(text, "\n "), "\n")
	if ok && strings.HasPrefix(last, "[receipt: ") && strings.HasSuffix(last, "]") && !strings.Contains(last[1:], "[") && len(last) < 120 {
		return rest
	}
	return text
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// fold prints the first lines of a text and how many more there are.
func (l *Log) fold(ev transcript.Event, style term.Style, mark, text string, keep int) {
	at := l.at(ev) + 2
	text = strings.TrimRight(text, "\n ")
	more := 0
	if !l.p.o.All {
		text, more = firstLines(text, keep)
	}
	lines := strings.Split(l.p.Lines(text), "\n")
	for i, line := range lines {
		if i == 0 {
			line = mark + line
		}
		if i == len(lines)-1 && more > 0 {
			tail := " (+" + plural(more, "line", "lines") + ")"
			l.p.line(term.Spaces(at), style.Render(l.cut(line, at+len(tail))+tail))
			continue
		}
		l.p.line(term.Spaces(at), style.Render(l.cut(line, at)))
	}
}

// firstLines is the first lines of a text, each of a length that is worth
// masking, and how many are left out.
func firstLines(text string, keep int) (first string, more int) {
	lines := strings.SplitN(text, "\n", keep+1)
	if len(lines) > keep {
		more = 1 + strings.Count(lines[keep], "\n")
		lines = lines[:keep]
	}
	for i, line := range lines {
		lines[i] = head(line)
	}
	return strings.Join(lines, "\n"), more
}

func (l *Log) final(ev transcript.Event) {
	f := ev.Final
	style, how := l.p.Ok, "ended well"
	if f.IsError || f.Subtype != "success" {
		style, how = l.p.Danger, "ended with an error"
		for _, t := range append([]string{f.Result, f.TerminalReason}, f.Errors...) {
			if t != "" {
				how += ": " + t
				break
			}
		}
	}
	l.p.line()
	l.note(ev, style, fmt.Sprintf("%s after %s, %s", how, plural(f.NumTurns, "turn", "turns"), money(f.CostUSD)))
}

func (l *Log) limit(ev transcript.Event) {
	r := ev.RateLimit
	if r.Status == "" || r.Status == "allowed" {
		return
	}
	text := "usage limit: " + strings.TrimSpace(r.Status+" "+r.Type)
	if !r.ResetsAt.IsZero() {
		text += ", resets " + l.p.o.clock(r.ResetsAt)
	}
	l.note(ev, l.p.Warn, text)
}
