package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// cargoBuilds: the words have cargo compile, and so run what a package says is
// to run before.
func cargoBuilds(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"build", "b", "test", "t", "check", "c", "run", "r", "clippy", "bench", "doc", "nextest", "install"}, w)
	})
}

// cargoConfig: what cargo runs in the place of the compiler, and its products by.
func (r *reading) cargoConfig(c *shell.Command) []Hit {
	var hits []Hit
	for _, name := range namesAbove([]string{".cargo/config.toml", ".cargo/config"}) {
		text, file, ok := r.file(c, name)
		if !ok {
			continue
		}
		setLines(text, "=", func(key, value string, line int) {
			switch key[strings.LastIndexByte(key, '.')+1:] {
			case "rustc-wrapper", "rustc-workspace-wrapper", "rustc", "rustdoc", "runner", "linker":
				hits = append(hits, r.runsSetting(file, key, value, line)...)
			}
		})
	}
	return hits
}

// cargoScripts: the build scripts of a package, of those that it takes from
// folders beside it, and of the members of a workspace; what a macro of the
// project does when it is compiled.
func (r *reading) cargoScripts(c *shell.Command, dir string, deep int) []Hit {
	l := &loader{programs: " cargo ", lang: "rust", names: []string{"main"}}
	text, file, ok := r.file(c, path.Join(dir, "Cargo.toml"))
	if !ok || deep == 0 || !cargoBuilds(wordTexts(c.Argv[1:])) {
		return nil
	}
	var hits []Hit
	if dir != "" {
		hits = r.loaded(l, c, path.Join(dir, "build.rs"))
	}
	setLines(text, "=", func(key, value string, _ int) {
		switch last := key[strings.LastIndexByte(key, '.')+1:]; {
		case key == "package.build":
			hits = append(hits, r.loaded(l, c, path.Join(dir, value))...)
		case key == "lib.proc-macro" && value == "true":
			hits = append(hits, r.loaded(&loader{programs: " rustc ", lang: "rust"}, c, path.Join(dir, "src/lib.rs"))...)
		case key == "workspace.members":
			for m := range strings.FieldsSeq(value) {
				if base, all := strings.CutSuffix(m, "/*"); all {
					for _, n := range r.tree.names(path.Join(path.Dir(file), base)) {
						hits = append(hits, r.cargoScripts(c, path.Join(dir, base, n), deep-1)...)
					}
					continue
				}
				hits = append(hits, r.cargoScripts(c, path.Join(dir, m), deep-1)...)
			}
		case last == "path" && strings.Contains(key, "dependencies"):
			hits = append(hits, r.cargoScripts(c, path.Join(dir, value), deep-1)...)
		case strings.Contains(key, "dependencies"):
			if _, p, inline := strings.Cut(value, "path ="); inline || strings.Contains(value, "path=") {
				if !inline {
					_, p, _ = strings.Cut(value, "path=")
				}
				if f := strings.Fields(strings.Trim(p, "{} ")); len(f) > 0 {
					hits = append(hits, r.cargoScripts(c, path.Join(dir, strings.Trim(f[0], "{}")), deep-1)...)
				}
			}
		}
	})
	return hits
}
