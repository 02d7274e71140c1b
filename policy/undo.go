package policy

// How far what a rule speaks of can be taken back, as packs say it.
const (
	UndoNone       = "none"       // seen, copied, notified: it cannot be taken back
	UndoCorrection = "correction" // a follow-up can correct it, which others may see
	UndoFull       = "full"       // it can be taken back whole
)

// UndoRank orders what rules say of taking back, worst first. What a rule does
// not say may be as bad as nearly anything.
func UndoRank(undo string) int {
	switch undo {
	case UndoNone:
		return 0
	case UndoCorrection:
		return 2
	case UndoFull:
		return 3
	}
	return 1
}

// Undo is how far a call can be taken back about which these rules spoke: the
// worst of what the external ones say; "" when that is not known.
func (s *Set) Undo(rules []string) string {
	worst, said := "", false
	for _, id := range rules {
		r, ok := s.rule(id)
		if ok && r.Tier == External && (!said || UndoRank(r.Undo) < UndoRank(worst)) {
			worst, said = r.Undo, true
		}
	}
	return worst
}
