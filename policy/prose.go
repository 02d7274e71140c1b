package policy

import "strings"

// The bounds of reading command lines out of prose: how long a text is looked
// at, how long a line may be, and how many are read.
const (
	maxProse      = 16 << 10
	maxProseLine  = 400
	maxProseLines = 24
)

// prose finds command lines in a text that no phrase covers, because options
// stand between the words: "then run kubectl -n prod delete pod x". It reads
// from the name of a program that is no English word to the end of the line or
// of the quotes round it.
func (s *Set) prose(text string) []Hit {
	programs := s.table().prose.all()
	var hits []Hit
	left := maxProseLines
	for i := 0; i < len(text) && left > 0; i++ {
		if !isIdent(text[i]) || i > 0 && (wordByte(text[i-1]) || text[i-1] == '.' || text[i-1] == '$' || text[i-1] == '@') {
			continue
		}
		end := i
		for end < len(text) && wordByte(text[end]) {
			end++
		}
		if end < len(text) && isSpace(text[end]) && programs[text[i:end]] {
			left--
			if h, ok := s.proseLine(text, i); ok {
				hits = append(hits, h)
			}
		}
		i = end
	}
	return hits
}

// proseLine classifies the command line at i of a text.
func (s *Set) proseLine(text string, i int) (Hit, bool) {
	line := text[i:min(len(text), i+maxProseLine)]
	stops := "\n`"
	if i > 0 && (text[i-1] == '"' || text[i-1] == '\'' || text[i-1] == '(') {
		stops += map[byte]string{'"': `"`, '\'': "'", '(': ")"}[text[i-1]]
	}
	if end := strings.IndexAny(line, stops); end >= 0 {
		line = line[:end]
	}
	line = strings.TrimRight(line, " .,;:!?)")
	if strings.HasPrefix(line, "ssh ") && !strings.ContainsAny(line, "@'\"") {
		return Hit{}, false // "ssh to the host" is English
	}
	r := s.newReading()
	r.noText, r.left = true, 8
	for _, h := range r.line(line) {
		if h.Tier == External && !h.Mention && h.Rule != "unread-text" && h.Rule != "opaque-payload" && h.Rule != "git-alias" && h.Rule != "opaque-verb" {
			h.Mention, h.Net, h.Text = true, false, line
			return h, true
		}
	}
	return Hit{}, false
}
