package policy

import (
	"regexp"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// edits lists what sed -i and perl -pi make of files. A file that cannot be
// read gets what is put in behind what it holds, so that no text that may
// stand in it later is lost.
func edits(c *shell.Command, read func(string) (string, bool)) []shell.Write {
	scripts, files, extended := inPlace(c)
	var out []shell.Write
	for _, name := range files {
		text, known := read(name)
		before := text
		for _, s := range scripts {
			text = sedScript(text, s, extended)
		}
		if text != before {
			out = append(out, shell.Write{Name: name, Text: text, Known: true, Append: !known})
		}
	}
	return out
}

// inPlace takes the command line of an edit in place apart.
func inPlace(c *shell.Command) (scripts, files []string, extended bool) {
	prog := c.Program()
	if prog != "sed" && prog != "gsed" && prog != "perl" {
		return nil, nil, false
	}
	inplace := false
	extended = prog == "perl"
	words := wordTexts(c.Argv[1:])
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-E" || w == "-r" || w == "--regexp-extended":
			extended = true
		case w == "-e" || w == "--expression":
			if i++; i < len(words) {
				scripts = append(scripts, words[i])
			}
		case strings.HasPrefix(w, "--expression="):
			scripts = append(scripts, strings.TrimPrefix(w, "--expression="))
		case w == "-f" || w == "--file":
			i++
		case strings.HasPrefix(w, "--in-place"):
			inplace = true
		case strings.HasPrefix(w, "--"):
		case len(w) > 1 && w[0] == '-':
			letters, _, suffix := strings.Cut(w[1:], "i")
			inplace = inplace || suffix
			extended = extended || strings.ContainsAny(letters, "Er")
			if strings.HasSuffix(w, "e") && i+1 < len(words) {
				i++
				scripts = append(scripts, words[i])
			}
		case w == "": // sed -i '' of BSD
		case len(scripts) == 0:
			scripts = append(scripts, w)
		default:
			files = append(files, w)
		}
	}
	if !inplace {
		return nil, nil, false
	}
	return scripts, files, extended
}

// sedScript is the text after the commands of a script. Addresses are not
// looked at: each command counts for every line.
func sedScript(text, script string, extended bool) string {
	for script = skipAddress(script); script != ""; script = skipAddress(script) {
		switch script[0] {
		case 's':
			s, rest, ok := substitution(script)
			if !ok {
				return text
			}
			text, script = s.apply(text, extended), rest
		case 'a', 'i', 'c':
			line, rest, _ := strings.Cut(script[1:], "\n")
			line = strings.TrimPrefix(strings.TrimLeft(line, " \t"), `\`)
			if line == "" { // a\, and the text on the next line
				line, rest, _ = strings.Cut(rest, "\n")
			}
			text, script = withLine(text, strings.TrimLeft(line, " \t")), rest
		default:
			i := strings.IndexAny(script, ";\n}")
			if i < 0 {
				return text
			}
			script = script[i+1:]
		}
	}
	return text
}

func withLine(text, line string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + line + "\n"
}

// skipAddress goes over what stands before a command: numbers, $, /pattern/.
func skipAddress(s string) string {
	for s != "" {
		switch {
		case strings.IndexByte(" \t\n;{}!,$~0123456789+", s[0]) >= 0:
			s = s[1:]
		case s[0] == '/' || s[0] == '\\' && len(s) > 1:
			if s[0] == '\\' {
				s = s[1:]
			}
			_, rest, ok := cutPart(s[1:], s[0])
			if !ok {
				return ""
			}
			s = rest
		default:
			return s
		}
	}
	return s
}

// substitute is one s command.
type substitute struct{ pattern, with, flags string }

func substitution(s string) (substitute, string, bool) {
	if len(s) < 2 {
		return substitute{}, "", false
	}
	pattern, rest, ok := cutPart(s[2:], s[1])
	if !ok {
		return substitute{}, "", false
	}
	with, rest, ok := cutPart(rest, s[1])
	if !ok {
		return substitute{}, "", false
	}
	n := 0
	for n < len(rest) && strings.IndexByte(";\n} ", rest[n]) < 0 {
		n++
	}
	return substitute{pattern, with, rest[:n]}, rest[n:], true
}

// cutPart cuts at the delimiter that no backslash stands before.
func cutPart(s string, delim byte) (part, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == delim:
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			if s[i+1] != delim {
				b.WriteByte('\\')
			}
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}

// apply replaces line by line. With a text or a pattern that is not known the
// replacement itself is put in.
func (s substitute) apply(text string, extended bool) string {
	re, err := regexp.Compile(s.goPattern(extended))
	if text == "" || err != nil {
		return withLine(text, strings.ReplaceAll(s.with, `\n`, "\n"))
	}
	with := goReplacement(s.with)
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, end := line, ""
		if strings.HasSuffix(line, "\n") {
			body, end = line[:len(line)-1], "\n"
		}
		if strings.Contains(s.flags, "g") {
			body = re.ReplaceAllString(body, with)
		} else if at := re.FindStringSubmatchIndex(body); at != nil {
			body = body[:at[0]] + string(re.ExpandString(nil, with, body, at)) + body[at[1]:]
		}
		b.WriteString(body + end)
	}
	return b.String()
}

// goPattern is the pattern in Go's syntax: a basic expression of sed escapes
// what an extended one does not.
func (s substitute) goPattern(extended bool) string {
	var b strings.Builder
	if strings.ContainsAny(s.flags, "Ii") {
		b.WriteString("(?i)")
	}
	for i := 0; i < len(s.pattern); i++ {
		c := s.pattern[i]
		special := strings.IndexByte("(){}|+?", c) >= 0
		switch {
		case c == '\\' && i+1 < len(s.pattern):
			i++
			if c = s.pattern[i]; extended || strings.IndexByte("(){}|+?", c) < 0 {
				b.WriteByte('\\')
			}
		case special && !extended:
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

func goReplacement(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '$':
			b.WriteString("$$")
		case c == '&':
			b.WriteString("${0}")
		case c == '\\' && i+1 < len(s):
			i++
			switch c := s[i]; {
			case c >= '0' && c <= '9':
				b.WriteString("${" + string(c) + "}")
			case c == 'n':
				b.WriteByte('\n')
			default:
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
