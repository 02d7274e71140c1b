package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// unknownProgram judges a program that no rule speaks of, by its name and its
// first operand.
func (r *reading) unknownProgram(prog string, c *shell.Command) []Hit {
	t := r.set.table()
	name := c.Argv[0].Text
	if t.harmless.has(strings.ToLower(prog)) || languageOf(prog) != "" || t.views(c) {
		return nil
	}
	if hits, ok := r.blocks(c); ok {
		return hits
	}
	if hits := r.carried(c); len(hits) > 0 {
		return hits
	}
	why := "A program that is not looked into is named like one that reaches outside."
	if t.riskyScript(name) && !helpOnly(c.Argv) {
		return []Hit{opaqueHit("opaque-script", commandText(c), why)}
	}
	if cloudCmdlet(prog) {
		return []Hit{{Rule: "cloud-cmdlet", Tier: External, Why: "The PowerShell command changes something in a cloud or at a service.", Text: commandText(c)}}
	}
	if isCmdlet(prog) {
		return nil
	}
	if orderedByOption(c.Argv) {
		return []Hit{opaqueHit("opaque-verb", commandText(c), "A program that is not looked into is told to do what reaches outside.")}
	}
	if h, ok := givenServer(c); ok {
		return []Hit{h}
	}
	if r.changesServer(c) {
		return []Hit{opaqueHit("opaque-server", commandText(c), "A program that is not looked into is given a statement that changes something, and a server on another machine.")}
	}
	if carriesWords(prog, c) {
		return []Hit{opaqueHit("opaque-sender", commandText(c), "A program that is not looked into is named for a service that carries words to people.")}
	}
	for i, w := range c.Argv[1:] {
		option := c.Argv[i].Text
		switch {
		case strings.HasPrefix(w.Text, "-"):
		case i > 0 && filterOption(option):
			// the name of a test, or a text that is looked for
		case i > 0 && strings.HasPrefix(option, "--") && !strings.Contains(option, "=") && !t.verbs.has(w.Text):
			// it may be the option's value
		default:
			return r.toldTo(prog, c, c.Argv[i+1:])
		}
	}
	return nil
}

// filterOption: the option takes a name or a pattern, which says nothing of
// what the program does.
func filterOption(s string) bool {
	switch s {
	case "-k", "-g", "-t", "-m", "-e", "-n", "-f", "-c", "-p", "-o", "--filter", "--grep", "--test", "--tests", "--name", "--match", "--tag", "--tags", "--testNamePattern", "--example", "--run", "-run", "--only", "--message", "--file", "--mode", "--label", "--title", "--event", "--pattern", "--suite", "-R", "-E", "-L", "-i", "--id", "--spec", "--project", "--", "--topic":
		return true
	}
	return false
}

// toldTo judges a program or script that is not looked into by the first word
// it is given.
func (r *reading) toldTo(name string, c *shell.Command, rest []shell.Word) []Hit {
	t := r.set.table()
	if len(rest) == 0 || hasDry(c.Argv) || len(rest) > 1 && t.counter.has(rest[1].Text) { // release notes
		return nil
	}
	if !t.verbs.has(rest[0].Text) {
		if first := rest[0].Text; (first == "post" || first == "comment" || first == "reply") && !makesPages(name) && !keepsWords(name) {
			return []Hit{opaqueHit("opaque-verb", commandText(c), "A program that is not looked into is told to do what reaches outside.")}
		}
		if t.compound(rest[0].Text) || len(rest) > 1 && cloudAction(rest[1].Text) {
			return []Hit{opaqueHit("opaque-verb", commandText(c), "A program that is not looked into is told to do what reaches outside.")}
		}
		return r.toldOf(c, rest)
	}
	for _, w := range nameWords(baseOf(name)) {
		if t.counter.has(w) || t.stage.has(w) && !dispatcher(w) || t.soft.has(w) && !t.strong.has(rest[0].Text) {
			return nil // a test of it, or a variant of a build
		}
	}
	return []Hit{opaqueHit("opaque-verb", commandText(c), "A program that is not looked into is told to do what reaches outside.")}
}

// toldOf judges a program that is told first of what, then what to do with it:
// pr create, module publish.
func (r *reading) toldOf(c *shell.Command, rest []shell.Word) []Hit {
	t := r.set.table()
	if noun, verb, ok := strings.Cut(rest[0].Text, ":"); ok && !keepsWords(c.Argv[0].Text) && (t.verbs.has(verb) && !t.soft.has(noun) || platformNoun(noun) && (publicVerb(verb) || verb == "set" || verb == "destroy")) {
		return []Hit{opaqueHit("opaque-verb", commandText(c), "A program that is not looked into is told to do what reaches outside.")}
	}
	if len(rest) < 2 {
		return nil
	}
	noun, verb := rest[0].Text, rest[1].Text
	if !isNoun(noun) || t.counter.has(noun) || t.stage.has(noun) || t.soft.has(noun) && verb != "submit" {
		return nil
	}
	told := orderedVerb(noun, verb) // create ticket, trigger pipeline
	if !asksFirst(noun) {
		told = told || t.verbs.has(verb) && verb != "release" && (verb != "push" || !keepsAside(noun)) || publicNoun(noun) && publicVerb(verb)
		if len(rest) > 2 && isNoun(verb) && !t.counter.has(verb) { // todo ticket create
			told = told || publicNoun(verb) && publicVerb(rest[2].Text)
		}
	}
	if told {
		return []Hit{opaqueHit("opaque-verb", commandText(c), "A program that is not looked into is told to do what reaches outside.")}
	}
	return nil
}

// keepsAside: what is pushed there stays on this machine.
func keepsAside(noun string) bool {
	switch noun {
	case "stash", "simctl", "stack", "queue", "undo", "history", "dir", "dirs", "migrate", "migration", "db", "schema", "state", "context", "scope", "local":
		return true
	}
	return false
}

// orderedVerb: what is done to something public where the verb stands first.
func orderedVerb(verb, noun string) bool {
	switch strings.TrimSuffix(noun, "s") {
	case "pr", "mr", "pull-request", "pullrequest", "merge-request", "issue", "ticket", "comment", "incident", "message", "tweet", "invoice",
		"payment", "refund", "gist", "webhook", "deployment", "droplet", "paste", "alert", "workitem", "work-item":
		return publicVerb(verb) && verb != "open" && verb != "new" && verb != "run"
	case "pipeline", "build", "job", "workflow", "run", "release":
		return verb == "trigger" || verb == "retry" || verb == "rerun" || verb == "approve" || verb == "dispatch"
	}
	return false
}

// unlisted judges a subcommand that no rule of a known tool speaks of, as that
// of an extension, by its first two words.
func (r *reading) unlisted(t *tool, c *shell.Command) []Hit {
	a := parseArgs(t, c, c.Argv[1:])
	if t.is("kubectl") || t.is("oc") { // behind the subcommand stands a kind of object
		return nil
	}
	if a.helps() || hasDry(c.Argv) || len(a.words) < 2 || r.set.table().harmless.has(t.Name) {
		return nil
	}
	if t.knows(a.words[0].Text) && !orderedVerb(a.words[0].Text, a.words[1].Text) {
		return nil
	}
	if t.is("git") && strings.Contains(gitCommands, " "+a.words[0].Text+" ") { // a branch may be called push
		return nil
	}
	return r.toldOf(c, a.words)
}

// isNoun: a plain word, and no file, option or value.
func isNoun(s string) bool {
	for i := range len(s) {
		if (s[i] < 'a' || s[i] > 'z') && s[i] != '-' && s[i] != '_' {
			return false
		}
	}
	return len(s) > 1 && s[0] != '-'
}

// asksFirst: the word is itself what the program is to do.
func asksFirst(s string) bool {
	switch s {
	case "get", "find", "search", "describe", "explain", "info", "man", "docs", "doc", "completion", "run", "new", "init", "add", "remove", "rm",
		"set", "use", "create", "edit", "open", "test", "cat", "grep", "query", "which", "exec", "start", "restart", "export", "import", "rename":
		return true
	}
	return false
}

// publicNoun and publicVerb: what stands at a service where others see it, and
// what changes it.
func publicNoun(s string) bool {
	switch strings.TrimSuffix(s, "s") {
	case "pr", "mr", "pull", "pullrequest", "pull-request", "merge-request", "mergerequest", "issue", "ticket", "comment", "release", "gist", "incident",
		"workitem", "work-item", "message", "tweet", "post", "invoice", "payment", "payout", "refund", "transfer", "mail", "email", "pipeline",
		"workflow-run", "review", "domain", "dns", "dns-record", "discussion", "sub-issue", "snippet", "webhook", "droplet", "paste", "page", "card",
		"epic", "bug", "alert", "announcement", "campaign", "newsletter", "reaction", "charge", "subscription", "deployment", "instance", "bucket", "room",
		"meeting", "booking":
		return true
	}
	return false
}

func publicVerb(s string) bool {
	switch s {
	case "create", "new", "open", "add", "edit", "update", "close", "reopen", "merge", "approve", "comment", "reply", "delete", "remove",
		"assign", "transition", "move", "resolve", "trigger", "run", "rerun", "retry", "cancel", "post", "note", "push", "release", "ack":
		return true
	}
	return false
}

// carried classifies the command that stands as the operands of an unknown
// program, ./with-env.sh npm publish: it may well run it. Only what reaches
// outside counts.
func (r *reading) carried(c *shell.Command) []Hit {
	if p := c.Program(); (p == "parallel" || p == "rush") && hasDry(c.Argv) {
		return nil // it prints the commands
	}
	var rest []shell.Word
	for i, w := range c.Argv[1:] {
		if w.Text == "--" {
			rest = c.Argv[i+2:]
			break
		}
		if rest == nil && !strings.HasPrefix(w.Text, "-") {
			rest = c.Argv[i+1:]
		}
	}
	if len(rest) < 2 || !r.set.knows(baseOf(rest[0].Text)) || r.set.table().harmless.has(baseOf(rest[0].Text)) {
		return nil
	}
	var hits []Hit
	for _, h := range r.line(lineOf(rest)) {
		if h.Tier == External && !h.Mention {
			h.Opaque = true
			hits = append(hits, h)
		}
	}
	return hits
}

// blocks classifies what stands between braces behind a word that is no
// command here, as try { } and ForEach-Object { } of other shells.
func (r *reading) blocks(c *shell.Command) ([]Hit, bool) {
	var hits []Hit
	var segment []shell.Word
	found := false
	for _, w := range append(c.Argv[1:len(c.Argv):len(c.Argv)], shell.Word{Text: "}"}) {
		switch w.Text {
		case "{", "}":
			if found && len(segment) > 0 && !strings.HasPrefix(segment[0].Text, "$") {
				hits = append(hits, r.line(lineOf(segment))...)
			}
			found = found || w.Text == "{"
			segment = nil
		default:
			segment = append(segment, w)
		}
	}
	return hits, found
}

// subexpressions classifies the (command) operands of PowerShell's commands.
func (r *reading) subexpressions(prog string, c *shell.Command) []Hit {
	if !isCmdlet(prog) && prog != "iex" && prog != "iwr" && prog != "irm" {
		return nil
	}
	var hits []Hit
	for _, w := range c.Argv[1:] {
		if inner, ok := strings.CutPrefix(w.Text, "("); ok && strings.HasSuffix(inner, ")") {
			hits = append(hits, r.line(strings.TrimSuffix(inner, ")"))...)
		}
	}
	return hits
}

// dotNet judges PowerShell's calls of .NET classes that send.
func dotNet(text string) []Hit {
	low := strings.ToLower(text)
	if !strings.Contains(low, "net.") && !strings.Contains(low, "client") {
		return nil
	}
	for _, m := range []string{".uploadstring", ".uploaddata", ".uploadfile", ".uploadvalues", ".postasync", ".putasync", ".patchasync", ".deleteasync", ".sendasync", ".sendmailasync", ".getrequeststream", "sockets.tcpclient(", "sockets.udpclient("} {
		if strings.Contains(low, m) && !strings.Contains(low, "://localhost") && !strings.Contains(low, "127.0.0.1") && !strings.Contains(low, "'localhost'") {
			return []Hit{{Rule: "dotnet-send", Tier: External, Why: "PowerShell sends through a class of .NET.", Text: text}}
		}
	}
	return nil
}

// isCmdlet: Verb-Noun, as PowerShell names its commands.
func isCmdlet(prog string) bool {
	verb, noun, ok := strings.Cut(prog, "-")
	return ok && verb != "" && noun != "" && verb[0] >= 'A' && verb[0] <= 'Z' && noun[0] >= 'A' && noun[0] <= 'Z'
}

// dispatcher: a stage's name that scripts for every task have too.
func dispatcher(w string) bool { return w == "dev" || w == "ci" || w == "stage" }

func hasDry(argv []shell.Word) bool {
	for _, w := range argv {
		switch w.Text {
		case "--dry-run", "--help", "-h", "--dryrun", "--dry":
			return true
		}
	}
	return false
}

// helpOnly: the program is asked for its help alone.
func helpOnly(argv []shell.Word) bool {
	n := len(argv) - 1
	return (n == 1 || n == 2) && (argv[n].Text == "--help" || argv[n].Text == "-h" || argv[n].Text == "--version")
}
