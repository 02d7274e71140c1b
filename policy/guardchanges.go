package policy

import (
	"path"
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
		out = append(out, lastOperand(prog, words)...)
	case prog == "git":
		out = append(out, r.gitChanges(words)...)
	case prog == "find" || prog == "fd":
		out = append(out, r.findChanges(words)...)
	}
	if slices.Contains(d.InPlace, prog) && slices.ContainsFunc(words, isInPlace) {
		for _, w := range words {
			if !strings.HasPrefix(w, "-") {
				out = append(out, changedFile{name: w})
			}
		}
	}
	if slices.Contains(d.Folder, prog) {
		out = append(out, unpacked(prog, words)...)
	}
	if slices.Contains(d.Output, prog) {
		out = append(out, outputOptions(words)...)
	}
	if slices.Contains(d.Script, prog) {
		out = append(out, scriptedChanges(append(words, c.Stdin.Text))...)
	}
	for _, w := range c.Wrappers {
		if f := strings.Fields(w); len(f) > 1 && slices.Contains(d.Wrapper, baseOf(f[0])) {
			out = append(out, everyOperand(f[0], f[1:])...)
		}
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

// scriptedChanges are the files that programs are told to write in a language
// of their own: print > "x" of awk, w x of sed and editors, .output x and \\o x
// of database shells.
func scriptedChanges(scripts []string) []changedFile {
	var out []changedFile
	for _, text := range scripts {
		words := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t\n\"'();{}|", c) })
		for i, w := range words {
			next := ""
			if i+1 < len(words) {
				next = words[i+1]
			}
			switch rest := strings.TrimLeft(w, ">:!"); {
			case w != rest && strings.HasPrefix(w, ">"):
				if rest == "" {
					rest = next
				}
				out = append(out, changedFile{name: rest})
			case strings.HasSuffix(w, ">"), isWriteWord(strings.TrimLeft(rest, "/0123456789,$%ge")):
				out = append(out, changedFile{name: next})
			}
		}
	}
	return out
}

// isWriteWord: a command by which an editor, or a program with a language of
// its own, writes the file that is named next.
func isWriteWord(w string) bool {
	return slices.Contains([]string{"w", "W", "w!", "wq", "write", "saveas", "sav", "r>", ".output", ".once", ".excel", ".save", ".backup", `\o`, `\out`, "INTO", "into", "OUTFILE", "outfile", "ATTACH", "attach", "tee", "savehist", "logfile"}, w)
}

func isInPlace(w string) bool {
	return w == "inplace" || w == "-i" || w == "-iinplace" || strings.HasPrefix(w, "--in-place") || strings.HasPrefix(w, "--inplace") ||
		len(w) > 2 && w[0] == '-' && w[1] != '-' && strings.ContainsRune(w, 'i') || w == "-pi" || strings.HasPrefix(w, "-i.")
}

// everyOperand: rm, mv, chmod and their kin change each file they are given.
func everyOperand(prog string, words []string) []changedFile {
	how := itself
	if prog == "mv" || prog == "mount" || prog == "umount" || recursively(words) {
		how = whole
	}
	if prog == "tee" || prog == "touch" || prog == "ln" {
		how = itself
	}
	operands, target := givenFiles(words)
	var out []changedFile
	for _, w := range operands {
		out = append(out, changedFile{name: w, reach: how})
	}
	return append(out, into(operands, target)...)
}

func recursively(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return w == "--recursive" || w == "--archive" || len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, "rRa")
	})
}

// lastOperand: cp, install and their kin change where the last one leads. What
// is copied with all that lies in it may bring any file there.
func lastOperand(prog string, words []string) []changedFile {
	operands, target := givenFiles(words)
	out := into(operands, target)
	if len(out) > 0 && (prog != "rsync" || len(operands) > 1) {
		sources := operands
		if target == "" {
			sources = operands[:len(operands)-1]
		}
		all := slices.ContainsFunc(sources, func(w string) bool {
			return strings.HasSuffix(w, "/") || strings.HasSuffix(w, "/.") || strings.HasSuffix(w, "*")
		})
		if recursively(words) && (all || !strings.HasSuffix(out[0].name, "/")) {
			out[0].reach = inside
		}
		if recursively(words) && !all && isFolder(out[0].name) {
			out[0].reach = itself // one folder is put into another, under its own name
		}
		for i := range out[1:] {
			if recursively(words) {
				out[i+1].reach = inside
			}
		}
	}
	for _, w := range words {
		if w == "-l" || w == "--link" { // what is written into the copy is written into the other
			for _, o := range operands {
				out = append(out, changedFile{name: o})
			}
		}
	}
	return out
}

// isFolder: the name can only be that of a folder that is there.
func isFolder(name string) bool {
	name = strings.TrimSuffix(name, "/")
	return slices.Contains([]string{"", ".", "..", "~", "$HOME", "${HOME}", "$PWD", "/"}, name) || strings.HasSuffix(name, "/..")
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

// placeKeys are the parameters in which tools are given the name of a file.
var placeKeys = []string{
	"file_path", "path", "filePath", "notebook_path", "filename", "target_file", "source", "destination", "old_path", "new_path", "TargetFile", "uri",
	"file", "files", "paths", "filepath", "file_name", "fileName", "target", "dest", "src", "from", "to", "oldPath", "newPath", "sourcePath", "targetPath", "absolute_path",
}

// namedPlaces are the files that a tool is given by name, at any depth.
func namedPlaces(in map[string]any) []string {
	var out []string
	var walk func(v any, named bool, depth int)
	walk = func(v any, named bool, depth int) {
		if depth > maxFollow || len(out) > maxPlaces {
			return
		}
		switch v := v.(type) {
		case string:
			if named {
				out = append(out, strings.TrimPrefix(v, "file://"))
			}
		case []any:
			for _, e := range v {
				walk(e, named, depth+1)
			}
		case map[string]any:
			for k, e := range v {
				walk(e, slices.Contains(placeKeys, k), depth+1)
			}
		}
	}
	walk(in, false, 0)
	slices.Sort(out)
	return out
}

// guardedPlace says of a call by any tool but a shell what the rules of a run's
// own protection say of the files and addresses that it is given.
func (s *Set) guardedPlace(c Call, in map[string]any) []Hit {
	if c.Guarded == nil || s.isShellTool(c.Tool) {
		return nil
	}
	var hits []Hit
	for _, rule := range s.guardRules() {
		for _, k := range append(placeKeys, "url", "urls", "pattern", "directory") {
			v, ok := in[k].(string)
			if ok && (len(rule.Opens) > 0 && c.Guarded.opensFile(rule.Opens, path.Clean(joinDir(c.Cwd, v))) || rule.Port && c.Guarded.speaksTo(v)) {
				hits = append(hits, rule.hit(strings.TrimSpace(c.Tool+" "+v)))
				break
			}
		}
	}
	return hits
}

// guardedFile says of a call that writes files by a tool of its own what the
// rules of a run's own protection say.
func (s *Set) guardedFile(c Call, in map[string]any) []Hit {
	if c.Guarded == nil {
		return nil
	}
	names := namedPlaces(in)
	eachString(in, func(text string) {
		for _, f := range PatchedFiles(text) {
			names = append(names, f.Name)
		}
	})
	how := inside
	for _, w := range nameWords(c.Tool) {
		if slices.Contains([]string{"move", "rename", "delete", "remove"}, w) {
			how = whole
		}
	}
	var hits []Hit
	for _, rule := range s.guardRules() {
		for _, n := range names {
			if len(rule.Writes) > 0 && c.Guarded.holds(rule.Writes, c.Cwd, n, how) {
				hits = append(hits, rule.hit(strings.TrimSpace(c.Tool+" "+n)))
				break
			}
		}
	}
	eachString(in, func(text string) {
		if len(hits) == 0 && slices.ContainsFunc(names, func(n string) bool { return holdsHooks(n, text) }) {
			hits = s.guardHits("guard-client", strings.TrimSpace(c.Tool+" "+strings.Join(names, " ")))
		}
	})
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
