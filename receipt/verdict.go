package receipt

import "strconv"

// Verdict is what a Judge finds about a receipt that an agent wrote.
type Verdict string

const (
	// VerdictValid: issued in this attempt, and nothing speaks against the
	// sentence.
	VerdictValid Verdict = "valid"
	// VerdictMisplaced: issued, but the sentence names another tool or command,
	// or a number that does not stand in the result.
	VerdictMisplaced Verdict = "misplaced"
	// VerdictReplayed: issued in another attempt, or in an earlier session.
	VerdictReplayed Verdict = "replayed"
	// VerdictRevoked: issued, and contradicted later.
	VerdictRevoked Verdict = "revoked"
	// VerdictForeign: it came to the agent in a tool result and is not ours.
	VerdictForeign Verdict = "foreign"
	// VerdictForged: in form, and nobody issued it.
	VerdictForged Verdict = "forged"
	// VerdictMalformed: it looks like a receipt and is none.
	VerdictMalformed Verdict = "malformed"
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
	case VerdictValid:
		return None
	case VerdictForeign:
		return Info
	case VerdictMisplaced, VerdictMalformed:
		return Warn
	case VerdictReplayed, VerdictRevoked, VerdictForged:
		return High
	}
	return High
}
