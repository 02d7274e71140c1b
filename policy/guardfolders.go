package policy

import (
	"slices"
	"strings"
)

// unpacked: tar, unzip and their kin put files into a folder, nobody knows
// which; and those that they are told by name.
func unpacked(prog string, words []string) []changedFile {
	into, packs := "", false
	var out []changedFile
	for i := 0; i < len(words); i++ {
		w := words[i]
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case w == "-C" || w == "-d" && prog != "cpio" && prog != "tar" || w == "-D" || w == "--directory" || w == "--cd" || w == "-P" || w == "--directory-prefix" || w == "--output-dir" || w == "--target" || w == "-t" && prog != "tar" && prog != "cpio" && prog != "unzip":
			into = next
			i++
		case strings.HasPrefix(w, "--directory="), strings.HasPrefix(w, "--output-dir="), strings.HasPrefix(w, "--directory-prefix="), strings.HasPrefix(w, "--target="):
			_, into, _ = strings.Cut(w, "=")
		case strings.HasPrefix(w, "-C") && len(w) > 2:
			into = w[2:]
		case prog == "7z" && strings.HasPrefix(w, "-o"):
			into = w[2:]
		case w == "--create" || w == "--list" || (i == 0 || w[0] == '-' && !strings.HasPrefix(w, "--")) && (prog == "tar" || prog == "bsdtar" || prog == "gtar" || prog == "jar" || prog == "ar") && strings.ContainsAny(w, "ct") && !strings.ContainsAny(w, "x/."):
			packs = true
		case w != "" && w[0] != '-' && i > 0:
			out = append(out, changedFile{name: w})
		}
	}
	if packs {
		return nil
	}
	for i := range out {
		if into != "" {
			out[i].name = joinDir(into, out[i].name)
		}
	}
	switch {
	case into != "":
	case prog == "wget" || prog == "curl":
		return nil // a file of the address's name
	default:
		into = "."
	}
	return append(out, changedFile{name: into, reach: inside})
}

// gitChanges: git rm, mv, checkout, restore and stash change the files they
// name; clone, worktree and init put a whole folder somewhere.
func (r *reading) gitChanges(words []string) []changedFile {
	var out []changedFile
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case strings.HasPrefix(w, "--work-tree="):
			out = append(out, changedFile{name: w[len("--work-tree="):], reach: inside})
		case w == "--work-tree" && i+1 < len(words):
			i++
			out = append(out, changedFile{name: words[i], reach: inside})
		case w == "-C" || w == "-c" || w == "--git-dir" || w == "--work-tree":
			i++
		case strings.HasPrefix(w, "-"):
		case slices.Contains([]string{"rm", "mv", "checkout", "restore", "clean", "stash", "clone", "worktree", "checkout-index", "read-tree", "submodule", "subtree"}, w):
			how := inside
			if w == "mv" || w == "rm" && slices.Contains(words, "-r") {
				how = whole
			}
			for _, f := range words[i+1:] {
				if rest, ok := strings.CutPrefix(f, "--prefix="); ok {
					f = rest
				}
				if len(f) > 1 && !strings.HasPrefix(f, "-") && f != ".." {
					out = append(out, changedFile{name: f, reach: how})
				}
			}
			return out
		default:
			return nil
		}
	}
	return nil
}

// findChanges: find -delete removes what lies below the folders it is given.
func (r *reading) findChanges(words []string) []changedFile {
	if !slices.Contains(words, "-delete") {
		return nil
	}
	return r.found(words)
}

// throughFind puts in the place of {} what the line's find looks for, and in
// that of a program what the line asks for its place: $(which loop).
func (r *reading) throughFind(places []changedFile) []changedFile {
	for _, p := range places {
		if strings.Contains(p.name, "/") || !strings.Contains(r.text, "which "+p.name) && !strings.Contains(r.text, "-v "+p.name) && !strings.Contains(r.text, "-p "+p.name) {
			continue
		}
		for _, f := range r.guard.files() {
			if baseOf(filepathSlash(f)) == p.name {
				places = append(places, changedFile{name: f, reach: p.reach})
			}
		}
	}
	if !slices.ContainsFunc(places, func(p changedFile) bool { return strings.HasPrefix(p.name, "{}") }) {
		return places
	}
	if r.foundIn != r.text {
		r.foundIn, r.foundPlaces = r.text, nil
		words := strings.FieldsFunc(r.text, func(c rune) bool { return strings.ContainsRune(" \t\n\"'", c) })
		for i, w := range words {
			if (w == "find" || w == "fd" || w == "fdfind") && len(r.foundPlaces) < maxPlaces {
				r.foundPlaces = append(r.foundPlaces, r.found(words[i+1:min(len(words), i+maxPlaces)])...)
			}
		}
	}
	return append(places, r.foundPlaces...)
}

// found are the places that find may come upon: below the folders, of the
// names that it is told.
func (r *reading) found(words []string) []changedFile {
	var dirs, names []string
	for i, w := range words {
		if i > 0 {
			switch words[i-1] {
			case "-path", "-wholename", "-ipath", "-iwholename", "-name", "-iname", "-regex":
				names = append(names, strings.TrimLeft(w, "*/^"))
			}
		}
		if !strings.HasPrefix(w, "-") && len(dirs) == i {
			dirs = append(dirs, w)
		}
	}
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	var out []changedFile
	for _, dir := range dirs {
		dir = strings.TrimSuffix(dir, "/")
		away := strings.HasPrefix(dir, "/") || strings.HasPrefix(dir, "~") || strings.HasPrefix(dir, "$HOME") || dir == ""
		if len(names) == 0 || away || strings.HasPrefix(baseOf(dir), ".") && len(baseOf(dir)) > 2 {
			out = append(out, changedFile{name: orSlash(dir), reach: inside})
		}
		for _, n := range names {
			out = append(out, changedFile{name: dir + "/" + n})
			for _, below := range []string{".claude", ".git", ".git/hooks"} { // what is there, if anything is
				if place := dir + "/" + below + "/" + n; r.guard.isThere(r.cwd, place) {
					out = append(out, changedFile{name: place})
				}
			}
		}
	}
	return out
}

func orSlash(dir string) string {
	if dir == "" {
		return "/"
	}
	return dir
}
