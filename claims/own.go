package claims

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
	"github.com/seed-b23e517c/loop/queue"
)

// own is what the agent itself has written: no source for what it claims.
type own struct {
	memory []string
	files  written
	code   []string // that interpreters were given in a line
	sent   []string // what was sent to where it may be read again
	size   int
}

func newOwn(memory []string) own { return own{memory: memory, files: newWritten()} }

// take keeps what a call writes, for the calls after it, and returns what of it
// is a program, or what a program may be configured with: its output may be no
// more than that.
func (o *own) take(m *made) (programs []string) {
	for _, e := range o.files.write(m.call) {
		if !isProse(e.name) && e.text != "" {
			programs = append(programs, e.text)
		}
	}
	if m.code != "" {
		programs = append(programs, m.code)
	}
	if o.size += len(m.code) + len(m.input); o.size > maxWritten {
		return programs
	}
	if m.code != "" {
		o.code = append(o.code, m.code)
	}
	if m.remote || m.history {
		o.sent = append(o.sent, m.input)
	}
	return programs
}

// worth is what a result says for a claim: nothing when the agent itself put
// it there. quote is the line of the result, and holds reports whether a text
// of the agent's has the claim in it; programs says so of what take returned.
func (o *own) worth(m *made, quote string, holds func(text string) bool, programs bool) queue.ClaimSource {
	switch {
	case m.call == nil, m.source == queue.SourceSubagent:
		return m.source
	case holds(m.input):
		return queue.SourceAgent
	}
	o.resolve(m)
	if m.remembers || slices.ContainsFunc(m.texts, holds) || m.reads && (m.ownOnly || o.wrote(quote)) {
		return queue.SourceAgentFile
	}
	if m.source == queue.SourceResult && programs {
		return queue.SourceAgentFile
	}
	if (m.remote || m.history) && slices.ContainsFunc(o.sent, holds) {
		return queue.SourceAgent
	}
	return m.source
}

// resolve finds once what the agent wrote into the files that a call names.
func (o *own) resolve(m *made) {
	if m.resolved {
		return
	}
	m.resolved, m.ownOnly = true, o.ownOnly(m.names)
	for _, name := range m.names {
		if text, ok := o.files.text(name); ok {
			m.texts = append(m.texts, text)
		}
		m.remembers = m.remembers || o.remembered(name) && !o.writes(m, name)
		for _, code := range o.code {
			if len(name) > 3 && strings.Contains(code, path.Base(name)) {
				m.texts = append(m.texts, code)
			}
		}
	}
}

// ownOnly: all the files that are named are the agent's, and whatever is shown
// or reckoned from them.
func (o *own) ownOnly(names []string) bool {
	found := false
	for _, name := range names {
		_, known := o.files.text(name)
		switch {
		case known && !o.files.partly(name):
			found = true
		case known, strings.ContainsAny(name, "./"):
			return false
		}
	}
	return found
}

// wrote: the line, or what follows the name of a file in it, is the agent's.
func (o *own) wrote(line string) bool {
	for {
		line = strings.TrimLeft(strings.TrimSpace(line), "+")
		if o.files.lines[strings.TrimSpace(line)] {
			return true
		}
		i := strings.IndexAny(line, ":\t→")
		if i < 0 {
			return false
		}
		line = strings.TrimLeft(line[i:], ":\t→")
	}
}

// writes: the call itself puts into the file what a program prints.
func (o *own) writes(m *made, name string) bool {
	return slices.ContainsFunc(m.commands, func(c shell.Command) bool {
		return slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return strings.HasPrefix(r.Op, ">") && sameFile(r.Target.Text, name) })
	})
}

// remembered: a file by which one session tells the next what it thinks.
func (o *own) remembered(name string) bool {
	base := strings.ToLower(path.Base(name))
	if base == "memory.md" || base == "progress.txt" || base == "progress.md" || base == "notes.md" || base == "claude.local.md" || strings.Contains(name, "/memory/") {
		return true
	}
	return slices.ContainsFunc(o.memory, func(m string) bool { return sameFile(path.Clean(m), path.Clean(name)) })
}
