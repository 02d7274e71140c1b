package policy

import (
	"slices"
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
	set         *Set
	left        int             // payloads that may still be read
	unread      map[string]bool // why parts of the line could not be parsed
	depth       int
	aliases     map[string]string // git aliases that the line defined
	hooks       string            // where the line told git to look for hooks
	remotes     map[string]string // git remotes that the line named
	links       []link            // other names of places that the line made
	text        string            // the line
	lookups     int               // places that the file system was asked about
	foundIn     string            // a line
	foundPlaces []changedFile     // and what its find may come upon
	nodes       []Node            // what was found, for Explain
	trace       bool
	noText      bool // leave out the pass over what is data
	noWords     bool // leave out mentions
	words       int  // bytes of data that may still be looked through
	last        string
	tree        *worktree // nil: no file can be read
	guard       *Guarded  // nil: no run is guarded
	cwd         string    // where the call runs; "" = not known
	given       *given    // of the program that is looked into
	composed    int       // commands that were put together
	testing     bool      // tests that the agent wrote are being read
	made        *Builds   // what was built in this run; nil: nothing is remembered
}

func (s *Set) newReading() *reading {
	return &reading{set: s, left: maxReadings, words: maxWords, aliases: map[string]string{}, remotes: map[string]string{}}
}

// line classifies a command line.
func (r *reading) line(text string) []Hit {
	if r.left--; r.left < 0 || r.depth > maxNesting {
		return []Hit{opaqueHit("opaque-depth", text, "payloads inside payloads go deeper than is looked at")}
	}
	r.depth++
	defer func() { r.depth-- }()
	o := shell.Options{Parsers: &r.set.parsers, Effects: runnable}
	if r.tree != nil {
		o.ReadFile = r.readScript
	}
	l := shell.Read(text, o)
	defer func(before string) { r.text = before }(r.text)
	r.text = text
	for _, why := range l.Opaque {
		if r.unread == nil {
			r.unread = map[string]bool{}
		}
		r.unread[why] = true
	}
	hits := r.commands(l)
	hits = append(hits, r.downloaded(l.Commands)...)
	if r.noText {
		return hits
	}
	if !r.noWords {
		for _, t := range l.Texts {
			hits = append(hits, r.mentions(t.Body)...)
		}
	}
	if len(l.Opaque) > 0 {
		hits = append(hits, r.unparsed(text, l.Opaque[0], hits)...)
	}
	if r.noWords {
		return hits
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
	hits := r.judged(c)
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
	add(r.guards(c)...)
	prog := c.Program()
	switch {
	case unknownProgramWord(c.Argv[0]):
		add(r.dynamicProgram(c)...)
	case c.Opaque != "" && !r.unread[c.Opaque]:
		add(r.opaquePayload(c)...)
	}
	inside, seen := r.follow(prog, c)
	add(inside...)
	add(r.loads(prog, c)...)
	add(r.builds(prog, c)...)
	add(r.underOtherName(c)...)
	var said []Hit
	if t := r.tool(prog); t != nil {
		said = r.toolCall(t, c)
		if len(t.rules) == 0 && top(said) < External { // how it reads its line is known, not what it does
			said = append(said, r.unknownProgram(prog, c)...)
		} else if len(inside) == 0 && !slices.ContainsFunc(said, func(h Hit) bool { return h.Rule != t.Name+"-read" }) {
			said = append(said, r.unlisted(t, c)...)
		}
	} else if !unknownProgramWord(c.Argv[0]) {
		said = r.unknownProgram(prog, c)
	}
	if seen && (r.tree == nil || !r.tree.busy) {
		said = seenThrough(said)
	}
	add(said...)
	add(r.startup(prog, c)...)
	add(r.code(prog, c)...)
	add(r.sources(prog, c)...)
	add(r.editor(prog, c)...)
	add(r.scriptFiles(prog, c)...)
	add(r.notebooks(prog, c)...)
	add(r.subexpressions(prog, c)...)
	add(r.imageProgram(c)...)
	add(r.packageProgram(c)...)
	add(r.userPatterns(c)...)
	if r.unread[c.Opaque] {
		for i := range hits {
			hits[i].Opaque = true
		}
	}
	if top(hits) < External && !r.noText && !r.noWords {
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
			h := Hit{Rule: "net-redirect", Tier: External, Why: "The shell itself opens a network connection for this redirection."}
			if rd.Op == "<" {
				h.Tier, h.Net = Local, true // it connects and sends nothing
			}
			hits = append(hits, h)
		}
	}
	hits = append(hits, r.environment(c)...)
	if unhooks(c) {
		hits = append(hits, guardHit(""))
	}
	return hits
}

// unhooks: the command writes into the client's settings that no hook is to
// run.
func unhooks(c *shell.Command) bool {
	const settings = ".claude/settings"
	written := false
	for _, rd := range c.Redirects {
		written = written || strings.Contains(rd.Op, ">") && strings.Contains(rd.Target.Text, settings)
	}
	switch c.Program() {
	case "tee", "sed", "gsed", "perl", "sponge":
		for _, w := range c.Argv {
			written = written || strings.Contains(w.Text, settings)
		}
	}
	return written && strings.Contains(joinWords(c.Argv)+"\n"+c.Stdin.Text, "disableAllHooks")
}

// guardHit is for a change that would take the firewall's hook out of a
// session.
func guardHit(text string) Hit {
	return Hit{Rule: "guard-settings", Tier: External, Why: "It switches off the hooks by which this session is guarded.", Text: text}
}

// imageProgram classifies docker run IMAGE ARGS as the program that the image
// is named for, which is its entry point as a rule.
func (r *reading) imageProgram(c *shell.Command) []Hit {
	image, ok := strings.CutPrefix(c.Remote, "docker:")
	if !ok || len(c.Wrappers) == 0 || !strings.Contains(c.Wrappers[len(c.Wrappers)-1], " run") {
		return nil
	}
	name := r.set.imageName(image)
	t := r.set.toolFor(name)
	if t == nil || c.Program() == name {
		return nil
	}
	inner := *c
	inner.Argv = append([]shell.Word{{Text: name}}, c.Argv...)
	return r.toolCall(t, &inner)
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
		case "docker", "podman", "compose", "lxc", "incus", "multipass", "limactl", "orb", "container", "image", "nerdctl", "vagrant", "chroot", "wsl", "distrobox", "toolbox":
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

// toolCall matches a command against the rules of its tool.
func (r *reading) toolCall(t *tool, c *shell.Command) []Hit {
	argv := c.Argv[1:]
	a := parseArgs(t, r.inContext(t, c), argv)
	a.guard, a.dir = r.guard, r.folder(c)
	r.nameRemote(a)
	if a.helps() {
		return nil
	}
	hits := r.rules(a)
	if len(a.words) > 1 && unknownWord(a.words[0]) {
		if without := r.rules(a.withoutFirst()); len(without) > 0 {
			hits = without
		}
	}
	if len(hits) == 0 {
		hits = r.guesses(a)
	}
	if t.is("npm") || t.is("pnpm") || t.is("yarn") || t.is("bun") {
		hits = append(hits, r.npmScripts(a)...)
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

// rules is what the rules of a tool say of a command. Where the user's own
// rule allows it, that is all that is said.
func (r *reading) rules(a *args) []Hit {
	var hits, allowed []Hit
	for _, rule := range a.tool.rules {
		h, ok := rule.match(a)
		switch {
		case ok && h.Allowed:
			allowed = append(allowed, h)
		case ok:
			hits = append(hits, h)
		}
	}
	if len(allowed) > 0 && !slices.ContainsFunc(hits, func(h Hit) bool { return h.Denied }) {
		return allowed
	}
	return hits
}

// helps reports whether the command only prints help.
func (a *args) helps() bool {
	if n := len(a.words); n > 0 && (a.words[0].Text == "help" || a.tool.is("aws") && a.words[n-1].Text == "help") {
		return true
	}
	if (a.has("--help") || a.shortHelp()) && !a.tool.Stop {
		return true
	}
	if len(a.argv) == 1 && containsString([]string{"--version", "-version", "-V", "-h", "--help"}, a.argv[0].Text) {
		return true
	}
	return a.hasAny(a.tool.Help)
}

// shortHelp: -h stands last and asks for help. After a command that runs
// another, it may be the other's; git knows it as the only word behind a
// subcommand, and ends with an error for every other.
func (a *args) shortHelp() bool {
	n := len(a.argv)
	if n < 2 || a.argv[n-1].Text != "-h" || a.tool.StopAfter > 0 || len(a.opts) == 0 || a.opts[len(a.opts)-1].given {
		return false
	}
	for _, w := range a.argv {
		switch w.Text {
		case "--", "exec", "run", "ssh", "debug", "shell", "console", "dlx", "x":
			return false
		}
	}
	return len(a.words) > 0 && a.tool.knows(a.words[0].Text) && !a.takes("-h")
}

// withoutFirst is the command without its first operand: a variable in that
// place often holds options.
func (a *args) withoutFirst() *args {
	b := *a
	b.words = a.words[1:]
	return &b
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

func top(hits []Hit) Tier {
	t := Local
	for _, h := range hits {
		if !h.Mention && h.Tier > t {
			t = h.Tier
		}
	}
	return t
}
