package scanner

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

// spelled writes a text as the inside of a JSON string in one of the many
// ways that JSON has for it.
func spelled(r *rand.Rand, text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		switch n := r.IntN(12); {
		case c == ' ' && n < 6:
			b.WriteString([]string{" ", `\n`, `\t`, "  ", `\u0020`, `\r\n\t`}[n])
		case n == 0:
			fmt.Fprintf(&b, `\u%04x`, c)
		case n == 1 && c >= 'a' && c <= 'z':
			b.WriteByte(c - 32)
		case c == '/' && n < 6:
			b.WriteString(`\/`)
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// spoken are phrases that count anywhere, and some that count as words only.
var spoken = append(slices.Clone(classics), "twine upload", "docker push x/y", "aws s3 cp", "terraform apply", "kubectl delete pod", "cargo publish")

// scraps are what stands round phrases: escapes, cut ones too, and what looks
// like the beginning of a phrase.
var scraps = []string{
	`\\`, `\`, `\"`, `\n`, `\\n`, `\t`, `\b`, `\u2014`, `\u00e9`, `\u003c`, `\ud83d\ude80`, `\N`, `\U`, `"`, "{", "}", ":", " ", "  ",
	"git ", "gh pr ", "npm", "git pus", "curl -x", "\x00", "é", "x", "word ", strings.Repeat("lorem ", 40), strings.Repeat(`\n\t`, 30), strings.Repeat("z", 300),
	`\u00`,
}

// TestMayMention holds that the look at raw JSON never says no where the text
// without its escapes holds a phrase, at any place of texts of any length.
func TestMayMention(t *testing.T) {
	set := builtin(t)
	r := rand.New(rand.NewPCG(5, 6))
	found := 0
	for n := range 8000 {
		var b strings.Builder
		around := func() {
			for range r.IntN(2 + n%40) {
				b.WriteString(scraps[r.IntN(len(scraps)-n%2)]) // every other time without what is always looked into
			}
		}
		around()
		if phrase := spoken[r.IntN(len(spoken))]; n%3 == 0 {
			b.WriteString(phrase)
		} else {
			b.WriteString(spelled(r, phrase))
		}
		around()
		if holds(set, b.String()) {
			found++
		}
		checkMayMention(t, set, b.String())
	}
	if found < 4000 {
		t.Errorf("%d texts hold a phrase", found)
	}
}

func holds(set *policy.Set, raw string) bool {
	hit := false
	set.FindMentions(transcript.Unescape(nil, []byte(raw)), func(policy.Mention) bool {
		hit = true
		return false
	})
	return hit
}

func checkMayMention(t *testing.T, set *policy.Set, raw string) {
	t.Helper()
	if holds(set, raw) && !set.MayMention([]byte(raw)) {
		t.Fatalf("a phrase is overlooked in %q", raw)
	}
}

// FuzzMayMention is TestMayMention for any text.
func FuzzMayMention(f *testing.F) {
	set := builtin(f)
	for _, s := range scraps {
		f.Add(s + `git\u0020push` + s)
		f.Add(strings.Repeat(s, 400) + `NPM\npublish` + s)
	}
	f.Fuzz(func(t *testing.T, raw string) { checkMayMention(t, set, raw) })
}

// TestShortcutsAgree holds, with the real rules, that a scan finds what a scan
// without shortcuts finds, in records with phrases in every spelling.
func TestShortcutsAgree(t *testing.T) {
	set := builtin(t)
	r := rand.New(rand.NewPCG(7, 8))
	var in bytes.Buffer
	for range 6 {
		for _, row := range positions {
			if strings.Contains(row, `"tool_use"`) {
				row = strings.Replace(row, `"id":"t"`, fmt.Sprintf(`"id":"t%d"`, in.Len()), 1)
			}
			words := spelled(r, spoken[r.IntN(len(spoken))])
			if r.IntN(3) == 0 {
				words = "nothing"
			}
			for range r.IntN(30) {
				words += strings.Trim(scraps[r.IntN(len(scraps))], `"\{}`+"\x00")
			}
			in.WriteString(strings.ReplaceAll(row, "@", words) + "\n")
		}
		in.Write(night(64 << 10))
	}
	for _, callsOnly := range []bool{false, true} {
		o := Options{Set: set, CallsOnly: callsOnly}
		var hits []Hit
		if _, err := Scan(context.Background(), bytes.NewReader(in.Bytes()), o, func(h Hit) error {
			hits = append(hits, h)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		want := scanSlowly(t, in.String(), o, set)
		if diff := cmp.Diff(want, hits); diff != "" || len(hits) == 0 {
			t.Errorf("calls only %v: %d hits (-slow +fast):\n%s", callsOnly, len(hits), diff)
		}
	}
}
