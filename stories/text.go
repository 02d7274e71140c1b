package stories

import (
	"bytes"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// source is the text of one file with its line starts, for naming places.
type source struct {
	path  string
	data  []byte
	lines []int // offset of the first byte of each line
}

func newSource(path string, data []byte) *source {
	s := &source{path: path, data: data, lines: []int{0}}
	for i, c := range data {
		if c == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// line is the 1-based line of an offset.
func (s *source) line(offset int) int {
	return sort.SearchInts(s.lines, offset+1)
}

// lineText is the text of a 1-based line without its line end.
func (s *source) lineText(line int) []byte {
	start, end := s.lines[line-1], len(s.data)
	if line < len(s.lines) {
		end = s.lines[line] - 1
	}
	text := bytes.TrimSuffix(s.data[start:end], []byte("\r"))
	if line == 1 {
		text = bytes.TrimPrefix(text, utf8BOM)
	}
	return text
}

// textStart is the offset at which lineText begins.
func (s *source) textStart(line int) int {
	if line == 1 && bytes.HasPrefix(s.data, utf8BOM) {
		return len(utf8BOM)
	}
	return s.lines[line-1]
}

// fault is a FormatError at one character, with the line it stands in.
func (s *source) fault(offset int, problem string) error {
	line := s.line(offset)
	text := s.lineText(line)
	start := s.lines[line-1]
	if line == 1 && bytes.HasPrefix(s.data, utf8BOM) {
		start += len(utf8BOM)
	}
	before := s.data[start:max(start, min(offset, len(s.data)))]
	column := utf8.RuneCount(before) + 1
	return &FormatError{
		Path: s.path, Line: line, Column: column,
		Problem: problem, Text: excerpt(text, column-1),
	}
}

// at is a FormatError about a whole line.
func (s *source) at(offset int, problem string) error {
	return &FormatError{Path: s.path, Line: s.line(offset), Problem: problem}
}

// excerpt cuts a line to what fits in an error, round the given character.
func excerpt(line []byte, at int) string {
	const width = 100
	runes := []rune(strings.TrimRight(string(line), " \t"))
	if len(runes) <= width {
		return strings.TrimSpace(string(runes))
	}
	from := min(max(0, at-width/2), len(runes)-width)
	return strings.TrimSpace(string(runes[from : from+width]))
}

// visible is a piece of a file for a message: short, and quoted as soon as it
// holds anything that a terminal would not simply show.
func visible(s string) string {
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return strconv.Quote(firstWords(s))
		}
	}
	return firstWords(s)
}

// firstWords is the beginning of a text on one line, cut between words.
func firstWords(s string) string {
	const limit = 60
	words := strings.Fields(s)
	var b strings.Builder
	for _, w := range words {
		if b.Len() > 0 && utf8.RuneCountInString(b.String())+1+utf8.RuneCountInString(w) > limit {
			return b.String() + " …"
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}

func runeSize(text []byte) int {
	_, size := utf8.DecodeRune(text)
	return size
}
