package shell

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// gitGlobals are git's options in front of the subcommand that take a word.
const gitGlobals = "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source"

// gitCode reads the commands that git itself would run: aliases that the line
// defines, submodule foreach, rebase -x, bisect run and filter-branch. git
// stays a command in every case.
func gitCode(w *walker, c Command, in input) (output, bool) {
	sub := gitSub(c.Argv)
	aliases := w.st.gitAlias
	for i, a := range c.Argv[:sub] {
		if a.Text == "-c" && i+1 < sub {
			aliases = gitAlias(aliases, c.Argv[i+1])
		}
	}
	if sub >= len(c.Argv) {
		return output{}, false
	}
	w.emit(c)
	w.gitSettings(c, sub, in)
	args := c.Argv[sub+1:]
	switch c.Argv[sub].Text {
	case "config":
		w.gitConfig(args)
		if asksConfig(args) {
			return output{}, true
		}
		return silent(), true
	case "submodule":
		w.gitWords(c, args, "foreach", in)
	case "bisect":
		w.gitRun(c, args, in)
	case "rebase":
		w.gitFlags(c, args, "-x --exec", in)
	case "filter-branch":
		w.gitFlags(c, args, "--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter", in)
	case "difftool":
		w.gitFlags(c, args, "-x --extcmd", in)
	default:
		if val, ok := aliases[c.Argv[sub].Text]; ok {
			w.gitAliased(c, sub, val, in)
		}
	}
	w.gitHooks(c, c.Argv[sub].Text)
	return output{}, true
}

// asksConfig: git config prints a setting, and changes none.
func asksConfig(args []Word) bool {
	n := 0
	for _, a := range args {
		switch a.Text {
		case "get", "list", "--get", "--get-all", "--get-regexp", "-l", "--list", "--get-urlmatch":
			return true
		case "set", "unset", "--unset", "--add", "--replace-all", "--unset-all", "-e", "--edit", "edit", "remove-section", "rename-section":
			return false
		}
		if !strings.HasPrefix(a.Text, "-") {
			n++
		}
	}
	return n == 1
}

// gitHooks reads the hooks that the line itself wrote and that a subcommand
// runs.
func (w *walker) gitHooks(c Command, sub string) {
	for _, name := range slices.Sorted(maps.Keys(w.st.files)) {
		text := w.st.files[name]
		if dir := path.Base(path.Dir(name)); (strings.Contains(dir, "hooks") || strings.HasPrefix(dir, ".husky")) && hasFlag(hooksOf(sub), path.Base(name)) && isShellText(text) {
			w.payloadOf(c, Word{Text: text}, "git "+path.Base(name)+" hook", w.st.child(), input{})
		}
	}
}

func hooksOf(sub string) string {
	switch sub {
	case "commit":
		return "pre-commit prepare-commit-msg commit-msg post-commit post-rewrite reference-transaction"
	case "push":
		return "pre-push reference-transaction"
	case "merge", "pull":
		return "pre-merge-commit commit-msg prepare-commit-msg post-merge reference-transaction"
	case "checkout", "switch", "clone", "worktree":
		return "post-checkout"
	case "rebase":
		return "pre-rebase post-rewrite post-checkout"
	case "am":
		return "applypatch-msg pre-applypatch post-applypatch"
	}
	return ""
}

// gitSub is the index of git's subcommand.
func gitSub(argv []Word) int {
	i := 1
	for ; i < len(argv) && strings.HasPrefix(argv[i].Text, "-"); i++ {
		if hasFlag(gitGlobals, argv[i].Text) {
			i++
		}
	}
	return min(i, len(argv))
}

// gitAlias adds alias.NAME=VALUE to the known aliases.
func gitAlias(aliases map[string]Word, setting Word) map[string]Word {
	name, val, ok := strings.Cut(setting.Text, "=")
	if !ok || !strings.HasPrefix(strings.ToLower(name), "alias.") {
		return aliases
	}
	out := map[string]Word{}
	maps.Copy(out, aliases)
	setting.Text = val
	out[name[len("alias."):]] = setting
	return out
}

// gitConfig remembers git config alias.NAME VALUE, and its set subcommand.
func (w *walker) gitConfig(args []Word) {
	for i, a := range args {
		if strings.HasPrefix(a.Text, "alias.") && i+1 < len(args) {
			val := args[i+1]
			val.Text = a.Text + "=" + val.Text
			w.st.gitAlias = gitAlias(w.st.gitAlias, val)
		}
	}
}

// gitAliased runs an alias: shell code after "!", else git's own words.
func (w *walker) gitAliased(c Command, sub int, val Word, in input) {
	name := c.Argv[sub].Text
	if code, ok := strings.CutPrefix(val.Text, "!"); ok {
		val.Text = code
		code := joinWords(slices.Concat([]Word{val}, c.Argv[sub+1:]))
		w.codeOf(c, code, "git "+name, w.st.child(), in)
		return
	}
	argv := slices.Clone(c.Argv[:sub])
	for _, f := range splitWords(val.Text) {
		argv = append(argv, Word{Text: f, Dynamic: val.Dynamic, Subst: val.Subst})
	}
	argv = append(argv, c.Argv[sub+1:]...)
	inner := *w
	inner.st = w.st.clone()
	delete(inner.st.gitAlias, name)
	c.Wrappers = append(slices.Clone(c.Wrappers), "git "+name)
	c.Argv = argv
	if again := gitSub(argv); again < len(argv) && argv[again].Text == name {
		w.emit(c) // git does not expand an alias within itself
		return
	}
	inner.run(c, in)
}

// gitWords reads the words after a subcommand's verb as shell code.
func (w *walker) gitWords(c Command, args []Word, verb string, in input) {
	i := slices.IndexFunc(args, func(a Word) bool { return a.Text == verb })
	if i < 0 {
		return
	}
	for i++; i < len(args) && strings.HasPrefix(args[i].Text, "-"); i++ {
	}
	if i < len(args) {
		w.codeOf(c, joinWords(args[i:]), "git "+verb, w.st.child(), in)
	}
}

func (w *walker) gitRun(c Command, args []Word, in input) {
	if len(args) > 1 && args[0].Text == "run" {
		w.again(c, args[1:], "git bisect run", in)
	}
}

// gitFlags reads the values of flags as shell code.
func (w *walker) gitFlags(c Command, args []Word, flags string, in input) {
	wr := wrapper{code: flags}
	p := parsed{}
	for i := 0; i < len(args); i++ {
		if strings.HasPrefix(args[i].Text, "-") && len(args[i].Text) > 1 {
			i += p.flag(&wr, args, i)
		}
	}
	for _, code := range p.code {
		w.codeOf(c, code, "git "+strings.Fields(flags)[0], w.st.child(), in)
	}
}

// gitSettings reads the settings in front of the subcommand, and in the
// environment, that git hands to a shell.
func (w *walker) gitSettings(c Command, sub int, in input) {
	for i, a := range c.Argv[:sub] {
		if a.Text != "-c" || i+1 >= sub {
			continue
		}
		name, _, _ := strings.Cut(strings.ToLower(c.Argv[i+1].Text), "=")
		if isGitCode(name) {
			w.gitSetting(c, assignOf(c.Argv[i+1]).Value, "git -c "+name, in)
		}
	}
	for _, e := range c.Env {
		if hasFlag("GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND EDITOR VISUAL PAGER", e.Name) {
			w.gitSetting(c, e.Value, e.Name, in)
		}
	}
}

func isGitCode(name string) bool {
	if hasFlag("core.sshcommand core.editor core.pager core.fsmonitor core.askpass core.gitproxy sequence.editor diff.external credential.helper interactive.difffilter", name) {
		return true
	}
	for _, prefix := range []string{"pager.", "filter.", "mergetool.", "difftool.", "diff.", "merge.", "trailer.", "tar."} {
		if strings.HasPrefix(name, prefix) && (prefix == "pager." || hasFlag("clean smudge process cmd command textconv driver", name[strings.LastIndexByte(name, '.')+1:])) {
			return true
		}
	}
	return false
}

// gitSetting reads one such setting, unless it is a plain editor, pager or ssh.
func (w *walker) gitSetting(c Command, code Word, name string, in input) {
	code.Text = strings.TrimPrefix(code.Text, "!")
	first, _, _ := strings.Cut(code.Text, " ")
	usual := hasFlag("ssh cat less more most delta bat diff-so-fancy true : vi vim nvim nano emacs code store cache osxkeychain manager libsecret", path.Base(first))
	if code.Text == "" || usual && !strings.ContainsAny(code.Text, ";|&$`()<>\n") {
		return
	}
	c.Env, c.Redirects = nil, nil
	w.codeOf(c, code, name, w.st.child(), in)
}

// ghCode resolves aliases of gh that the line defines. gh stays a command.
func ghCode(w *walker, c Command, in input) (output, bool) {
	if len(c.Argv) < 2 {
		return output{}, false
	}
	if c.Argv[1].Text == "alias" {
		p := (&wrapper{sub: "alias set", skip: 1}).parseArgs(c.Argv)
		if p.subs && len(p.cmd) > 0 {
			val := p.cmd[0]
			if hasFlagWord(c.Argv, "-s --shell") {
				val.Text = "!" + strings.TrimPrefix(val.Text, "!")
			}
			val.Text = "alias.gh " + p.skip[0].Text + "=" + val.Text
			w.st.gitAlias = gitAlias(w.st.gitAlias, val)
		}
		return silent(), false
	}
	val, ok := w.st.gitAlias["gh "+c.Argv[1].Text]
	if !ok {
		return output{}, false
	}
	w.emit(c)
	if code, ok := strings.CutPrefix(val.Text, "!"); ok {
		st := w.st.child()
		st.params, st.hasParams = c.Argv[2:], true
		w.codeOf(c, Word{Text: code, Dynamic: val.Dynamic, Subst: val.Subst}, "gh "+c.Argv[1].Text, st, in)
		return output{}, true
	}
	argv := []Word{c.Argv[0]}
	for _, f := range splitWords(val.Text) {
		argv = append(argv, Word{Text: f, Dynamic: val.Dynamic, Subst: val.Subst})
	}
	c.Wrappers = append(slices.Clone(c.Wrappers), "gh "+c.Argv[1].Text)
	c.Argv = append(argv, c.Argv[2:]...)
	w.emit(c)
	return output{}, true
}
