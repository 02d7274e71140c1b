package scanner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

// scanSlowly is a scan without any of the shortcuts: every line is looked
// through by itself and decoded.
func scanSlowly(t testing.TB, in string, o Options, rules classifier) []Hit {
	t.Helper()
	var hits []Hit
	s := newScan(o, rules, func(h Hit) error {
		hits = append(hits, h)
		return nil
	})
	lines := transcript.NewLines(strings.NewReader(in), transcript.Options{})
	for {
		line, err := lines.Next()
		if err != nil {
			s.finish()
			return hits
		}
		if !o.CallsOnly {
			s.words.line = slowWords(line.Bytes, rules)
		}
		events := line.Events(&s.stats.Stats)
		for len(events) > 0 {
			n := 1
			for n < len(events) && events[n].Line == events[0].Line && events[n].Part == events[0].Part {
				n++
			}
			s.record(events[:n])
			events = events[n:]
		}
	}
}

// slowWords looks through all of a line at once.
func slowWords(line []byte, rules classifier) []phrase {
	var p phrases
	text := readable(nil, line, shapeOf(line) == shapeJSON)
	rules.FindMentions(text, func(m policy.Mention) bool {
		p.add(m, text)
		return true
	})
	return p.list
}

// FuzzShortcuts holds that what is left undecoded would have given no hit.
func FuzzShortcuts(f *testing.F) {
	var all strings.Builder
	for _, row := range positions {
		row = strings.ReplaceAll(row, "@", "git push")
		all.WriteString(row + "\n")
		f.Add(row+"\n"+bash("t", "git push")+ok("t", "git push"), false)
	}
	f.Add(all.String(), false)
	f.Add(bash("a", "git push")+pushNotice+pushed("a")+denied("a", "queued as #1")+pushNotice, true)
	files, err := filepath.Glob(samplesDir + "/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), false)
	}
	f.Fuzz(func(t *testing.T, in string, callsOnly bool) {
		o := Options{CallsOnly: callsOnly}
		hits, _ := scanText(t, in, o)
		if diff := cmp.Diff(scanSlowly(t, in, o, fake{}), hits); diff != "" {
			t.Errorf("hits (-slow +fast):\n%s", diff)
		}
	})
}
