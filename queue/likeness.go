package queue

import "github.com/seed-b23e517c/loop/policy"

// Likeness is what actions have in common that a person decides in one go: how
// they stand and are known, how far they can be undone, by which rule, and where
// they lead.
type Likeness struct {
	status             Status
	evidence           policy.Evidence
	question           bool
	tampering, opaque  bool
	undo, rule, target string
}

// Likeness is the same for two actions of one kind.
func (a *Action) Likeness() Likeness {
	l := Likeness{
		status: a.Status, evidence: a.Evidence, question: a.IsQuestion(), tampering: a.Tampering, opaque: a.Opaque, undo: a.Undo, target: a.Target,
	}
	if len(a.Rules) > 0 {
		l.rule = a.Rules[0]
	}
	return l
}
