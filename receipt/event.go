package receipt

// Event says what a Record is about, and what its fields hold.
type Event string

const (
	// EventStoryOpen begins a scope.
	EventStoryOpen Event = "story_open"
	// EventCallOK is a call that came back well: tool, tool_use_id, the hashes of
	// its canonical arguments and of what was signed, and its receipt. The
	// receipt is empty when none was issued.
	EventCallOK Event = "call_ok"
	// EventCallFail is a call that came back with an error; result_sha256 is of the
	// error's text. It has no receipt.
	EventCallFail Event = "call_fail"
	// EventCallDenied is a call that was refused before it ran; result_sha256 is of
	// the reason given.
	EventCallDenied Event = "call_denied"
	// EventDeferred is a call that was refused and waits for a person.
	EventDeferred Event = "deferred"
	// EventFinalText is what the agent said last; result_sha256 is of that text.
	EventFinalText Event = "final_text"
	// EventFinding is something the report shows; result_sha256 is of its text.
	EventFinding Event = "finding"
	// EventApproved is a person's yes to a deferred call; args_sha256 is of what was
	// approved, which may have been edited.
	EventApproved Event = "approved"
	// EventRejected is a person's no to a deferred call.
	EventRejected Event = "rejected"
	// EventReplayed is the running of an approved call; result_sha256 is of what it
	// gave.
	EventReplayed Event = "replayed"
	// EventStoryClose ends a scope.
	EventStoryClose Event = "story_close"
)

// Known reports whether e is one of the events above.
func (e Event) Known() bool {
	switch e {
	case EventStoryOpen, EventCallOK, EventCallFail, EventCallDenied, EventDeferred, EventFinalText, EventFinding, EventApproved, EventRejected, EventReplayed, EventStoryClose:
		return true
	}
	return false
}
