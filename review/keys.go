package review

import (
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/replay"
)

func itoa(n int) string { return strconv.Itoa(n) }

func number(a queue.Action) string { return "#" + strconv.FormatUint(a.Number, 10) }

// listKey is what a key does while the list is in front.
func (m *model) listKey(name string) tea.Cmd {
	_, rows := m.listRoom()
	switch name {
	case "q":
		return tea.Quit
	case "esc":
		m.marks = map[string]bool{}
		if m.search != "" {
			m.search = ""
			m.list.choose(m.detail.id)
		}
		return m.choose()
	case "?", "h":
		m.mode = helping
	case "j", "down":
		m.move(1)
	case "k", "up":
		m.move(-1)
	case "s", "space", "n":
		return m.skip()
	case "g", "home":
		m.move(-len(m.shown))
	case "G", "end":
		m.move(len(m.shown))
	case "ctrl+f":
		m.move(rows)
	case "ctrl+b":
		m.move(-rows)
	case "pgdown", "ctrl+d", "J":
		m.scrollDetail(name, 1)
	case "pgup", "ctrl+u", "K":
		m.scrollDetail(name, -1)
	case "tab", "f":
		m.refilter(1)
	case "shift+tab", "F":
		m.refilter(len(filters) - 1)
	case "/":
		return m.find()
	case "z", "o", "right":
		if m.current() != nil {
			m.mode = zoomed
			return m.choose()
		}
	case "m", "x":
		m.mark()
	case "M":
		return m.markAlike()
	case "+", "=":
		if a := m.current(); a != nil && !m.layOut(a) {
			m.say(true, "nothing is folded behind "+number(*a))
		}
	default:
		return m.decideKey(name)
	}
	return m.choose()
}

// zoomedKey is what a key does while one action has the whole screen.
func (m *model) zoomedKey(name string) tea.Cmd {
	switch name {
	case "z", "o", "left", "esc", "q":
		m.mode = listing
		return m.choose()
	case "j", "down", "J":
		m.scrollDetail("J", 1)
	case "k", "up", "K":
		m.scrollDetail("K", -1)
	case "pgdown", "ctrl+d", "space":
		m.scrollDetail("pgdown", 1)
	case "pgup", "ctrl+u":
		m.scrollDetail("pgup", -1)
	case "g", "home":
		m.detail.top = 0
	case "G", "end":
		_, rows := m.detailRoom()
		m.detail.scroll(len(m.detail.rows), rows)
	default:
		m.mode = listing
		return m.decideKey(name)
	}
	return nil
}

func (m *model) scrollDetail(name string, by int) {
	_, rows := m.detailRoom()
	if name != "J" && name != "K" {
		by *= max(1, rows-2)
	}
	m.detail.scroll(by, rows)
}

func (m *model) refilter(by int) {
	m.filter = (m.filter + by) % len(filters)
	m.list.choose(m.detail.id)
}

func (m *model) mark() {
	a := m.current()
	if a == nil {
		return
	}
	if m.marks[a.ID] {
		delete(m.marks, a.ID)
	} else {
		m.marks[a.ID] = true
	}
	m.move(1)
}

// markAlike marks all that are listed and of the kind that the cursor is on: a
// thousand repeats are one decision. Once more unmarks them.
func (m *model) markAlike() tea.Cmd {
	a := m.current()
	switch {
	case a == nil:
		return nil
	case !m.known:
		return m.say(true, "the queue is still being read")
	case !undecided(a.Status):
		return m.say(true, "it is decided")
	}
	kind, unmark := a.Likeness(), m.marks[a.ID]
	n := 0
	for _, i := range m.shown {
		x := &m.all[i]
		if x.Likeness() != kind {
			continue
		}
		n++
		if unmark {
			delete(m.marks, x.ID)
		} else {
			m.marks[x.ID] = true
		}
	}
	if unmark {
		return m.say(false, fmt.Sprintf("%d of this kind unmarked", n))
	}
	return m.say(false, fmt.Sprintf("%d of this kind marked: r rejects them, a shows each and runs them; / narrows what M marks", n))
}

// skip goes on to the next; what is skipped waits.
func (m *model) skip() tea.Cmd {
	at := m.cursor
	m.move(1)
	if m.cursor == at && m.current() != nil {
		m.say(false, fmt.Sprintf("that was the last; %d wait", m.waiting()))
	}
	return m.choose()
}

// decideKey is what a key decides about the action under the cursor, or about
// those that are marked.
func (m *model) decideKey(name string) tea.Cmd {
	a := m.current()
	if name == "u" && m.o.ReadOnly == "" {
		return m.undo(a)
	}
	if a == nil {
		return nil
	}
	marked := m.marked()
	switch name {
	case "a", "r", "e", "A", "N", "u", "enter":
		if m.o.ReadOnly != "" {
			return m.say(true, "only people decide, and this looks like an agent's session: "+m.o.ReadOnly)
		}
	}
	switch name {
	case "a":
		if len(marked) > 0 {
			return m.start("Replay "+names(marked), several(m.desk, marked))
		}
		return m.approve(*a)
	case "r":
		if len(marked) > 0 {
			return m.reject(m.rowsOf(marked))
		}
		return m.reject(m.row(*a))
	case "e":
		if a.IsQuestion() {
			return m.answer(*a)
		}
		if err := queue.MayReplay(*a, true); err != nil {
			return m.trouble(err)
		}
		return m.edit(*a, replay.EditText(*a), "")
	case "A":
		return m.rule(*a, queue.Approve)
	case "N":
		return m.rule(*a, queue.Reject)
	case "enter":
		if a.IsQuestion() {
			return m.answer(*a)
		}
		m.mode = zoomed
		return m.choose()
	}
	return nil
}

// undo takes back what was decided about the action under the cursor, else what
// was decided here last: that is no longer in the list of what waits.
func (m *model) undo(a *queue.Action) tea.Cmd {
	if a != nil && slices.Contains([]queue.Status{queue.Rejected, queue.Approved, queue.Answered}, a.Status) {
		return m.decide([]queue.Action{*a}, queue.Undo, "", "taken back: "+number(*a)+" waits again")
	}
	for n := len(m.last); n > 0; n = len(m.last) {
		ids := m.last[n-1]
		m.last = m.last[:n-1]
		var list []queue.Action
		for _, x := range m.all {
			if slices.Contains(ids, x.ID) && slices.Contains([]queue.Status{queue.Rejected, queue.Answered}, x.Status) {
				list = append(list, x)
			}
		}
		switch len(list) {
		case 0:
		case 1:
			return m.decide(list, queue.Undo, "", "taken back: "+names(list)+" waits again")
		default:
			return m.decide(list, queue.Undo, "", "taken back: "+names(list)+" wait again")
		}
	}
	return m.say(true, "there is nothing to take back; tab shows what was decided")
}

// approve asks about one action and replays it; a checkpoint is let go on.
func (m *model) approve(a queue.Action) tea.Cmd {
	switch {
	case a.Checkpoint != "":
		return m.decide([]queue.Action{a}, queue.Answer, "", "approved "+number(a)+"; the next loop run goes on; u takes it back")
	case a.IsQuestion():
		return m.answer(a)
	}
	if err := queue.MayReplay(a, true); err != nil {
		return m.trouble(err)
	}
	return m.start("Replay "+number(a), one(m.desk, a, m.row(a)[1:]))
}

// askingKey takes the answer to what a job asks. A yes counts once all of it
// has been on the screen.
func (m *model) askingKey(name string) tea.Cmd {
	switch name {
	case "i", "y", "Y":
		w := m.ask.with
		if name == "i" && w == nil {
			break
		}
		if n := m.page.unseen(); n > 0 {
			return m.say(true, fmt.Sprintf("%d of %d lines have not been on the screen yet: space shows them", n, m.page.lines))
		}
		if name == "i" {
			w.in = !w.in
			return nil
		}
		if w != nil && w.all && !w.in {
			return m.say(true, "nothing would be run: i takes in what has changed, n leaves it")
		}
		if word := m.ask.word; word != "" {
			return m.open(form{
				field: newField("", true), label: m.ask.why + " To run it all the same, type " + word + ":", hint: hintSingle,
				done: func(text string) tea.Cmd { return m.reply(text == word) }, undo: func() { m.mode = asking },
			})
		}
		return m.reply(true)
	case "n", "N", "q", "esc":
		return m.reply(false)
	}
	m.page.key(name)
	return nil
}

// reply gives the job its answer. It waits for nothing else, so that this does
// not block.
func (m *model) reply(yes bool) tea.Cmd {
	j := m.job
	m.mode, m.ask = running, nil
	if j == nil {
		m.mode = listing
		return nil
	}
	return func() tea.Msg {
		select {
		case j.answer <- yes:
		case <-j.done:
		}
		return j.next()
	}
}

// runningKey can end what runs, and nothing else.
func (m *model) runningKey(name string) tea.Cmd {
	switch name {
	case "ctrl+c":
		m.job.cancel()
		return m.say(true, "ending it")
	case "q", "esc":
		return m.say(true, "it is running; ctrl+c ends it")
	}
	return nil
}
