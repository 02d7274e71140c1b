package report

import (
	"fmt"
	"io"

	"github.com/seed-b23e517c/loop/queue"
)

// Exported is the JSON export of actions. Secrets are masked.
type Exported struct {
	Schema    int            `json:"schema"`
	SessionID string         `json:"session_id"`
	Actions   []queue.Action `json:"actions"`
}

// State is the plain shape of a state file that scripts round such loops
// read: what still waits for a person, and nothing that was decided. It has no
// schema number, because they do not expect one.
type State struct {
	SessionID string          `json:"session_id"`
	Deferred  []StateDeferred `json:"deferred_actions"`
}

// StateDeferred is one action of a State.
type StateDeferred struct {
	Command    string `json:"command_pattern"`
	Story      string `json:"story_id"`
	DetectedAt string `json:"detected_at"` // RFC 3339, UTC, whole seconds
}

// Export prints actions for other programs; format is "json" or "state".
func Export(w io.Writer, actions []queue.Action, sessionID, format string, o Options) error {
	switch format {
	case "json":
		return writeActions(w, Exported{Schema: queue.Schema, SessionID: sessionID, Actions: []queue.Action{}}, actions, o)
	case "state":
		s := State{SessionID: sessionID, Deferred: make([]StateDeferred, 0, len(actions))}
		for i := range actions {
			a := &actions[i]
			if a.IsQuestion() {
				continue // those scripts take each entry for a command
			}
			switch a.Status {
			case queue.Replaying, queue.Replayed, queue.Rejected, queue.Superseded, queue.Answered:
				continue
			case queue.Pending, queue.Approved, queue.Failed, queue.Unknown:
			}
			s.Deferred = append(s.Deferred, StateDeferred{what(a), a.Story, stamp(a.DetectedAt)})
		}
		return WriteJSON(w, s, o)
	}
	return fmt.Errorf("unknown export format %q (json or state)", format)
}
