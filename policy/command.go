package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// The bounds of one classification: how deep payloads inside payloads (a
// shell line inside Python inside a shell line) are followed, and how many of
// them there may be.
const (
	maxReadings = 256
	maxNesting  = 6
	maxHits     = 200
	maxWords    = 4 << 20 // bytes of data looked through for mentions
)

// reading is the state of classifying one call.
type reading struct {
	set     *Set
	cwd     string
	left    int             // payloads that may still be read
	unread  map[string]bool // why parts of the line could not be parsed
	depth   int
	aliases map[string]string // git aliases that the line defined
	remotes map[string]string // git remotes that the line named
	nodes   []Node            // what was found, for Explain
	trace   bool
	noText  bool // leave out the pass over what is data
	words   int  // bytes of data that may still be looked through
	last    string
}

func (s *Set) newReading(cwd string) *reading {
	return &reading{set: s, cwd: cwd, left: maxReadings, words: maxWords, aliases: map[string]string{}, remotes: map[string]string{}}
}

// line classifies a command line.
func (r *reading) line(text string) []Hit {
	if r.left--; r.left < 0 || r.depth > maxNesting {
		return []Hit{opaqueHit("opaque-depth", text, "payloads inside payloads go deeper than is looked at")}
	}
	r.depth++
	defer func() { r.depth-- }()
	l := shell.Read(text, shell.Options{})
	for _, why := range l.Opaque {
		if r.unread == nil {
			r.unread = map[string]bool{}
		}
		r.unread[why] = true
	}
	var hits []Hit
	for i := range l.Commands {
		hits = append(hits, r.command(&l.Commands[i])...)
		if len(hits) > maxHits {
			break
		}
	}
	if r.noText {
		return hits
	}
	for _, t := range l.Texts {
		hits = append(hits, r.mentions(t.Body)...)
	}
	if len(l.Opaque) > 0 {
		hits = append(hits, r.unparsed(text, l.Opaque[0], hits)...)
	}
	return append(hits, r.set.strays(text, l.Commands, hits)...)
}

// command classifies one simple command; of one that is only defined, what it
// would do is a mention.
func (r *reading) command(c *shell.Command) []Hit {
	if len(c.Argv) == 0 {
		return nil
	}
	var children []Node
	if r.trace {
		saved := r.nodes
		r.nodes = nil
		defer func() { r.nodes = append(saved, r.nodes...) }()
	}
	hits := r.judge(c)
	if r.trace {
		children, r.nodes = r.nodes, nil
	}
	if c.Mode == shell.Defined {
		for i := range hits {
			hits[i].Mention = hits[i].Mention || hits[i].Tier > Local
			hits[i].Net = false
		}
	}
	if r.trace {
		r.nodes = append(r.nodes, newNode(c, hits, children))
	}
	return hits
}

// judge is command without the mode and the trace.
func (r *reading) judge(c *shell.Command) []Hit {
	var hits []Hit
	add := func(hs ...Hit) {
		for _, h := range hs {
			if h.Text == "" {
				h.Text = commandText(c)
			}
			hits = append(hits, h)
		}
	}
	add(r.surroundings(c)...)
	prog := c.Program()
	switch {
	case unknownProgramWord(c.Argv[0]):
		add(r.dynamicProgram(c)...)
	case c.Opaque != "" && !r.unread[c.Opaque]:
		add(r.opaquePayload(c)...)
	}
	if t := r.tool(prog); t != nil {
		add(r.toolCall(t, c)...)
	} else if !unknownProgramWord(c.Argv[0]) {
		add(r.unknownProgram(prog, c)...)
	}
	add(r.code(prog, c)...)
	add(r.editor(prog, c)...)
	add(r.userPatterns(c)...)
	if r.unread[c.Opaque] {
		for i := range hits {
			hits[i].Opaque = true
		}
	}
	if top(hits) < External && !r.noText {
		add(r.data(prog, c)...)
	}
	return hits
}

func (r *reading) tool(prog string) *tool {
	if t := r.set.toolFor(prog); t != nil {
		return t
	}
	if low := strings.ToLower(prog); low != prog {
		return r.set.toolFor(low)
	}
	return nil
}

// surroundings looks at what is round the command: another machine it would
// run on, sockets it is redirected to, commands in its environment.
func (r *reading) surroundings(c *shell.Command) []Hit {
	var hits []Hit
	if h, ok := remoteHit(c); ok {
		hits = append(hits, h)
	}
	for _, rd := range c.Redirects {
		t := rd.Target.Text
		if (strings.HasPrefix(t, "/dev/tcp/") || strings.HasPrefix(t, "/dev/udp/")) && !isLoopbackHost(strings.Split(t, "/")[3]) {
			hits = append(hits, Hit{Rule: "net-redirect", Tier: External, Why: "The shell itself opens a network connection for this redirection."})
		}
	}
	return hits
}

// remoteHit judges the place where a command runs: containers of this machine
// are local, everything else is another machine.
func remoteHit(c *shell.Command) (Hit, bool) {
	if c.Remote == "" {
		return Hit{}, false
	}
	kind, name, ok := strings.Cut(c.Remote, ":")
	if ok {
		switch kind {
		case "docker", "podman", "compose", "container", "image", "nerdctl", "vagrant", "chroot", "lxc", "wsl", "distrobox", "toolbox":
			return Hit{}, false
		}
	} else {
		name = kind
	}
	if isLoopbackHost(hostOf(name)) {
		return Hit{}, false
	}
	return Hit{Rule: "remote-command", Tier: External, Why: "The command runs on another machine."}, true
}

// unknownProgramWord: not even the base name of the program is known.
func unknownProgramWord(w shell.Word) bool {
	return unknownWord(w) && unknownWord(shell.Word{Text: baseOf(withoutSubstitutions(w.Text)), Dynamic: true})
}

// dynamicProgram judges a command whose program is not known: alone, or with
// a verb that reaches outside, it is external.
func (r *reading) dynamicProgram(c *shell.Command) []Hit {
	t := r.set.table()
	why := "The program is not known before the line runs."
	switch prog := c.Argv[0]; {
	case prog.Subst && t.printsEnvironment(prog.Text):
		return nil
	case prog.Subst && !locatesProgram(prog.Text), !prog.Subst && len(c.Argv) == 1:
		return []Hit{opaqueHit("dynamic-program", commandText(c), why)}
	}
	for _, w := range c.Argv[1:] {
		if t.verbs[w.Text] {
			return []Hit{opaqueHit("dynamic-program", commandText(c), why)}
		}
		if !strings.HasPrefix(w.Text, "-") {
			break
		}
	}
	return nil
}

// opaquePayload judges a command that runs what cannot be seen. What a
// well-known tool prints to set up a shell is no such thing, and a file that
// is only handed on is judged by its name.
func (r *reading) opaquePayload(c *shell.Command) []Hit {
	t := r.set.table()
	for _, w := range c.Argv[1:] {
		if w.Subst && t.printsEnvironment(w.Text) {
			return nil
		}
	}
	f := strings.Fields(c.Stdin.From)
	switch {
	case c.Stdin.Kind == shell.InputFile && len(f) == 1 && !strings.HasPrefix(f[0], "/dev/"),
		c.Stdin.Kind == shell.InputPipe && len(f) == 2 && f[0] == "cat" && !strings.HasPrefix(f[1], "-"):
		if !t.riskyScript(f[len(f)-1]) {
			return nil
		}
	}
	return []Hit{opaqueHit("opaque-payload", commandText(c), "It "+c.Opaque+".")}
}

// printsEnvironment: the substitution is one of those that set up a shell,
// eval "$(ssh-agent -s)" and its kin.
func (t *tables) printsEnvironment(text string) bool {
	if body, ok := strings.CutPrefix(text, "<("); ok {
		text = "$(" + body
	}
	bodies, ok := substitutions(text)
	if !ok || len(bodies) != 1 || strings.ContainsAny(bodies[0], "|;&<>$`") {
		return false
	}
	f := strings.Fields(bodies[0])
	if len(f) == 0 || !t.envPrinters[strings.Trim(baseOf(f[0]), `"'`)] {
		return false
	}
	for _, w := range f[1:] {
		if t.envVerbs[w] {
			return true
		}
	}
	return len(f) == 1
}

// locatesProgram: the substitution only finds where a program lies.
func locatesProgram(s string) bool {
	bodies, ok := substitutions(s)
	if !ok || len(bodies) != 1 {
		return false
	}
	f := strings.Fields(bodies[0])
	return len(f) > 0 && containsString([]string{"which", "command", "type", "whereis", "npm", "brew", "go", "xcrun"}, f[0])
}

// toolCall matches a command against the rules of its tool.
func (r *reading) toolCall(t *tool, c *shell.Command) []Hit {
	argv := c.Argv[1:]
	a := parseArgs(t, c, argv)
	if a.helps() {
		return nil
	}
	hits := r.rules(a)
	if len(a.words) > 1 && unknownWord(a.words[0]) {
		if without := r.rules(a.withoutFirst()); len(without) > 0 {
			hits = without
		}
	}
	if t.is("git") {
		hits = append(hits, r.git(a, c)...)
	}
	hits = append(hits, r.payloads(a, c)...)
	if len(hits) == 0 && (t.Net || a.net) && !allLoopback(a) {
		hits = append(hits, Hit{Rule: t.Name + "-read", Tier: Local, Net: true, Why: "It reads the network."})
	}
	return hits
}

func (r *reading) rules(a *args) []Hit {
	var hits []Hit
	for _, rule := range a.tool.rules {
		if h, ok := rule.match(a); ok {
			hits = append(hits, h)
		}
	}
	return hits
}

// helps reports whether the command only prints help.
func (a *args) helps() bool {
	if len(a.words) > 0 && a.words[0].Text == "help" {
		return true
	}
	if a.has("--help") && !a.tool.Stop {
		return true
	}
	if len(a.argv) == 1 && containsString([]string{"--version", "-version", "-V", "-h", "--help"}, a.argv[0].Text) {
		return true
	}
	return a.hasAny(a.tool.Help)
}

// withoutFirst is the command without its first operand: a variable in that
// place often holds options.
func (a *args) withoutFirst() *args {
	b := *a
	b.words = a.words[1:]
	return &b
}

// payloads classifies what an option or the operands of a command make it run.
func (r *reading) payloads(a *args, c *shell.Command) []Hit {
	var hits []Hit
	for _, sub := range a.subs {
		for _, f := range sub.RunFlags {
			for _, v := range a.all(f) {
				hits = append(hits, r.line(v.Text)...)
			}
		}
		n := len(strings.Fields(sub.Path))
		if sub.Path == "*" {
			n = 0
		}
		if sub.Run == "" || len(a.words) <= n {
			continue
		}
		hits = append(hits, r.operands(sub.Run, a, c, n)...)
	}
	return hits
}

// operands classifies the operands from n on, which the command runs: as one
// shell line ("sh"), each as a line ("each", "spawn"), as a command ("argv"),
// or as a command line of the same program ("argv-self").
func (r *reading) operands(how string, a *args, c *shell.Command, n int) []Hit {
	var hits []Hit
	inner := *c
	inner.Argv = tailOf(a.argv, a.words[n])
	switch how {
	case "sh":
		return r.line(joinWords(a.words[n:]))
	case "each", "spawn":
		for _, w := range a.words {
			if strings.ContainsAny(w.Text, " \n") {
				hits = append(hits, r.line(strings.ReplaceAll(w.Text, "spawn ", " "))...)
			}
		}
	case "argv":
		hits = r.line(lineOf(inner.Argv))
	case "argv-self":
		hits = r.line(lineOf(append([]shell.Word{c.Argv[0]}, inner.Argv...)))
	}
	return hits
}

// tailOf is argv from the word w on.
func tailOf(argv []shell.Word, w shell.Word) []shell.Word {
	for i := range argv {
		if argv[i] == w {
			return argv[i:]
		}
	}
	return []shell.Word{w}
}

// lineOf writes words as a command line; what is not known stays open to
// expansion.
func lineOf(words []shell.Word) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quoteWords([]string{w.Text})
		if w.Dynamic && !strings.ContainsAny(w.Text, "\"\\") {
			out[i] = `"` + w.Text + `"`
		}
	}
	return strings.Join(out, " ")
}

func joinWords(words []shell.Word) string { return strings.Join(wordTexts(words), " ") }

func wordTexts(words []shell.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

// git follows aliases and the commands that configuration makes git run.
func (r *reading) git(a *args, c *shell.Command) []Hit {
	r.noteGitConfig(a)
	var hits []Hit
	for _, v := range a.all("-c") {
		key, val, _ := strings.Cut(v.Text, "=")
		if k := strings.ToLower(key); k == "core.sshcommand" || k == "core.editor" || k == "core.pager" || k == "sequence.editor" || k == "core.fsmonitor" {
			hits = append(hits, r.line(val)...)
		}
	}
	exp, ok := r.gitAlias(a)
	if !ok || r.depth > maxNesting {
		return hits
	}
	rest := tailOf(a.argv, a.words[0])[1:]
	if cmd, shellAlias := strings.CutPrefix(exp, "!"); shellAlias {
		return append(hits, r.line(cmd+" "+joinWords(rest))...)
	}
	return append(hits, r.line("git "+exp+" "+joinWords(rest))...)
}

// userPatterns looks for a user's plain strings.
func (r *reading) userPatterns(c *shell.Command) []Hit {
	if len(r.set.patterns) == 0 {
		return nil
	}
	text := strings.ToLower(commandText(c) + "\n" + joinWords(c.Argv))
	var hits []Hit
	for _, p := range r.set.patterns {
		if strings.Contains(text, p) {
			hits = append(hits, Hit{Rule: "pattern:" + p, Tier: External, Why: "It holds a text that your configuration lists as external."})
		}
	}
	return hits
}

// commandText is the command as it would run.
func commandText(c *shell.Command) string {
	if c.Source != "" {
		return c.Source
	}
	return joinWords(c.Argv)
}

func opaqueHit(rule, text, why string) Hit {
	return Hit{Rule: rule, Tier: External, Why: why, Text: text, Opaque: true}
}

func top(hits []Hit) Tier {
	t := Local
	for _, h := range hits {
		if !h.Mention && h.Tier > t {
			t = h.Tier
		}
	}
	return t
}
