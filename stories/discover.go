package stories

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-b23e517c/loop/internal/regular"
)

// usualPlaces are the places where nothing but a story file lies, in the order
// in which candidates are named. A pattern may have a * in each part.
func usualPlaces() []string {
	return []string{
		"scripts/ralph/prd.json",
		"ralph/prd.json",
		".ralph/prd.json",
		"prd.json",
		"tasks/prd.json",
		".agents/tasks/prd-*.json",
		".chief/prds/*/prd.json",
		".chief/prds/*/prd.md",
		".ralph/fix_plan.md",
		".ralph/@fix_plan.md",
		"fix_plan.md",
		"@fix_plan.md",
		".ralph/ralph-tasks.md",
		".beads/issues.jsonl",
		".ralph/agent/tasks.jsonl",
		".ralph/queue.jsonc",
		".ralph/tasks.yaml",
	}
}

// sharedPlaces are places where other things lie too: a file there counts only
// if it holds stories, and beside others only if one of them is open.
func sharedPlaces() []string {
	return []string{
		"docs/plans/*.md",
		"IMPLEMENTATION_PLAN.md",
	}
}

// ownFolder holds one Markdown file a story.
const ownFolder = "stories"

// storyFolders are folders with a file a story.
func storyFolders() []string { return []string{ownFolder, "tasks", ".ralph/tasks", ".agents/tasks"} }

// Discover finds the story file of a repository in the usual places. Two
// candidates are a *CandidatesError, none is ErrNoFile.
func Discover(root string) (string, error) {
	if root == "" {
		root = "."
	}
	found, err := lookFor(root, usualPlaces())
	if err != nil {
		return "", err
	}
	folders, err := foldersIn(root)
	if err != nil {
		return "", err
	}
	found = append(withoutDocuments(found), folders...)
	shared, err := lookFor(root, sharedPlaces())
	if err != nil {
		return "", err
	}
	shared = distinct(shared)
	if len(found) == 0 && len(shared) == 1 {
		return shared[0], nil // reading it says what is wrong with it
	}
	found = distinct(append(found, openOnes(shared)...))
	switch {
	case len(found) == 0 && len(shared) > 0:
		found = holding(shared)
	case len(found) == 0:
		return "", nothingFound(root)
	}
	switch len(found) {
	case 0:
		return "", nothingFound(root)
	case 1:
		return found[0], nil
	}
	return "", &CandidatesError{Paths: found}
}

func nothingFound(root string) error {
	return fmt.Errorf("%w in %q: there is none in the usual places (`loop stories --forms` lists them)", ErrNoFile, root)
}

// Places lists where Discover looks, for people.
func Places() []string {
	all := append(usualPlaces(), ownFolder+"/*.md")
	for _, folder := range storyFolders()[1:] {
		all = append(all, folder+"/*"+codeTaskExt)
	}
	return append(all, sharedPlaces()...)
}

// foldersIn returns the folders of stories under root. In a folder that is not
// loop's own, only code tasks are stories.
func foldersIn(root string) ([]string, error) {
	var found []string
	for _, place := range storyFolders() {
		folder := filepath.Join(root, filepath.FromSlash(place))
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		names, form, err := storyNames(folder)
		if err != nil {
			return nil, err
		}
		if len(names) > 0 && (form == FormCodeTask || place == ownFolder) {
			found = append(found, folder)
		}
	}
	return found, nil
}

// withoutDocuments drops the prd.md that a prd.json beside it was made from:
// without a status line it is the document and not the list of stories.
func withoutDocuments(paths []string) []string {
	var kept []string
	for _, p := range paths {
		if filepath.Base(p) == "prd.md" {
			_, err := os.Stat(filepath.Join(filepath.Dir(p), "prd.json"))
			if data, readErr := regular.Read(p, maxSize); err == nil && readErr == nil && !bytes.Contains(data, []byte("**Status:**")) {
				continue
			}
		}
		kept = append(kept, p)
	}
	return kept
}

// openOnes are the files in which something is to be done. One that is broken
// counts: a person has to look at it.
func openOnes(paths []string) []string {
	var open []string
	for _, p := range paths {
		f, err := Read(p)
		var fe *FormatError
		if errors.As(err, &fe) || err == nil && !f.allDone() {
			open = append(open, p)
		}
	}
	return open
}

// holding are the files that hold stories at all.
func holding(paths []string) []string {
	var kept []string
	for _, p := range paths {
		if _, err := Read(p); err == nil {
			kept = append(kept, p)
		}
	}
	return kept
}

func (f *File) allDone() bool {
	for i := range f.Stories {
		if !f.Stories[i].Done {
			return false
		}
	}
	return true
}

// lookFor returns the regular files at the given places under root.
func lookFor(root string, places []string) ([]string, error) {
	var found []string
	for _, place := range places {
		// Only the place is a pattern: root may hold any character.
		matches, err := fs.Glob(os.DirFS(root), place)
		if err != nil {
			return nil, err
		}
		for _, m := range matches {
			path := filepath.Join(root, filepath.FromSlash(m))
			info, err := os.Stat(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // a dangling link
			}
			if err != nil {
				return nil, quoted(err)
			}
			if info.Mode().IsRegular() {
				found = append(found, path)
			}
		}
	}
	return found, nil
}

// distinct drops a path that leads to the same file as one before it.
func distinct(paths []string) []string {
	var kept []string
	var infos []fs.FileInfo
next:
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			continue
		}
		for _, known := range infos {
			if os.SameFile(known, info) {
				continue next
			}
		}
		kept, infos = append(kept, p), append(infos, info)
	}
	return kept
}
