package claims

import (
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// quiet commands print nothing that counts.
var quiet = wordSet("true : cd export sleep set test [ exit tee")

var interpreters = wordSet("python python2 python3 node nodejs deno bun ruby perl php lua Rscript osascript pwsh")

// closed reports whether a command can print only what the agent put into it,
// and keeps what that is.
func (m *made) closed(c *shell.Command) bool {
	program := programOf(c)
	words := make([]string, 0, len(c.Argv))
	for _, w := range c.Argv[min(1, len(c.Argv)):] {
		words = append(words, w.Text)
	}
	told := strings.Join(words, "\n") + "\n"
	edits := slices.ContainsFunc(c.Argv, func(w shell.Word) bool {
		return strings.HasPrefix(w.Text, "-i") || w.Text == "--in-place" || w.Text == "-pi"
	})
	outside := strings.Contains(strings.ReplaceAll(told, "$((", ""), "$") || strings.Contains(told, "`")
	switch {
	case program == "sed" && edits || program == "perl" && edits || program == "patch" || gitVerb(c) == "apply" || program == "ed":
		m.code += strings.ReplaceAll(c.Source, "/", " ") + "\n" + c.Stdin.Text + "\n"
		return false
	case pipes[program] && piped(c):
		return true
	case program == "echo" || program == "printf" || program == "expr" || program == "seq" || program == "yes":
		m.prints += told
		if strings.Contains(c.Source, "$((") {
			m.computes += told
		}
		return !outside
	case quiet[program]:
		return true
	case program == "awk" || program == "gawk":
		return len(c.Argv) == 2 && strings.HasPrefix(strings.TrimSpace(c.Argv[1].Text), "BEGIN") && !strings.Contains(told, "getline")
	case interpreters[program] || strings.HasPrefix(program, "python3."):
		code := inlineCode(c)
		m.code += code
		m.prints += quoted(code)
		return code != "" && !reachesOut(code)
	}
	return false
}

// inlineCode is the code that an interpreter is given in the line.
func inlineCode(c *shell.Command) string {
	for i, w := range c.Argv {
		switch w.Text {
		case "-c", "-e", "-r", "-p", "-pe", "eval", "--eval", "--print", "-E":
			if i+1 < len(c.Argv) {
				return c.Argv[i+1].Text
			}
		}
	}
	if c.Stdin.Known && c.Stdin.Kind != shell.InputPipe {
		return c.Stdin.Text
	}
	return ""
}

// pipes are programs that change what comes in by a pipe.
var pipes = wordSet("base64 xxd rev tr sort uniq cut head tail sed awk gawk jq grep egrep cat fold nl column tee bc dc wc")

// piped: all that the program reads comes in by a pipe or stands in the line.
func piped(c *shell.Command) bool {
	if c.Stdin.Kind != shell.InputPipe && !c.Stdin.Known {
		return false
	}
	operands := 0
	for _, w := range c.Argv[1:] {
		if !strings.HasPrefix(w.Text, "-") {
			operands++
		}
	}
	switch c.Program() {
	case "cat", "sort", "uniq", "head", "tail", "nl", "fold", "base64", "xxd", "column":
		return operands == 0 || operands == 1 && strings.Trim(c.Argv[len(c.Argv)-1].Text, "0123456789") == ""
	}
	return true
}

// quoted are the lines of code that print something.
func quoted(code string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(code, "\n") {
		if strings.Contains(line, "print") || strings.Contains(line, "console.log") || strings.Contains(line, "puts") || strings.Contains(line, "echo") || strings.Contains(line, "write") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// outward are what code uses to learn something that is not in it.
var outward = []string{
	"open(", "read", "exec", "system", "spawn", "require(", "fetch", "urllib", "requests.", "http", "File.", "IO.", "ENV", "environ", "argv", "stdin", "popen", "glob",
	"os.", "Path(", "load", "subprocess", "socket", "sqlite", "<$", "`", "time(", "perf_counter", "timeit", "Benchmark", "performance.now", "Date.now", "process.",
}

// harmless modules know nothing of the machine.
var harmless = wordSet("math random json sys re string itertools functools statistics datetime decimal fractions collections textwrap")

func reachesOut(code string) bool {
	for _, w := range outward {
		if strings.Contains(code, w) {
			return true
		}
	}
	for _, f := range imports().FindAllStringSubmatch(code, -1) {
		if !harmless[f[1]] {
			return true
		}
	}
	return false
}

var imports = lazy(`(?m)(?:^|[;\s])(?:import|from|use|require) ['"]?([\w./@-]+)`)
