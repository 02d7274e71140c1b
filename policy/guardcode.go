package policy

import (
	"slices"
	"strconv"
	"strings"
)

// codeGuards says of a program text what the rules of a run's own protection
// say. It goes statement by statement: a file is changed by one that names it,
// or a variable that was set to it, and that writes.
func (r *reading) codeGuards(src *source) []Hit {
	if r.guard == nil {
		return nil
	}
	t := r.set.table()
	cwd := r.cwd
	var hits []Hit
	add := func(rule *rule, start, end int) {
		hits = append(hits, rule.hit(excerpt(src.text, start, end)))
	}
	held := map[string][]string{} // what variables hold
	for start := 0; start < len(src.code); {
		end := statementEnd(src.code, start)
		code := src.code[start:end]
		lits := src.within(start, end)
		names := namedFiles(code, lits)
		var joined []string
		for _, w := range identifiersIn(code) {
			names = append(names, held[w]...)
			if len(held[w]) == 1 {
				joined = append(joined, held[w][0])
			}
		}
		if len(joined) > 1 && len(joined) < maxPlaces {
			names = append(names, strings.Join(joined, "/"), strings.Join(joined, ""))
		}
		if (holdsWord(code, "chdir") || holdsWord(code, "pushd")) && len(lits) == 1 {
			cwd = joinDir(cwd, lits[0].text)
		}
		writes := writesFile(t.changers.Code, code, lits)
		how := itself
		if movesTree(code) {
			how = inside
		}
		for _, rule := range r.set.guardRules() {
			if writes && len(rule.Writes) > 0 && slices.ContainsFunc(names, func(n string) bool { return r.guard.holds(rule.Writes, cwd, n, how) }) ||
				len(rule.Opens) > 0 && slices.ContainsFunc(names, func(n string) bool { return r.guard.opensFile(rule.Opens, n) }) ||
				slices.Contains(rule.When, "ends-run") && r.endsRun(code, src.text[start:end]) {
				add(rule, start, end)
			}
			if rule.Port && r.guard.speaksTo(src.text[start:end]) {
				add(rule, start, end)
			}
		}
		if name, _, ok := strings.Cut(code, "="); ok && len(names) > 0 && !strings.HasPrefix(code[len(name):], "==") && !looksInside(code) {
			if f := strings.Fields(strings.TrimLeft(name, "$@ ")); len(f) > 0 {
				held[strings.Trim(f[len(f)-1], "$@:")] = names
			}
		}
		start = end + 1
	}
	return hits
}

// statementEnd is where a statement ends: at a semicolon or a line's end that
// stands in no brackets.
func statementEnd(code string, from int) int {
	depth := 0
	for i := from; i < len(code); i++ {
		switch code[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '\n', ';':
			if depth <= 0 {
				return i
			}
		}
	}
	return len(code)
}

// namedFiles are the files that the strings of a statement may name, alone and
// put together.
func namedFiles(code string, lits []literal) []string {
	var out, parts []string
	for _, l := range lits {
		text := strings.TrimSpace(strings.TrimLeft(l.text, "> "))
		if text == "" || strings.ContainsAny(text, "\n") {
			continue
		}
		out, parts = append(out, text), append(parts, strings.Trim(text, "/"))
	}
	if len(parts) > 1 {
		out = append(out, strings.Join(parts, ""))
		for i := range parts {
			out = append(out, strings.Join(parts[i:], "/"))
			if i > 0 {
				out = append(out, strings.Join(parts[:i+1], "/"))
			}
		}
	}
	text := code + strings.Join(parts, " ")
	for _, home := range []string{"home(", "homedir", "HOME", "USERPROFILE", "Dir.home", "UserHomeDir"} {
		if strings.Contains(text, home) {
			for _, n := range slices.Clone(out) {
				out = append(out, "~/"+strings.TrimLeft(strings.TrimPrefix(n, "~"), "/"))
			}
			break
		}
	}
	return out
}

// writesFile: the statement calls what writes, or opens a file for writing.
func writesFile(verbs []string, code string, lits []literal) bool {
	for _, v := range verbs {
		if holdsWord(code, v) {
			return true
		}
	}
	if !strings.Contains(code, "open") && !strings.Contains(code, "File.new") {
		return false
	}
	for _, l := range lits {
		mode := strings.TrimSpace(l.text)
		if strings.HasPrefix(mode, ">") || len(mode) > 0 && len(mode) < 4 && strings.Trim(mode, "rwaxbt+") == "" && strings.ContainsAny(mode, "wax+") {
			return true
		}
	}
	return false
}

// movesTree: the statement puts a whole folder somewhere, or takes it away.
func movesTree(code string) bool {
	for _, v := range []string{"rename", "renameSync", "replace", "move", "copytree", "rmtree", "symlink", "symlink_to", "symlinkSync", "cpSync", "cp", "rmSync", "rm_rf", "mv", "extractall", "unpack_archive", "RemoveAll", "Rename"} {
		if holdsWord(code, v) {
			return true
		}
	}
	return false
}

// looksInside: what the statement makes of a file's name is what stands in it.
func looksInside(code string) bool {
	for _, v := range []string{"open(", "read", "load", "parse", "Read", "slurp", "exists", "stat(", ".replace(", ".sub(", ".gsub("} {
		if strings.Contains(code, v) {
			return true
		}
	}
	return false
}

// endsRun: the statement sends a signal to the client or to loop.
func (r *reading) endsRun(code, text string) bool {
	kills := false
	for _, v := range []string{"kill", "killpg", "posix_kill", "terminate", "Kill", "Signal", "destroy"} {
		kills = kills || holdsWord(code, v)
	}
	if !kills {
		return false
	}
	for _, v := range []string{"getppid", "ppid", "PPID", "posix_getppid", "Getppid", "CLAUDE_PID", "parent"} {
		if holdsWord(code, v) && (v != "parent" || strings.Contains(code, "psutil")) {
			return true
		}
	}
	if all := holdsWord(code, "process_iter") || strings.Contains(text, "'/proc'") || strings.Contains(text, `"/proc"`); all {
		return !holdsWord(code, "if") || holdsWord(code, "isdigit") || slices.ContainsFunc(runNames, func(n string) bool { return strings.Contains(text, n) })
	}
	return slices.ContainsFunc(r.guard.Pids, func(p int) bool { return holdsNumber(code, strconv.Itoa(p)) })
}

// identifiersIn lists the names in a piece of code.
func identifiersIn(code string) []string {
	return strings.FieldsFunc(code, func(c rune) bool { return c >= 0x80 || !isIdent(byte(c)) })
}
