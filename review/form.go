package review

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

// form is a text that is asked of the person.
type form struct {
	field
	label string
	about string // what it is about, below the label
	hint  string
	note  string // what is said about it meanwhile
	done  func(text string) tea.Cmd
	live  func(text string) // told of each change; nil = nobody
	back  mode              // where esc leads
	undo  func()            // what esc takes back
}

const (
	hintSingle  = "enter done   esc back"
	hintSeveral = "enter done   ctrl+j new line   esc back"
)

func (m *model) open(f form) tea.Cmd {
	f.back = listing
	m.mode, m.form = typing, f
	return nil
}

func (m *model) formChanged() {
	if m.form.live != nil {
		m.form.live(m.form.text())
	}
}

func (m *model) typingKey(name, typed string) tea.Cmd {
	f := &m.form
	switch name {
	case "esc":
		m.mode = f.back
		if f.undo != nil {
			f.undo()
		}
		return m.choose()
	case "enter":
		m.mode = f.back
		return f.done(f.text())
	}
	f.note = ""
	if f.field.key(name, typed) {
		m.formChanged()
	}
	return nil
}

// reject asks for the reason and rejects one action, or those that are marked.
func (m *model) reject(list []queue.Action) tea.Cmd {
	label := "Reject " + names(list) + ". Why (kept with it; may be empty)?"
	return m.open(form{field: newField("", true), label: label, about: commands(list), hint: hintSingle, done: func(text string) tea.Cmd {
		return m.decide(list, queue.Reject, text, "rejected "+names(list)+"; u takes it back")
	}})
}

// commands says what several are about, a line each.
func commands(list []queue.Action) string {
	if len(list) < 2 {
		return ""
	}
	var lines []string
	for i, a := range list {
		if i == maxFolded && len(list) > maxFolded+1 {
			lines = append(lines, "and "+itoa(len(list)-i)+" more")
			break
		}
		lines = append(lines, number(a)+"  "+firstLine(a))
	}
	return strings.Join(lines, "\n")
}

// answer asks for the answer to a question.
func (m *model) answer(a queue.Action) tea.Cmd {
	label := "Answer " + names([]queue.Action{a}) + ". Its story reads it with the question:"
	f := form{field: newField(cmp.Or(m.drafts[a.ID], a.AnswerText()), false), label: label, about: term.QuoteLines(a.Command), hint: hintSeveral}
	if text := a.AnswerText(); text != "" && m.drafts[a.ID] != "" {
		f.about += "\n\nanswered, by somebody else: " + term.QuoteLines(text)
	}
	f.done = func(text string) tea.Cmd {
		if strings.TrimSpace(text) == "" && a.Checkpoint == "" {
			return m.say(true, "an empty answer; nothing was done")
		}
		return m.decide([]queue.Action{a}, queue.Answer, text, "answered "+names([]queue.Action{a})+"; the next loop run tells it; u takes it back")
	}
	return m.open(f)
}

// decide writes decisions, one after the other; the first that fails ends it.
func (m *model) decide(list []queue.Action, verb, reason, note string) tea.Cmd {
	m.mode = deciding
	return func() tea.Msg {
		var ids []string
		for _, a := range list {
			if _, err := m.desk.Decide(m.ctx, a, verb, reason); err != nil {
				return decidedMsg{ids: ids, err: err, about: a.ID, answer: answerOf(verb, reason)}
			}
			if verb != queue.Undo {
				ids = append(ids, a.ID)
			}
		}
		return decidedMsg{ids: ids, note: note}
	}
}

func answerOf(verb, text string) string {
	if verb != queue.Answer {
		return ""
	}
	return text
}

// find searches while it is typed.
func (m *model) find() tea.Cmd {
	before := m.search
	set := func(text string) {
		m.search = text
		m.list.choose(m.detail.id)
	}
	return m.open(form{
		field: newField(m.search, true), label: "Search command, story, tool, target, number:", hint: "enter keep   esc as before",
		live: set, undo: func() { set(before) }, done: func(string) tea.Cmd { return m.choose() },
	})
}

type editedMsg struct {
	seen queue.Action
	text string
	now  queue.Action
	err  error
}

// edit lets the person change what would run, and then shows it as any other.
func (m *model) edit(a queue.Action, text, note string) tea.Cmd {
	label := "Edit what " + names([]queue.Action{a}) + " would run. The agent's own form is kept beside it:"
	return m.open(form{field: newField(text, false), label: label, note: note, hint: hintSeveral, done: func(text string) tea.Cmd {
		if text == replay.EditText(a) {
			return m.approve(a)
		}
		m.mode = deciding
		return func() tea.Msg {
			now, err := m.desk.Edit(m.ctx, a, text)
			return editedMsg{a, text, now, err}
		}
	}})
}

// editedUpdate goes on to the question whether the new form is to be run, or
// back into the field with what was wrong.
func (m *model) editedUpdate(msg editedMsg) tea.Cmd {
	m.mode = listing
	if msg.err != nil {
		if msg.now.ID != "" { // somebody else was quicker
			return tea.Batch(m.trouble(msg.err), m.read())
		}
		return m.edit(msg.seen, msg.text, errorText(msg.err))
	}
	return tea.Batch(m.approve(msg.now), m.read())
}

func names(list []queue.Action) string {
	if len(list) == 1 {
		return number(list[0])
	}
	var out []string
	for i, a := range list {
		if i == 6 && len(list) > 7 {
			out = append(out, "and "+itoa(len(list)-i)+" more")
			break
		}
		out = append(out, number(a))
	}
	return strings.Join(out, " ")
}
