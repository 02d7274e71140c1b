package policy

import (
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// goFiles classifies what go runs out of the files of the project: the program
// of go run, by files or by package, and the commands of go generate.
func (r *reading) goFiles(c *shell.Command) []Hit {
	if r.tree == nil || len(c.Argv) < 2 {
		return nil
	}
	a := parseArgs(r.tool("go"), c, c.Argv[1:])
	for _, d := range a.all("-C") {
		defer r.in(d.Text)()
	}
	if len(a.words) == 0 {
		return nil
	}
	var hits []Hit
	switch a.words[0].Text {
	case "run":
		if len(a.words) == 1 {
			return nil
		}
		files, named := r.goProgram(a.words[1:])
		for _, name := range files {
			if text, file, ok := r.tree.read(name); ok && (named || !ignoredByGo(text)) {
				hits = append(hits, r.programFile("go", text, file)...)
			}
		}
	case "generate":
		if a.hasAny([]string{"-n"}) {
			return nil
		}
		for _, name := range r.goSources(a.words[1:]) {
			hits = append(hits, r.generated(name)...)
		}
	}
	return hits
}

// goProgram lists the files of the program that go run is given: files, or a
// package of the project. named: each file is named.
func (r *reading) goProgram(words []shell.Word) (files []string, named bool) {
	for _, w := range words {
		if path.Ext(w.Text) != ".go" {
			break
		}
		files = append(files, w.Text)
	}
	if len(files) > 0 || !isLocalPath(words[0].Text) && words[0].Text != "." {
		return files, true
	}
	return r.goFolder(words[0].Text, false), false
}

// goSources lists the files of the packages and the files that words name; no
// word is the package here.
func (r *reading) goSources(words []shell.Word) []string {
	if len(words) == 0 {
		return r.goFolder(".", true)
	}
	var files []string
	for _, w := range words {
		dir, below := strings.CutSuffix(w.Text, "...")
		switch {
		case path.Ext(w.Text) == ".go":
			files = append(files, w.Text)
		case below:
			dir = path.Clean(dir)
			files = append(files, r.goFolder(dir, true)...)
			for _, n := range r.tree.names(dir) {
				if !strings.Contains(n, ".") && n != "vendor" && n != "testdata" && n != "node_modules" {
					files = append(files, r.goFolder(path.Join(dir, n), true)...)
				}
			}
		default:
			files = append(files, r.goFolder(w.Text, true)...)
		}
	}
	return files
}

// goFolder lists the Go files of a folder.
func (r *reading) goFolder(dir string, tests bool) []string {
	var files []string
	for _, n := range r.tree.names(dir) {
		if path.Ext(n) == ".go" && (tests || !strings.HasSuffix(n, "_test.go")) {
			files = append(files, path.Join(dir, n))
		}
	}
	return files
}

// ignoredByGo: a package that is run leaves the file out.
func ignoredByGo(text string) bool {
	return strings.HasPrefix(text, "//go:build ignore") || strings.HasPrefix(text, "// +build ignore")
}

// generated classifies the commands behind //go:generate, which run in the
// folder of their file.
func (r *reading) generated(name string) []Hit {
	text, file, ok := r.tree.read(name)
	if !ok || !strings.Contains(text, "//go:generate ") {
		return nil
	}
	hits, _ := r.following(file+"\x00generate", func() []Hit {
		defer r.in(path.Dir(name))()
		var hits []Hit
		n := 0
		for line := range strings.Lines(text) {
			n++
			if cmd, ok := strings.CutPrefix(line, "//go:generate "); ok {
				cmd = strings.NewReplacer("$GOFILE", path.Base(name), "$GOPACKAGE", "pkg", "$DOLLAR", "$").Replace(strings.TrimSpace(cmd))
				hits = append(hits, r.recipe(cmd, file, n)...)
			}
		}
		return hits
	})
	return hits
}
