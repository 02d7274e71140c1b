package policy

import "github.com/seed-b23e517c/loop/policy/shell"

// Node is one simple command of an explained line, and what it makes run.
type Node struct {
	Source   string   `json:"source"`             // as it stands in the line
	Argv     []string `json:"argv"`               // as it would run, wrappers taken off
	Wrappers []string `json:"wrappers,omitempty"` // what was unwrapped, outermost first
	Remote   string   `json:"remote,omitempty"`   // where it would run, when not here
	Defined  bool     `json:"defined,omitempty"`  // only defined, not run by the line
	Verdict  Verdict  `json:"verdict"`
	Hits     []Hit    `json:"hits,omitempty"`
	Children []Node   `json:"children,omitempty"` // commands in code that this one runs
}

// Explanation is how a command line was read.
type Explanation struct {
	Command string   `json:"command"`
	Result  Result   `json:"result"`
	Nodes   []Node   `json:"nodes"`
	Texts   []string `json:"texts,omitempty"`  // parts that are data
	Opaque  []string `json:"opaque,omitempty"` // what could not be read
}

// Explain shows how a command line is read: each simple command, what was
// unwrapped, which rule said what.
func (s *Set) Explain(command string) (e Explanation) {
	defer func() {
		if p := recover(); p != nil {
			e = Explanation{Command: command, Result: s.failed(command, p)}
		}
	}()
	r := s.newReading()
	r.trace = true
	hits := r.line(command)
	e = Explanation{Command: command, Result: finish(hits, Mentioned), Nodes: r.nodes}
	l := shell.Read(command, shell.Options{})
	for _, t := range l.Texts {
		e.Texts = append(e.Texts, t.Body)
	}
	e.Opaque = l.Opaque
	return e
}

func newNode(c *shell.Command, hits []Hit, children []Node) Node {
	n := Node{
		Source: commandText(c), Wrappers: c.Wrappers, Remote: c.Remote,
		Defined: c.Mode == shell.Defined, Children: children,
	}
	for _, w := range c.Argv {
		n.Argv = append(n.Argv, w.Text)
	}
	res := finish(append([]Hit(nil), hits...), Mentioned)
	n.Verdict, n.Hits = res.Verdict, res.Hits
	return n
}
