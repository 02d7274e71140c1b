package stories

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadErrors holds the exact text of everything Read refuses.
func TestReadErrors(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		// Broken JSON: where, and the line as it stands.
		{"two passes", "prd.json", fixture(t, "broken/two-passes.json"),
			`"PATH" line 8, column 7: expected ',' or '}' after the value, found '"': "\"passes\": true"`},
		{"missing value", "prd.json", fixture(t, "broken/missing-value.json"),
			`"PATH" line 6, column 17: expected a value, found ',': "\"passes\": ,"`},
		{"trailing comma", "prd.json", "[\n  {\"id\": 1,}\n]",
			`"PATH" line 2, column 12: expected a key in double quotes, found '}': "{\"id\": 1,}"`},
		{"trailing comma in a list", "prd.json", "[{\"title\": \"x\"},]",
			`"PATH" line 1, column 17: expected a value, found ']': "[{\"title\": \"x\"},]"`},
		{"cut off", "prd.json", "{\"userStories\": [\n  {\"id\": \"a\"",
			`"PATH" line 2, column 13: expected ',' or '}' after the value, but the text ends: "{\"id\": \"a\""`},
		{"more text", "prd.json", "[{\"title\":\"x\"}]\n{}",
			`"PATH" line 2, column 1: expected nothing more after the end of the document, found '{': "{}"`},
		{"comment", "prd.json", "[\n// first\n]",
			`"PATH" line 2, column 1: expected a value, found '/' (JSON has no comments; in a .jsonc file they are read): "// first"`},
		{"conflict", "prd.json", "[\n<<<<<<< HEAD\n{\"title\":\"x\"}\n=======\n]",
			`"PATH" line 2, column 1: a merge conflict was left in the file: "<<<<<<< HEAD"`},
		{"open string", "prd.json", "[{\"title\": \"x}]",
			`"PATH" line 1, column 12: a string is not closed: "[{\"title\": \"x}]"`},
		{"line break in a string", "prd.json", "[{\"title\": \"x\ny\"}]",
			`"PATH" line 1, column 14: a string may not hold '\n' as it is: "[{\"title\": \"x"`},
		{"escape", "prd.json", `[{"title": "\x"}]`,
			`"PATH" line 1, column 14: expected a valid escape, found 'x': "[{\"title\": \"\\x\"}]"`},
		{"number", "prd.json", `[{"priority": 01}]`,
			`"PATH" line 1, column 16: expected ',' or '}' after the value, found '1': "[{\"priority\": 01}]"`},
		{"single quotes", "prd.json", `[{'title': 1}]`,
			`"PATH" line 1, column 3: expected a key in double quotes, found '\'': "[{'title': 1}]"`},
		{"column counts characters", "prd.json", "\ufeff[{\"título\": ü}]",
			`"PATH" line 1, column 13: expected a value, found 'ü': "[{\"título\": ü}]"`},
		{"hostile line", "prd.json", "[\x1b[31m\u202e]",
			`"PATH" line 1, column 2: expected a value, found '\x1b': "[\x1b[31m\u202e]"`},
		{"long line", "prd.json", `[{"title": "` + strings.Repeat("a", 500) + `" "b": 1}]`,
			`"PATH" line 1, column 515: expected ',' or '}' after the value, found '"': "` + strings.Repeat("a", 90) + `\" \"b\": 1}]"`},
		{"deep", "prd.json", strings.Repeat("[", maxDepth+1),
			`"PATH" line 1, column 10001: nested too deep: "` + strings.Repeat("[", 100) + `"`},

		// The same key or id twice.
		{"duplicate key", "prd.json", "[{\"title\": \"x\",\n\"passes\": false,\n\"passes\": true}]",
			`"PATH" line 3: the key "passes" stands twice in one object, on line 2 and on line 3`},
		{"duplicate key in escapes", "prd.json", "[{\"title\": \"x\",\n\"passes\": false,\n\"pass\\u0065s\": true}]",
			`"PATH" line 3: the key "passes" stands twice in one object, on line 2 and on line 3`},
		{"duplicate key further down", "prd.json", "[{\"title\": \"x\",\n\"metadata\": {\"a\": [{\"b\": 1,\n\"b\": 2}]}}]",
			`"PATH" line 3: the key "b" stands twice in one object, on line 2 and on line 3`},
		{"duplicate list", "prd.json", "{\"userStories\": [],\n\"userStories\": []}",
			`"PATH" line 2: the key "userStories" stands twice in one object, on line 1 and on line 2`},
		{"duplicate id", "prd.json", "[{\"id\": \"US-1\", \"title\": \"x\"},\n\n{\"id\": \"US-1\", \"title\": \"y\"}]",
			`"PATH" line 3: the id "US-1" is used twice, on line 1 and on line 3`},
		{"duplicate id as a number", "prd.json", "[{\"id\": 1, \"title\": \"x\"},\n{\"id\": \"1\", \"title\": \"y\"}]",
			`"PATH" line 2: the id "1" is used twice, on line 1 and on line 2`},

		// No stories is never "all done".
		{"empty list", "prd.json", "{\n\"userStories\": []}", `"PATH": no stories: the list "userStories" on line 2 is empty`},
		{"empty array", "prd.json", "[ ]", `"PATH": no stories: the list is empty`},
		{"empty file", "prd.json", " \n", `"PATH": no stories: the file is empty`},
		{"product", "prd.json", fixture(t, "broken/product.json"),
			`"PATH": no stories: it is a product document ("prd" on line 2), not a list of stories`},
		{"another file", "package.json", `{"name": "x", "version": "1.0.0"}`,
			`"PATH": no stories: none of "userStories", "stories", "tasks" and "items" is in it`},
		{"a string", "prd.json", `"stories"`, `"PATH": no stories: the document is a string`},
		{"nested", "prd.json", "{\"project\": {\"userStories\": [{\"title\": \"x\"}]}}",
			`"PATH": no stories: none of "userStories", "stories", "tasks" and "items" is in it`},
		{"not a list", "prd.json", "{\n\"stories\": {\"a\": 1}}", `"PATH" line 2: "stories" is an object, not a list of stories`},
		{"two lists", "prd.json", "{\"tasks\": [{\"title\":\"x\"}],\n\"stories\": [{\"title\":\"x\"}]}",
			`"PATH" line 2: two lists of stories: "tasks" on line 1 and "stories" on line 2; loop does not guess which one is meant`},
		{"not an object", "prd.json", "{\"stories\": [{\"title\":\"x\"},\n\"y\"]}", `"PATH" line 2: story 2 is a string, not an object`},
		{"only strings", "prd.json", "{\"stories\": [\"x\"]}", `"PATH" line 1: story 1 is a string, not an object`},
		{"nothing to do", "prd.json", "[{\"id\": \"a\", \"passes\": false}]",
			`"PATH" line 1: story 1 has neither a title nor a description nor criteria`},
		{"odd id", "prd.json", "[{\"id\": [1], \"title\": \"x\"}]", `"PATH" line 1: the id of story 1 is a list, not a string or a number`},

		{"too many", "prd.json", "[" + strings.Repeat(`{"title":"x"},`, maxStories) + `{"title":"x"}]`,
			`"PATH" line 1: 20001 stories are too many`},

		// Dependencies.
		{"unknown dependency", "prd.json", "[\n{\"id\": \"a\", \"title\": \"x\", \"dependsOn\": [\"z\"]}]",
			`"PATH" line 2: story "a" (on line 2) depends on "z": there is no such story, or more than one`},
		{"unknown dependencies", "prd.json", "[{\"id\": \"a\", \"title\": \"x\", \"deps\": \"z, y\"},\n{\"id\": \"b\", \"title\": \"X\", \"deps\": [\"x\"]}]",
			`"PATH" line 1: story "a" (on line 1) depends on "z"; story "a" (on line 1) depends on "y"; story "b" (on line 2) depends on "x": there is no such story, or more than one`},
		{"many unknown dependencies", "prd.json", `[{"id": "a", "title": "x", "deps": "` + strings.Repeat("z ", 3) + strings.Join(strings.Split("abcdefghijkl", ""), "1 ") + `"}]`,
			`"PATH" line 1: story "a" (on line 1) depends on "z"; story "a" (on line 1) depends on "a1"; story "a" (on line 1) depends on "b1"; story "a" (on line 1) depends on "c1"; story "a" (on line 1) depends on "d1"; story "a" (on line 1) depends on "e1"; story "a" (on line 1) depends on "f1"; story "a" (on line 1) depends on "g1"; story "a" (on line 1) depends on "h1"; story "a" (on line 1) depends on "i1"; and 3 more: there is no such story, or more than one`},
		{"itself", "prd.json", "[{\"id\": \"a\", \"title\": \"x\", \"deps\": \"a\"}]",
			`"PATH" line 1: stories wait for each other: "a" (on line 1) depends on "a"`},
		{"circle", "prd.json", "[{\"id\": \"a\", \"title\": \"x\", \"deps\": [\"b\"]},\n{\"id\": \"b\", \"title\": \"x\", \"blockedBy\": [\"c\"]},\n{\"id\": \"c\", \"title\": \"x\", \"dependencies\": [\"b\"]}]",
			`"PATH" line 2: stories wait for each other: "b" (on line 2) depends on "c" (on line 3) depends on "b"`},

		// Encodings.
		{"utf-16", "prd.json", "\xff\xfe[\x00]\x00", `"PATH": UTF-16 text is not read; save the file as UTF-8`},
		{"utf-16 big", "prd.json", "\xfe\xff\x00[\x00]", `"PATH": UTF-16 text is not read; save the file as UTF-8`},
		{"utf-16 bare", "prd.json", "[\x00]\x00", `"PATH": UTF-16 text is not read; save the file as UTF-8`},
		{"utf-32", "prd.json", "\xff\xfe\x00\x00[\x00\x00\x00", `"PATH": UTF-32 text is not read; save the file as UTF-8`},

		// Forms that are not read.
		{"toml", "tasks.toml", "[[task]]", "\"PATH\": this form (TOML) is not read; `loop stories --forms` lists those that are"},
		{"prose", "stories.txt", "Do it.", "\"PATH\": neither JSON, YAML nor Markdown: `loop stories --forms` lists the forms that are read"},

		// Plans.
		{"plan of prose", "fix_plan.md", "# Plan\n\n- do it\n\n```\n- [ ] x\n```\n", `"PATH": no stories: the plan has no checkbox ("- [ ] text"); prose is not a list of stories`},
		{"plan with ids twice", "fix_plan.md", "- [ ] A-1: x\n\n- [x] **A-1** y\n", `"PATH" line 3: the id "A-1" is used twice, on line 1 and on line 3`},
		{"plan with a text twice", "fix_plan.md", "# P\n## A\n- [ ] write tests\n## B\n- [x] write tests\n- [ ] write  tests\n",
			`"PATH" line 6: the same checkbox stands twice under one heading, on line 5 and on line 6; give each a text or an id of its own ("- [ ] A-1: text")`},
		{"plan in a circle", "TODO.md", "- [ ] A-1: x (depends on A-2)\n- [ ] A-2: y\n  - depends on: A-1\n",
			`"PATH" line 1: stories wait for each other: "A-1" (on line 1) depends on "A-2" (on line 2) depends on "A-1"`},
		{"tasks without a box", "x.md", "### Task 1: a\n### Task 2: b\ntext\n", `"PATH": no stories: none of its 2 tasks has a checkbox ("- [ ] text"), so nothing could say that it is done`},
		{"task twice", "x.md", "### Task 1: a\n- [ ] x\n### Task 1: b\n- [ ] y\n", `"PATH" line 3: the id "1" is used twice, on line 1 and on line 3`},
		{"status twice", "prd.md", "### US-1: a\n**Status:** todo\n**Status:** done\n", `"PATH" line 3: story "US-1" has two status lines, on line 2 and on line 3`},
		{"chief waits for nothing", "prd.md", "### US-1: a\n**Depends on:** US-9\n", `"PATH" line 1: story "US-1" (on line 1) depends on "US-9": there is no such story, or more than one`},
		{"prd of prose", "prd.md", "# P\n\nWhat we want.\n", `"PATH": no stories: the plan has no checkbox ("- [ ] text"); prose is not a list of stories`},

		// JSON lines.
		{"broken line", "issues.jsonl", "{\"id\":\"a\",\"title\":\"x\"}\n{\"id\":\"b\",\n", `"PATH" line 2, column 11: expected a key in double quotes, but the text ends: "{\"id\":\"b\","`},
		{"two on a line", "issues.jsonl", "{\"id\":\"a\",\"title\":\"x\"} {}\n", `"PATH" line 1, column 24: expected nothing more after the end of the document, found '{': "{\"id\":\"a\",\"title\":\"x\"} {}"`},
		{"a line twice", "issues.jsonl", "{\"id\":\"a\",\"title\":\"x\"}\n\n{\"id\":\"a\",\"title\":\"y\"}\n", `"PATH" line 3: the id "a" is used twice, on line 1 and on line 3`},
		{"a list", "issues.jsonl", "[]\n", `"PATH" line 1: story 1 is a list, not an object`},
		{"only records", "issues.jsonl", "{\"_type\":\"memory\"}\n", `"PATH": no stories: no line holds an issue`},
		{"conflict in lines", "issues.jsonl", "<<<<<<< HEAD\n{}\n", `"PATH" line 1, column 1: a merge conflict was left in the file: "<<<<<<< HEAD"`},

		// JSON with comments.
		{"comment without end", "q.jsonc", "[\n/* x\n]", `"PATH" line 2, column 1: expected a value, found '/': "/* x"`},
		{"two commas", "q.jsonc", "[{\"title\":\"x\"},,]", `"PATH" line 1, column 16: expected a value, found ',': "[{\"title\":\"x\"},,]"`},
		{"key twice in jsonc", "q.jsonc", "[{title:'x',\n'title':'y'}]", `"PATH" line 2: the key "title" stands twice in one object, on line 1 and on line 2`},

		// YAML.
		{"no tasks", "tasks.yaml", "tasks: []", `"PATH": no stories: the list "tasks" on line 1 is empty`},
		{"a playbook", "site.yml", "- hosts: all\n", `"PATH" line 1: story 1 has neither a title nor a description nor criteria`},
		{"only comments", "tasks.yaml", "# tasks\n", `"PATH": no stories: the document is empty`},
		{"strings", "tasks.yaml", "tasks:\n  - do it\n", `"PATH" line 2: story 1 is a string, not an object`},
		{"yaml key twice", "tasks.yaml", "tasks:\n- title: x\n  completed: true\n  completed: false\n",
			`"PATH" line 4: the key "completed" stands twice in one object, on line 3 and on line 4`},
		{"yaml title twice", "tasks.yaml", "tasks:\n- title: x\n- title: x\n", `"PATH" line 3: the id "x-2d711642" is used twice, on line 2 and on line 3`},
		{"two documents", "tasks.yaml", "tasks:\n- title: x\n---\ntasks: []\n", `"PATH" line 3: a second YAML document begins; a list of stories has one`},
		{"alias", "tasks.yaml", "tasks:\n- title: &t x\n- title: *t\n", `"PATH" line 3: an alias (*name) is not read in a list of stories; write the value out`},
		{"mark on another line", "tasks.yaml", "tasks:\n- title: x\n  completed:\n    true\n", `"PATH" line 3: "completed" must be a plain value on the line of its key`},
		{"only states", "sprint-status.yaml", "development_status:\n  1-1-login: done\n",
			`"PATH": no stories: it holds only the states of stories that lie in other files; name the folder or the list with their text`},
		{"broken yaml", "tasks.yaml", "tasks:\n- title: [x\n", `"PATH" line 3: did not find expected ',' or ']'`},
		{"yaml with tabs", "tasks.yaml", "tasks:\n\t- title: x\n", `"PATH" line 2: found character that cannot start any token`},
		{"lone return", "tasks.yaml", "tasks:\n- title: x\r  completed: true\n", `"PATH" line 2: a carriage return without a line feed`},

		// Front matter.
		{"not ended", "a.md", "---\ntitle: x\n\nDo it.", `"PATH" line 4: expected "key: value" in the front matter, found "Do it."`},
		{"never ended", "a.md", "---\ntitle: x\n", `"PATH" line 1: the front matter begins with "---" and does not end with another`},
		{"key twice", "a.md", "---\ndone: true\ntitle: x\ndone: false\n---\n",
			`"PATH" line 4: the key "done" stands twice in the front matter, on line 2 and on line 4`},
		{"nested map", "a.md", "---\nmeta:\n  a: b\n---\nx", `"PATH" line 3: expected "key: value" in the front matter, found "a: b"`},
		{"block", "a.md", "---\ntitle: |\n  x\n---\nx", `"PATH" line 2: the value of "title": a value that begins with '|' must stand in quotes`},
		{"colon", "a.md", "---\ntitle: fix: x\n---\nx", `"PATH" line 2: the value of "title": a value with a colon must stand in quotes`},
		{"open quote", "a.md", "---\ntitle: \"x\n---\nx", `"PATH" line 2: the value of "title": the quote is not closed on its line`},
		{"after a quote", "a.md", "---\ntitle: 'x' y\n---\nx", `"PATH" line 2: the value of "title": "y" after the end of the value`},
		{"yaml escape", "a.md", "---\ntitle: \"\\x41\"\n---\nx", `"PATH" line 2: the value of "title": an escape other than \" \\ \/ \n \t is not understood`},
		{"open list", "a.md", "---\ndepends: [a, b\n---\nx", `"PATH" line 2: the value of "depends": the list is not closed on its line`},
		{"list in a list", "a.md", "---\ndepends: [a, [b]]\n---\nx", `"PATH" line 2: the value of "depends": the list item "[b" is not understood`},
		{"item first", "a.md", "---\n- a\n---\nx", `"PATH" line 2: a list item without a key before it`},
		{"item after a value", "a.md", "---\nid: x\n- a\n---\nx", `"PATH" line 3: a list item without a key before it`},
		{"item in an item", "a.md", "---\ndepends:\n- - a\n---\nx", `"PATH" line 3: the list "depends": a value that begins with '-' must stand in quotes`},
		{"map in a list", "a.md", "---\ndepends:\n- id: a\n---\nx", `"PATH" line 3: the list "depends": a value with a colon must stand in quotes`},
		{"done maybe", "a.md", "---\ndone: maybe\n---\nx", `"PATH" line 2: "done" must be true or false, not "maybe"`},
		{"id list", "a.md", "---\nid: [a]\n---\nx", `"PATH" line 2: "id" must be one value, not a list`},
		{"one file of several", "a.md", "---\ndepends: b\n---\nx",
			`"PATH": story "a" (in "PATH") depends on "b": it is not in this one file; name the folder to work on all of its stories`},
		{"no text", "a.md", "---\nid: a\n---\n", `"PATH" line 1: the story has neither a title nor a description nor criteria`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := put(t, tt.file, tt.text)
			f, err := Read(path)
			if err == nil {
				t.Fatalf("no error; read %+v", f.Stories)
			}
			wantError(t, err, path, tt.want)
		})
	}
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	return content(t, filepath.Join("testdata", filepath.FromSlash(name)))
}

// TestErrorKinds: callers branch on these.
func TestErrorKinds(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(filepath.Join(dir, "none.json")); !errors.Is(err, ErrNoFile) {
		t.Errorf("missing: %v", err)
	}
	for _, text := range []string{"[]", "{}", `{"tasks":[]}`, "", `{"prd":{}}`} {
		if _, err := Read(put(t, "prd.json", text)); !errors.Is(err, ErrNoStories) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Read(dir); !errors.Is(err, ErrNoStories) {
		t.Errorf("empty folder: %v", err)
	}
	var ue *UnsupportedError
	if _, err := Read(put(t, "tasks.toml", "a = 1")); !errors.As(err, &ue) {
		t.Errorf("unsupported: %v", err)
	}
	var fe *FormatError
	if _, err := Read(put(t, "prd.json", "[")); !errors.As(err, &fe) || fe.Line != 1 || fe.Column != 2 {
		t.Errorf("broken: %v", err)
	}
}

func TestFolderErrors(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"only drafts", map[string]string{"README.md": "# x", "_a.md": "x", ".b.md": "x", "notes.txt": "x"},
			`"PATH": no stories: the folder has no *.md file (README.md and names that begin with _ or . do not count)`},
		{"duplicate id", map[string]string{"1.md": "---\nid: a\n---\nx", "2.md": "---\nid: a\n---\ny"},
			`"PATH": the id "a" is used twice, in "PATH/1.md" and in "PATH/2.md"`},
		{"circle", map[string]string{"1.md": "---\ndepends: 2\n---\nx", "2.md": "---\ndepends: [1]\n---\ny"},
			`"PATH": stories wait for each other: "1" (in "PATH/1.md") depends on "2" (in "PATH/2.md") depends on "1"`},
		{"unknown", map[string]string{"1.md": "---\ndepends: 2, 3\n---\nx", "2.md": "y"},
			`"PATH": story "1" (in "PATH/1.md") depends on "3": there is no such story, or more than one`},
		{"one is broken", map[string]string{"1.md": "x", "2.md": "---\nno\n---\n"},
			`"PATH/2.md" line 2: expected "key: value" in the front matter, found "no"`},
		{"one is empty", map[string]string{"1.md": "x", "2.md": "\n"}, `"PATH/2.md": no stories: the file is empty`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				write(t, filepath.Join(dir, name), text)
			}
			_, err := Read(dir)
			if err == nil {
				t.Fatal("no error")
			}
			wantError(t, errors.New(strings.ReplaceAll(err.Error(), `\\`, "/")), filepath.ToSlash(dir), tt.want)
		})
	}
}

func TestReadRefusesOtherThanFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "prd.json")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Read(dir)
	wantError(t, err, dir, fmt.Sprintf("%q: no stories: the folder has no *.md file (README.md and names that begin with _ or . do not count)", "PATH"))
}
