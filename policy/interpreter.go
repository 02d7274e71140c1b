package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// languageOf names the language of an interpreter.
func languageOf(prog string) string {
	p := strings.TrimRight(strings.ToLower(prog), "0123456789.")
	switch p {
	case "python", "pypy", "ipython":
		return "python"
	case "node", "nodejs", "bun", "deno", "tsx", "ts-node", "ts-node-esm", "zx", "esno", "vite-node":
		return "javascript"
	case "ruby", "jruby", "irb":
		return "ruby"
	case "perl":
		return "perl"
	case "php":
		return "php"
	case "awk", "gawk", "mawk", "nawk":
		return "awk"
	case "bash", "sh", "zsh", "dash", "ksh", "fish", "ash", "source":
		return "shell"
	case "elixir", "iex":
		return "elixir"
	case "go", "java", "jshell", "scala", "kotlin":
		return ""
	case "applescript":
		return "osascript"
	case "rscript", "lua", "julia", "groovy", "osascript", "tclsh", "pwsh", "powershell":
		return p
	}
	switch low := strings.ToLower(strings.Trim(prog, "${}")); {
	case prog == ".":
		return "shell"
	case !strings.HasPrefix(prog, "$"):
	case low == "shell" || low == "bash" || low == "sh" || strings.HasPrefix(low, "shell:"):
		return "shell"
	case low == "py" || strings.HasPrefix(low, "python"):
		return "python"
	case strings.HasPrefix(low, "node"):
		return "javascript"
	}
	return ""
}

// inline is what an interpreter is told to run.
type inline struct {
	code   []string
	script string       // a file, when it runs one
	module []shell.Word // python -m: the module and its arguments
	check  bool         // it only checks the syntax
}

// codeFlags are the options that carry code, by language.
func codeFlags(lang string) (short string, long []string) {
	switch lang {
	case "python":
		return "c", nil
	case "javascript":
		return "ep", []string{"--eval", "--print"}
	case "ruby", "lua", "rscript", "julia", "groovy", "osascript", "elixir":
		return "e", nil
	case "perl":
		return "eE", nil
	case "php":
		return "rBRE", []string{"--run"}
	case "awk":
		return "", []string{"--source"}
	case "shell":
		return "c", nil
	}
	return "", []string{"-Command", "-command", "-c", "-C", "/c", "/C"}
}

// Options of interpreters whose value is the next word.
func valueFlags(lang string) []string {
	switch lang {
	case "python":
		return []string{"-W", "-X", "--check-hash-based-pycs"}
	case "javascript":
		return []string{"-r", "--require", "--import", "--loader", "--env-file", "--conditions", "-C", "--config", "-c", "--tsconfig", "--project"}
	case "ruby":
		return []string{"-I", "-r", "-C"}
	case "perl":
		return []string{"-I"}
	case "php":
		return []string{"-d", "-c", "-t", "-S"}
	case "awk":
		return []string{"-v", "-F"}
	case "osascript":
		return []string{"-l", "-s"}
	}
	return nil
}

// gluedFlags are the letters of a cluster behind which a value begins, so
// that no letter after them is a flag.
func gluedFlags(lang string) string {
	switch lang {
	case "ruby":
		return "rICFKETWx0"
	case "perl":
		return "MmIFxCdD"
	case "python":
		return "WXmQ"
	case "php":
		return "dczt"
	case "javascript":
		return "rC"
	}
	return ""
}

// readInline finds the code, the script or the module that the words after an
// interpreter name.
func readInline(lang, prog string, argv []shell.Word) inline {
	var in inline
	short, long := codeFlags(lang)
	values := valueFlags(lang)
	for i := 0; i < len(argv); i++ {
		s := argv[i].Text
		next := func() (string, bool) {
			if i+1 < len(argv) {
				i++
				return argv[i].Text, true
			}
			return "", false
		}
		name, glued, eq := strings.Cut(s, "=")
		switch {
		case s == "-" || s == "":
		case s == "--":
		case containsString(long, name) && eq:
			in.code = append(in.code, glued)
		case containsString(long, name) && (lang == "pwsh" || lang == "powershell") && i+2 < len(argv):
			in.code = append(in.code, joinWords(argv[i+1:])) // all that follows is the command
			return in
		case containsString(long, name):
			if v, ok := next(); ok {
				in.code = append(in.code, v)
			}
		case lang == "shell" && len(s) > 1 && s[0] == '-' && s[1] != '-' && strings.Contains(s, "n"):
			return inline{check: true} // a syntax check runs nothing
		case lang == "javascript" && (s == "--check" || s == "-c" && prog == "node"),
			lang == "php" && (s == "-l" || s == "--syntax-check"),
			(lang == "ruby" || lang == "perl") && s == "-c":
			return inline{check: true} // a syntax check runs nothing
		case lang == "python" && s == "-m":
			in.module = argv[i+1:]
			return in
		case containsString(values, s):
			next()
		case lang == "awk" && s == "-f":
			if v, ok := next(); ok {
				in.script = v
				return in
			}
		case s[0] == '-' && len(s) > 1 && s[1] != '-' && short != "":
			k := strings.IndexAny(s[1:], short)
			if g := strings.IndexAny(s[1:], gluedFlags(lang)); k < 0 || lang == "awk" || g >= 0 && g < k {
				continue
			}
			if rest := s[k+2:]; rest != "" && lang != "perl" && lang != "ruby" && lang != "shell" {
				in.code = append(in.code, rest)
			} else if rest != "" && strings.ContainsAny(rest, " ;(") {
				in.code = append(in.code, rest)
			} else if v, ok := next(); ok {
				in.code = append(in.code, v)
			}
			if lang == "python" || lang == "shell" {
				return in
			}
		case s[0] == '-':
		case lang == "awk":
			in.code = append(in.code, s)
			return in
		case (prog == "deno" || prog == "bun") && s == "run":
		case prog == "deno" && s == "eval":
			short = ""
			if v, ok := next(); ok {
				in.code = append(in.code, v)
			}
		case (prog == "deno" || prog == "bun") && !strings.ContainsAny(s, "./"):
			return in // another subcommand
		case len(in.code) > 0:
			return in
		default:
			in.script = s
			return in
		}
	}
	return in
}
