package policy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"sort"
	"testing"
)

type corpusRow struct {
	ID      string          `json:"id"`
	Command string          `json:"command"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	Expect  Verdict         `json:"expect"`
	Why     string          `json:"why"`
	Family  string          `json:"family"`
	Net     string          `json:"net"`
}

func (r corpusRow) call() Call {
	if r.Tool != "" {
		return Call{Tool: r.Tool, Input: r.Input}
	}
	in, _ := json.Marshal(map[string]string{"command": r.Command})
	return Call{Tool: "Bash", Input: in}
}

func readCorpus(t testing.TB) []corpusRow {
	t.Helper()
	name := "testdata/commands.jsonl"
	if n := os.Getenv("LOOP_CORPUS"); n != "" {
		name = n
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var rows []corpusRow
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var r corpusRow
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", sc.Text(), err)
		}
		rows = append(rows, r)
	}
	return rows
}

func builtin(t testing.TB) *Set {
	t.Helper()
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// score counts one family.
type score struct{ external, caught, harmless, stopped, shared, sharedRight, mention, kept, net, netRight int }

func (s *score) add(r corpusRow, res Result) {
	switch r.Expect {
	case VerdictExternal:
		s.external++
		if res.Verdict == VerdictExternal {
			s.caught++
		}
	case VerdictShared:
		s.shared++
		if res.Verdict == VerdictShared {
			s.sharedRight++
		}
	case VerdictMention:
		s.mention++
		if res.Verdict == VerdictMention {
			s.kept++
		}
	}
	if r.Expect == VerdictLocal || r.Expect == VerdictMention {
		s.harmless++
		if res.Verdict == VerdictExternal {
			s.stopped++
		}
	}
	if r.Net != "" {
		s.net++
		if res.Net {
			s.netRight++
		}
	}
}

// TestCorpus holds the classifier to the labelled calls: what it reaches is
// the floor.
func TestCorpus(t *testing.T) {
	s := builtin(t)
	families := map[string]*score{}
	total := &score{}
	for _, r := range readCorpus(t) {
		res := s.Classify(r.call())
		f := families[r.Family]
		if f == nil {
			f = &score{}
			families[r.Family] = f
		}
		f.add(r, res)
		total.add(r, res)
		if res.Verdict != r.Expect || (r.Net != "") != res.Net && r.Expect != VerdictExternal {
			t.Logf("%s %s: got %s net=%v %v, want %s net=%q (%s)\n\t%q", r.ID, r.Family, res.Verdict, res.Net, res.Rules(), r.Expect, r.Net, r.Why, CommandOf(r.call()))
		}
	}
	names := make([]string, 0, len(families))
	for n := range families {
		names = append(names, n)
	}
	sort.Strings(names)
	families["total"] = total
	for _, n := range append(names, "total") {
		f := families[n]
		t.Logf("%-10s external %d/%d  false external %d/%d  shared %d/%d  mention %d/%d  net %d/%d",
			n, f.caught, f.external, f.stopped, f.harmless, f.sharedRight, f.shared, f.kept, f.mention, f.netRight, f.net)
	}
	if total.caught < total.external || total.stopped > 0 || total.sharedRight < total.shared || total.kept < total.mention {
		t.Error("the score is below what it was: every row of each kind right")
	}
	if total.netRight < total.net {
		t.Errorf("%d of %d network reads marked", total.netRight, total.net)
	}
}
