package queue

import (
	"testing"

	"github.com/seed-b23e517c/loop/policy"
)

func TestLikeness(t *testing.T) {
	a, b := push("t1"), push("t2")
	a.Number, b.Number, b.Command, b.Story, b.Said = 1, 2, "git push again", "4", &Said{Text: "Once more."}
	if a.Likeness() != b.Likeness() {
		t.Error("two pushes are not alike")
	}
	for name, change := range map[string]func(*Action){
		"status":   func(a *Action) { a.Status = Approved },
		"evidence": func(a *Action) { a.Evidence = policy.Executed },
		"kind":     func(a *Action) { a.Kind = KindQuestion },
		"guard":    func(a *Action) { a.Tampering = true },
		"opaque":   func(a *Action) { a.Opaque = true },
		"undo":     func(a *Action) { a.Undo = policy.UndoNone },
		"rule":     func(a *Action) { a.Rules = []string{"git-push-force"} },
		"no rule":  func(a *Action) { a.Rules = nil },
		"target":   func(a *Action) { a.Target = "fork" },
	} {
		c := b
		change(&c)
		if a.Likeness() == c.Likeness() {
			t.Errorf("another %s is alike", name)
		}
	}
}
