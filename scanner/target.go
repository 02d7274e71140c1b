package scanner

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-b23e517c/loop/policy"
)

// target is what a call writes into.
type target struct {
	files     []file
	redirects bool // a shell command writes a script
}

func targetOf(tool string, input []byte) target {
	if len(input) > policy.MaxInput {
		return longTarget(tool, input)
	}
	return target{filesOf(tool, input), redirects(tool, input)}
}

// longTarget is the target of a call whose input is not to be copied: the file
// without its text, and of a command line what its beginning says.
func longTarget(tool string, input []byte) target {
	if !writesFiles(tool) {
		return target{redirects: redirects(tool, policy.Call{Input: input}.Shortened().Input)}
	}
	for _, k := range nameKeys {
		if n := gjson.GetBytes(input, k); n.Type == gjson.String {
			return target{files: []file{{name: n.String()}}}
		}
	}
	return target{redirects: true} // a patch, of whatever files
}

// longCommand is CommandOf for such a call.
func longCommand(c policy.Call, into target) string {
	if len(into.files) > 0 {
		return c.Tool + " " + into.files[0].name
	}
	return policy.CommandOf(c.Shortened())
}

// script says whether something runs what is written.
func (t target) script() bool { return t.redirects || slices.ContainsFunc(t.files, file.isScript) }

// redirects says whether a shell command writes into a script: echo ... >>
// deploy.sh, cat > deploy.sh <<EOF, tee deploy.sh, a patch. It only raises words
// to what is written for later, so a look at the text is enough.
func redirects(tool string, input []byte) bool {
	command := ""
	switch strings.ToLower(tool) {
	case "bash", "shell", "exec_command", "shell_command", "run_shell_command", "local_shell", "run_terminal_cmd", "execute_command", "terminal":
		command = shellText(gjson.ParseBytes(input))
	default:
		return false
	}
	for rest := command; ; {
		i := strings.IndexByte(rest, '>')
		if i < 0 {
			break
		}
		rest = strings.TrimLeft(rest[i:], ">| \t")
		if (file{name: firstWord(rest)}).isScript() {
			return true
		}
	}
	for rest := command; ; {
		_, after, ok := strings.Cut(rest, "tee ")
		if !ok {
			break
		}
		rest = after
		if (file{name: firstWord(strings.TrimPrefix(rest, "-a "))}).isScript() {
			return true
		}
	}
	for _, w := range policy.PatchedFiles(command) {
		if (file{name: w.Name, text: w.Text}).isScript() {
			return true
		}
	}
	return false
}

// shellText is the command of a shell tool's input, its words joined.
func shellText(in gjson.Result) string {
	for _, k := range []string{"command", "cmd"} {
		switch c := in.Get(k); {
		case c.Type == gjson.String:
			return c.String()
		case c.IsArray():
			var words []string
			for _, w := range c.Array() {
				words = append(words, w.String())
			}
			return strings.Join(words, " ")
		}
	}
	return ""
}
