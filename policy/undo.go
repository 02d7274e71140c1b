package policy

import "slices"

// How far what a rule speaks of can be taken back, as packs say it.
const (
	UndoNone       = "none"       // seen, copied, notified: it cannot be taken back
	UndoCorrection = "correction" // a follow-up can correct it, which others may see
	UndoFull       = "full"       // it can be taken back whole
)

// undoOrder is what rules say, best first; what is not said excuses nothing
// and accuses nothing.
var undoOrder = []string{"", UndoFull, UndoCorrection, UndoNone}

// Undo is how far a call can be taken back about which these rules spoke: the
// worst that one of them says; "" when none says it.
func (s *Set) Undo(rules []string) string {
	s.undoOnce.Do(func() {
		s.undo = map[string]string{}
		for _, r := range s.Rules() {
			if r.Tier == External {
				s.undo[r.ID] = r.Undo
			}
		}
	})
	worst := 0
	for _, id := range rules {
		worst = max(worst, slices.Index(undoOrder, s.undo[id]))
	}
	return undoOrder[worst]
}
