package policy

import (
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// underOtherName classifies a command whose program is another one by a name
// of the agent's choice: a copy of git that is called fmt pushes as git does.
func (r *reading) underOtherName(c *shell.Command) []Hit {
	if r.tree == nil || c.Remote != "" {
		return nil
	}
	name := c.Argv[0].Text
	prog := r.programBehind(c, name)
	if base := baseOf(name); prog == "" || len(base) > 2 && strings.HasPrefix(prog, base) { // python is python3.12
		return nil
	}
	if r.depth > maxNesting {
		return nil
	}
	// The whole line with the program's own name in it, for what comes to it from
	// other commands; where it does not stand in the line, the command alone.
	if line := renamed(r.text, name, prog); line != r.text {
		return reachOutside(r.line(line))
	}
	line := prog + " " + quoteWords(wordTexts(c.Argv[1:]))
	if c.Stdin.Known {
		line += " <<'LOOP_STDIN'\n" + c.Stdin.Text + "\nLOOP_STDIN"
	}
	return reachOutside(r.line(line))
}

// renamed is a line with another name for the program that it calls by one.
func renamed(line, name, prog string) string {
	var out strings.Builder
	for at := 0; ; {
		i := strings.Index(line[at:], name)
		if i < 0 {
			return out.String() + line[at:]
		}
		end := at + i + len(name)
		before := strings.TrimRight(line[:at+i], "\"'")
		whole := (before == "" || strings.ContainsAny(before[len(before)-1:], " \t\n;&|({`!")) && (end == len(line) || strings.ContainsAny(line[end:end+1], " \t\n;&|)\"'`<>"))
		out.WriteString(line[at : at+i])
		if whole {
			out.WriteString(prog)
		} else {
			out.WriteString(name)
		}
		at = end
	}
}

// programBehind is the program that the system has under another name than
// that by which the command calls it; "" when there is none.
func (r *reading) programBehind(c *shell.Command, name string) string {
	if strings.ContainsAny(name, "`$*") || name == "" {
		return ""
	}
	names := []string{name}
	if !strings.Contains(name, "/") {
		names = nil
		for _, e := range c.Env {
			if e.Name != "PATH" {
				continue
			}
			for dir := range strings.SplitSeq(e.Value.Text, ":") {
				if dir = strings.TrimPrefix(dir, "$PWD/"); dir != "" && !strings.ContainsAny(dir, "$`") && len(names) < maxFollow {
					names = append(names, path.Join(dir, name))
				}
			}
		}
	}
	for _, n := range names {
		at := r.tree.path(n)
		if at == "" || isInstalledProgram(at) {
			continue
		}
		if prog := r.made.program(at); prog != "" {
			return prog
		}
		if r.tree.program != nil {
			if prog := r.tree.program(at); prog != "" {
				return prog
			}
		}
	}
	return ""
}

// noteCopies remembers the programs of the system that a command copies, or
// links, to another name.
func (r *reading) noteCopies(c *shell.Command) {
	words := operandsOf(c.Argv[1:], " -t -m -o -g ")
	if len(words) != 2 {
		return
	}
	prog := askedFor(words[0].Text)
	if at := r.tree.path(words[0].Text); prog == "" && at != "" {
		if prog = r.made.program(at); prog == "" && isInstalledProgram(at) {
			prog = baseOf(at)
		}
	}
	// $(command -v git) has been read as what it prints, without a folder.
	if w := words[0].Text; prog == "" && !strings.Contains(w, "/") && plainWord(w) && (r.set.knows(w) || languageOf(w) != "" || r.tool(w) != nil) {
		prog = w
	}
	if prog == "" {
		return
	}
	to := r.tree.path(words[1].Text)
	r.made.name(to, prog)
	r.made.name(path.Join(to, baseOf(strings.Trim(words[0].Text, "$()`"))), prog)
	r.made.name(path.Join(to, prog), prog)
}

// askedFor is the program whose place the shell is asked for: $(command -v git).
func askedFor(word string) string {
	inner, ok := strings.CutPrefix(word, "$(")
	if !ok {
		inner, ok = strings.CutPrefix(word, "`")
	}
	f := strings.Fields(strings.Trim(inner, "()`"))
	switch {
	case !ok || len(f) < 2:
	case f[0] == "which" || f[0] == "type" || f[0] == "command" || f[0] == "whence" || f[0] == "readlink" || f[0] == "realpath":
		last := strings.Trim(f[len(f)-1], `"'()`)
		if strings.HasPrefix(last, "-") {
			return ""
		}
		return baseOf(last)
	}
	return ""
}

// isInstalledProgram: the path is one of the system's programs.
func isInstalledProgram(at string) bool {
	for _, dir := range []string{"/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/", "/usr/lib/", "/usr/libexec/", "/snap/bin/", "/nix/"} {
		if strings.HasPrefix(at, dir) {
			return true
		}
	}
	return false
}
