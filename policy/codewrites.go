package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// codeWrites lists what inline code puts into files: open('x', 'w').write(T),
// Path('x').write_text(T), writeFileSync('x', T) and their kin. What stands in
// strings behind the name is taken for the text.
func codeWrites(c *shell.Command) []shell.Write {
	lang := languageOf(c.Program())
	if lang == "" || lang == "shell" || len(c.Argv) < 2 {
		return nil
	}
	in := readInline(lang, c.Program(), c.Argv[1:])
	if len(in.code) == 0 && in.script == "" && c.Stdin.Known {
		in.code = append(in.code, c.Stdin.Text)
	}
	var out []shell.Write
	for _, code := range in.code {
		if len(code) <= maxProgram && maybeWrites(lang, code) {
			out = append(out, lex(lang, code).writes()...)
		}
	}
	return out
}

func maybeWrites(lang, code string) bool {
	return strings.Contains(code, "rite") || strings.Contains(code, "open") || strings.Contains(code, "ppend") || strings.Contains(code, "put_contents") ||
		(lang == "awk" || lang == "perl") && strings.Contains(code, ">")
}

// writers are the calls whose first argument is the file that they, or what is
// called on them, write.
var writers = []string{
	"open", "Path", "writeFileSync", "writeFile", "appendFileSync", "appendFile", "File.write", "IO.write", "Bun.write", "file_put_contents", "fopen",
	"writeTextFileSync", "writeTextFile", "File.open", "createWriteStream", "outputFileSync", "outputFile", "File.new", "os.WriteFile",
}

// writes lists the files that the text writes.
func (s *source) writes() []shell.Write {
	var out []shell.Write
	for i, l := range s.lits {
		name, ok := s.written(i, l)
		if !ok {
			continue
		}
		w := shell.Write{Name: name, Known: true, Append: strings.Count(s.text, name) > 1 && (strings.Contains(s.code, "read") || strings.Contains(s.code, "get_contents"))}
		w.Text = s.textFor(i)
		if strings.TrimSpace(w.Text) == "" {
			w.Known = false
		}
		out = append(out, w)
	}
	return out
}

// written says whether the string names a file that the text writes to.
func (s *source) written(i int, l literal) (name string, ok bool) {
	before := strings.TrimRight(s.code[:l.start], " ")
	switch {
	case s.lang == "awk":
		return l.text, strings.HasSuffix(before, ">") && plainFile(l.text)
	case s.lang == "perl" && strings.HasPrefix(l.text, ">"):
		name = strings.TrimSpace(strings.TrimLeft(l.text, ">"))
		if name == "" && i+1 < len(s.lits) { // open(F, '>', 'x')
			name = s.lits[i+1].text
		}
		return name, plainFile(name)
	}
	call, ok := strings.CutSuffix(before, "(")
	if s.lang == "ruby" && !ok {
		call, ok = before, true // File.write "x", "y"
	}
	if !ok || !plainFile(l.text) {
		return "", false
	}
	found := false
	for _, w := range writers {
		if strings.HasSuffix(call, w) && (len(call) == len(w) || !isIdent(call[len(call)-len(w)-1])) {
			found = true
		}
	}
	if !found {
		return "", false
	}
	return l.text, isMode(s.modeBehind(i)) || strings.Contains(s.code[l.end:], "rite") || strings.Contains(call, "rite") || strings.Contains(call, "ppend") || strings.Contains(call, "put")
}

// modeBehind is the string behind a name, which may say how a file is opened.
func (s *source) modeBehind(i int) string {
	if i+1 < len(s.lits) {
		return s.lits[i+1].text
	}
	return ""
}

func isMode(text string) bool {
	return text != "" && len(text) < 4 && strings.Trim(text, "wabtx+") == ""
}

// textFor is what is written to the file of the string i: the strings behind
// it up to the next file, or in awk those in front of it.
func (s *source) textFor(i int) string {
	var parts []string
	if s.lang == "awk" {
		for k := i - 1; k >= 0; k-- {
			if _, other := s.written(k, s.lits[k]); other {
				break
			}
			parts = append([]string{s.lits[k].text}, parts...)
		}
		return strings.Join(parts, "\n")
	}
	for k := i + 1; k < len(s.lits) && k < i+maxLiterals; k++ {
		l := s.lits[k]
		if _, other := s.written(k, l); other {
			break
		}
		if !isMode(l.text) && l.text != "utf-8" && l.text != "utf8" && l.text != ">" && !(s.lang == "perl" && k == i+1 && s.lits[i].text == ">") {
			parts = append(parts, l.text)
		}
	}
	return strings.Join(parts, "\n")
}
