// Package stories reads the story files people already have and writes back
// nothing but the done mark.
//
// It never guesses: two candidates, a duplicate id or key, a file without
// stories and broken JSON are errors that say where. The one invariant: after
// a write, every byte of the file but the one flag is as it was.
package stories

// Story is one unit of work.
type Story struct {
	ID          string
	Title       string
	Description string
	Criteria    []string
	Notes       string
	Verify      []string // commands the file names for verification; shown, never executed
	Done        bool
	InProgress  bool
	Conflict    string  // why Done could not be trusted (passes and status disagree); "" = none
	Priority    float64 // smaller first; stories without one keep file order after those with one
	HasPriority bool
	Depends     []string // ids that must be done first
	Checkpoint  bool     // a person must look after it
	Line        int      // 1-based line where it begins
	File        string   // for a folder of stories: its own file
	Hash        string   // SHA-256 (hex) of its text without the done mark
}

// File is a story file (or a folder of them), read.
type File struct {
	Path    string // as given or found
	Form    string // "prd.json", "stories/*.md", ...
	Project string
	Branch  string
	Gates   []string // qualityGates and the like: shown, never executed
	Stories []Story  // in file order
	// unexported: the bytes, and where each flag is
	impl fileImpl
}
