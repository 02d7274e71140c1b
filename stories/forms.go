package stories

import (
	"bytes"
	"path/filepath"
	"strings"
)

// The forms that are read. A form is decided once, when a file is first read:
// what an agent writes into it later is read as the same form or not at all.
const (
	FormPRD      = "prd.json"
	FormMarkdown = "stories/*.md"
	FormPlan     = "checkbox plan"
	FormTasks    = "task plan"
	FormChief    = "prd.md"
	FormCodeTask = "*.code-task.md"
	FormLines    = "JSON lines"
	FormJSONC    = "JSON with comments"
	FormYAML     = "YAML"
)

// Form describes one form for people.
type Form struct {
	Name  string // one of the constants
	Files string // how such files are called
	Story string // what is one story in it
	Mark  string // what says that it is done
}

// Forms lists every form that is read, in the order in which they are looked for.
func Forms() []Form {
	return []Form{
		{FormPRD, "prd.json", "an object of the list", "passes, passed, complete, completed, done, status"},
		{FormMarkdown, "stories/*.md", "a file", "done: in the front matter"},
		{FormCodeTask, "*.code-task.md", "a file", "status: in the front matter"},
		{FormChief, "prd.md with ### US-001: headings", "a heading", "**Status:**"},
		{FormPlan, "fix_plan.md, ralph-tasks.md, IMPLEMENTATION_PLAN.md, tasks.md, TODO.md", "a checkbox with what is indented under it", "the box"},
		{FormTasks, "docs/plans/*.md with ### Task 1: headings", "a heading", "all of its boxes"},
		{FormLines, "issues.jsonl, tasks.jsonl", "a line", "status"},
		{FormJSONC, "*.jsonc, *.json5", "an object of the list", "as in prd.json"},
		{FormYAML, "tasks.yaml", "an entry of the list", "as in prd.json"},
	}
}

// unreadName names the form of a file that is known by its name and not read;
// "" when it may be one that is.
func unreadName(path string) string {
	if hasExt(path, ".toml") {
		return "TOML"
	}
	return ""
}

// detect decides the form of one file by its name, then by what is in it.
func detect(p part, from int) string {
	slash := strings.ToLower(filepath.ToSlash(p.path))
	base := slash[strings.LastIndexByte(slash, '/')+1:]
	body := bytes.TrimLeft(p.data[from:], " \t\r\n")
	switch {
	case strings.HasSuffix(base, ".code-task.md"):
		return FormCodeTask
	case hasExt(base, ".md", ".markdown"):
		return detectMarkdown(slash, base, p.data[from:])
	case hasExt(base, ".jsonl", ".ndjson"):
		return FormLines
	case hasExt(base, ".jsonc", ".json5"):
		return FormJSONC
	case hasExt(base, ".yaml", ".yml"):
		return FormYAML
	case hasExt(base, ".json") || len(body) > 0 && (body[0] == '{' || body[0] == '['):
		return FormPRD
	}
	return ""
}

func detectMarkdown(slash, base string, text []byte) string {
	if hasOwnFront(text) {
		return FormMarkdown
	}
	if form := headingForm(text); form != "" {
		return form
	}
	if isPlanName(slash, base) {
		return FormPlan
	}
	return FormMarkdown
}

// ownFront are the keys that only a story of loop's own form has in its front
// matter; a title and a date stand over documents of many kinds.
var ownFront = pattern(`(?m)^(?:done|depends|depends_on|dependsOn|level|checkpoint|verify):`)

func hasOwnFront(text []byte) bool {
	front, ok := bytes.CutPrefix(text, []byte("---"))
	if !ok {
		return false
	}
	front, _, _ = bytes.Cut(front, []byte("\n---"))
	return ownFront().Match(front)
}

// isPlanName says whether a Markdown file is called like a list of things to
// do. Any other is one story, and its checkboxes are criteria.
func isPlanName(slash, base string) bool {
	if strings.Contains("/"+slash, "docs/plans/") {
		return true
	}
	if inOwnFolder(slash) {
		return false
	}
	for _, word := range []string{"plan", "task", "todo", "prd", "backlog", "roadmap", "checklist"} {
		if strings.Contains(base, word) {
			return true
		}
	}
	return false
}

// inOwnFolder says whether a file lies in a folder of stories.
func inOwnFolder(path string) bool { return filepath.Base(filepath.Dir(path)) == ownFolder }

var (
	taskHeading  = pattern(`^#{2,4}[ \t]+(?i:task|iteration)[ \t]+(\d[\w.]{0,15})[ \t]*(?::|[-–—])[ \t]*(.*?)[ \t]*#*$`)
	chiefHeading = pattern(`^#{3,4}[ \t]+([A-Za-z]{1,10}-\d[\w.-]*)[ \t]*:[ \t]*(.*?)[ \t]*#*$`)
)

// headingForm is the form of a Markdown file whose stories are headings.
func headingForm(text []byte) string {
	var skip shield
	for line := range bytes.Lines(text) {
		s := strings.TrimRight(string(line), "\r\n")
		if skip.hides(s) || !strings.HasPrefix(s, "##") {
			continue
		}
		switch {
		case taskHeading().MatchString(s):
			return FormTasks
		case chiefHeading().MatchString(s):
			return FormChief
		}
	}
	return ""
}
