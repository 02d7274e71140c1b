package scanner

import (
	"bytes"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/transcript"
)

// blockSize is how much is looked through for words at a time: many lines
// together, because looking through a short text costs more per byte.
const blockSize = 256 << 10

// block holds lines until they are looked through for words together.
type block struct {
	raw   []byte // the lines
	text  []byte // the same as a text to look through, a zero byte behind each line
	lines []blockLine
}

type blockLine struct {
	number, count int
	start, end    int // in raw
	textEnd       int // in text
	marks         mark
	words         *phrases // nil: none
}

func (b *block) add(l transcript.Line) {
	start := len(b.raw)
	b.raw = append(b.raw, l.Bytes...)
	marks, again := survey(l.Bytes)
	if again.end > 0 && shapeOf(l.Bytes) == shapeJSON {
		b.text = append(transcript.Unescape(b.text, l.Bytes[:again.start]), 0)
		b.text = append(transcript.Unescape(b.text, l.Bytes[again.end:]), 0)
	} else {
		b.text = readable(b.text, l.Bytes)
	}
	b.lines = append(b.lines, blockLine{
		number: l.Number, count: l.Count, start: start, end: len(b.raw), textEnd: len(b.text), marks: marks,
	})
}

// readable appends a line as a text to look through: with its escapes
// resolved, and as it stands too where it need not be JSON.
func readable(dst, line []byte) []byte {
	if shapeOf(line) != shapeJSON {
		dst = append(append(dst, line...), 0)
		if bytes.IndexByte(line, '\\') < 0 {
			return dst
		}
	}
	return append(transcript.Unescape(dst, line), 0)
}

// mark finds out which lines hold which words of interest.
func (b *block) mark(rules classifier) {
	at := 0
	rules.FindMentions(b.text, func(m policy.Mention) bool {
		for at > 0 && b.lines[at-1].textEnd > m.Start {
			at--
		}
		for at < len(b.lines)-1 && b.lines[at].textEnd <= m.Start {
			at++
		}
		if b.lines[at].words == nil {
			b.lines[at].words = &phrases{}
		}
		b.lines[at].words.add(m, b.text)
		return true
	})
}

// flush handles the lines of the block and empties it.
func (s *scanning) flush() {
	b := &s.block
	if len(b.lines) > 0 {
		b.mark(s.rules)
	}
	for _, l := range b.lines {
		var words []phrase
		if l.words != nil {
			words = l.words.list
		}
		s.line(transcript.Line{Number: l.number, Count: l.count, Bytes: b.raw[l.start:l.end]}, l.marks, words)
		if s.out.err != nil {
			break
		}
	}
	b.raw, b.text, b.lines = b.raw[:0], b.text[:0], b.lines[:0]
}

// line handles one line. Most lines need no decoding: they hold no call, no
// result that is waited for and no words of interest.
func (s *scanning) line(l transcript.Line, marks mark, words []phrase) {
	need := markCall | markNotice
	if s.calls.waiting() || s.vcs.waiting() {
		need |= markResult
	}
	shape := shapeOf(l.Bytes)
	if len(words) == 0 && marks&need == 0 && shape != shapeOdd {
		s.stats.Lines += l.Count
		if shape == shapePlain {
			s.stats.Plain += l.Count
		}
		return
	}
	s.words.line = words
	events := l.Events(&s.stats.Stats)
	for from := 0; from < len(events); {
		to := from + 1
		for to < len(events) && events[to].Line == events[from].Line && events[to].Part == events[from].Part {
			to++
		}
		s.record(events[from:to])
		from = to
	}
}
