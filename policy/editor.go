package policy

import (
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// editor classifies the commands that an editor is told to run: :!cmd in vi
// and its kin, the e command of GNU sed.
func (r *reading) editor(prog string, c *shell.Command) []Hit {
	switch prog {
	case "vim", "vi", "nvim", "ex", "view", "gvim", "emacs":
		return r.exCommands(c)
	case "sed", "gsed":
		return r.sedCommands(c)
	case "ed":
		return r.bangs(strings.Split(c.Stdin.Text, "\n"), "!")
	case "psql", "pgcli", "mysql", "mariadb", "sqlite3", "litecli", "duckdb", "mycli":
		lines := append(wordTexts(c.Argv[1:]), strings.Split(c.Stdin.Text, "\n")...)
		return append(r.serverPrograms(lines), r.bangs(lines, "--pager=", `\! `, `\!`, ".shell ", ".system ", "system ")...)
	case "screen":
		return r.stuffed(c)
	case "ipython", "jupyter":
		lines := strings.Split(c.Stdin.Text, "\n")
		for _, f := range c.Files {
			lines = append(lines, strings.Split(f.Text, "\n")...)
		}
		return r.bangs(append(lines, wordTexts(c.Argv[1:])...), "!", "%system ", "%sx ")
	case "xterm", "urxvt", "rxvt", "konsole", "alacritty", "foot", "st", "lxterminal", "xfce4-terminal", "terminator", "tilix", "mate-terminal", "ghostty", "kitty", "terminology":
		return r.terminal(c)
	case "start-stop-daemon":
		for _, o := range []string{"--exec", "-x", "--startas", "-a"} {
			if v := afterWord(c.Argv, o); len(v) > 0 && !slices.Contains(wordTexts(c.Argv), "--stop") {
				return r.line(lineOf(append(v[:1:1], afterWord(c.Argv, "--")...)))
			}
		}
	case "socat":
		return r.addresses(c)
	case "less", "more", "most":
		return r.bangs(wordTexts(c.Argv[1:]), "+!", "++!")
	case "gdb", "lldb":
		return r.bangs(wordTexts(c.Argv), "shell ", "!", "platform shell ")
	}
	return nil
}

// terminal classifies what a terminal emulator is told to run in its window.
func (r *reading) terminal(c *shell.Command) []Hit {
	for _, o := range []string{"-e", "-x", "--command", "--execute", "--"} {
		if rest := afterWord(c.Argv, o); len(rest) == 1 {
			return r.line(rest[0].Text)
		} else if len(rest) > 1 {
			return r.line(lineOf(rest))
		}
	}
	return nil
}

// addresses classifies the commands among socat's addresses: EXEC:, SYSTEM:.
func (r *reading) addresses(c *shell.Command) []Hit {
	var hits []Hit
	for _, w := range c.Argv[1:] {
		kind, cmd, ok := strings.Cut(w.Text, ":")
		switch strings.ToUpper(kind) {
		case "EXEC", "SYSTEM", "SHELL":
			if ok {
				cmd, _, _ = strings.Cut(cmd, ",")
				hits = append(hits, r.line(strings.Trim(cmd, `"'`))...)
			}
		}
	}
	return hits
}

func orLanguage(lang, other string) string {
	if lang == "" {
		return other
	}
	return lang
}

// serverPrograms classifies the commands that a database server is told to
// copy from and to: COPY t TO PROGRAM 'cmd'.
func (r *reading) serverPrograms(lines []string) []Hit {
	var hits []Hit
	for _, line := range lines {
		for rest := line; ; {
			i := strings.Index(strings.ToUpper(rest), " PROGRAM '")
			if i < 0 || len(strings.ToUpper(rest)) != len(rest) {
				break
			}
			code, after, _ := strings.Cut(rest[i+len(" PROGRAM '"):], "'")
			hits = append(hits, r.line(code)...)
			rest = after
		}
	}
	return hits
}

// stuffed classifies what screen types into a window's shell.
func (r *reading) stuffed(c *shell.Command) []Hit {
	typed := afterWord(c.Argv, "stuff")
	if len(typed) == 0 || afterWord(c.Argv, "-X") == nil {
		return nil
	}
	return r.line(strings.NewReplacer("\r", "\n", `\n`, "\n", `\r`, "\n", "^M", "\n", `\015`, "\n").Replace(joinWords(typed)))
}

// bangs classifies the lines that begin with one of the prefixes.
func (r *reading) bangs(lines []string, prefixes ...string) []Hit {
	var hits []Hit
	for _, line := range lines {
		for _, p := range prefixes {
			if cmd, ok := strings.CutPrefix(line, p); ok && cmd != "" {
				hits = append(hits, r.line(cmd)...)
			}
		}
	}
	return hits
}

func (r *reading) exCommands(c *shell.Command) []Hit {
	var hits []Hit
	for _, w := range c.Argv[1:] {
		for line := range strings.SplitSeq(w.Text, "|") {
			s := strings.TrimLeft(line, "+: ")
			for _, p := range []string{"!", "silent !", "silent! !", "r !", "read !", "%!", "w !", "terminal ", "term "} {
				if cmd, ok := strings.CutPrefix(s, p); ok {
					hits = append(hits, r.line(cmd)...)
				}
			}
			if code, ok := strings.CutPrefix(s, "lua "); ok {
				hits = append(hits, r.program("lua", code)...)
			}
			if lang, code, ok := strings.Cut(s, " "); ok && (languageOf(lang) == "python" || languageOf(lang) == "ruby" || lang == "py" || lang == "py3") {
				hits = append(hits, r.program(orLanguage(languageOf(lang), "python"), code)...)
			}
			if i := strings.Index(s, "system("); i >= 0 {
				hits = append(hits, r.program("awk", s[i:])...)
			}
		}
	}
	return hits
}

// sedCommands looks for [address]e command in the scripts of sed.
func (r *reading) sedCommands(c *shell.Command) []Hit {
	var hits []Hit
	for _, w := range c.Argv[1:] {
		for _, s := range strings.FieldsFunc(w.Text, func(r rune) bool { return r == ';' || r == '\n' || r == '{' || r == '}' }) {
			s = strings.TrimLeft(s, " 0123456789,$!")
			if cmd, ok := strings.CutPrefix(s, "e "); ok {
				hits = append(hits, r.line(cmd)...)
			}
		}
		for _, s := range sedRuns(w.Text) {
			if strings.Trim(s.pattern, "^$") != ".*" || strings.ContainsAny(s.made, `&\`) {
				hits = append(hits, opaqueHit("opaque-payload", commandText(c), "sed runs what it has put together out of a file."))
			}
			hits = append(hits, r.line(s.made)...)
		}
	}
	return hits
}

// sedRun is an s command with the flag e: sed runs the line that it has made.
type sedRun struct{ pattern, made string }

func sedRuns(script string) []sedRun {
	var out []sedRun
	for i := 0; i+1 < len(script); i++ {
		if script[i] != 's' || i > 0 && !strings.ContainsRune(" \t\n;{}!/,$0123456789", rune(script[i-1])) {
			continue
		}
		d := script[i+1]
		if isIdent(d) || strings.IndexByte(" \t\n\\;", d) >= 0 {
			continue
		}
		pattern, rest, ok := cutUnescaped(script[i+2:], d)
		made, flags, also := cutUnescaped(rest, d)
		if !ok || !also {
			continue
		}
		flags = flags[:len(flags)-len(strings.TrimLeft(flags, "gpeimIM0123456789"))]
		if strings.Contains(flags, "e") {
			out = append(out, sedRun{pattern, made})
		}
		i = len(script) - len(rest) + len(made)
	}
	return out
}

// cutUnescaped cuts at the first d that no backslash stands before.
func cutUnescaped(s string, d byte) (before, after string, ok bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case d:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// appleScript classifies what AppleScript makes a shell run, and what it tells
// a mail or chat program to send.
func (r *reading) appleScript(s *source) []Hit {
	var hits []Hit
	low := strings.ToLower(s.code)
	for _, l := range s.lits {
		before := strings.TrimRight(low[:l.start], " (")
		for _, verb := range []string{"do shell script", "doshellscript", "do script", "doscript", "write text", "keystroke", "set the clipboard to"} {
			if strings.HasSuffix(before, verb) {
				hits = append(hits, r.line(l.text)...)
				break
			}
		}
		if page := strings.ToLower(l.text); strings.HasSuffix(before, "javascript") && makesPageAct(page) {
			hits = append(hits, Hit{Rule: "applescript-send", Tier: External, Why: "AppleScript makes a page in a browser act.", Text: s.text})
		}
		switch l.text {
		case "Mail", "Messages", "Microsoft Outlook", "Slack", "Telegram", "WhatsApp", "Calendar", "Reminders", "Discord":
			for _, verb := range []string{"send", "make new", "keystroke"} {
				if strings.Contains(low, verb) {
					hits = append(hits, Hit{Rule: "applescript-send", Tier: External, Why: "AppleScript tells a mail, chat or calendar program to act.", Text: s.text})
					break
				}
			}
		}
	}
	return hits
}

// makesPageAct: the script of a page clicks, sends or submits.
func makesPageAct(script string) bool {
	for _, w := range []string{"submit(", "click(", "fetch(", "sendbeacon(", ".send("} {
		if strings.Contains(script, w) {
			return true
		}
	}
	return false
}
