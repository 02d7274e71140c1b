package stories

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPriority(t *testing.T) {
	tests := []struct {
		in   string
		want float64
		ok   bool
	}{
		{"1", 1, true}, {"1.1", 1.1, true}, {"-2", -2, true}, {" 3 ", 3, true}, {"1e1", 10, true},
		{"P0", 0, true}, {"p2", 2, true}, {"P10", 10, true},
		{"critical", 0, true}, {"High", 1, true}, {"MEDIUM", 2, true}, {"low", 3, true},
		{"", 0, false}, {"P", 0, false}, {"P1.5", 0, false}, {"p-1", 0, false}, {"someday", 0, false},
		{"NaN", 0, false}, {"inf", 0, false}, {"0x10", 0, false}, {"1e999", 0, false}, {"1 2", 0, false}, {"P100", 0, false},
	}
	for _, tt := range tests {
		if got, ok := priority(tt.in); ok != tt.ok || ok && got != tt.want {
			t.Errorf("%q: %v, %t", tt.in, got, ok)
		}
	}
}

func TestOrder(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"file order", `[{"id":"b","title":"x"},{"id":"a","title":"x"}]`, "b a"},
		{"priority first, none last", `[{"id":"n","title":"x"},{"id":"b","title":"x","priority":2},{"id":"a","title":"x","priority":1}]`, "a b n"},
		{"done left out", `[{"id":"a","title":"x","passes":true},{"id":"b","title":"x"}]`, "b"},
		{"all done", `[{"id":"a","title":"x","passes":true}]`, ""},
		{"held left out", `[{"id":"a","title":"x","status":"cancelled"},{"id":"b","title":"x"}]`, "b"},
		{"a dependency comes early",
			`[{"id":"mid","title":"x","priority":2},{"id":"top","title":"x","priority":1,"dependsOn":["low"]},{"id":"low","title":"x","priority":9}]`,
			"low top mid"},
		{"dependencies by priority",
			`[{"id":"z","title":"x","deps":["b","a"]},{"id":"b","title":"x","priority":2},{"id":"a","title":"x","priority":1}]`, "a b z"},
		{"done dependency", `[{"id":"a","title":"x","deps":["b"]},{"id":"b","title":"x","passes":true}]`, "a"},
		{"a done story waits for nothing", `[{"id":"a","title":"x","passes":true,"deps":["gone"]},{"id":"b","title":"x"}]`, "b"},
		{"hash marks", `[{"id":1,"title":"x","deps":["#2"]},{"id":2,"title":"x"}]`, "2 1"},
		{"none", `[{"id":"a","title":"x","dependsOn":"none"}]`, "a"},
		{"only what blocks", `[{"id":"a","title":"x","dependencies":[{"depends_on_id":"epic","type":"parent-child"},{"depends_on_id":"b","type":"blocks"}]},{"id":"b","title":"x"}]`, "b a"},
		{"by title", `[{"id":"a","title":"x","deps":["The  other - “one”"]},{"id":"b","title":"The Other—One"}]`, "b a"},
		{"by title and id", `[{"id":"a","title":"x","deps":["Whatever (US-4)"]},{"id":"US-4","title":"y","deps":["US-5: z"]},{"id":"US-5","title":"z","deps":["US-6 — z"]},{"id":"US-6","title":"z"}]`, "US-6 US-5 US-4 a"},
		{"an id before a title", `[{"id":"a","title":"b","deps":["b"]},{"id":"b","title":"a"}]`, "b a"},
		{"prose", `[{"id":"1","title":"x","description":"Text.\n- Depends on #2, #99"},{"id":"2","title":"x"}]`, "2 1"},
		{"prose about others", `[{"id":"1","title":"x","description":"Number 3 depends on #2."},{"id":"2","title":"x"}]`, "1 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := mustRead(t, put(t, "prd.json", tt.file))
			var got []string
			for _, s := range order(t, f) {
				got = append(got, s.ID)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestHeld(t *testing.T) {
	f := mustRead(t, put(t, "prd.json", `[{"id":"a","title":"x","deps":["b"]},{"id":"b","title":"x","deps":["c"]},
		{"id":"c","title":"x","status":"blocked"},{"id":"d","title":"x","passes":true,"deps":["c"]},{"id":"e","title":"x","status":"on hold","deps":["d"]}]`))
	got := map[string]string{}
	for _, s := range f.Held() {
		got[s.ID] = s.Held
	}
	want := map[string]string{
		"a": `it depends on "b", which is held`, "b": `it depends on "c", which is held`,
		"c": `its status is "blocked"`, "e": `its status is "on hold"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if open := order(t, f); len(open) > 0 {
		t.Errorf("%+v", open)
	}
}

func TestFolderDependsByNumber(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "001-first.md"), "---\ndepends: [2, 003-third]\n---\nFirst")
	write(t, filepath.Join(dir, "2-second.md"), "Second")
	write(t, filepath.Join(dir, "003-third.md"), "---\nid: three\ntitle: The third\ndepends: second\n---\n")
	var got []string
	for _, s := range order(t, mustRead(t, dir)) {
		got = append(got, s.ID)
	}
	if diff := cmp.Diff([]string{"2-second", "three", "001-first"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSortNames(t *testing.T) {
	names := []string{"10-b.md", "2-a.md", "002-b.md", "b.md", "a2.md", "a10.md"}
	want := []string{"002-b.md", "2-a.md", "10-b.md", "a10.md", "a2.md", "b.md"}
	sortNames(names)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func order(t testing.TB, f *File) []Story {
	t.Helper()
	open, err := f.Order()
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// What comes after a story: by what stories say they depend on, and where a
// file says nothing of that, by its order; never what is done.
func TestAfter(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"by priority":   {`[{"id":"c","title":"c","priority":3},{"id":"a","title":"a","priority":1},{"id":"b","title":"b","priority":2,"passes":true},{"id":"d","title":"d"}]`, []string{"c", "d"}},
		"by dependency": {`[{"id":"a","title":"a","passes":true},{"id":"z","title":"z"},{"id":"c","title":"c","dependsOn":["b"]},{"id":"b","title":"b","dependsOn":["a"]}]`, []string{"c", "b"}},
		"the last":      {`[{"id":"b","title":"b","passes":false},{"id":"a","title":"a","passes":false}]`, nil},
	}
	for name, tt := range tests {
		f := mustRead(t, put(t, "prd.json", tt.text))
		var got []string
		for _, s := range f.After("a") {
			got = append(got, s.ID)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if list := f.After("none"); list != nil {
			t.Errorf("%s: after none: %v", name, list)
		}
	}
}
