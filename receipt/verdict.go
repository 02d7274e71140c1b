package receipt

import "strconv"

// Verdict is what a Judge finds about a receipt that an agent wrote.
type Verdict string

const (
	// Valid: issued in this attempt, and nothing speaks against the sentence.
	Valid Verdict = "valid"
	// Misplaced: issued, but the sentence names another tool or command, or a
	// number that does not stand in the result.
	Misplaced Verdict = "misplaced"
	// Replayed: issued in another attempt, or in an earlier session.
	Replayed Verdict = "replayed"
	// Revoked: issued, and contradicted later.
	Revoked Verdict = "revoked"
	// Foreign: it came to the agent in a tool result and is not ours.
	Foreign Verdict = "foreign"
	// Forged: in form, and nobody issued it.
	Forged Verdict = "forged"
	// Malformed: it looks like a receipt and is none.
	Malformed Verdict = "malformed"
)

// Severity says how loudly a verdict is to be told. A higher one is greater.
type Severity int

// None is for what need not be told at all.
const (
	None Severity = iota
	Info
	Warn
	High
)

// String is none, info, warn or high.
func (s Severity) String() string {
	names := []string{"none", "info", "warn", "high"}
	if s < 0 || int(s) >= len(names) {
		return "severity " + strconv.Itoa(int(s))
	}
	return names[s]
}

// MarshalText gives String.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Severity is the usual one of a verdict.
func (v Verdict) Severity() Severity {
	switch v {
	case Valid:
		return None
	case Foreign:
		return Info
	case Misplaced, Malformed:
		return Warn
	case Replayed, Revoked, Forged:
		return High
	}
	return High
}
