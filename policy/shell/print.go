package shell

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// printed is what a plain command prints, for the few whose output follows
// from their words and a known input.
func (w *walker) printed(c Command, in input) output {
	args := c.Argv[1:]
	switch c.Program() {
	case "true", ":", "set", "shift", "unset", "alias", "unalias", "export", "cd":
		return silent() // the others may fail, and what follows && then prints nothing
	case "echo":
		return echo(args)
	case "printf":
		text, ok := formatted(args)
		return output{Word: text, known: ok}
	case "cat":
		return w.cat(args, in)
	case "which", "command":
		// Where a program lies matters less than what it is.
		if n := len(args); n > 0 && (c.Program() == "which" || args[0].Text == "-v") && !args[n-1].Dynamic {
			return output{Word: Word{Text: args[n-1].Text + "\n"}, known: true}
		}
	case "tee":
		return fromInput(in)
	case "crontab":
		if len(args) == 1 && args[0].Text == "-l" {
			return output{Word: Word{Text: tableNow + "\n", Dynamic: true, Subst: true}, known: true}
		}
	case "grep", "egrep", "fgrep", "sort", "uniq":
		return ofTable(in)
	case "dirname", "pwd":
		return w.place(args)
	case "base64", "gbase64":
		if hasFlagWord(c.Argv, "-d -D --decode -di -id") {
			return decode(w.stream(args, in), "base64")
		}
	case "openssl":
		if len(args) > 0 && (args[0].Text == "base64" || args[0].Text == "enc") && hasFlagWord(c.Argv, "-d") && (args[0].Text == "base64" || hasFlagWord(c.Argv, "-base64 -a")) {
			return decode(fromInput(in), "base64")
		}
	case "xxd":
		if hasFlagWord(c.Argv, "-r -rp -pr") {
			return decode(w.stream(args, in), "hex")
		}
	case "seq":
		return sequence(args)
	case "rev":
		return reversed(fromInput(in))
	case "tr":
		return translated(args, fromInput(in))
	}
	return output{}
}

// place is what dirname and pwd print within a file that was read, by which it
// finds the others beside it.
func (w *walker) place(args []Word) output {
	if len(w.f.scripts) == 0 {
		return output{}
	}
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		args = args[1:]
	}
	dir := w.st.dir
	if len(args) > 0 {
		if dir = path.Dir(args[0].Text); args[0].Dynamic {
			return output{}
		}
	}
	return output{Word: Word{Text: orText(dir, ".") + "\n"}, known: true}
}

func fromInput(in input) output {
	if !in.Known {
		return output{}
	}
	return output{Word: Word{Text: in.Text, Dynamic: in.word.Dynamic, Subst: in.word.Subst}, known: true, decoded: in.decoded}
}

// stream is the input of a filter: its file argument, or standard input.
func (w *walker) stream(args []Word, in input) output {
	for _, a := range args {
		if !strings.HasPrefix(a.Text, "-") {
			return w.catFile(a.Text)
		}
	}
	return fromInput(in)
}

func (w *walker) cat(args []Word, in input) output {
	var out outputs
	named := false
	for _, a := range args {
		switch {
		case a.Text == "-":
			named = true
			out.add(fromInput(in))
		case strings.HasPrefix(a.Text, "-"):
		default:
			named = true
			out.add(w.catFile(a.Text))
		}
	}
	if !named {
		return fromInput(in)
	}
	return out.all()
}

func echo(args []Word) output {
	newline, escapes := "\n", false
	for len(args) > 0 && isEchoFlag(args[0].Text) {
		if strings.Contains(args[0].Text, "n") {
			newline = ""
		}
		escapes = escapes || strings.Contains(args[0].Text, "e")
		args = args[1:]
	}
	out := output{Word: joinWords(args), known: true}
	if escapes {
		out.Text = ansiC(out.Text)
	}
	out.Text += newline
	return out
}

func isEchoFlag(s string) bool {
	return len(s) > 1 && s[0] == '-' && strings.Trim(s[1:], "neE") == ""
}

// formatted is what printf prints. It uses its format again while there are
// words left.
func formatted(args []Word) (Word, bool) {
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return Word{}, false
	}
	all := joinWords(args)
	format, rest := args[0].Text, args[1:]
	var b strings.Builder
	for {
		left := len(rest)
		ok := false
		if rest, ok = formatOnce(&b, format, rest); !ok || b.Len() > maxValue*4 {
			return Word{}, false
		}
		if len(rest) == 0 || len(rest) == left {
			break
		}
	}
	return Word{Text: b.String(), Dynamic: all.Dynamic, Subst: all.Subst}, true
}

func formatOnce(b *strings.Builder, format string, rest []Word) ([]Word, bool) {
	for i := 0; i < len(format); i++ {
		switch c := format[i]; {
		case c == '\\' && i+1 < len(format):
			i += escape(b, format[i+1:])
		case c == '%' && i+1 < len(format):
			j := i + 1
			for j < len(format) && strings.IndexByte("-+ #0123456789.", format[j]) >= 0 {
				j++
			}
			if j == len(format) || j-i > 5 {
				return nil, false
			}
			if format[j] == '%' {
				b.WriteByte('%')
				i = j
				continue
			}
			arg := ""
			if len(rest) > 0 {
				arg, rest = rest[0].Text, rest[1:]
			}
			if !formatVerb(b, format[i:j], format[j], arg) {
				return nil, false
			}
			i = j
		default:
			b.WriteByte(c)
		}
	}
	return rest, true
}

func formatVerb(b *strings.Builder, spec string, verb byte, arg string) bool {
	switch verb {
	case 's':
		fmt.Fprintf(b, spec+"s", arg)
	case 'b':
		fmt.Fprintf(b, spec+"s", ansiC(arg))
	case 'q':
		b.WriteString("'" + strings.ReplaceAll(arg, "'", `'\''`) + "'")
	case 'c':
		b.WriteString(arg[:min(len(arg), 1)])
	case 'd', 'i', 'u', 'x', 'X', 'o':
		n, err := strconv.ParseInt(orText(arg, "0"), 0, 64)
		if err != nil {
			return false
		}
		if verb == 'i' || verb == 'u' {
			verb = 'd'
		}
		fmt.Fprintf(b, spec+string(verb), n)
	default:
		return false
	}
	return true
}

// decode undoes base64 or hex of a known text.
func decode(out output, how string) output {
	if !out.known || out.Dynamic {
		return output{decoded: how}
	}
	text := strings.Join(strings.Fields(out.Text), "")
	var raw []byte
	var err error
	if how == "hex" {
		raw, err = hex.DecodeString(text)
	} else if raw, err = base64.StdEncoding.DecodeString(text); err != nil {
		raw, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	}
	if err != nil {
		return output{decoded: how}
	}
	return output{Word: Word{Text: string(raw)}, known: true, decoded: how}
}

func reversed(out output) output {
	lines := strings.Split(out.Text, "\n")
	for i, l := range lines {
		r := []rune(l)
		for a, z := 0, len(r)-1; a < z; a, z = a+1, z-1 {
			r[a], r[z] = r[z], r[a]
		}
		lines[i] = string(r)
	}
	out.Text = strings.Join(lines, "\n")
	if out.known && out.decoded == "" {
		out.decoded = "rev"
	}
	return out
}

// translated is tr SET1 SET2 and tr -d SET1 over plain sets and ranges.
func translated(args []Word, out output) output {
	if !out.known || len(args) != 2 {
		return output{}
	}
	if args[0].Text == "-d" {
		set := trSet(args[1].Text)
		out.Text = strings.Map(func(r rune) rune {
			if strings.ContainsRune(set, r) {
				return -1
			}
			return r
		}, out.Text)
		return out
	}
	from, to := []rune(trSet(args[0].Text)), []rune(trSet(args[1].Text))
	if len(to) == 0 || strings.HasPrefix(args[0].Text, "-") || strings.Contains(args[0].Text+args[1].Text, "[:") {
		return output{}
	}
	table := map[rune]rune{}
	for i, r := range from {
		table[r] = to[min(i, len(to)-1)]
	}
	out.Text = strings.Map(func(r rune) rune {
		if t, ok := table[r]; ok {
			return t
		}
		return r
	}, out.Text)
	if out.decoded == "" {
		out.decoded = "tr"
	}
	return out
}

func trSet(s string) string {
	s = ansiC(s)
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i+1] == '-' && s[i] <= s[i+2] {
			for c := int(s[i]); c <= int(s[i+2]); c++ {
				b.WriteByte(byte(c))
			}
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// sequence is seq LAST, seq FIRST LAST and seq FIRST STEP LAST over integers.
func sequence(args []Word) output {
	first, step, last := 1, 1, 0
	var ns []int
	for _, a := range args {
		n, err := strconv.Atoi(a.Text)
		if err != nil || a.Dynamic {
			return output{}
		}
		ns = append(ns, n)
	}
	switch len(ns) {
	case 1:
		last = ns[0]
	case 2:
		first, last = ns[0], ns[1]
	case 3:
		first, step, last = ns[0], ns[1], ns[2]
	default:
		return output{}
	}
	var b strings.Builder
	for n := first; step > 0 && n <= last || step < 0 && n >= last; n += step {
		if b.Len() > maxFrom {
			return output{}
		}
		b.WriteString(strconv.Itoa(n))
		b.WriteByte('\n')
	}
	return output{Word: Word{Text: b.String()}, known: true}
}
