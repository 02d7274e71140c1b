package stories

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrontMatter(t *testing.T) {
	tests := []struct {
		name, text string
		want       map[string][]string
	}{
		{"none", "# x\n---\na: b\n---\n", map[string][]string{}},
		{"plain", "---\na: b c\nd:\ne:   f\t\n---\n", map[string][]string{"a": {"b c"}, "d": nil, "e": {"f"}}},
		{"rules with space", "---  \na: b\n--- \n", map[string][]string{"a": {"b"}}},
		{"comments", "---\n# one\n  # two\na: b # three\nc: d#e\nf: # g\n---\n",
			map[string][]string{"a": {"b"}, "c": {"d#e"}, "f": nil}},
		{"double quotes", `---
a: "b: \"c\" # d\n\\" # e
---
`, map[string][]string{"a": {"b: \"c\" # d\n\\"}}},
		{"single quotes", "---\na: 'it''s \\n' # b\n---\n", map[string][]string{"a": {`it's \n`}}},
		{"flow list", "---\na: [b, 'c, d', \"e]\" , f g]\nh: []\ni: [ j, ] # k\n---\n",
			map[string][]string{"a": {"b", "c, d", "e]", "f g"}, "h": nil, "i": {"j"}}},
		{"block list", "---\na:\n- b\n  - 'c d' # e\n\n# f\n  - g\nh: i\n---\n", map[string][]string{"a": {"b", "c d", "g"}, "h": {"i"}}},
		{"colons inside", "---\na: http://x\nb: 10:30\nc-d: e\n---\n",
			map[string][]string{"a": {"http://x"}, "b": {"10:30"}, "c-d": {"e"}}},
		{"dates and numbers", "---\na: 2026-01-29\nb: -1\n---\n", map[string][]string{"a": {"2026-01-29"}, "b": {"-1"}}},
	}
	for _, tt := range tests {
		for _, eol := range []string{"\n", "\r\n"} {
			src := newSource("f", []byte(strings.ReplaceAll(tt.text, "\n", eol)))
			fm, err := readFront(src, 0)
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
				continue
			}
			got := map[string][]string{}
			for _, x := range fm.fields {
				got[x.key] = x.values
				if value := string(src.data[x.start:x.end]); strings.ContainsAny(value, "\r\n") || strings.HasSuffix(value, " ") {
					t.Errorf("%s: the value of %q is at %q", tt.name, x.key, value)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.name, diff)
			}
		}
	}
}

func TestBody(t *testing.T) {
	tests := []struct {
		name, text string
		want       Story
	}{
		{"heading", "\n# Do it ##\n\nText.\n", Story{Title: "Do it", Description: "Text."}},
		{"later heading", "Text.\n\n## Part\n\nMore.", Story{Title: "Part", Description: "Text.\n\n\nMore."}},
		{"heading in a fence", "```\n# no\n```\n# yes\n", Story{Title: "yes", Description: "```\n# no\n```"}},
		{"heading of the criteria only", "Text.\n## Acceptance criteria:\n- [ ] a", Story{Description: "Text.", Criteria: []string{"a"}}},
		{"no hash without a space", "#1 is first\n", Story{Description: "#1 is first"}},
		{"boxes", "- [ ] a\n* [x] b\n+ [X] c\n1. [/] d\n2) [~] e\n- [-] f\n",
			Story{Criteria: []string{"a", "b", "c", "d", "e", "f"}}},
		{"no boxes", "- [2026-01-29] a\n- [](b)\n- [ ](c)\n-[ ] d\n- [y] e\n[ ] f\n",
			Story{Description: "- [2026-01-29] a\n- [](b)\n- [ ](c)\n-[ ] d\n- [y] e\n[ ] f"}},
		{"empty box", "- [ ]\n- [ ] a\n", Story{Criteria: []string{"a"}}},
		{"nested", "- [ ] a\n  - [ ] b\n\t- c\n- [ ] d\n", Story{Criteria: []string{"a\n- [ ] b\n  - c", "d"}}},
		{"lazy", "- [ ] a\nb\n  c\n\nd\n", Story{Criteria: []string{"a\nb\n  c"}, Notes: "d"}},
		{"paragraph of an item", "- [ ] a\n\n  b\n\nc\n", Story{Criteria: []string{"a\n\nb"}, Notes: "c"}},
		{"fence in an item", "- [ ] a\n  ```\n  - [ ] b\n  ```\n- [ ] c\n", Story{Criteria: []string{"a\n```\n- [ ] b\n```", "c"}}},
		{"fence after an item", "- [ ] a\n```\n- [ ] b\n```\n- [ ] c\n", Story{Criteria: []string{"a", "c"}, Notes: "```\n- [ ] b\n```"}},
		{"longer fence", "````\n```\n- [ ] a\n````\n- [ ] b\n", Story{Description: "````\n```\n- [ ] a\n````", Criteria: []string{"b"}}},
		{"tildes", "~~~ sh\n- [ ] a\n```\n~~~\n- [ ] b\n", Story{Description: "~~~ sh\n- [ ] a\n```\n~~~", Criteria: []string{"b"}}},
		{"code in a line is no fence", "```x```\n- [ ] a\n", Story{Description: "```x```", Criteria: []string{"a"}}},
		{"open fence", "```\n- [ ] a\n", Story{Description: "```\n- [ ] a"}},
		{"comment", "<!--\n- [ ] a\n-->\n- [ ] b <!-- c -->\n",
			Story{Description: "<!--\n- [ ] a\n-->", Criteria: []string{"b <!-- c -->"}}},
		{"sections", "Text.\n\n## Front\n\n- [ ] a\n\n## Back\n\n- [ ] b\n\n## Notes\n\nc\n",
			Story{Title: "Front", Description: "Text.", Criteria: []string{"a", "b"}, Notes: "## Back\n\n## Notes\n\nc"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got Story
			readBody(&got, strings.Split(tt.text, "\n"))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestBullets(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"", nil},
		{"All of it works.", []string{"All of it works."}},
		{"Two\nlines.", []string{"Two\nlines."}},
		{"- a\n- b\n", []string{"a", "b"}},
		{"- [x] a\r\n- [ ] b", []string{"a", "b"}},
		{"1. a\n   more\n2. b", []string{"a\nmore", "b"}},
		{"Before:\n\n* a\n  * a1\n* b\n\nAfter.", []string{"Before:", "a\n* a1", "b", "After."}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, bullets(tt.text)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.text, diff)
		}
	}
}

func TestMarkdownWarnings(t *testing.T) {
	path := put(t, "a.md", "---\nstatus: done\npriority: soon\nowner: me\ndepends: none\n---\nx")
	f := mustRead(t, path)
	var got []string
	for _, w := range f.Warnings {
		got = append(got, strings.ReplaceAll(w, strings.ReplaceAll(path, `\`, `\\`), "PATH"))
	}
	want := []string{
		`"PATH": the key "status" on line 2 means nothing here; the keys are done and depends`,
		`"PATH": the priority "soon" is not understood; it comes after those with one`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if s := f.Stories[0]; s.Done || len(s.Depends) > 0 {
		t.Errorf("%+v", s)
	}
}

// TestExample: the text that a user starts from must be read without a doubt.
func TestExample(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "001-example.md"), Example())
	f := mustRead(t, dir)
	s := order(t, f)[0]
	if len(f.Stories) != 1 || len(f.Warnings) > 0 || s.ID != "001" || len(s.Criteria) != 2 || s.Priority != 1 {
		t.Errorf("%+v %q", f.Stories, f.Warnings)
	}
	if s.Title != "Say what the program does in one line" || strings.Contains(s.Description, "Acceptance") {
		t.Errorf("%+v", s)
	}
}
