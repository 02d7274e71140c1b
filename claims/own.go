package claims

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// made is a call that was seen, and waits for its result.
type made struct {
	call     *transcript.Call
	input    string // its text, without escapes
	line     string // of a shell command
	commands []shell.Command
	source   queue.ClaimSource
	names    []string // files that it names
	words    []string // of its command: what a number alone may be of
	counts   []string // what it counts, whatever stands in its line
	prints   string   // what it was told to print
	code     string   // for an interpreter, in the line
	computes string   // what it prints with a sum of its own in it
	lists    bool     // each line names a file at its end
	reads    bool     // it only shows what stands in files
	history  bool     // it shows what was committed
	remote   bool     // it asks a place to which the agent may have sent it
	changes  bool     // it changes files
}

// prose: what people write in sentences, and programs in lines.
func (m *made) prose() bool { return m.source != queue.SourceResult }

// own is what the agent itself has written: no source for what it claims.
type own struct {
	memory []string
	files  written
	code   []string // that interpreters were given in a line
	sent   []string // what was sent to where it may be read again
	size   int
}

func newOwn(memory []string) own { return own{memory: memory, files: newWritten()} }

// take keeps what a call writes, for the calls after it.
func (o *own) take(m *made) {
	o.files.write(m.call)
	if o.size += len(m.code) + len(m.input); o.size > maxWritten {
		return
	}
	if m.code != "" {
		o.code = append(o.code, m.code)
	}
	if m.remote || m.history {
		o.sent = append(o.sent, m.input)
	}
}

// read finds out what a result of a call would be worth.
func (o *own) read(c *transcript.Call) *made {
	m := &made{call: c, source: queue.SourceResult, input: string(transcript.Unescape(nil, c.Input))}
	var in struct {
		Command      string `json:"command"`
		FilePath     string `json:"file_path"`
		Path         string `json:"path"`
		NotebookPath string `json:"notebook_path"`
	}
	_ = json.Unmarshal(c.Input, &in)
	switch c.Name {
	case "Bash":
		m.line = in.Command
		m.readLine()
	case "Read", "Grep", "Glob", "LS", "NotebookRead":
		m.source, m.reads = queue.SourceFile, true
		m.names = []string{cmp.Or(in.FilePath, in.NotebookPath, in.Path)}
	case "WebFetch", "WebSearch":
		m.source, m.remote = queue.SourcePage, true
	case "Task", "Agent":
		m.source = queue.SourceSubagent
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		m.changes = !isProse(cmp.Or(in.FilePath, in.NotebookPath))
	}
	if strings.HasPrefix(c.Name, "mcp__") {
		m.remote = true
	}
	return m
}

// readers show what stands in files, counters find out something about them,
// and fetchers bring what stands elsewhere.
var (
	readers  = wordSet("cat head tail less more bat grep rg egrep fgrep sed awk gawk jq yq cut sort uniq nl tac column strings fold tr echo printf base64 xxd od diff")
	counters = wordSet("wc ls find stat file du df tree cksum md5sum sha256sum true cd pwd test")
	fetchers = wordSet("curl wget http https xh lynx w3m gh glab")
)

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

func (m *made) readLine() {
	read := shell.Read(m.line, shell.Options{})
	m.commands = read.Commands
	counted, wc := "", false
	shows, reads, fetches, closedAll := false, len(read.Commands) > 0, false, len(read.Commands) > 0
	var words strings.Builder
	for i := range read.Commands {
		c := &read.Commands[i]
		program := c.Program()
		counts := counters[program] || (program == "grep" || program == "rg") && countsLines(c)
		m.history = m.history || showsHistory(c)
		shows = shows || readers[program] && !counts || showsHistory(c)
		reads = reads && (readers[program] || counts || showsHistory(c))
		fetches = fetches || fetchers[program] && !isLocal(c)
		closed := m.closed(c)
		closedAll = closedAll && closed
		m.words = append(m.words, worksOf(c)...)
		counted += whatCounted(c, counts)
		wc = wc || program == "wc" || gitVerb(c) == "rev-list"
		m.lists = m.lists || program == "ls" || program == "du" || program == "stat" || program == "find"
		for _, w := range c.Argv {
			if !strings.HasPrefix(w.Text, "-") && !strings.ContainsAny(w.Text, " \n") {
				m.names = append(m.names, w.Text)
			}
			if len(w.Text) < 80 {
				words.WriteString(strings.TrimLeft(w.Text, "-") + " ")
			}
		}
		for _, r := range c.Redirects {
			if r.Op == "<" {
				m.names = append(m.names, r.Target.Text)
			}
		}
	}
	m.words = append(m.words, content(words.String())...)
	if wc || strings.Contains(counted, "match") {
		m.counts = content(counted)
	}
	m.reads = reads && shows
	m.changes = slices.ContainsFunc(read.Written, func(w shell.Write) bool { return !isProse(w.Name) && w.Name != "/dev/null" }) ||
		slices.ContainsFunc(read.Commands, func(c shell.Command) bool { return movesTree(&c) })
	m.remote = fetches
	switch {
	case closedAll:
		m.source = queue.SourceAgent
	case m.reads:
		m.source = queue.SourceFile
	case fetches:
		m.source = queue.SourcePage
	}
}

// countsLines: grep -c.
func countsLines(c *shell.Command) bool {
	return slices.ContainsFunc(c.Argv, func(w shell.Word) bool {
		return w.Text == "--count" || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.Contains(w.Text, "c") && !strings.ContainsAny(w.Text, "AB=")
	})
}

// whatCounted are the things that are counted with a command.
func whatCounted(c *shell.Command, counts bool) string {
	switch program := c.Program(); {
	case program == "wc":
		return "lines "
	case program == "find" || program == "ls" || program == "fd" || gitVerb(c) == "ls-files":
		return "files "
	case counts && (program == "grep" || program == "rg"):
		return "lines matches "
	case gitVerb(c) == "log" || gitVerb(c) == "rev-list":
		return "commits "
	}
	return ""
}

// showsHistory: what it prints may be the agent's own commit.
func showsHistory(c *shell.Command) bool {
	switch gitVerb(c) {
	case "log", "show", "commit", "blame", "reflog", "shortlog", "format-patch", "tag", "notes", "cat-file", "grep":
		return true
	case "diff":
		return !slices.ContainsFunc(c.Argv, func(w shell.Word) bool { return strings.HasSuffix(w.Text, "stat") })
	}
	return false
}

// movesTree: git puts other files into the tree.
func movesTree(c *shell.Command) bool {
	switch gitVerb(c) {
	case "checkout", "switch", "reset", "restore", "revert", "merge", "pull", "rebase", "cherry-pick", "apply", "am", "stash":
		return true
	}
	return c.Program() == "sed" && slices.ContainsFunc(c.Argv, func(w shell.Word) bool { return strings.HasPrefix(w.Text, "-i") })
}

// isLocal: it asks a server on this machine, which may be the one under test.
func isLocal(c *shell.Command) bool {
	return slices.ContainsFunc(c.Argv, func(w shell.Word) bool {
		return strings.Contains(w.Text, "localhost") || strings.Contains(w.Text, "127.0.0.1") || strings.Contains(w.Text, "[::1]") || strings.Contains(w.Text, "0.0.0.0")
	})
}

// isProse: a change of it changes no program.
func isProse(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch path.Ext(base) {
	case ".md", ".txt", ".rst", ".adoc", ".log":
		return true
	}
	return base == "license" || base == "changelog" || base == "readme" || base == "notice" || strings.HasPrefix(name, "/tmp/")
}

// worksOf names what a command runs: a number that it prints may be of that.
func worksOf(c *shell.Command) []string {
	var out []string
	for i := range works {
		if works[i].runsIt(c) {
			out = append(out, content(works[i].name)...)
		}
	}
	return out
}

// printers print what they are told, or compute it from that.
var printers = wordSet("echo printf expr seq bc dc yes")

// quiet commands print nothing that counts.
var quiet = wordSet("true : cd export sleep set test [ exit tee")

var interpreters = wordSet("python python2 python3 node nodejs deno bun ruby perl php lua Rscript osascript pwsh")

// closed reports whether a command can print only what the agent put into it,
// and keeps what that is.
func (m *made) closed(c *shell.Command) bool {
	program := c.Program()
	told := ""
	for i, w := range c.Argv {
		if i > 0 {
			told += w.Text + "\n"
		}
	}
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
	return printers[program]
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
	"open(", "read", "exec", "system", "spawn", "require(", "fetch", "urllib", "requests", "http", "File.", "IO.", "ENV", "environ", "argv", "stdin", "popen", "glob",
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

// worth is what a result says for a claim: nothing when the agent itself put
// it there. quote is the line of the result, and holds reports whether a text
// of the agent's has the claim in it.
func (o *own) worth(m *made, quote string, holds func(text string) bool) queue.ClaimSource {
	switch {
	case m.call == nil, m.source == queue.SourceSubagent:
		return m.source
	case holds(m.input):
		return queue.SourceAgent
	}
	for _, name := range m.names {
		if text, ok := o.files.text(name); ok && holds(text) || o.remembered(name) && !o.writes(m, name) {
			return queue.SourceAgentFile
		}
		for _, code := range o.code {
			if len(name) > 3 && strings.Contains(code, path.Base(name)) && holds(code) {
				return queue.SourceAgentFile
			}
		}
	}
	if m.reads && o.wrote(quote) {
		return queue.SourceAgentFile
	}
	if (m.remote || m.history) && slices.ContainsFunc(o.sent, holds) {
		return queue.SourceAgent
	}
	return m.source
}

// wrote: the line, or what follows the name of a file in it, is the agent's.
func (o *own) wrote(line string) bool {
	for {
		line = strings.TrimLeft(strings.TrimSpace(line), "+")
		if o.files.lines[strings.TrimSpace(line)] {
			return true
		}
		i := strings.IndexAny(line, ":\t→")
		if i < 0 {
			return false
		}
		line = strings.TrimLeft(line[i:], ":\t→")
	}
}

// writes: the call itself puts into the file what a program prints.
func (o *own) writes(m *made, name string) bool {
	return slices.ContainsFunc(m.commands, func(c shell.Command) bool {
		return slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return strings.HasPrefix(r.Op, ">") && sameFile(r.Target.Text, name) })
	})
}

// remembered: a file by which one session tells the next what it thinks.
func (o *own) remembered(name string) bool {
	base := strings.ToLower(path.Base(name))
	if base == "memory.md" || base == "progress.txt" || base == "progress.md" || base == "notes.md" || base == "claude.local.md" || strings.Contains(name, "/memory/") {
		return true
	}
	return slices.ContainsFunc(o.memory, func(m string) bool { return sameFile(path.Clean(m), path.Clean(name)) })
}
