package receipt

// Event says what a Record is about, and what its fields hold.
type Event string

const (
	// StoryOpen begins a scope.
	StoryOpen Event = "story_open"
	// CallOK is a call that came back well: tool, tool_use_id, the hashes of
	// its canonical arguments and of what was signed, and its receipt. The
	// receipt is empty when none was issued.
	CallOK Event = "call_ok"
	// CallRevoked withdraws the receipt of a call that came back well before;
	// result_sha256 is of the reason.
	CallRevoked Event = "call_revoked"
	// CallFail is a call that came back with an error, or did not come back;
	// result_sha256 is of the error's text, or of CutOff. It has no receipt.
	CallFail Event = "call_fail"
	// CallDenied is a call that was refused before it ran; result_sha256 is of
	// the reason given.
	CallDenied Event = "call_denied"
	// Deferred is a call that was refused and waits for a person.
	Deferred Event = "deferred"
	// FinalText is what the agent said last; result_sha256 is of that text.
	FinalText Event = "final_text"
	// Finding is something the report shows; result_sha256 is of its text.
	Finding Event = "finding"
	// Approved is a person's yes to a deferred call; args_sha256 is of what was
	// approved, which may have been edited.
	Approved Event = "approved"
	// Rejected is a person's no to a deferred call.
	Rejected Event = "rejected"
	// Answered is a person's answer to a question, or their word at a
	// checkpoint; args_sha256 is of the question, result_sha256 of the answer.
	Answered Event = "answered"
	// Replayed is the running of an approved call; result_sha256 is of what it
	// gave.
	Replayed Event = "replayed"
	// Edited is another form that a person gave a deferred call, or that they
	// took back; args_sha256 is of the form that holds from then on.
	Edited Event = "edited"
	// TakenBack is a person's taking back of what they, or another, decided last
	// about the same call or question; result_sha256 is of the word for that:
	// approve, reject or answer.
	TakenBack Event = "taken_back"
	// StoryClose ends a scope.
	StoryClose Event = "story_close"
)

// CutOff is the error of a call of which no result came: it may have run.
const CutOff = "no result came: the attempt ended first"

// Known reports whether e is one of the events above.
func (e Event) Known() bool {
	switch e {
	case StoryOpen, CallOK, CallRevoked, CallFail, CallDenied, Deferred, FinalText, Finding, Approved, Rejected, Answered, Replayed, Edited, TakenBack, StoryClose:
		return true
	}
	return false
}

// Decision reports whether e is about what a person did, which is recorded when
// it is done, by whatever process.
func (e Event) Decision() bool {
	switch e {
	case Approved, Rejected, Answered, Replayed, Edited, TakenBack:
		return true
	case StoryOpen, CallOK, CallRevoked, CallFail, CallDenied, Deferred, FinalText, Finding, StoryClose:
	}
	return false
}
