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
func (s *Set) Explain(command string) Explanation {
	return s.ExplainCall(command, Call{})
}

// ExplainCall is Explain for a call whose directory is known and whose files
// can be read: what they run stands under the command that runs it.
func (s *Set) ExplainCall(command string, c Call) (e Explanation) {
	defer func() {
		if p := recover(); p != nil {
			e = Explanation{Command: command, Result: s.failed(command, p)}
		}
	}()
	r := s.readingOf(c)
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

// nested puts what a script runs under the command that runs it, by the name
// of the script.
type nested map[string][]Node

// take moves the nodes that were found since n under the innermost script.
func (k *nested) take(r *reading, n int, scripts []string) {
	if len(r.nodes) <= n || len(scripts) == 0 {
		return
	}
	if *k == nil {
		*k = nested{}
	}
	file := scripts[len(scripts)-1]
	(*k)[file] = append((*k)[file], r.nodes[n:]...)
	r.nodes = r.nodes[:n]
}

// give puts what a script runs under the last node, which ran it, and leaves
// that node what is still said of it.
func (k nested) give(r *reading, file string, said []Hit) {
	if len(r.nodes) == 0 {
		return
	}
	node := &r.nodes[len(r.nodes)-1]
	res := finish(append([]Hit(nil), said...), Mentioned)
	node.Verdict, node.Hits = res.Verdict, res.Hits
	node.Children = append(node.Children, k[file]...)
	delete(k, file)
	for _, c := range node.Children {
		if verdictRank(c.Verdict) > verdictRank(node.Verdict) {
			node.Verdict = c.Verdict
		}
	}
}

func verdictRank(v Verdict) int {
	for i, w := range []Verdict{VerdictLocal, VerdictMention, VerdictShared, VerdictExternal} {
		if v == w {
			return i
		}
	}
	return 0
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
