package review

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// dataFlags are options behind which a program is given what it sends.
var dataFlags = []string{
	"-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--data-urlencode", "--json", "-F", "--form", "--form-string",
	"--post-data", "--body-data", "--post-file", "--body-file", "-T", "--upload-file",
	"-f", "--field", "--raw-field", "--input", "-b", "--body", "-t", "--title", "--notes", "--notes-file", "-m", "--message", "--text",
}

// fileFlags name a file that is sent.
var fileFlags = []string{"--post-file", "--body-file", "-T", "--upload-file", "--input", "--notes-file"}

// Payload is what an action would send, laid out to be read: the input of a
// tool, and the data of a command line with the files that it names. "" = none
// is known.
func Payload(a queue.Action, x policy.Explanation, readFile func(name string) (string, bool)) string {
	if a.Tool != "Bash" {
		return pretty(string(a.Input))
	}
	var b strings.Builder
	for _, n := range leaves(x.Nodes) {
		if n.Verdict == policy.VerdictExternal {
			nodePayload(&b, n, readFile)
		}
	}
	for _, t := range x.Texts {
		if b.Len() > 0 || hasExternal(x.Nodes) {
			b.WriteString(block("text in the command", pretty(t)))
		}
	}
	return b.String()
}

func leaves(nodes []policy.Node) []policy.Node {
	var out []policy.Node
	for _, n := range nodes {
		out = append(out, n)
		out = append(out, leaves(n.Children)...)
	}
	return out
}

func hasExternal(nodes []policy.Node) bool {
	return slices.ContainsFunc(leaves(nodes), func(n policy.Node) bool { return n.Verdict == policy.VerdictExternal })
}

func nodePayload(b *strings.Builder, n policy.Node, readFile func(string) (string, bool)) {
	for i := 1; i < len(n.Argv); i++ {
		flag, value, joined := strings.Cut(n.Argv[i], "=")
		if !joined && i+1 < len(n.Argv) {
			value = n.Argv[i+1]
		}
		switch {
		case !slices.Contains(dataFlags, flag), value == "":
			if isJSON(n.Argv[i]) {
				b.WriteString(block(term.Command(filepath.Base(n.Argv[0])), pretty(n.Argv[i])))
			}
			continue
		case !joined:
			i++
		}
		label := term.Command(filepath.Base(n.Argv[0]) + " " + flag)
		name, isFile := sentFile(flag, value)
		if !isFile {
			b.WriteString(block(label, pretty(value)))
			continue
		}
		label += " " + term.Command(name)
		text, ok := "", false
		if readFile != nil {
			text, ok = readFile(name)
		}
		if !ok {
			b.WriteString(label + "\n  !! the file is not read here: look at it yourself\n")
			continue
		}
		b.WriteString(block(label+", as it is now", pretty(text)))
	}
}

// sentFile is the file whose content an option sends.
func sentFile(flag, value string) (name string, ok bool) {
	if slices.Contains(fileFlags, flag) {
		return value, value != "-"
	}
	if slices.Contains([]string{"--data-raw", "--form-string", "-m", "--message", "-t", "--title", "-b", "--body"}, flag) {
		return "", false
	}
	if flag == "-F" || flag == "--form" || flag == "-f" || flag == "--field" {
		if _, v, found := strings.Cut(value, "="); found {
			value = v
		}
	}
	name, ok = strings.CutPrefix(value, "@")
	name, _, _ = strings.Cut(name, ";")
	return name, ok && name != "" && name != "-"
}

func block(label, text string) string {
	var b strings.Builder
	b.WriteString(label + "\n")
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}

func isJSON(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) > 2 && (s[0] == '{' || s[0] == '[') && json.Valid([]byte(s))
}

// pretty lays JSON out and quotes what hides; texts of several lines stand in
// lines of their own. Anything else is quoted as it is.
func pretty(s string) string {
	var b bytes.Buffer
	if !isJSON(s) || json.Indent(&b, []byte(s), "", "  ") != nil {
		return term.QuoteLines(term.Lookalikes(s))
	}
	var out strings.Builder
	for line := range strings.SplitSeq(b.String(), "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		head, texts := unfold(strings.TrimSpace(line))
		out.WriteString(indent + visible(head) + "\n")
		for _, t := range texts {
			out.WriteString(indent + "  | " + term.QuoteLines(term.Lookalikes(t)) + "\n")
		}
	}
	return out.String()
}

// unfold takes the text of several lines out of a line of JSON that ends with
// one.
func unfold(line string) (head string, texts []string) {
	body := strings.TrimSuffix(line, ",")
	from := 0
	if i := keyEnd(body); i > 0 {
		from = i
	}
	var text string
	if from >= len(body) || body[from] != '"' || json.Unmarshal([]byte(body[from:]), &text) != nil || !strings.Contains(strings.TrimRight(text, "\n"), "\n") {
		return line, nil
	}
	return body[:from] + "(text)" + line[len(body):], strings.Split(strings.TrimRight(text, "\n"), "\n")
}

// keyEnd is where the value behind a key begins.
func keyEnd(line string) int {
	if !strings.HasPrefix(line, `"`) {
		return 0
	}
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			if strings.HasPrefix(line[i+1:], ": ") {
				return i + 3
			}
			return 0
		}
	}
	return 0
}

// visible quotes a line of JSON.
func visible(line string) string { return term.Quote(term.Lookalikes(line)) }
