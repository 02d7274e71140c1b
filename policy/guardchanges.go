package policy

import (
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// changes lists the files of this machine that a command writes, moves,
// removes or gives other rights.
func (r *reading) changes(c *shell.Command) []changedFile {
	var out []changedFile
	for _, rd := range c.Redirects {
		if strings.Contains(rd.Op, ">") && !strings.HasSuffix(rd.Op, "&") {
			out = append(out, changedFile{name: rd.Target.Text})
		}
	}
	prog, words := c.Program(), wordTexts(c.Argv[1:])
	d := r.set.table().changers
	switch {
	case slices.Contains(d.Every, prog):
		out = append(out, everyOperand(prog, words)...)
	case slices.Contains(d.Last, prog):
		out = append(out, lastOperand(words)...)
	case prog == "git":
		out = append(out, r.gitChanges(words)...)
	case prog == "find":
		out = append(out, findChanges(words)...)
	}
	if slices.Contains(d.InPlace, prog) && slices.ContainsFunc(words, isInPlace) {
		for _, w := range words {
			if !strings.HasPrefix(w, "-") {
				out = append(out, changedFile{name: w})
			}
		}
	}
	if slices.Contains(d.Output, prog) {
		out = append(out, outputOptions(words)...)
	}
	read := func(string) (string, bool) { return "", false }
	if r.tree != nil {
		read = func(name string) (string, bool) { text, _, ok := r.tree.read(name); return text, ok }
	}
	if text := givenPatch(c, read); text != "" {
		for _, f := range patches(text) {
			out = append(out, changedFile{name: f.name})
		}
	}
	return out
}

func isInPlace(w string) bool {
	return w == "inplace" || w == "-i" || w == "-iinplace" || strings.HasPrefix(w, "--in-place") || strings.HasPrefix(w, "--inplace") ||
		len(w) > 2 && w[0] == '-' && w[1] != '-' && strings.ContainsRune(w, 'i') || w == "-pi" || strings.HasPrefix(w, "-i.")
}

// everyOperand: rm, mv, chmod and their kin change each file they are given.
func everyOperand(prog string, words []string) []changedFile {
	recursive := prog == "mv" || slices.ContainsFunc(words, func(w string) bool {
		return w == "--recursive" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "rR")
	})
	if prog == "tee" || prog == "touch" || prog == "ln" {
		recursive = false
	}
	operands, target := givenFiles(words)
	var out []changedFile
	for _, w := range operands {
		out = append(out, changedFile{name: w, tree: recursive})
	}
	return append(out, into(operands, target)...)
}

// lastOperand: cp, install and their kin change where the last one leads.
func lastOperand(words []string) []changedFile {
	operands, target := givenFiles(words)
	return into(operands, target)
}

// into are the places that files get when they are put at the target, which
// may be a folder.
func into(operands []string, target string) []changedFile {
	if target == "" {
		if len(operands) < 2 {
			return nil
		}
		target, operands = operands[len(operands)-1], operands[:len(operands)-1]
	}
	out := []changedFile{{name: target}}
	for _, w := range operands {
		out = append(out, changedFile{name: strings.TrimSuffix(target, "/") + "/" + baseOf(strings.TrimSuffix(w, "/"))})
	}
	return out
}

// givenFiles are the words that are no options, and the folder that -t names.
func givenFiles(words []string) (operands []string, target string) {
	rest := false
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case rest || len(w) < 2 || w[0] != '-':
			operands = append(operands, strings.TrimPrefix(w, "of="))
		case w == "--":
			rest = true
		case w == "-t" || w == "--target-directory":
			if i++; i < len(words) {
				target = words[i]
			}
		case strings.HasPrefix(w, "--target-directory="):
			target = strings.TrimPrefix(w, "--target-directory=")
		}
	}
	return operands, target
}

// outputOptions are the files that -o and its kin name.
func outputOptions(words []string) []changedFile {
	var out []changedFile
	for i, w := range words {
		for _, name := range []string{"-o", "-O", "--output", "--output-document", "--out", "-out", "-OutFile", "-FilePath", "-Path", "-Destination"} {
			switch {
			case strings.EqualFold(w, name) && i+1 < len(words):
				out = append(out, changedFile{name: words[i+1]})
			case strings.HasPrefix(w, name+"="):
				out = append(out, changedFile{name: w[len(name)+1:]})
			case len(name) == 2 && strings.HasPrefix(w, name) && len(w) > 2:
				out = append(out, changedFile{name: w[2:]})
			}
		}
	}
	return out
}

// gitChanges: git rm, mv, checkout and restore change the files they name.
func (r *reading) gitChanges(words []string) []changedFile {
	var out []changedFile
	for i, w := range words {
		switch w {
		case "-C", "-c", "--git-dir", "--work-tree":
			continue
		case "rm", "mv", "checkout", "restore", "clean":
			tree := w == "mv" || slices.Contains(words, "-r")
			for _, f := range words[i+1:] {
				if len(f) > 1 && !strings.HasPrefix(f, "-") && f != ".." {
					out = append(out, changedFile{name: f, tree: tree})
				}
			}
			return out
		}
		if i > 0 && strings.HasPrefix(words[i-1], "-") || strings.HasPrefix(w, "-") {
			continue
		}
		return nil
	}
	return nil
}

// findChanges: find -delete removes what lies below the folders it is given.
func findChanges(words []string) []changedFile {
	if !slices.Contains(words, "-delete") {
		return nil
	}
	var out []changedFile
	for _, w := range words {
		if strings.HasPrefix(w, "-") {
			break
		}
		out = append(out, changedFile{name: w, tree: strings.HasPrefix(baseOf(strings.TrimSuffix(w, "/")), ".") && len(baseOf(w)) > 2})
	}
	return out
}

// guardedFile says of a call that writes files by a tool of its own what the
// rules of a run's own protection say.
func (s *Set) guardedFile(c Call, in map[string]any) []Hit {
	if c.Guarded == nil {
		return nil
	}
	var names []string
	for _, k := range []string{
		"file_path", "path", "filePath", "notebook_path", "filename", "target_file", "source", "destination", "old_path", "new_path", "TargetFile", "uri",
	} {
		if v, ok := in[k].(string); ok {
			names = append(names, strings.TrimPrefix(v, "file://"))
		}
	}
	eachString(in, func(text string) {
		for _, f := range PatchedFiles(text) {
			names = append(names, f.Name)
		}
	})
	var hits []Hit
	for _, rule := range s.guardRules() {
		for _, n := range names {
			if len(rule.Writes) > 0 && c.Guarded.holds(rule.Writes, c.Cwd, n, true) {
				hits = append(hits, rule.hit(strings.TrimSpace(c.Tool+" "+n)))
				break
			}
		}
	}
	return hits
}

// changesFiles: a tool of another client, or of a server, whose name says that
// it changes files.
func changesFiles(tool string) bool {
	file, change := false, false
	for _, w := range nameWords(tool) {
		switch w {
		case "file", "files", "directory", "filesystem", "fs", "folder", "editor":
			file = true
		case "write", "edit", "create", "move", "rename", "delete", "remove", "copy", "append", "replace", "insert", "patch":
			change = true
		}
	}
	return file && change || slices.Contains([]string{"movefile", "deletefile", "renamefile", "copyfile"}, toolKey(tool))
}
