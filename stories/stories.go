// Package stories reads the story files people already have and writes back
// nothing but the done mark.
//
// Forms lists them: the prd.json family with its kin in YAML, JSON lines and
// JSON with comments, plans with checkboxes, documents with a heading a story,
// and folders with a Markdown file a story.
//
// It never guesses: two candidates, a duplicate id or key, a file without
// stories and broken JSON are errors that say where. It does not decide which
// story is done and runs no command it finds in a file. The one invariant:
// after a write, every byte of the file but the one flag is as it was.
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
	Held        string  // why it is not to be worked on (its status, or a dependency's); "" = it is
	Priority    float64 // smaller first; stories without one keep file order after those with one
	HasPriority bool
	Depends     []string // ids that must be done first
	Checkpoint  bool     // a person must look after it, before what comes next is begun
	Approval    bool     // a person must agree before it is begun
	Check       bool     // it looks at something and need not change a file
	Level       string   // the autonomy level it asks for; "" = none; as written, not checked
	Group       string   // the headings it stands under; "" = none
	Line        int      // 1-based line where it begins
	File        string   // for a folder of stories: its own file
	Hash        string   // SHA-256 (hex) of its text without the done mark
}

// File is a story file (or a folder of them), read.
type File struct {
	Path     string // as given or found
	Form     string // one of the constants
	Project  string
	Branch   string
	Gates    []string // qualityGates and the like: shown, never executed
	Stories  []Story  // in file order
	Warnings []string // what was read but not understood; nothing that changes what is done
	Unread   []string // what stands there and is given to no story: text, keys that mean nothing here
	// unexported: the bytes, and where each flag is
	impl fileImpl
}

// fileImpl is what the file was made of when it was read. Positions in it are
// never used to write: every write reads the file again.
type fileImpl struct {
	parts  []part         // the one file, or each file of the folder
	at     map[string]int // where a story is in File.Stories, by id; made when first asked for
	texts  map[string]int // the same by hash, for derived ids
	places []place        // where each story of File.Stories lies
	words  words          // what the file calls done and not done in a status
	// inserted remembers, by id, where SetDone put a mark in, so that taking
	// it back leaves the file as it was.
	inserted map[string]slot
}

// part is one file on disk.
type part struct {
	path string // as opened
	form string // how it is read; "" = not decided yet
	link string // where path leads when it is a symbolic link
	real string // the file behind it
	data []byte
}

// place is where one story stands in its part, and its done marks.
type place struct {
	part    int
	marks   []mark
	insert  slot // where a mark goes when there is none
	derived bool // the id was made from the position, not read
	rank    int  // of its part of the plan: comes before the priority

	done     bool // as first read; SetDone changes only the Story
	conflict string
}

// mark is one flag that says done or not done.
type mark struct {
	key        string
	start, end int    // bytes of the value
	raw        string // those bytes
	done       bool
	known      bool // false: the value says neither
}

// slot is where a missing mark is inserted: before + value + after, at offset.
type slot struct {
	key           string
	at            int
	before, after string
}

// folder says whether each file of this form is one story.
func (f *File) folder() bool { return f.Form == FormMarkdown || f.Form == FormCodeTask }

// index finds a story by id, -1 when there is none.
func (f *File) index(id string) int {
	if f.impl.at == nil {
		f.impl.at = make(map[string]int, len(f.Stories))
		for i := range f.Stories {
			f.impl.at[f.Stories[i].ID] = i
		}
	}
	if i, ok := f.impl.at[id]; ok {
		return i
	}
	return -1
}

// match finds the story of f that is the same as story i of other: by id, or
// by text when its id was derived from a position that may have moved.
func (f *File) match(other *File, i int) int {
	want := &other.Stories[i]
	if !other.impl.places[i].derived {
		return f.index(want.ID)
	}
	if j := f.index(want.ID); j >= 0 && f.Stories[j].Hash == want.Hash {
		return j
	}
	return f.byText(want.Hash)
}

// byText finds the one story with a derived id and this text. When there are
// two, no telling them apart, there is none.
func (f *File) byText(hash string) int {
	if f.impl.texts == nil {
		f.impl.texts = make(map[string]int)
		for i := range f.Stories {
			h := f.Stories[i].Hash
			if _, twice := f.impl.texts[h]; twice {
				f.impl.texts[h] = ambiguous
			} else if f.impl.places[i].derived {
				f.impl.texts[h] = i
			}
		}
	}
	if i, ok := f.impl.texts[hash]; ok && i != ambiguous {
		return i
	}
	return -1
}
