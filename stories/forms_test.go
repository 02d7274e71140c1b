package stories

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDetect(t *testing.T) {
	tests := []struct{ path, text, want string }{
		{"prd.json", "x", FormPRD},
		{"anything", " \n[", FormPRD},
		{"a.JSONC", "", FormJSONC},
		{"a.json5", "", FormJSONC},
		{"issues.jsonl", "", FormLines},
		{"t.yml", "", FormYAML},
		{"x.code-task.md", "- [ ] y", FormCodeTask},
		{"fix_plan.md", "- [ ] y", FormPlan},
		{"TODO.md", "# x", FormPlan},
		{"docs/plans/any.md", "# x", FormPlan},
		{"prd.md", "- [ ] x", FormPlan},
		{"notes.md", "- [ ] x", FormMarkdown},
		{"stories/001-plan.md", "- [ ] x", FormMarkdown},
		{"plan.md", "---\ntitle: x\n---\n- [ ] y", FormPlan},
		{"plan.md", "---\ntitle: x\ndone: false\n---\n- [ ] y", FormMarkdown},
		{"x.md", "text\n### Task 3: y\n", FormTasks},
		{"x.md", "## Iteration 12 - y\n", FormTasks},
		{"x.md", "#### US-001: y\n", FormChief},
		{"prd.md", "### DVB-12: y\n", FormChief},
		{"x.md", "```\n### US-001: y\n```\n", FormMarkdown},
		{"x.md", "### Task force: y\n", FormMarkdown},
		{"x.md", "### Decision-making: y\n", FormMarkdown},
		{"stories.txt", "x", ""},
	}
	for _, tt := range tests {
		if got := detect(part{path: tt.path, data: []byte(tt.text)}, 0); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.path, tt.text, got, tt.want)
		}
	}
}

// TestFormStaysDecided: what an agent writes into a file does not change how
// it is read, and a file that cannot be read that way is put back whole.
func TestFormStaysDecided(t *testing.T) {
	const was = "- [ ] paint\n- [ ] dry\n"
	path := put(t, "plan.md", was)
	f := mustRead(t, path)
	write(t, path, "- [x] paint\n- [ ] dry\n### Task 1: all\n- [x] z\n")
	r, err := f.Restore()
	if err != nil || len(r.Claims) != 2 || len(r.Replaced) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if diff := cmp.Diff("- [ ] paint\n- [ ] dry\n### Task 1: all\n- [ ] z\n", content(t, path)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	write(t, path, "### US-1: all\n**Status:** done\n")
	r, err = f.Restore()
	if err != nil || len(r.Replaced) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := content(t, path); got != was {
		t.Errorf("put back: %q", got)
	}
}

// TestFormSetDoneText shows the very bytes for each form.
func TestFormSetDoneText(t *testing.T) {
	tests := []struct{ name, file, id, was, want string }{
		{"box", "plan.md", "A-1", "- [ ] A-1: x\n", "- [x] A-1: x\n"},
		{"box as the others", "plan.md", "A-1", "- [X] A-0: x\r\n- [ ] A-1: x\r\n", "- [X] A-0: x\r\n- [X] A-1: x\r\n"},
		{"box in progress", "plan.md", "A-1", "\ufeff* [/] A-1: x", "\ufeff* [x] A-1: x"},
		{"box without space", "plan.md", "A-1", "1) [] A-1: x", "1) [x] A-1: x"},
		{"box with children", "plan.md", "A-1", "- [ ] A-1: x\n\t- [ ] y\n", "- [x] A-1: x\n\t- [ ] y\n"},
		{"all boxes of a task", "x.md", "1", "### Task 1: x\n- [x] a\n- [ ] b\n  - [ ] c\n- [!] d\n### Task 2: y\n- [ ] a\n",
			"### Task 1: x\n- [x] a\n- [x] b\n  - [x] c\n- [!] d\n### Task 2: y\n- [ ] a\n"},
		{"status", "prd.md", "US-1", "### US-1: x\n**Status:** in-progress  \n- [ ] c\n", "### US-1: x\n**Status:** done  \n- [ ] c\n"},
		{"empty status", "prd.md", "US-1", "### US-1: x\n- **Status**:\n", "### US-1: x\n- **Status**: done\n"},
		{"no status", "prd.md", "US-1", "# P\r\n### US-1: x", "# P\r\n### US-1: x\r\n**Status:** done"},
		{"code task", "a.code-task.md", "a", "---\nstatus: in_progress\ncompleted: null\n---\n# Task: x\n", "---\nstatus: completed\ncompleted: null\n---\n# Task: x\n"},
		{"code task without", "a.code-task.md", "a", "# Task: x\n", "---\nstatus: completed\n---\n# Task: x\n"},
		{"issue", "issues.jsonl", "b-1", `{"id":"b-1","title":"x","status":"open","issue_type":"bug"}`, `{"id":"b-1","title":"x","status":"closed","issue_type":"bug"}`},
		{"issue without status", "issues.jsonl", "b-1", "{\"id\":\"b-1\",\"title\":\"x\",\"issue_type\":\"bug\"}\n", "{\"id\":\"b-1\",\"title\":\"x\",\"issue_type\":\"bug\",\"status\":\"closed\"}\n"},
		{"jsonc", "q.jsonc", "a", "[{id: 'a', title: 'x', // c\n  passes: false, /* d */ },]", "[{id: 'a', title: 'x', // c\n  passes: true, /* d */ },]"},
		{"jsonc inserted", "q.jsonc", "a", "[{\n  \"id\": \"a\", // c\n  // d\n  \"title\": \"x\", // e\n}]", "[{\n  \"id\": \"a\", // c\n  // d\n  \"title\": \"x\",\n  \"passes\": true, // e\n}]"},
		{"yaml", "t.yaml", "a", "tasks:\n- id: a\n  title: x\n  completed:   false # c\n", "tasks:\n- id: a\n  title: x\n  completed:   true # c\n"},
		{"yaml quoted", "t.yaml", "a", "- {'id': a, 'title': x, 'status': 'todo'}\n", "- {'id': a, 'title': x, 'status': 'done'}\n"},
		{"yaml empty", "t.yaml", "a", "- id: a\n  completed:\n  title: x\n", "- id: a\n  completed: true\n  title: x\n"},
		{"yaml words", "t.yaml", "a", "- id: a\n  title: x\n  status: in_progress\n- id: b\n  title: y\n  status: Completed\n",
			"- id: a\n  title: x\n  status: Completed\n- id: b\n  title: y\n  status: Completed\n"},
		{"yaml inserted", "t.yaml", "a", "tasks:\r\n  - id: a\r\n    title: |\r\n      x\r\n", "tasks:\r\n  - id: a\r\n    completed: true\r\n    title: |\r\n      x\r\n"},
		{"yaml inserted alone", "t.yaml", "", "- title: x", "- completed: true\n  title: x"},
		{"yaml inserted in braces", "t.yaml", "", "[{title: x}, {title: y}]\n", "[{completed: true, title: x}, {title: y}]\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := put(t, tt.file, tt.was)
			f := mustRead(t, path)
			id := tt.id
			if id == "" {
				id = f.Stories[0].ID
			}
			setDone(t, f, id, true)
			if diff := cmp.Diff(tt.want, content(t, path)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			setDone(t, f, id, false)
			if diff := cmp.Diff(tt.was, content(t, path)); diff != "" {
				t.Errorf("taken back (-want +got)\n%s", diff)
			}
		})
	}
}

// TestFormRestore: in every form, the agent's own mark is put back to the byte
// and told, and loop's own stays.
func TestFormRestore(t *testing.T) {
	for name, file := range files(t) {
		if !strings.HasSuffix(name, " lf") && !strings.HasSuffix(name, " bom crlf") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := put(t, file.base, file.text)
			own := mustRead(t, path)
			for _, s := range own.Stories {
				if s.Done || s.Conflict != "" {
					continue
				}
				agent := mustRead(t, path)
				setDone(t, agent, s.ID, true)
				if len(Diff(own, mustRead(t, path))) == 0 {
					t.Errorf("%q: no difference seen", s.ID)
				}
				r, err := own.Restore()
				if err != nil || len(r.Replaced) > 0 || len(r.Claims) != 1 || !r.Claims[0].Done {
					t.Fatalf("%q: %+v, %v", s.ID, r, err)
				}
				// A mark that was put in stays, and says no.
				if got := find(t, mustRead(t, path), s.ID); got.Done {
					t.Errorf("%q is done", s.ID)
				}
				if len(own.impl.places[own.index(s.ID)].marks) > 0 {
					if diff := cmp.Diff(file.text, content(t, path)); diff != "" {
						t.Fatalf("%q put back (-want +got)\n%s", s.ID, diff)
					}
				}
				write(t, path, file.text)
				if err := os.WriteFile(path, []byte(file.text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestMovedCheckbox: a story keeps its id and its state wherever it is moved.
func TestMovedCheckbox(t *testing.T) {
	path := put(t, "fix_plan.md", "## High Priority\n- [ ] sand the hull\n- [ ] paint\n  - [ ] two coats\n## Completed\n")
	f := mustRead(t, path)
	id := f.Stories[1].ID
	setDone(t, f, id, true)
	write(t, path, "## Completed\n- [x] HIGH:  **paint**\n  - [x] two coats\n  - took a day\n## High Priority\n- [ ] sand the hull\n")
	if got := find(t, mustRead(t, path), id); !got.Done || got.Hash != f.Stories[1].Hash {
		t.Errorf("%+v", got)
	}
	r, err := f.Restore()
	if err != nil || len(r.Claims) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestBoxPutBefore: a box that an agent puts into a task is known as new, and
// those that were there keep what they said.
func TestBoxPutBefore(t *testing.T) {
	path := put(t, "x.md", "### Task 1: x\n- [x] a\n- [ ] b\n")
	f := mustRead(t, path)
	write(t, path, "### Task 1: x\n- [x] new\n- [x] a\n- [x] b\n")
	r, err := f.Restore()
	if err != nil || len(r.Claims) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if diff := cmp.Diff("### Task 1: x\n- [ ] new\n- [x] a\n- [ ] b\n", content(t, path)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTakeID: what stands before a text and is an id.
func TestTakeID(t *testing.T) {
	tests := []struct{ text, id, rest string }{
		{"**0.1** Set up", "0.1", "Set up"},
		{"**US-12:** Set up", "US-12", "Set up"},
		{"**US-12: Set up** now", "US-12", "Set up now"},
		{"**US-12** — Set up", "US-12", "Set up"},
		{"bd-2ck: core: x", "bd-2ck", "core: x"},
		{"P.1: x", "P.1", "x"},
		{"T001 [P] x", "T001", "[P] x"},
		{"1.2.3 x", "1.2.3", "x"},
		{"[KC-3] x", "KC-3", "x"},
		{"#12: x", "12", "x"},
		{"foo-bar-012 - x", "foo-bar-012", "x"},
		{"R2. x", "R2", "x"},
		{"23.1b x", "23.1b", "x"},
		{"P1. x", "", "P1. x"},
		{"1. x", "", "1. x"},
		{"3 tests fail", "", "3 tests fail"},
		{"Phase: x", "", "Phase: x"},
		{"high-level: x", "", "high-level: x"},
		{"**bold** x", "", "bold x"},
		{"2**3 x", "", "2**3 x"},
		{"US-12:", "", "US-12:"},
		{"**US-12**", "", "US-12"},
	}
	for _, tt := range tests {
		if id, rest := takeID(tt.text); id != tt.id || rest != tt.rest {
			t.Errorf("%q: %q, %q", tt.text, id, rest)
		}
	}
}

// TestPlanLines: what is a story and what is not.
func TestPlanLines(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // titles
	}{
		{"markers", "- [ ] a\n* [x] b\n+ [X] c\n1. [ ] d\n2) [ ] e\n", []string{"a", "b", "c", "d", "e"}},
		{"no marker", "[ ] a\n- [ ] b\n", []string{"b"}},
		{"no space", "-[ ] a\n- [ ]b\n- [ ] c\n", []string{"c"}},
		{"links and dates", "- [x](y) z\n- [2026-01-29] z\n- [a] z\n- [1] z\n- [^1] z\n- [ ] b\n", []string{"b"}},
		{"one column is no nesting", "- [ ] a\n - [ ] b\n", []string{"a", "b"}},
		{"two are", "- [ ] a\n  - [ ] b\n", []string{"a"}},
		{"back out", "- [ ] a\n    - [ ] b\n  - [ ] c\n- [ ] d\n", []string{"a", "d"}},
		{"heading ends", "- [ ] a\n# H\n  - [ ] b\n", []string{"a", "b"}},
		{"text ends", "- [ ] a\n\nText.\n  - [ ] b\n", []string{"a", "b"}},
		{"paragraph inside does not", "- [ ] a\n\n  Text.\n\n  - [ ] b\n", []string{"a"}},
		{"fences", "~~~\n- [ ] a\n```\n~~~\n- [ ] b\n", []string{"b"}},
		{"fence never closed", "- [ ] a\n```\n- [ ] b\n", []string{"a"}},
		{"fence in an item", "- [ ] a\n  ```\n  - [ ] b\n  ```\n  - [ ] c\n- [ ] d\n", []string{"a", "d"}},
		{"comments", "<!-- - [ ] a -->\n<!--\n- [ ] b\n-->\n- [ ] c\n", []string{"c"}},
		{"empty ones", "- [ ]\n- [ ]   \n- [ ] a\n", []string{"a"}},
		{"aside", "## Success Criteria\n- [ ] a\n### More\n- [ ] b\n## Tasks\n- [ ] c\n", []string{"c"}},
		{"groups", "- A:\n  - [ ] a\n    - [ ] b\n- B:\n    - C\n      - [ ] c\n", []string{"a", "c"}},
		{"comment behind", "- [ ] a <!-- 7 --> b <!-- c -->\n", []string{"a b"}},
		{"crlf", "- [ ] a\r\n  b\r\n- [ ] c\r\n", []string{"a b", "c"}},
		{"numbered subtasks", "- [ ] 1. a\n- [ ] 1.1 b\n", []string{"1. a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := mustRead(t, put(t, "plan.md", tt.text))
			var got []string
			for _, s := range f.Stories {
				got = append(got, s.Title)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestPlanOrder: phases come one after the other, the priority counts within.
func TestPlanOrder(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"as in the file", "- [ ] A-1: a\n- [ ] A-2: b\n", "A-1 A-2"},
		{"headings", "## Low Priority\n- [ ] A-1: a\n## High Priority\n- [ ] A-2: b\n", "A-2 A-1"},
		{"words", "## Backend\n- [ ] LOW: A-1: a\n## Frontend\n- [ ] HIGH: A-2: b\n", "A-2 A-1"},
		{"phases", "## Phase 1\n- [ ] LOW: A-1: a\n- [ ] HIGH: A-2: b\n## Phase 2\n- [ ] HIGH: A-3: b\n", "A-2 A-1 A-3"},
		{"numbered priorities", "## Priority 2: x\n- [ ] A-1: a\n## Priority 1: y\n- [ ] A-2: b\n", "A-2 A-1"},
		{"optional last", "## Optional\n- [ ] P0: A-1: a\n## Tasks\n- [ ] A-2: b\n", "A-2 A-1"},
		{"numbers", "## 1. First\n- [ ] LOW: A-1: a\n## 2. Then\n- [ ] HIGH: A-2: b\n", "A-1 A-2"},
		{"struck out", "- [ ] A-1: ~~a~~\n- [ ] A-2: ~~b~~ c\n", "A-2"},
		{"a dependency first", "## Phase 1\n- [ ] A-1: a (depends on A-2)\n## Phase 2\n- [ ] A-2: b\n", "A-2 A-1"},
		{"parked", "## Blocked (needs a key)\n- [ ] A-1: a\n## Discussion (not auto-loopable)\n- [ ] A-2: b\n## Tasks\n- [ ] A-3: c\n", "A-3"},
		{"held", "- [-] A-1: a\n- [ ] A-2: b\n- [ ] A-3: c, blocked by A-1\n", "A-2"},
	}
	for _, tt := range tests {
		f := mustRead(t, put(t, "plan.md", tt.text))
		var got []string
		for _, s := range order(t, f) {
			got = append(got, s.ID)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
	}
}

// TestTaskParts: what belongs to a task and what ends it.
func TestTaskParts(t *testing.T) {
	path := put(t, "x.md", "### Task 1: a\n- [ ] x\n### Part\n- [ ] y\n## Criteria\n- [ ] z\n### Task 2b: b\nNo box.\n### Iteration 3: c (depends on 1)\n* [x] x\n")
	f := mustRead(t, path)
	if a := find(t, f, "1"); len(a.Criteria) != 2 {
		t.Errorf("%q", a.Criteria)
	}
	if b := find(t, f, "2b"); b.Done || b.Held == "" {
		t.Errorf("%+v", b)
	}
	if err := f.SetDone("2b", true); err == nil || !strings.Contains(err.Error(), "(line 7) has no place for a done mark") {
		t.Errorf("%v", err)
	}
	if !strings.Contains(strings.Join(f.Warnings, "\n"), "line 6: a checkbox outside of the stories is none") {
		t.Errorf("%q", f.Warnings)
	}
}

// TestChiefPriorities: a story without a priority comes after those before it.
func TestChiefPriorities(t *testing.T) {
	f := mustRead(t, put(t, "prd.md", "### A-1: a\n**Priority:** 3\n### A-2: b\n### A-3: c\n**Priority:** 1\n### A-4: d\n"))
	var got []string
	for _, s := range order(t, f) {
		got = append(got, s.ID)
	}
	if diff := cmp.Diff([]string{"A-3", "A-1", "A-2", "A-4"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestCodeTaskFolder works on a folder of code tasks among other files.
func TestCodeTaskFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.code-task.md"), "---\nstatus: pending\n---\n# Task: A\n")
	write(t, filepath.Join(dir, "b.code-task.md"), "# Task: B\n\n## Dependencies\n- `a`\n")
	write(t, filepath.Join(dir, "notes.md"), "x\n")
	f := mustRead(t, dir)
	if len(f.Stories) != 2 || f.Form != FormCodeTask {
		t.Fatalf("%s %+v", f.Form, f.Stories)
	}
	setDone(t, f, "a", true)
	write(t, filepath.Join(dir, "b.code-task.md"), "---\nstatus: completed\n---\n# Task: B\n\n## Dependencies\n- `a`\n")
	r, err := f.Restore()
	if err != nil || len(r.Claims) != 1 || r.Claims[0].ID != "b" {
		t.Errorf("%+v, %v", r, err)
	}
	g := mustRead(t, dir)
	if !find(t, g, "a").Done || find(t, g, "b").Done {
		t.Errorf("%+v", g.Stories)
	}
	if got := content(t, filepath.Join(dir, "b.code-task.md")); !strings.HasPrefix(got, "---\nstatus: pending\n---\n") {
		t.Errorf("%q", got)
	}
}

// TestPlanMarks: what a plan says beside what is to be done.
func TestPlanMarks(t *testing.T) {
	f := mustRead(t, put(t, "plan.md", "- [ ] A-1: ship `accept: make test` [approval]\n  - level: Lockdown\n  - **Verify**: `make check`\n  - Verify: by eye\n  - type: audit\n"))
	s := f.Stories[0]
	if !s.Approval || s.Checkpoint || s.Level != "lockdown" || !s.Check {
		t.Errorf("%+v", s)
	}
	if diff := cmp.Diff([]string{"make test", "make check"}, s.Verify); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTitleIsNoGroup: the first heading of level 1 is the title, the others are
// sections.
func TestTitleIsNoGroup(t *testing.T) {
	f := mustRead(t, put(t, "plan.md", "# Plan\n- [ ] a\n# One\n- [ ] b\n## Two\n- [ ] a\n# Three\n- [ ] a\n"))
	var got []string
	for _, s := range f.Stories {
		got = append(got, s.Group)
	}
	if diff := cmp.Diff([]string{"", "One", "One > Two", "Three"}, got); diff != "" || f.Project != "Plan" {
		t.Errorf("%q (-want +got)\n%s", f.Project, diff)
	}
}

// TestOneStoryOrPlan: a file that could be meant either way says so.
func TestOneStoryOrPlan(t *testing.T) {
	f := mustRead(t, put(t, "notes.md", "# N\n- [ ] a\n- [ ] b\n"))
	if len(f.Stories) != 1 || len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0], "one story with 2 criteria") {
		t.Errorf("%+v", f.Warnings)
	}
}
