package claims

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// made is a call that was seen, and waits for its result.
type made struct {
	call                         *transcript.Call
	input                        string // its text, without escapes
	line                         string // of a shell command
	commands                     []shell.Command
	source                       queue.ClaimSource
	names                        []string                      // files that it names
	words                        []string                      // of its command: what a number alone may be of
	counts                       []string                      // what it counts, whatever stands in its line
	prints                       string                        // what it was told to print
	code                         string                        // for an interpreter, in the line
	computes                     string                        // what it prints with a sum of its own in it
	scripted                     bool                          // it runs a script that the agent wrote
	partial                      bool                          // it shows the output of a command that goes on, or has ended
	resolved, ownOnly, remembers bool                          // of the files that it names: all are the agent's; one is a memory
	texts                        []string                      // what the agent wrote into them
	held                         map[string]map[*open]standing // of texts of the agent's: what of the claims is in them
	lists                        bool                          // each line names a file at its end
	reads                        bool                          // it only shows what stands in files
	history                      bool                          // it shows what was committed
	remote                       bool                          // it asks a place to which the agent may have sent it
	changes                      bool                          // it changes files
}

// told is the source of what a command was told to print.
func (m *made) told() queue.ClaimSource {
	if m.scripted {
		return queue.SourceAgentFile
	}
	return queue.SourceAgent
}

// prose: what people write in sentences, and programs in lines.
func (m *made) prose() bool { return m.source != queue.SourceResult }

// read finds out what a result of a call would be worth.
func (o *own) read(c *transcript.Call) *made {
	m := &made{call: c, source: queue.SourceResult, input: string(transcript.Unescape(nil, c.Input))}
	in := inputOf(c)
	switch name := c.Name; {
	case in.isShell:
		m.line = in.line
		m.readLine(o.files.text)
	case name == "Read" || name == "Grep" || name == "Glob" || name == "LS" || name == "NotebookRead" || name == "read_file" || name == "view":
		m.source, m.reads = queue.SourceFile, true
		m.names = []string{in.path}
	case name == "WebFetch" || name == "WebSearch" || strings.HasSuffix(name, "fetch") || strings.HasSuffix(name, "web_search"):
		m.source, m.remote = queue.SourcePage, true
	case name == "Task" || name == "Agent" || name == "TaskOutput" || name == "AgentOutput":
		m.source = queue.SourceSubagent
	case name == "AskUserQuestion":
		m.source = queue.SourceStory
	case inward[name]:
		m.source = queue.SourceAgent
	case in.isWriter:
		// Its result shows the file as it is now, with what stood around.
		m.source, m.names = queue.SourceAgentFile, []string{in.path}
		m.changes = !isProse(in.path)
		if in.patch != "" {
			m.changes = true
		}
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
	stores   = wordSet("psql mysql mariadb sqlite3 redis-cli mongosh mongo duckdb clickhouse-client logger journalctl")
)

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

func (m *made) readLine(files func(name string) (string, bool)) {
	read := shell.Read(m.line, shell.Options{ReadFile: files})
	m.commands, m.scripted = read.Commands, len(read.Ran) > 0
	counted, wc := "", false
	shows, reads, fetches, closedAll := false, len(read.Commands) > 0, false, len(read.Commands) > 0
	var words strings.Builder
	for i := range read.Commands {
		c := &read.Commands[i]
		program := programOf(c)
		counts := counters[program] || (program == "grep" || program == "rg") && countsLines(c)
		m.history = m.history || showsHistory(c)
		shows = shows || readers[program] && !counts || showsHistory(c)
		reads = reads && (readers[program] || counts || showsHistory(c))
		local := fetchers[program] && isLocal(c)
		fetches = fetches || fetchers[program] && !local
		m.remote = m.remote || stores[program]
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
	if n := len(read.Commands); n > 1 && (read.Commands[n-1].Program() == "wc" || countsLines(&read.Commands[n-1]) && strings.HasSuffix(read.Commands[n-1].Program(), "grep")) {
		shows = false // a pipe into a counter
	}
	m.reads = reads && shows
	m.changes = slices.ContainsFunc(read.Written, func(w shell.Write) bool { return !isProse(w.Name) && w.Name != "/dev/null" }) ||
		slices.ContainsFunc(read.Commands, func(c shell.Command) bool { return movesTree(&c) })
	m.remote = m.remote || fetches
	switch {
	case closedAll:
		m.source = queue.SourceAgent
		if len(read.Ran) > 0 {
			m.source = queue.SourceAgentFile
		}
	case m.reads:
		m.source = queue.SourceFile
	case fetches:
		m.source = queue.SourcePage
	}
}

// programOf is the name of a command's program, and with its folder where that
// says that it is the project's own: ./test is not test.
func programOf(c *shell.Command) string {
	if len(c.Argv) > 0 && strings.HasPrefix(c.Argv[0].Text, ".") {
		return c.Argv[0].Text
	}
	return c.Program()
}

// countsLines: grep -c.
func countsLines(c *shell.Command) bool {
	return slices.ContainsFunc(c.Argv, func(w shell.Word) bool {
		return w.Text == "--count" || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.Contains(w.Text, "c") && !strings.ContainsAny(w.Text, "AB=")
	})
}

// whatCounted are the things that are counted with a command.
func whatCounted(c *shell.Command, counts bool) string {
	switch program := programOf(c); {
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
