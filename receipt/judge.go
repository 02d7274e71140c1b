package receipt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Place says in what kind of text an agent wrote a receipt.
type Place string

const (
	// InWords: the agent speaks: text blocks, its last word.
	InWords Place = "words"
	// InMessage: text on its way to others: commit messages, deferred
	// payloads, arguments of MCP calls.
	InMessage Place = "message"
	// InFile: contents of files, memory files too.
	InFile Place = "file"
)

// Sighting is a candidate in a text that the agent wrote.
type Sighting struct {
	Candidate
	In      string // the text, in which Find found the candidate
	Place   Place
	Scope   string // the attempt that wrote it
	Arrived bool   // this very string stood in a tool result before
}

// Source is the call that a receipt belongs to, as the transcript shows it.
type Source struct {
	Tool   string
	Input  string // the command of a shell call, else the arguments
	Result string
	Unseen bool // the client shows the call, and no result of it
}

// Judge says what a receipt is worth where it stands. The table of what was
// issued decides, not the MAC.
type Judge struct {
	// Book is the table of receipts issued so far; nil if it is gone.
	Book *Book
	// Ledger finds the record of a token that the Book does not have, in the
	// audit logs of this session and of earlier ones; may be nil. A log does
	// not say what was revoked.
	Ledger func(Token) (Record, bool)
	// Source finds the call of an entry, for the check whether the sentence
	// fits it; may be nil, and then that is not checked.
	Source func(Entry) (Source, bool)
}

// Ruling is what a Judge found.
type Ruling struct {
	Verdict  Verdict
	Severity Severity
	Reason   string // one line for a person; what agents wrote is quoted
	Sentence string // that the receipt is cited for; empty if unclear
	Entry    *Entry // of the token, if it was issued
}

// Rule judges one sighting.
func (j Judge) Rule(s Sighting) Ruling {
	r := j.rule(s)
	if r.Sentence = sentence(s.In, s.Candidate); s.Place == InMessage {
		r.Sentence = message(r.Sentence)
	}
	if r.Verdict == VerdictValid && r.Entry != nil && s.Strict {
		r = j.placed(s, r)
	}
	return r
}

func (j Judge) rule(s Sighting) Ruling {
	if !s.Strict {
		if s.Arrived {
			return ruling(VerdictForeign, "it came in a tool result, and is no receipt in form")
		}
		// Who sends a file in base64 sends the receipts in it.
		if entries := j.issued(s.Encoded); !s.Encoded.IsZero() && len(entries) > 0 {
			return ruleIssued(entries, s)
		}
		return ruling(VerdictMalformed, "%q: %s", shorten(s.Text), s.Fault())
	}
	entries := j.issued(s.Token)
	if j.Book != nil && len(entries) == 1 && entries[0].Scope == s.Scope && entries[0].Format == "" {
		return ruling(VerdictForged, "it was never issued, and somebody wrote into the audit trail that it was")
	}
	if len(entries) > 0 {
		return ruleIssued(entries, s)
	}
	if s.Arrived {
		r := ruling(VerdictForeign, "it came in a tool result and was never issued here")
		if cited(s) {
			r.Severity, r.Reason = High, r.Reason+", and is cited as if it were the agent's own evidence"
		}
		return r
	}
	return ruling(VerdictForged, "it was never issued, here or before")
}

func ruling(v Verdict, reason string, args ...any) Ruling {
	return Ruling{Verdict: v, Severity: v.Severity(), Reason: fmt.Sprintf(reason, args...)}
}

// issued gives the calls that a token was issued for, by the Book, or else by
// the ledger, whose entries have no format. Of the attempt that has a Book no
// receipt is in the ledger alone.
func (j Judge) issued(t Token) []Entry {
	if j.Book != nil {
		if entries := j.Book.Lookup(t); len(entries) > 0 {
			return entries
		}
	}
	if j.Ledger != nil {
		if r, ok := j.Ledger(t); ok {
			return []Entry{{Token: t, Scope: r.Scope, ToolUseID: r.ToolUseID, Tool: r.Tool, Unix: r.TS}}
		}
	}
	return nil
}

// ruleIssued judges a token that was issued. Several entries bear one token in
// zc-v1; the one that speaks most for the agent counts: a good one of its own
// attempt, then a withdrawn one, then one of another attempt.
func ruleIssued(entries []Entry, s Sighting) Ruling {
	best := slices.MinFunc(entries, func(a, b Entry) int { return cmp.Compare(rank(a, s.Scope), rank(b, s.Scope)) })
	var r Ruling
	switch {
	case best.Scope != s.Scope:
		r = ruling(VerdictReplayed, "it was issued in another attempt, %q%s", best.Scope, arrivedNote(s))
	case best.Revoked != "":
		r = ruling(VerdictRevoked, "it was withdrawn: %s", best.Revoked)
	default:
		r = ruling(VerdictValid, "issued in this attempt for %q", best.Tool)
	}
	r.Entry = &best
	return r
}

func rank(e Entry, scope string) int {
	switch {
	case e.Scope == scope && e.Revoked == "":
		return 0
	case e.Scope == scope:
		return 1
	}
	return 2
}

func arrivedNote(s Sighting) string {
	if s.Arrived {
		return "; a tool result had shown it to the agent"
	}
	return ""
}

// cited reports whether a receipt is put forward as evidence: in what the
// agent says to somebody, outside a quotation, in the form of a citation or
// beside words that it would have to bear out.
func cited(s Sighting) bool {
	if s.Place == InFile {
		return false
	}
	near, start, _ := window(s.In, s.Candidate)
	line := strings.TrimLeft(near[strings.LastIndexByte(near[:start], '\n')+1:start], " \t")
	if strings.HasPrefix(line, ">") {
		return false
	}
	head, bracketed := citation(near, start)
	return bracketed || strings.Contains(strings.ToLower(near[head:start]), "receipt") || claims(sentence(s.In, s.Candidate))
}

// claims reports whether a sentence says what a call has shown: it names a
// command or a number, and speaks of no text in which it stands.
func claims(sentence string) bool {
	if len(commandsIn(sentence)) == 0 && len(claimedFigures(sentence)) == 0 {
		return false
	}
	for _, w := range commandWords(sentence) {
		switch w {
		case "page", "file", "shows", "says", "contains", "reads", "example", "quoted", "found", "stands", "readme", "document":
			return false
		}
	}
	return true
}

// placed holds the sentence against the call. With several entries of one
// token it is enough that it fits one.
func (j Judge) placed(s Sighting, r Ruling) Ruling {
	if j.Source == nil {
		return r
	}
	why := ""
	for _, e := range j.issued(s.Token) {
		if e.Scope != s.Scope || e.Revoked != "" {
			continue
		}
		src, ok := j.Source(e)
		switch {
		case !ok:
			return r
		case src.Unseen:
			why = "the client's stream shows no result of that call"
		case r.Sentence != "":
			why = misfit(r.Sentence, src)
		default:
			why = ""
		}
		if why == "" {
			return r
		}
	}
	out := ruling(VerdictMisplaced, "%s", why)
	out.Sentence, out.Entry = r.Sentence, r.Entry
	return out
}
