package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
)

// statusName is the file in the state folder that says how a run stands.
const statusName = "status.json"

// Phase is what a run does at the moment.
type Phase string

// The phases of a run.
const (
	PhaseStarting Phase = "starting" // before the first story
	PhaseWorking  Phase = "working"  // a client works on a story
	PhaseChecking Phase = "checking" // a client has ended; its story is settled
	PhaseWaiting  Phase = "waiting"  // for a limit or the provider
	PhaseEnded    Phase = "ended"
)

// Status is how a run stands, as the run itself wrote it last. Story, Title,
// Doing, Why and Notice may hold hostile text.
type Status struct {
	Schema   int       `json:"schema"`
	Session  string    `json:"session"`
	Pid      int       `json:"pid"`
	PidStart string    `json:"pid_start,omitempty"`
	BootID   string    `json:"boot_id,omitempty"`
	Started  time.Time `json:"started"`
	Written  time.Time `json:"written"`
	Ended    time.Time `json:"ended,omitzero"`
	Level    string    `json:"level"`
	Phase    Phase     `json:"phase"`

	Number       int       `json:"number"` // of the story, from 1; 0 = none yet
	Total        int       `json:"total"`
	Story        string    `json:"story,omitempty"`
	Title        string    `json:"title,omitempty"`
	StoryStarted time.Time `json:"story_started,omitzero"`
	Dir          string    `json:"dir,omitempty"` // folder of the attempt
	Calls        int       `json:"calls"`
	Refused      int       `json:"refused"`
	Doing        string    `json:"doing,omitempty"`
	Seen         time.Time `json:"last_event,omitzero"` // last sign of life of the client
	CostUSD      float64   `json:"cost_usd"`            // of the ended attempts
	Passed       int       `json:"passed"`
	Failed       int       `json:"failed"`

	// InFlight are the stories under way, in the order of the plan, where several
	// are worked on at the same time; what stands above is then of the first.
	InFlight []StoryStatus `json:"in_flight,omitempty"`

	Until  time.Time `json:"waits_until,omitzero"` // end of a wait
	Why    string    `json:"why,omitempty"`        // of a wait, or of an early end
	Notice string    `json:"notice,omitempty"`
	Stop   string    `json:"stop_asked,omitempty"` // StopAfterStory or StopNow, when loop stop has asked
}

// StoryStatus is how one of several stories under way stands.
type StoryStatus struct {
	Number  int       `json:"number"`
	Story   string    `json:"story"`
	Title   string    `json:"title,omitempty"`
	Phase   Phase     `json:"phase"`
	Started time.Time `json:"story_started"`
	Dir     string    `json:"dir,omitempty"`
	Calls   int       `json:"calls"`
	Refused int       `json:"refused"`
	Doing   string    `json:"doing,omitempty"`
	Seen    time.Time `json:"last_event,omitzero"`
}

// first makes the first story under way the one of which the status speaks: one
// that is worked on, if there is any.
func (s *Status) first() {
	if len(s.InFlight) == 0 {
		return
	}
	at := max(0, slices.IndexFunc(s.InFlight, func(x StoryStatus) bool { return x.Phase != PhaseWaiting }))
	x := s.InFlight[at]
	s.Number, s.Story, s.Title, s.Phase, s.StoryStarted, s.Dir = x.Number, x.Story, x.Title, x.Phase, x.Started, x.Dir
	s.Calls, s.Refused, s.Doing, s.Seen = x.Calls, x.Refused, x.Doing, x.Seen
}

// Alive reports whether the run that wrote s still runs.
func (s *Status) Alive() bool {
	return s.Ended.IsZero() && proc.Running(s.Pid, s.PidStart, s.BootID)
}

// ReadStatus reads how the last run of a state folder stands. ok is false when
// none has written it.
func ReadStatus(state string) (s Status, ok bool, err error) {
	data, err := os.ReadFile(filepath.Join(state, statusName))
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err != nil {
		return s, false, fmt.Errorf("read the status of the run: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, false, fmt.Errorf("read the status of the run in %q: %w", state, err)
	}
	return s, true, nil
}

// writeStatus puts s in the place of what was there, whole or not at all.
func writeStatus(state string, s Status) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(state, statusName)
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return errors.Join(err, os.Remove(path+".new"))
	}
	return os.Rename(path+".new", path)
}
