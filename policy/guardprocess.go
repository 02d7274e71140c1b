package policy

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// guardPredicate returns the predicates that ask whether a command reaches for
// the run itself. They are false where no run is guarded.
func guardPredicate(name string) predicate {
	switch name {
	case "ends-run":
		return func(a *args, rest []shell.Word) bool { return a.guard != nil && a.guard.ends(a) }
	case "traces-run":
		return func(a *args, rest []shell.Word) bool {
			return a.guard != nil && slices.ContainsFunc(a.argv, func(w shell.Word) bool {
				_, pid, ok := strings.Cut(w.Text, "=")
				return a.guard.process(w) || ok && a.guard.process(shell.Word{Text: pid, Dynamic: w.Dynamic}) ||
					strings.HasPrefix(w.Text, "-p") && a.guard.process(shell.Word{Text: w.Text[2:], Dynamic: w.Dynamic})
			})
		}
	case "shows-environment":
		return func(a *args, rest []shell.Word) bool {
			return a.guard != nil && len(rest) > 0 && !strings.ContainsFunc(rest[0].Text, func(c rune) bool { return !strings.ContainsRune("aAcefghjlrsuvwxXTtN", c) }) &&
				strings.Contains(rest[0].Text, "e")
		}
	case "in-run":
		return func(a *args, rest []shell.Word) bool { return a.guard != nil }
	case "sets-git-config":
		return setsGitConfig
	case "hides-from-git":
		return hidesFromGit
	}
	return nil
}

// process reports whether a word names loop's or the client's process.
func (g *Guarded) process(w shell.Word) bool {
	s := strings.TrimPrefix(w.Text, "-")
	if n, err := strconv.Atoi(s); err == nil {
		return slices.Contains(g.Pids, n)
	}
	switch s {
	case "$PPID", "${PPID}", "$CLAUDE_PID", "${CLAUDE_PID}":
		return true
	}
	return w.Dynamic && g.computes(s)
}

// computes: the text is a command that prints processes of the run, or all
// that there are.
func (g *Guarded) computes(text string) bool {
	if strings.Contains(text, "PPID") || strings.Contains(text, "/proc") || findsRun(text) {
		return true
	}
	words := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t\n\"'()`|;<>$", c) })
	picks := strings.ContainsAny(text, "/{")
	for _, w := range words[:min(len(words), maxPlaces)] {
		switch w {
		case "grep", "egrep", "-C", "-p", "--pid", "--ppid", "sed":
			picks = true
		case "lsof", "ss", "netstat", "fuser":
			if slices.ContainsFunc(g.Ports, func(p int) bool { return p > 0 && holdsNumber(text, strconv.Itoa(p)) }) {
				return true
			}
		}
		if g.holds([]string{"@files"}, "", w, itself) {
			return true
		}
	}
	return slices.Contains(words, "ps") && !picks
}

// runNames are the programs of a run, and the beginnings of their command
// lines as pgrep -f sees them.
var (
	runNames    = []string{"claude", "loop"}
	runCommands = []string{"claude --print --output-format stream-json --verbose --session-id", "loop run"}
)

// findsRun: the text looks for the process of loop or of the client.
func findsRun(text string) bool {
	for _, line := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("|;&()`\n", c) }) {
		f := strings.Fields(strings.NewReplacer(`"`, " ", "'", " ", "[", "", "]", "", "$", "").Replace(line))
		if len(f) < 2 || !slices.Contains([]string{"pgrep", "pidof", "grep", "egrep", "awk", "/claude/", "pidwait"}, baseOf(f[0])) {
			continue
		}
		for _, w := range f[1:] {
			if w = strings.Trim(w, "/^"); slices.Contains(runNames, w) || slices.Contains(runNames, baseOf(w)) {
				return true
			}
		}
	}
	return false
}

// ends reports whether a command that sends signals sends one to the run.
func (g *Guarded) ends(a *args) bool {
	switch a.cmd.Program() {
	case "pkill", "killall", "skill", "slay", "taskkill", "taskkill.exe", "killall5", "Stop-Process", "stop-process":
		return g.endsByName(a)
	case "fuser":
		return a.hasAny([]string{"-k", "--kill"}) && slices.ContainsFunc(a.argv, g.isOurs)
	case "kill-port":
		return slices.ContainsFunc(a.argv, g.isOurs)
	}
	switch in := a.cmd.Stdin; in.Kind {
	case shell.InputFile:
		if g.holds([]string{"@files"}, a.dir, in.From, itself) {
			return true
		}
	case shell.InputPipe:
		if g.computes(in.From) {
			return true
		}
	}
	signal := ""
	for i, w := range a.argv {
		switch {
		case i == 0 && len(w.Text) > 1 && w.Text[0] == '-' && w.Text != "--":
			signal = w.Text[1:]
		case signal == "s" && i == 1 || signal == "n" && i == 1:
			signal = w.Text
		case w.Text == "-1" && i > 0, g.process(w):
			return signal != "0" && signal != "l" && signal != "L"
		}
	}
	return false
}

// isOurs: the word is a guarded port or file.
func (g *Guarded) isOurs(w shell.Word) bool {
	port, _, _ := strings.Cut(w.Text, "/")
	if n, err := strconv.Atoi(port); err == nil && slices.Contains(g.Ports, n) {
		return true
	}
	return g.holds([]string{"@files"}, "", w.Text, itself)
}

// hidesFromGit: git is made not to look at files, or to show other commits
// than there are, or forgets what was pushed.
func hidesFromGit(a *args, rest []shell.Word) bool {
	switch a.words[0].Text {
	case "update-index":
		return a.hasAny([]string{"--assume-unchanged", "--skip-worktree"})
	case "replace":
		return len(rest) > 0 && !a.hasAny([]string{"-l", "--list"})
	case "update-ref", "symbolic-ref":
		return slices.ContainsFunc(a.argv, func(w shell.Word) bool {
			return strings.HasPrefix(w.Text, "refs/remotes/") || strings.HasPrefix(w.Text, "refs/replace/")
		})
	}
	return true
}

// endsByName judges pkill, killall and their kin by what they look for.
func (g *Guarded) endsByName(a *args) bool {
	prog := a.cmd.Program()
	if prog == "killall5" {
		return true
	}
	full, exact, user := false, prog != "pkill", false
	var patterns []string
	for i := 0; i < len(a.argv); i++ {
		w := a.argv[i].Text
		switch {
		case w == "-0" || w == "--signal=0" || w == "-l" || w == "--list":
			return false
		case strings.HasPrefix(w, "--") || len(w) < 2 || w[0] != '-' && w[0] != '/':
			full = full || w == "--full"
			exact = (exact || w == "--exact") && w != "--regexp"
			if !strings.HasPrefix(w, "-") {
				patterns = append(patterns, w)
			}
		case strings.EqualFold(w, "/im") || strings.EqualFold(w, "-name") || strings.EqualFold(w, "-id") || strings.EqualFold(w, "/pid"):
			if i++; i < len(a.argv) {
				patterns = append(patterns, strings.TrimSuffix(strings.ToLower(a.argv[i].Text), ".exe"))
			}
		case w[0] == '/' && prog != "pkill":
		default:
			full = full || strings.Contains(w, "f")
			exact = (exact || strings.Contains(w, "x")) && (w != "-r" || prog != "killall")
			if strings.ContainsAny(w[len(w)-1:], "uUGgPst") && i+1 < len(a.argv) && !isSignal(w[1:]) {
				user = user || strings.ContainsAny(w[len(w)-1:], "uUGt") || g.process(a.argv[i+1]) || a.argv[i+1].Text == "1"
				i++
			}
		}
	}
	if len(patterns) == 0 {
		return user
	}
	return slices.ContainsFunc(patterns, func(p string) bool { return looksFor(p, full && prog == "pkill", exact) })
}

func isSignal(s string) bool {
	return s != "" && (s[0] >= '0' && s[0] <= '9' || len(s) > 2 && strings.ToUpper(s) == s)
}

// looksFor: a process of the run is among those that the pattern means.
func looksFor(pattern string, full, exact bool) bool {
	names := runNames
	if full {
		names = runCommands
	}
	if exact && !full {
		return slices.Contains(names, baseOf(pattern))
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(names, re.MatchString)
}

// opens: a word of the command is a file of the kernel's that shows a guarded
// process. In a pattern PID stands for the process.
func (g *Guarded) opens(patterns []string, c *shell.Command) bool {
	words := slices.Clone(c.Argv)
	for _, rd := range c.Redirects {
		words = append(words, rd.Target)
	}
	if c.Stdin.Kind == shell.InputFile {
		words = append(words, shell.Word{Text: c.Stdin.From, Dynamic: true})
	}
	return slices.ContainsFunc(words, func(w shell.Word) bool { return g.opensFile(patterns, joinDir(c.Dir, w.Text)) })
}

func (g *Guarded) opensFile(patterns []string, name string) bool {
	_, rest, ok := strings.Cut(name, "/proc/")
	if !ok {
		return false
	}
	pid, file, ok := strings.Cut(rest, "/") // in a program's text the number may be put in later
	if !ok || pid == "self" || pid == "thread-self" || pid != "" && !strings.ContainsAny(pid, "*?[$`{%<") && !g.process(shell.Word{Text: pid}) {
		return false
	}
	return slices.ContainsFunc(patterns, func(p string) bool { return matchGlob(strings.TrimPrefix(p, "/proc/PID/"), file) })
}

// setsGitConfig: git config writes, or takes away, the key that the rule names.
func setsGitConfig(a *args, rest []shell.Word) bool {
	if a.guard == nil || len(rest) == 0 {
		return false
	}
	if root := filepathSlash(a.guard.Root); root != "" && strings.HasPrefix(a.dir, "/tmp/") && !within(a.dir, root) && a.dir != root && !a.hasAny([]string{"--global", "--system", "--file", "-f", "-C", "--git-dir"}) {
		return false // another repository, made for a test
	}
	if slices.ContainsFunc([]string{"--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "--get-color", "--get-colorbool"}, a.has) {
		return false
	}
	for i, w := range a.argv {
		file, glued := strings.CutPrefix(w.Text, "--file=")
		if !glued && i+1 < len(a.argv) && (w.Text == "-f" || w.Text == "--file" || w.Text == "--blob") {
			file, glued = a.argv[i+1].Text, true
		}
		if glued && !a.guard.holds([]string{".git/config", ".git/config.worktree", ".git/worktrees/*/config.worktree", "~/.gitconfig", "~/.config/git/*"}, "", file, itself) {
			return false
		}
		if glued && len(rest) > 1 && rest[0].Text == file {
			rest = rest[1:]
		}
	}
	switch rest[0].Text {
	case "set", "unset", "rename-section", "remove-section":
		return true
	case "get", "list", "get-color", "get-colorbool":
		return false
	}
	if low := strings.ToLower(rest[0].Text); len(rest) > 1 && (low == "core.bare" && rest[1].Text != "false" || strings.HasPrefix(low, "extensions.")) {
		return true // git knows the repository no more
	}
	if len(rest) > 1 && (rest[1].Text == "true" || rest[1].Text == "false" || strings.HasPrefix(rest[1].Text, "git-lfs ")) {
		return false // no command
	}
	return len(rest) > 1 || a.hasAny([]string{"--unset", "--unset-all", "--remove-section", "--rename-section"})
}
