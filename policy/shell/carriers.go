package shell

import (
	"slices"
	"strings"
)

// envSplit is env: -S gives words in front of the command.
func envSplit(w *walker, c Command, in input) (output, bool) {
	wr := wrapper{assign: true, code: "-S --split-string", value: "-u -C -a -P --unset --chdir --argv0"}
	p := wr.parseArgs(c.Argv)
	if len(p.code) > 0 {
		argv := []Word{c.Argv[0]}
		for _, f := range splitWords(p.code[0].Text) {
			argv = append(argv, Word{Text: f, Dynamic: p.code[0].Dynamic, Subst: p.code[0].Subst})
		}
		argv = append(argv, p.cmd...)
		c.Argv = argv
		c.Env = slices.Concat(c.Env, p.env)
		p = (&wrapper{assign: true, value: wr.value}).parseArgs(argv)
	}
	if len(p.cmd) == 0 {
		return output{}, false
	}
	wr.code = ""
	return w.unwrap(wr, c, in)
}

// switchUser is su and runuser: -c CODE, or runuser -u USER COMMAND.
func switchUser(w *walker, c Command, in input) (output, bool) {
	wr := wrapper{code: "-c --command --session-command", value: "-s -g -G -w -u --shell --group --supp-group --whitelist-environment --user", skip: 2}
	p := wr.parseArgs(c.Argv)
	if len(p.code) > 0 {
		return w.codeOf(c, p.code[0], label(c.Argv, len(c.Argv), p.code[0]), w.st.child(), in), true
	}
	if _, ok := p.values["-u"]; ok || p.values["--user"].Text != "" {
		wr.skip = 0
		p = wr.parseArgs(c.Argv)
		return w.again(c, p.cmd, label(c.Argv, p.end, Word{}), in), len(p.cmd) > 0
	}
	// su USER reads commands from standard input when there is any.
	if in.Known || in.Kind == InputPipe || in.Kind == InputFile {
		return w.runInput(c, w.st.child(), in)
	}
	return output{}, false
}

// watchCode is watch: its words, joined, go to a shell; with -x they are run
// as they stand.
func watchCode(w *walker, c Command, in input) (output, bool) {
	wr := wrapper{value: "-n -q -s --interval --equexit --shotsdir"}
	p := wr.parseArgs(c.Argv)
	if len(p.cmd) == 0 {
		return output{}, false
	}
	name := label(c.Argv, p.end, Word{})
	for _, a := range c.Argv[1:p.end] {
		if a.Text == "-x" || a.Text == "--exec" {
			return w.again(c, p.cmd, name, in), true
		}
	}
	return w.codeOf(c, joinWords(p.cmd), name, w.st.child(), in), true
}

// findExec is find: each -exec, -execdir, -ok and -okdir runs a command.
func findExec(w *walker, c Command, in input) (output, bool) {
	found := false
	for i := 1; i < len(c.Argv); i++ {
		if !hasFlag("-exec -execdir -ok -okdir", c.Argv[i].Text) {
			continue
		}
		end := i + 1
		for end < len(c.Argv) && c.Argv[end].Text != ";" && (c.Argv[end].Text != "+" || c.Argv[end-1].Text != "{}") {
			end++
		}
		if end > i+1 {
			found = true
			inner := c
			inner.Stdin = Input{}
			w.again(inner, placeholders(c.Argv[i+1:end], "{}"), "find "+c.Argv[i].Text, input{})
		}
		i = end
	}
	return output{}, found
}

// placeholders marks the words that hold a placeholder as not known.
func placeholders(argv []Word, mark string) []Word {
	out := slices.Clone(argv)
	for i := range out {
		if mark != "" && strings.Contains(out[i].Text, mark) {
			out[i].Dynamic = true
		}
	}
	return out
}

// fdExec is fd: -x and -X take the rest of the line, or up to ";".
func fdExec(w *walker, c Command, in input) (output, bool) {
	for i := 1; i < len(c.Argv); i++ {
		if !hasFlag("-x -X --exec --exec-batch", c.Argv[i].Text) || i+1 == len(c.Argv) {
			continue
		}
		end := i + 1
		for end < len(c.Argv) && c.Argv[end].Text != ";" {
			end++
		}
		argv := placeholders(c.Argv[i+1:end], "{")
		if !slices.ContainsFunc(argv, func(a Word) bool { return strings.Contains(a.Text, "{") }) {
			argv = append(argv, unknown("{}"))
		}
		return w.again(c, argv, "fd "+c.Argv[i].Text, input{}), true
	}
	return output{}, false
}

// deferred is at, batch and crontab: what they read runs later.
func deferred(w *walker, c Command, in input) (output, bool) {
	p := (&wrapper{value: "-f -q -t -u -s"}).parseArgs(c.Argv)
	if f, ok := p.values["-f"]; ok {
		in = input{Input: Input{Kind: InputFile, From: f.Text}}
		if s, ok := w.scriptText(hereName(f)); ok {
			in.Known, in.Text = true, s.text
		}
	} else if c.Program() == "crontab" && len(p.cmd) == 1 && p.cmd[0].Text != "-" {
		if s, ok := w.scriptText(hereName(p.cmd[0])); ok {
			in = input{Input: Input{Kind: InputFile, From: p.cmd[0].Text, Known: true, Text: s.text}}
		}
	}
	if hasFlagWord(c.Argv, "-l -r -c -d -e") || in.Kind == InputNone {
		return output{}, false
	}
	if c.Program() == "crontab" && in.Known {
		in.Text = crontabCode(in.Text)
		in.word.Dynamic, in.word.Subst = strings.ContainsRune(in.Text, '$'), false
	}
	return w.runInput(c, w.st.child(), in)
}

func hasFlagWord(argv []Word, flags string) bool {
	return slices.ContainsFunc(argv[1:], func(a Word) bool { return hasFlag(flags, a.Text) })
}

// tableNow stands for the crontab that is in force, where a line prints it to
// make another of it: it runs already, and adds nothing.
const tableNow = "$(crontab -l)"

// ofTable is what a filter prints of the crontab that is in force.
func ofTable(in input) output {
	if !in.Known || strings.TrimSpace(in.Text) != tableNow {
		return output{}
	}
	return fromInput(in)
}

// crontabCode drops the schedule in front of each line of a crontab.
func crontabCode(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		n := 5
		if strings.HasPrefix(line, "@") {
			n = 1
		}
		if len(f) <= n || strings.HasPrefix(line, "#") {
			continue
		}
		rest := line
		for _, word := range f[:n] {
			rest = strings.TrimLeft(rest, " \t")[len(word):]
		}
		out = append(out, strings.TrimSpace(rest))
	}
	return strings.Join(out, "\n")
}

// eachArg is a tool that gives each of its words to a shell.
func eachArg(w *walker, c Command, in input) (output, bool) {
	wr := wrapper{value: "-w -m -M -r -p -P -L -D -S -u -N -n -c -k -l --warmup --min-runs --max-runs --runs --prepare --setup --cleanup --conclude --parameter-scan --parameter-list --shell --names --prefix --kill-others-on-fail --max-processes --export-json --export-csv --export-markdown --style --sort --time-unit --input --output --command-name --prefix-colors --restart-tries"}
	wr.code = "--prepare --setup --cleanup --conclude"
	if c.Program() == "npm-run-all" {
		return output{}, false
	}
	p := wr.parseArgs(c.Argv)
	for _, a := range slices.Concat(p.code, p.cmd) {
		if !strings.HasPrefix(a.Text, "-") {
			w.codeOf(c, a, c.Program(), w.st.child(), input{})
		}
	}
	return output{}, len(p.cmd) > 0
}

// tmuxKeys is tmux: a new session or window runs its last words; send-keys
// types them into a shell.
func tmuxKeys(w *walker, c Command, in input) (output, bool) {
	wr := wrapper{sub: "new-session|new|new-window|neww|split-window|splitw|send-keys|send|run-shell|run|respawn-pane|display-popup|popup|if-shell",
		value: "-L -S -f -s -n -t -c -x -y -e -F -l -h -w -N"}
	p := wr.parseArgs(c.Argv)
	if !p.subs || len(p.cmd) == 0 {
		return output{}, false
	}
	cmd := slices.Clone(p.cmd)
	for len(cmd) > 0 && hasFlag("Enter C-m KPEnter C-j", cmd[len(cmd)-1].Text) {
		cmd = cmd[:len(cmd)-1]
	}
	if len(cmd) == 0 {
		return output{}, false
	}
	return w.codeOf(c, joinWords(cmd), label(c.Argv, p.end, Word{}), w.st.child(), input{}), true
}

// bubblewrap is bwrap: its flags take one, two or three words.
func bubblewrap(w *walker, c Command, in input) (output, bool) {
	const (
		two = "--bind --bind-try --dev-bind --dev-bind-try --ro-bind --ro-bind-try --symlink --setenv --file --bind-data --ro-bind-data --bind-fd --ro-bind-fd --chmod"
		by1 = "--chdir --unsetenv --proc --dev --tmpfs --mqueue --dir --uid --gid --hostname --lock-file --sync-fd --exec-label --file-label --seccomp --add-seccomp-fd --block-fd --userns-block-fd --info-fd --json-status-fd --remount-ro --cap-add --cap-drop --perms --size --argv0 --userns --userns2 --pidns --args --overlay-src --tmp-overlay --ro-overlay"
	)
	i := 1
	for ; i < len(c.Argv) && strings.HasPrefix(c.Argv[i].Text, "-"); i++ {
		switch t := c.Argv[i].Text; {
		case hasFlag(by1, t):
			i++
		case hasFlag(two, t):
			i += 2
		case t == "--overlay":
			i += 3
		}
	}
	if i >= len(c.Argv) {
		return output{}, false
	}
	return w.again(c, c.Argv[i:], "bwrap", in), true
}

// nixDevelop is nix develop and nix shell: -c takes the rest of the line.
func nixDevelop(w *walker, c Command, in input) (output, bool) {
	for i, a := range c.Argv {
		if i > 1 && (a.Text == "-c" || a.Text == "--command") && i+1 < len(c.Argv) {
			return w.again(c, c.Argv[i+1:], label(c.Argv, i, Word{}), in), true
		}
	}
	return output{}, false
}

// nodeExec is npx and npm exec: -c CODE, or a package's program and its words.
func nodeExec(w *walker, c Command, in input) (output, bool) {
	wr := wrapper{code: "-c --call", value: "-p -w --package --workspace --prefix --userconfig --cache --registry -C"}
	if c.Program() == "npm" {
		wr.sub = "exec|x"
	}
	p := wr.parseArgs(c.Argv)
	if !p.subs || len(p.code) == 0 && len(p.cmd) == 0 {
		return output{}, false
	}
	if len(p.code) > 0 {
		return w.codeOf(c, p.code[0], label(c.Argv, p.end, p.code[0]), w.st.child(), in), true
	}
	cmd := slices.Clone(p.cmd)
	if i := strings.LastIndex(cmd[0].Text, "@"); i > 0 {
		cmd[0].Text = cmd[0].Text[:i] // the version of the package
	}
	return w.again(c, cmd, label(c.Argv, p.end, Word{}), in), true
}

// inputShell is a wrapper that, without a command, starts a shell which reads
// its input.
func inputShell(w *walker, c Command, in input) (output, bool) {
	if wr, ok := wrapperOf(c.Program(), c.Argv); ok {
		return w.unwrap(wr, c, in)
	}
	if in.Kind == InputNone || c.Program() == "sudo" && !hasFlagWord(c.Argv, "-s -i --shell --login -Es -Ei") {
		return output{}, false
	}
	return w.runInput(c, w.st.child(), in)
}

// cmdCode is cmd /c of Windows, whose plain commands read like a shell's.
func cmdCode(w *walker, c Command, in input) (output, bool) {
	for i, a := range c.Argv {
		if i > 0 && i+1 < len(c.Argv) && (strings.EqualFold(a.Text, "/c") || strings.EqualFold(a.Text, "/k") || strings.EqualFold(a.Text, "//c")) {
			return w.codeOf(c, joinWords(c.Argv[i+1:]), label(c.Argv, i+1, Word{}), w.st.child(), in), true
		}
	}
	return output{}, false
}

// codeFlags reads the flags of plain tools whose value is run by a shell. The
// tool stays a command.
func codeFlags(w *walker, c Command, in input) (output, bool) {
	flags := "--to-command --use-compress-program --info-script --new-volume-script --checkpoint-action -I -F"
	switch c.Program() {
	case "split", "gsplit":
		flags = "--filter"
	case "man":
		flags = "-P --pager"
	}
	w.emit(c)
	wr, p := wrapper{code: flags}, parsed{}
	for i := 1; i < len(c.Argv); i++ {
		if len(c.Argv[i].Text) > 1 && c.Argv[i].Text[0] == '-' {
			i += p.flag(&wr, c.Argv, i)
		}
	}
	for _, code := range p.code {
		action, cmd, ok := strings.Cut(code.Text, "=")
		if ok && action == "exec" {
			code.Text = cmd
		}
		w.codeOf(c, code, c.Program(), w.st.child(), input{})
	}
	return output{}, true
}
