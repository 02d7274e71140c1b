package stories

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// usualPlaces are the places where a story file that can be read lies, in the
// order in which candidates are named. A pattern may have a * in its last part.
func usualPlaces() []string {
	return []string{
		"scripts/ralph/prd.json",
		"ralph/prd.json",
		".ralph/prd.json",
		"prd.json",
		"tasks/prd.json",
		".agents/tasks/prd-*.json",
		".chief/prds/*/prd.json",
	}
}

// ownFolder holds one Markdown file a story.
const ownFolder = "stories"

// foreignPlaces are the usual places of forms that are known but not read.
func foreignPlaces() []string {
	return []string{
		".chief/prds/*/prd.md",
		".ralph/fix_plan.md",
		"fix_plan.md",
		".ralph/ralph-tasks.md",
		".beads/issues.jsonl",
		".ralph/agent/tasks.jsonl",
		"docs/plans/*.md",
		"IMPLEMENTATION_PLAN.md",
	}
}

// Discover finds the story file of a repository in the usual places. Two
// candidates are a *CandidatesError, none is ErrNoFile, and a form that is
// known but not read, found alone, is an *UnsupportedError.
func Discover(root string) (string, error) {
	if root == "" {
		root = "."
	}
	found, err := lookFor(root, usualPlaces())
	if err != nil {
		return "", err
	}
	folder := filepath.Join(root, ownFolder)
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		names, err := storyNames(folder)
		if err != nil {
			return "", err
		}
		if len(names) > 0 {
			found = append(found, folder)
		}
	}
	switch found = distinct(found); len(found) {
	case 0:
		return "", nothingFound(root)
	case 1:
		return found[0], nil
	default:
		return "", &CandidatesError{Paths: found}
	}
}

// nothingFound says whether a form that is not read lies there instead.
func nothingFound(root string) error {
	foreign, err := lookFor(root, foreignPlaces())
	if err != nil {
		return err
	}
	if foreign = distinct(foreign); len(foreign) > 0 {
		return &UnsupportedError{Paths: foreign, Form: unsupportedName(foreign[0])}
	}
	return fmt.Errorf("%w in %q; looked for %s and %s/*.md",
		ErrNoFile, root, strings.Join(usualPlaces(), ", "), ownFolder)
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

// unsupportedName names the form of a file that is known by its name and not
// read; "" when it may be one that is.
func unsupportedName(path string) string {
	slash := strings.ToLower(filepath.ToSlash(path))
	base := slash[strings.LastIndexByte(slash, '/')+1:]
	switch {
	case base == "fix_plan.md" || base == "@fix_plan.md":
		return "fix_plan.md"
	case base == "ralph-tasks.md":
		return "ralph-tasks.md"
	case base == "implementation_plan.md":
		return "IMPLEMENTATION_PLAN.md"
	case base == "prd.md":
		return "chief prd"
	case strings.HasSuffix(base, ".code-task.md"):
		return "code-task.md"
	case strings.Contains(slash, "docs/plans/") && strings.HasSuffix(base, ".md"):
		return "plan with checkboxes"
	case strings.HasSuffix(base, ".jsonl"):
		return "JSON lines"
	case strings.HasSuffix(base, ".jsonc"), strings.HasSuffix(base, ".json5"):
		return "JSON with comments"
	case strings.HasSuffix(base, ".yaml"), strings.HasSuffix(base, ".yml"):
		return "YAML"
	case strings.HasSuffix(base, ".toml"):
		return "TOML"
	}
	return ""
}

// foreignMarkdown names the form of a Markdown file that holds many stories in
// one, known by its headings; "" when it may be one story.
func foreignMarkdown(text []byte) string {
	for line := range bytes.Lines(text) {
		heading, ok := bytes.CutPrefix(line, []byte("### "))
		if !ok {
			continue
		}
		word, rest, _ := strings.Cut(string(heading), " ")
		switch {
		case (word == "Task" || word == "Iteration") && leadingDigits(rest) != "" && strings.Contains(rest, ":"):
			return "plan with tasks"
		case strings.HasPrefix(word, "US-") && strings.HasSuffix(word, ":"):
			return "chief prd"
		}
	}
	return ""
}
