package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// maxConfigs is how many files one configuration may take in.
const maxConfigs = 16

// gitConfig is what is read of the configuration that a git command goes by.
// Keys are in lower case, "section.subsection.name"; of several entries with
// one key the last counts.
type gitConfig struct {
	file  string // of the repository
	parts [][]gitEntry
}

type gitEntry struct {
	key, value, file string
	line             int
}

func (g *gitConfig) last(key string) (gitEntry, bool) {
	for _, part := range slices.Backward(g.parts) {
		for _, e := range slices.Backward(part) {
			if e.key == key {
				return e, true
			}
		}
	}
	return gitEntry{}, false
}

// all walks through the entries.
func (g *gitConfig) all(each func(gitEntry)) {
	for _, part := range g.parts {
		for _, e := range part {
			each(e)
		}
	}
}

// gitConfigOf reads the configuration of a git command: the user's, or what
// stands in its place, that of the repository, and what these include. root is
// the way to the top of the work tree.
func (r *reading) gitConfigOf(a *args, env []shell.Assign) (root string, g gitConfig) {
	vars := map[string]string{}
	for _, e := range env {
		vars[e.Name] = e.Value.Text
	}
	home := vars["HOME"]
	if home == "" {
		home = "~"
	}
	take := func(name string) {
		if text, file, ok := r.tree.read(name); name != "" && ok {
			g.take(r, home, text, file, 0)
		}
	}
	take(vars["GIT_CONFIG_SYSTEM"])
	if global, ok := vars["GIT_CONFIG_GLOBAL"]; ok {
		take(global)
	} else {
		if xdg := vars["XDG_CONFIG_HOME"]; xdg != "" {
			take(xdg + "/git/config")
		} else {
			take(home + "/.config/git/config")
		}
		take(home + "/.gitconfig")
	}
	root = r.repositoryConfig(&g, a, vars["GIT_DIR"], home)
	for _, v := range a.all("-c") {
		if key, value, ok := strings.Cut(v.Text, "="); ok && strings.EqualFold(key, "include.path") {
			take(value)
		}
	}
	return root, g
}

// repositoryConfig adds the configuration of the repository in which a command
// runs: the one that it names, or the first here and in the folders above.
func (r *reading) repositoryConfig(g *gitConfig, a *args, dir, home string) (root string) {
	if v, ok := a.last("--git-dir"); ok {
		dir = v.Text
	}
	add := func(name string) bool {
		text, file, ok := r.tree.read(name)
		if !ok {
			return false
		}
		g.file = file
		g.take(r, home, text, file, 0)
		if e, ok := g.last("extensions.worktreeconfig"); ok && !strings.EqualFold(e.value, "false") {
			own := path.Join(path.Dir(file), "config.worktree")
			if text, file, ok := r.tree.read(own); ok {
				g.take(r, home, text, file, 0)
			}
		}
		return true
	}
	if dir != "" {
		add(path.Join(dir, "config"))
		return ""
	}
	up := ""
	for range maxAncestors {
		if add(path.Join(up, ".git/config")) || slices.ContainsFunc(r.otherConfigs(up), add) {
			return up
		}
		if r.tree.cwd == "" || r.tree.path(up) == "/" {
			break
		}
		up = path.Join(up, "..")
	}
	return ""
}

// otherConfigs are the places beside .git in which a folder's repository may
// have its configuration: where the file .git leads, or the folder itself, when
// that is a repository without a work tree.
func (r *reading) otherConfigs(folder string) []string {
	if text, _, ok := r.tree.read(path.Join(folder, ".git")); ok {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir: "); ok {
			if !strings.HasPrefix(dir, "/") {
				dir = path.Join(folder, dir)
			}
			return []string{path.Join(dir, "config"), path.Join(dir, "../../config")}
		}
	}
	if head, _, ok := r.tree.read(path.Join(folder, "HEAD")); ok && strings.HasPrefix(head, "ref: ") {
		return []string{path.Join(folder, "config")}
	}
	return nil
}

// take adds what a file says, and where it includes another, what that says:
// under which condition nobody can know for sure.
func (g *gitConfig) take(r *reading, home, text, file string, depth int) {
	part, known := r.tree.configs[file]
	if !known {
		if r.tree.configs == nil {
			r.tree.configs = map[string][]gitEntry{}
		}
		part = parseGitConfig(text, file)
		r.tree.configs[file] = part
	}
	g.parts = append(g.parts, part)
	for _, e := range part {
		if e.key != "include.path" && (!strings.HasPrefix(e.key, "includeif.") || !strings.HasSuffix(e.key, ".path")) || depth == maxFollow || len(g.parts) >= maxConfigs {
			continue
		}
		name := e.value
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = path.Join(home, rest)
		} else if !strings.HasPrefix(name, "/") {
			name = path.Join(path.Dir(file), name)
		}
		if text, file, ok := r.tree.read(name); ok {
			g.take(r, home, text, file, depth+1)
		}
	}
}

// parseGitConfig reads a configuration as git does: a name may follow its
// section on the same line, a value may be quoted in part and go on after a
// backslash, and what follows # or ; is a comment.
func parseGitConfig(text, file string) []gitEntry {
	var out []gitEntry
	section, n := "", 0
	lines := strings.Split(text, "\n")
	for n < len(lines) {
		line := strings.TrimSpace(lines[n])
		n++
		if strings.HasPrefix(line, "[") {
			end := sectionEnd(line)
			section = sectionName(line[1:end])
			line = strings.TrimSpace(line[min(end+1, len(line)):])
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, rest, ok := strings.Cut(line, "=")
		first := n
		value, more := gitValue(rest)
		for more && n < len(lines) {
			var next string
			next, more = gitValue(lines[n])
			value += next
			n++
		}
		if !ok {
			value = "true"
		}
		out = append(out, gitEntry{key: section + "." + strings.ToLower(strings.TrimSpace(key)), value: value, file: file, line: first})
	}
	return out
}

// sectionEnd is where the bracket closes; one in quotes is part of the name.
func sectionEnd(line string) int {
	quoted := false
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quoted:
			i++
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ']' && !quoted:
			return i
		}
	}
	return len(line)
}

func sectionName(s string) string {
	name, sub, ok := strings.Cut(strings.TrimSpace(s), `"`)
	name = strings.TrimSpace(name)
	if ok {
		name += "." + strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(strings.TrimSuffix(sub, `"`))
	}
	return strings.ToLower(name)
}

// gitValue is the value that one line gives; more says that it goes on in the
// next.
func gitValue(s string) (value string, more bool) {
	s = strings.TrimSpace(s)
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 == len(s):
			return b.String(), true
		case c == '\\':
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(s[i])
			}
		case c == '"':
			quoted = !quoted
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(b.String()), false
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), false
}
