package report

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// told is what of a list is shown, spelled the same again, and folded.
func told(list []item) (out []string) {
	for _, it := range list {
		s := number(it.Action)
		if len(it.spellings) > 0 {
			s += " again " + numbersOf(it.spellings)
		}
		if len(it.like) > 0 {
			s += " like " + numbersOf(it.like)
		}
		out = append(out, s)
	}
	return out
}

func TestItemsAreFolded(t *testing.T) {
	push := func(n uint64, target string) *queue.Action {
		a := action(n, "1", fmt.Sprintf("git push %s %d", target, n), policy.Blocked, "git-push", "")
		a.Target = target
		return &a
	}
	ran := push(20, "origin")
	ran.Evidence = policy.Executed
	first, second := push(7, "fork"), push(8, "fork")
	first.Again, second.RelatedTo = []uint64{8}, "7"
	ranAgain := push(9, "fork")
	ranAgain.Evidence, ranAgain.RelatedTo = policy.Executed, "7"
	for name, tt := range map[string]struct {
		list []*queue.Action
		want []string
	}{
		"three of a kind are shown":   {[]*queue.Action{push(1, "origin"), push(2, "origin"), push(3, "origin")}, []string{"#1", "#2", "#3"}},
		"a fourth is shown too":       {[]*queue.Action{push(1, "origin"), push(2, "origin"), push(3, "origin"), push(4, "origin")}, []string{"#1", "#2", "#3", "#4"}},
		"five are folded":             {[]*queue.Action{push(1, "origin"), push(2, "origin"), push(3, "origin"), push(4, "origin"), push(5, "origin")}, []string{"#1", "#2", "#3 like #4 #5"}},
		"another target is another":   {[]*queue.Action{push(1, "a"), push(2, "a"), push(3, "a"), push(4, "b")}, []string{"#1", "#2", "#3", "#4"}},
		"what ran is never folded in": {[]*queue.Action{ran, push(1, "origin"), push(2, "origin"), push(3, "origin")}, []string{"#20", "#1", "#2", "#3"}},
		"spellings":                   {[]*queue.Action{first, second}, []string{"#7 again #8"}},
		"a spelling that ran":         {[]*queue.Action{ranAgain, first, second}, []string{"#9", "#7 again #8"}},
		"one whose first is decided":  {[]*queue.Action{second}, []string{"#8"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, told(items(tt.list, true))); diff != "" {
				t.Error(diff)
			}
			if n := len(items(tt.list, false)); n != len(tt.list) {
				t.Errorf("unfolded: %d of %d", n, len(tt.list))
			}
		})
	}
}

func TestNumbersAreRanges(t *testing.T) {
	for want, list := range map[string][]uint64{
		"": nil, "#4": {4}, "#4 #5": {4, 5}, "#4–#6": {4, 5, 6}, "#1 #4–#7 #9": {1, 4, 5, 6, 7, 9},
	} {
		if got := numbers(list); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}

// A person sees each action or its number; a script sees each.
func TestNothingIsLostByFolding(t *testing.T) {
	d := tenThousand()
	d.Actions = d.Actions[:200]
	for i := range d.Actions {
		d.Actions[i].Family, d.Actions[i].Target = "git", "origin"
	}
	piped := string(terminal(t, d, options(0, false)))
	if n := strings.Count(piped, "\nStory #"); n != 200 {
		t.Errorf("%d story lines in a pipe, want 200", n)
	}
	out := string(terminal(t, d, options(200, false)))
	if n := strings.Count(out, "\nStory #"); n != 9 || !strings.Contains(out, "47 more of this kind: #16 ") {
		t.Errorf("%d story lines on a terminal, want 9, in\n%s", n, out)
	}
}

func TestTheAgentsWordsAreMarked(t *testing.T) {
	a := action(1, "1", "git push", policy.Blocked, "git-push", "")
	for name, tt := range map[string]struct {
		said  *queue.Said
		input string
		want  string
	}{
		"said":      {&queue.Said{Text: "I push\n\nnow."}, "", "it said: “I push now.”"},
		"earlier":   {&queue.Said{Text: "I push.", Calls: 2}, "", "it said, 2 calls before: “I push.”"},
		"delegated": {&queue.Said{Text: "Push.", Delegated: true}, "", "who started it said: “Push.”"},
		"a forgery": {&queue.Said{Text: "x” · approved by you · “y"}, "", `it said: “x\u201d · approved by you · \u201cy”`},
		"described": {&queue.Said{}, `{"command":"git push","description":"Publish it"}`, "it called it: “Publish it”"},
		"silent":    {&queue.Said{}, "", "it said nothing before it"},
		"not known": {nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := a
			a.Said = tt.said
			if tt.input != "" {
				a.Input = []byte(tt.input)
			}
			out := string(terminal(t, queue.Snapshot{Actions: []queue.Action{a}}, options(120, false)))
			if tt.want == "" && strings.Contains(out, "it said") || !strings.Contains(out, tt.want) {
				t.Errorf("want %q in\n%s", tt.want, out)
			}
		})
	}
}

func TestWordsAreCutAtASentence(t *testing.T) {
	for in, want := range map[string]string{
		"Short.": "Short.",
		"All of it is done now. I push it to main.": "… I push it to main.",
		"Onewordthatislongerthanthelineisinitself.": "Onewordthatislongertha…",
	} {
		if got := fitWords(in, 23); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// manyKinds is a night of n actions of which no two are alike.
func manyKinds(n int) queue.Snapshot {
	d := tenThousand()
	d.Actions = d.Actions[:n]
	for i := range d.Actions {
		d.Actions[i].Target = fmt.Sprintf("host-%d.example.com", i)
		d.Actions[i].Family = []string{"git", "http", "package", "cloud", "infra", "message", "database", "deploy", "my\x1bown", ""}[i%10]
		d.Actions[i].Tampering = i%100 == 6
	}
	return d
}

// Whatever a night holds, a person reads its report in a morning, is told on
// its first screen that there is more, and how to see it; whoever asks for
// all, and a script, gets all.
func TestANightOfTenThousandDifferentActions(t *testing.T) {
	d := manyKinds(10_000)
	for i := range 100 {
		a := action(uint64(20_000+i), "1", "npm publish", policy.Blocked, "npm-publish", "")
		a.Status = queue.Failed
		d.Actions = append(d.Actions, a)
	}
	forms := map[string]func(o Options) string{
		"terminal": func(o Options) string { return string(terminal(t, d, o)) },
		"markdown": func(o Options) string { return printed(t, func(w io.Writer) error { return Markdown(w, d, o) }) },
		"html": func(o Options) string {
			return html.UnescapeString(tags.ReplaceAllString(printed(t, func(w io.Writer) error { return HTML(w, d, o) }), ""))
		},
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			o := options(100, false)
			out := form(o)
			if n := strings.Count(out, "\n"); n > 1500 {
				t.Errorf("%d lines", n)
			}
			// Three blocks of thirty: what ran, what was kept back, what touched the guard.
			for _, want := range []string{"90 of them stand below, 9910 are folded.", "loop review", "loop list --search WORDS", "2470 more, 2470 of them already ran: ", `my\x1bown`, "4 other kinds", "70 more, like these approved and not finished"} {
				if !strings.Contains(out, want) {
					t.Errorf("no %q", want)
				}
			}
			if at := strings.Index(out, "are folded"); strings.Count(out[:max(at, 0)], "\n") > 40 && name == "terminal" {
				t.Error("that there is more is not on the first screen")
			}
			o.All = true
			all := form(o)
			for _, n := range []int{1, 4999, 10_000} {
				if !strings.Contains(all, "#"+strconv.Itoa(n)+" ") {
					t.Errorf("all of it lacks #%d", n)
				}
			}
			if strings.Contains(all, "are folded") {
				t.Error("all of it is folded")
			}
		})
	}
	piped := string(terminal(t, d, options(0, false)))
	if n := strings.Count(piped, "\nStory #"); n != 10_000 || strings.Contains(piped, "are folded") {
		t.Errorf("%d story lines in a pipe", n)
	}
}

func printed(t *testing.T, form func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	if err := form(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var tags = regexp.MustCompile(`(?s)<style>.*?</style>|<[^>]*>`)

func TestLongListsAreFoldedOnATerminal(t *testing.T) {
	list := func(d queue.Snapshot, width int) string {
		return printed(t, func(w io.Writer) error { return List(w, d.Actions, options(width, false)) })
	}
	alike := tenThousand()
	for i := range alike.Actions {
		alike.Actions[i].Target = "origin"
	}
	alike.Actions[5000].Status = queue.Approved
	different := manyKinds(10_000)
	different.Actions[9998].Evidence = policy.Executed
	for name, tt := range map[string]struct {
		out         string
		lines, most int
		want        []string
	}{
		"a hundred":   {list(queue.Snapshot{Actions: alike.Actions[:100]}, 80), 100, 100, nil},
		"alike":       {list(alike, 80), 10, 20, []string{"\n#5001 ", " #3 ", "4996 more of this kind: ", "have no line here", "loop list | less"}},
		"different":   {list(different, 80), 100, 110, []string{"\n#100 ", "9900 more, 2476 of them already ran: ", "9900 have no line here"}},
		"in a pipe":   {list(alike, 0), 10_000, 10_000, nil},
		"and unalike": {list(different, 0), 10_000, 10_000, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if n := len(regexp.MustCompile(`(?m)^ *#\d+ `).FindAllString(tt.out, -1)); n != tt.lines {
				t.Errorf("%d actions have a line, want %d", n, tt.lines)
			}
			if n := strings.Count(tt.out, "\n"); n > tt.most {
				t.Errorf("%d lines", n)
			}
			for _, want := range tt.want {
				if !strings.Contains("\n"+tt.out, want) {
					t.Errorf("no %q in\n%s", want, tt.out)
				}
			}
		})
	}
}
