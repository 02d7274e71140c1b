package policy

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPackExamples runs every example of the embedded packs through the whole
// classifier.
func TestPackExamples(t *testing.T) {
	s := builtin(t)
	seen := map[string]string{}
	for _, p := range s.packs {
		def, err := decodePack(p.name, p.source())
		if err != nil {
			t.Error(err)
			continue
		}
		strict := &pack{name: p.name, data: p.source(), def: *def}
		if err := strict.compile(); err != nil {
			t.Error(err)
			continue
		}
		for _, r := range strict.rules {
			if other, ok := seen[r.ID]; ok {
				t.Errorf("rule %q stands in %s and %s", r.ID, other, p.name)
			}
			seen[r.ID] = p.name
			if r.Runs {
				continue // it classifies what is run; it has no say of its own
			}
			if len(r.Match) < 3 || len(r.NotMatch) < 2 {
				t.Errorf("%s: rule %q has %d examples and %d near misses", p.name, r.ID, len(r.Match), len(r.NotMatch))
			}
			for _, m := range r.Match {
				if !s.speaks(r, m) {
					t.Errorf("%s: rule %q: %q does not match: %v", p.name, r.ID, m, s.ClassifyCommand(m, "").Rules())
				}
			}
			for _, m := range r.NotMatch {
				if s.speaks(r, m) {
					t.Errorf("%s: rule %q: near miss %q matches", p.name, r.ID, m)
				}
			}
		}
	}
}

// TestPackIndex holds the programs list at the head of each embedded pack,
// which is for people, to what the pack really speaks of. LOOP_UPDATE=1 rewrites
// the lists.
func TestPackIndex(t *testing.T) {
	for _, p := range embedded(t) {
		if real := p.programs(); os.Getenv("LOOP_UPDATE") != "" {
			writeHeader(t, p, real)
		} else if !slices.Equal(slices.Sorted(slices.Values(p.def.Programs)), slices.Sorted(slices.Values(real))) {
			t.Errorf("%s: programs is not what the rules speak of: %v", p.name, real)
		}
	}
}

// writeHeader rewrites the programs list of a pack's file.
func writeHeader(t *testing.T, p *pack, programs []string) {
	t.Helper()
	start := bytes.Index(p.data, []byte("programs = ["))
	end := start + bytes.IndexByte(p.data[start:], ']') + 1
	line := `programs = ["` + strings.Join(programs, `", "`) + `"]`
	data := slices.Concat(p.data[:start], []byte(line), p.data[end:])
	if err := os.WriteFile(p.name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
