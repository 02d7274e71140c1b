package claims

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// row is one line of testdata/cases.txt with the indented lines under it.
type row struct{ mark, text, under string }

// fact is one case of testdata/cases.txt.
type fact struct {
	name string
	rows []row
}

func readFacts(t *testing.T) []fact {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	var facts []fact
	_, body, _ := strings.Cut(string(data), "\n\n# unit equal, rounded")
	open := false
	for line := range strings.SplitSeq("# unit equal, rounded"+body, "\n") {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			facts, open = append(facts, fact{name: name}), false
			continue
		}
		f := &facts[len(facts)-1]
		mark, text, _ := strings.Cut(line, " ")
		if body, ok := strings.CutPrefix(line, `\`); ok && open { // as it is
			f.rows[len(f.rows)-1].text += "\n" + body
			continue
		}
		text0, indented := strings.CutPrefix(line, "    ")
		switch {
		case indented && len(f.rows) > 0:
			f.rows[len(f.rows)-1].under += text0 + "\n"
			open = false
		case strings.Contains("|P|$|$!|W|E|R|U|A|M|D|---|>|>>|=|-|", "|"+mark+"|") && mark != "" && !(open && mark == "-" && strings.HasPrefix(text, "[")):
			f.rows = append(f.rows, row{mark: mark, text: text})
			open = mark != "=" && mark != "-"
		case open:
			f.rows[len(f.rows)-1].text += "\n" + line
		}
	}
	return facts
}

// play plays a case, and returns its claims.
func (f fact) play(t *testing.T) []queue.Claim {
	t.Helper()
	s := &session{}
	var published Call
	disk := map[string]string{}
	for _, r := range f.rows {
		switch r.mark {
		case "P":
			s.prompt(r.under)
		case "$", "$!":
			s.call("Bash", map[string]string{"command": r.text}, r.under, r.mark == "$!")
		case "W":
			s.write(r.text, r.under)
		case "E":
			lines := strings.SplitN(r.under, "\n", 2)
			s.call("Edit", map[string]string{"file_path": r.text, "old_string": lines[0], "new_string": strings.TrimSpace(lines[1])}, "edited", false)
		case "R":
			s.read(r.text, r.under)
		case "U":
			s.call("WebFetch", map[string]string{"url": r.text, "prompt": "read"}, r.under, false)
		case "A":
			s.call("Task", map[string]string{"prompt": "do it"}, r.under, false)
		case "M":
			s.call(r.text, map[string]string{"query": "q"}, r.under, false)
		case "D":
			disk[r.text] = r.under
		case "---":
			s.attempt()
		case ">", ">>":
			command := r.text
			if r.mark == ">" {
				command = "gh pr create --title Change --body '" + strings.ReplaceAll(r.text, "'", `'\''`) + "'"
			}
			input, _ := json.Marshal(map[string]string{"command": command})
			published = Call{ID: "published", Input: input}
			s.add(transcript.Event{Kind: transcript.KindCall, Call: &transcript.Call{ID: "published", Name: "Bash", Input: input}})
			s.add(transcript.Event{Kind: transcript.KindResult, Result: &transcript.Result{CallID: "published", Text: "deferred", NotRun: true}})
		}
	}
	return s.judgeWith(t, disk, published)[0].Claims
}

// TestCases holds the verdicts of testdata/cases.txt. What is falsely proven is
// the worst that can happen, and counted apart.
func TestCases(t *testing.T) {
	var all, falseProven, missed, wrong int
	for _, f := range readFacts(t) {
		t.Run(f.name, func(t *testing.T) {
			got := f.play(t)
			named := map[int]bool{}
			for _, r := range f.rows {
				if r.mark != "=" && r.mark != "-" {
					continue
				}
				all++
				cut := max(strings.LastIndex(r.text, ": "), 0)
				words, want := r.text[:cut], strings.TrimPrefix(r.text[cut:], ": ")
				if r.mark == "-" {
					words = r.text
				}
				i := matching(got, words)
				switch {
				case r.mark == "-" && i >= 0:
					wrong++
					t.Errorf("%q is claimed: %s", words, saidOf(got[i]))
				case r.mark == "-":
				case i < 0:
					missed++
					t.Errorf("%q is not found, want %s", words, want)
				default:
					named[i] = true
					have := verdict(got[i])
					if have == want {
						continue
					}
					if got[i].Proven() && !strings.Contains(" proven rounded file story page earlier ", " "+want+" ") {
						falseProven++
						t.Errorf("FALSE: %q is %s, want %s: %s", words, have, want, saidOf(got[i]))
					} else {
						wrong++
						t.Errorf("%q is %s, want %s: %s", words, have, want, saidOf(got[i]))
					}
				}
			}
			for i, c := range got {
				if c.Proven() && !named[i] {
					t.Logf("also proven: %s", saidOf(c))
				}
			}
		})
	}
	t.Logf("%d verdicts: %d falsely proven, %d missed, %d other faults", all, falseProven, missed, wrong)
}

// matching is the first claim that begins with the words, else the first that
// has them.
func matching(list []queue.Claim, words string) int {
	for i, c := range list {
		if strings.HasPrefix(c.Text, words) {
			return i
		}
	}
	for i, c := range list {
		if strings.Contains(c.Text, words) {
			return i
		}
	}
	return -1
}

func saidOf(c queue.Claim) string {
	return c.Kind + " “" + c.Text + "” " + c.Basis() + " (" + c.Note + ") from " + c.Tool + " “" + c.Quote + "”"
}

// attempt ends an attempt and begins the next.
func (s *session) attempt() { s.earlier, s.events = append(s.earlier, s.events), nil }

func (s *session) judgeWith(t *testing.T, disk map[string]string, calls ...Call) []Judged {
	t.Helper()
	var attempts []Events
	for _, list := range append(s.earlier, s.events) {
		attempts = append(attempts, func(do func(transcript.Event)) error {
			for _, ev := range list {
				do(ev)
			}
			return nil
		})
	}
	for i := range calls {
		calls[i].ReadFile = func(name string) (string, bool) { text, ok := disk[name]; return text, ok }
	}
	got, err := Judge(calls, attempts, Options{Memory: []string{"/r/notes/learned.md"}, Receipt: func(id string) string { return "receipt of " + id }})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// verdict says in one word what is said of a claim.
func verdict(c queue.Claim) string {
	switch {
	case c.Failed:
		return "failed"
	case c.Doubt != "":
		return string(c.Doubt)
	case c.Earlier:
		return "earlier"
	case c.Rounded != "":
		return "rounded"
	case c.Source == queue.SourceResult:
		return "proven"
	}
	return string(c.Source)
}
