package policy

import (
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// sources classifies program texts that the line itself wrote and gives to a
// compiler's run command, to a build tool or to the console of a framework.
func (r *reading) sources(prog string, c *shell.Command) []Hit {
	sub := ""
	if len(c.Argv) > 1 {
		sub = c.Argv[1].Text
	}
	switch prog {
	case "go":
		if sub == "run" || sub == "test" || sub == "build" || sub == "install" {
			return r.programs("go", c)
		}
	case "rustc":
		return r.programs("rust", c)
	case "cargo":
		if sub == "script" || sub == "-Zscript" || strings.HasPrefix(sub, "+") {
			return r.programs("rust", c)
		}
	case "gcc", "cc", "clang", "g++", "clang++", "tcc", "zig":
		return r.programs("go", c)
	case "javac", "kotlinc", "scalac", "swiftc":
		return r.sourceFiles(c)
	case "java", "scala", "scala-cli", "kotlin", "jshell", "jbang", "swift", "dart", "dartaotruntime", "crystal", "runghc", "nim", "rust-script":
		return r.sourceFiles(c)
	case "cmake":
		return r.cmakeCommands(c)
	case "gradle", "gradlew":
		return r.gradleTasks(c)
	case "ant":
		return r.antTargets(c)
	case "make", "gmake":
		return r.makefiles(c)
	case "flask":
		if sub == "shell" && c.Stdin.Known {
			return r.program("python", c.Stdin.Text)
		}
	case "rails", "hanami":
		return r.railsCode(sub, c)
	case "docker", "podman", "buildah", "docker-compose", "podman-compose", "task", "go-task", "just", "nerdctl":
		return r.recipes(c)
	}
	// uv run a.py: the file itself is what is run, whatever starts it
	if lang := languageOfFile(prog, ""); lang != "" && lang != "shell" && len(c.Files) == 1 && c.Files[0].Name == c.Argv[0].Text {
		return r.programs(lang, c)
	}
	return nil
}

// sourceFiles classifies the program texts that a command names, each in the
// language of its own name: those that the line wrote, and the first one that
// lies in the project.
func (r *reading) sourceFiles(c *shell.Command) []Hit {
	var hits []Hit
	for _, f := range c.Files {
		lang := languageOfFile(f.Name, f.Text)
		if lang == "" {
			lang = "java"
		}
		hits = append(hits, r.program(lang, f.Text)...)
	}
	if len(c.Files) > 0 || r.tree == nil || strings.HasSuffix(c.Program(), "c") {
		return hits
	}
	for _, w := range c.Argv[1:] {
		if lang := languageOfFile(w.Text, ""); lang != "" && lang != "shell" {
			if text, file, ok := r.file(c, w.Text); ok {
				return r.programFile(lang, text, file)
			}
		}
	}
	return hits
}

// programs classifies the files that the line wrote as programs of a language.
func (r *reading) programs(lang string, c *shell.Command) []Hit {
	var hits []Hit
	for _, f := range c.Files {
		hits = append(hits, r.program(lang, f.Text)...)
	}
	return hits
}

// railsCode is the code of rails runner, and what a console reads.
func (r *reading) railsCode(sub string, c *shell.Command) []Hit {
	var hits []Hit
	switch sub {
	case "runner", "r":
		for _, w := range c.Argv[2:] {
			if strings.ContainsAny(w.Text, "(.: ") {
				hits = append(hits, r.program("ruby", w.Text)...)
			}
		}
	case "console", "c":
	default:
		return nil
	}
	if c.Stdin.Known {
		hits = append(hits, r.program("ruby", c.Stdin.Text)...)
	}
	return hits
}

// makefiles classifies what make is given to read on standard input or by
// --eval, and the shell that is to run the recipes.
func (r *reading) makefiles(c *shell.Command) []Hit {
	a := parseArgs(r.tool("make"), c, c.Argv[1:])
	if a.hasAny([]string{"-n", "--dry-run", "--just-print", "--recon", "-q", "--question", "-t", "--touch"}) {
		return nil
	}
	var hits []Hit
	var targets, texts []string
	for _, w := range a.words {
		name, value, assigned := strings.Cut(w.Text, "=")
		switch {
		case !assigned:
			targets = append(targets, w.Text)
		case name == "SHELL" && strings.Contains(value, " "):
			hits = append(hits, r.line(value)...)
		}
	}
	for _, v := range a.all("--eval") {
		texts = append(texts, v.Text)
	}
	for _, v := range a.all("-f", "--file", "--makefile") {
		if v.Text == "-" && c.Stdin.Known {
			texts = append(texts, c.Stdin.Text)
		}
	}
	for _, text := range texts {
		m := &makefile{vars: defaultVars(), given: map[string]bool{}}
		m.read(r, text, "", 0)
		hits = append(hits, r.makeGoals(m, targets)...)
	}
	return hits
}

// recipes classifies the command lines of a Dockerfile, compose file or task
// file that the line wrote or gives on standard input. Only what reaches
// outside counts: the rest is the build's own business.
func (r *reading) recipes(c *shell.Command) []Hit {
	texts := make([]string, 0, len(c.Files)+1)
	for _, f := range c.Files {
		texts = append(texts, f.Text)
	}
	if c.Stdin.Known && (c.Argv[len(c.Argv)-1].Text == "-" || afterWord(c.Argv, "-f") != nil) {
		texts = append(texts, c.Stdin.Text)
	}
	hits := r.imageRecipe(c)
	for _, text := range texts {
		for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
			for _, h := range r.line(recipeOf(line)) {
				if h.Tier == External && !h.Mention && !(h.Rule == "opaque-payload" && strings.HasPrefix(strings.TrimSpace(line), "RUN ")) {
					hits = append(hits, h)
				}
			}
		}
	}
	return hits
}

// imageRecipe classifies what the Dockerfile of the project does when an image
// is built by it. What it cannot be seen through, as curl | sh, is how images
// are made, and stays in the image.
func (r *reading) imageRecipe(c *shell.Command) []Hit {
	words := wordTexts(c.Argv)
	if r.tree == nil || len(c.Files) > 0 || !containsString(words, "build") && !containsString(words, "bud") {
		return nil
	}
	name := ""
	for i, w := range words[:len(words)-1] {
		if w == "-f" || w == "--file" {
			name = words[i+1]
		}
	}
	tries := []string{name}
	if dir := words[len(words)-1]; name == "" {
		tries = []string{path.Join(dir, "Dockerfile"), path.Join(dir, "Containerfile")}
	}
	var hits []Hit
	for _, n := range tries {
		text, file, ok := r.file(c, n)
		if !ok {
			continue
		}
		found, _ := r.following(file, func() []Hit {
			var hits []Hit
			for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
				if run, ok := strings.CutPrefix(strings.TrimSpace(line), "RUN "); ok {
					hits = append(hits, r.line(recipeOf("RUN "+run))...)
				}
			}
			return r.placed(hits, file, text, 0)
		})
		for _, h := range reachOutside(found) {
			if !h.Opaque {
				hits = append(hits, h)
			}
		}
	}
	return hits
}

// cmakeCommands classifies the commands that CMake runs while it configures.
func (r *reading) cmakeCommands(c *shell.Command) []Hit {
	dir := "."
	for i, w := range c.Argv[1:] {
		switch {
		case c.Argv[i].Text == "-S":
			dir = w.Text
		case w.Text == "--build" || w.Text == "--install" || w.Text == "-E":
			return nil
		case strings.HasPrefix(w.Text, ".") && !strings.HasPrefix(c.Argv[i].Text, "-"):
			dir = w.Text
		}
	}
	text, file, ok := r.file(c, path.Join(dir, "CMakeLists.txt"))
	if !ok {
		if text, file, ok = r.file(c, "CMakeLists.txt"); !ok {
			return nil
		}
	}
	found, _ := r.following(file, func() []Hit {
		var hits []Hit
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, "execute_process(")
			if !ok {
				return r.placed(hits, file, text, 0)
			}
			inside, _, _ := strings.Cut(after, ")")
			for _, cmd := range strings.Split(inside, "COMMAND")[1:] {
				f := strings.Fields(cmd)
				for i, w := range f {
					if strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" && len(w) > 4 {
						f = f[:i] // OUTPUT_VARIABLE, WORKING_DIRECTORY
						break
					}
				}
				hits = append(hits, r.line(strings.Join(f, " "))...)
			}
			rest = after
		}
	})
	return reachOutside(found)
}

// recipeOf is the command in a line of a Dockerfile, a compose file or a task
// file; "" when it holds none.
func recipeOf(line string) string {
	s := strings.TrimLeft(line, " \t-")
	for _, p := range []string{"RUN ", "CMD ", "ENTRYPOINT ", "command:", "cmd:", "sh:", "entrypoint:", "cmds:", "run:"} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			rest = strings.TrimSpace(rest)
			if strings.HasPrefix(rest, "[") && strings.HasSuffix(rest, "]") {
				if strings.Contains(rest, `", "`) || strings.Contains(rest, `","`) {
					rest = strings.NewReplacer(`","`, " ", `", "`, " ").Replace(rest)
				}
				rest = strings.Trim(rest, `[]"'`)
			}
			return strings.TrimLeft(strings.Trim(rest, `"'`), "@|>- ")
		}
	}
	if strings.HasPrefix(strings.TrimLeft(line, " \t"), "- ") || strings.HasPrefix(line, "    ") {
		if i := strings.IndexByte(s, ':'); i < 0 || i > strings.IndexByte(s+" ", ' ') {
			return strings.Trim(s, `"'`)
		}
	}
	return ""
}
