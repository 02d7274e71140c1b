package policy

import (
	"bytes"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScanAgrees holds the two ways of looking for phrases to each other.
func TestScanAgrees(t *testing.T) {
	s := builtin(t)
	x := s.phraseSet()
	dfa := newAutomaton(x)
	texts := [][]byte{mentionText(t)[:200000], []byte("GIT  PUSH git\n\tpush xgit push gitpush npm publishes `gh pr create`"),
		[]byte(`{"text":"git push\nnpm publish\ttwine upload"}`), []byte("git  git push npm run npm  publish terraform  apply")}
	var all strings.Builder
	for _, p := range x.all {
		all.WriteString(p.text + "\n." + strings.ReplaceAll(strings.ToUpper(p.text), " ", "  ") + ";x" + p.text + "\n")
	}
	texts = append(texts, []byte(all.String()))
	for _, text := range texts {
		collect := func(find func([]byte, func(Mention) bool)) []Mention {
			var out []Mention
			find(text, func(m Mention) bool { out = append(out, m); return true })
			sort.Slice(out, func(i, j int) bool {
				a, b := out[i], out[j]
				return a.Start < b.Start || a.Start == b.Start && (a.End < b.End || a.End == b.End && a.Rule < b.Rule)
			})
			return out
		}
		var inOrder [2][]Mention
		for i, find := range []func([]byte, func(Mention) bool){x.scan, dfa.sorted} {
			find(text, func(m Mention) bool { inOrder[i] = append(inOrder[i], m); return true })
		}
		if d := cmp.Diff(inOrder[0], inOrder[1]); d != "" {
			t.Errorf("%.60q: order (-scan +automaton)\n%.2000s", text, d)
		}
		a, b := collect(x.scan), collect(func(text []byte, yield func(Mention) bool) {
			dfa.find(text, func(p place) bool { return yield(x.mention(p)) })
		})
		if len(a) == 0 {
			t.Errorf("nothing found in %.60q", text)
		}
		if d := cmp.Diff(a, b); d != "" {
			t.Errorf("%.60q: (-scan +automaton)\n%.2000s", text, d)
		}
	}
}

// TestClassicsAnywhere: the nine patterns count wherever they stand, in any
// case.
func TestClassicsAnywhere(t *testing.T) {
	s := builtin(t)
	for _, p := range []string{
		"git push", "gh pr create", "gh pr merge", "railway deploy", "curl -X POST",
		"curl -X PUT", "curl -X PATCH", "curl -X DELETE", "npm publish",
	} {
		for _, text := range []string{p, "x" + p + "y", strings.ToUpper(p), "a " + p + "ing", `\"` + p + `\"`} {
			if r := s.ClassifyText(text); r.Verdict != VerdictMention || r.Evidence != Mentioned {
				t.Errorf("%q: %s %s", text, r.Verdict, r.Evidence)
			}
			long := append(bytes.Repeat([]byte("lorem ipsum "), 5000), text...)
			found := false
			s.FindMentions(long, func(m Mention) bool { found = found || strings.HasPrefix(m.Rule, "classic-"); return true })
			if !found {
				t.Errorf("%q: not found in a long text", text)
			}
		}
	}
}
