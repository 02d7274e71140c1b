package scanner

import (
	"path"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-b23e517c/loop/policy"
)

// file is what a call writes into a file.
type file struct {
	name   string
	text   string // what is put into it
	edited bool   // something is taken out too
}

// writesFiles says whether a tool writes a file.
func writesFiles(tool string) bool {
	if tool == "Bash" || tool == "Read" {
		return false // most calls, without a copy of the name
	}
	switch strings.ReplaceAll(strings.ToLower(tool), "_", "") {
	case "write", "edit", "multiedit", "notebookedit", "writefile", "editfile", "createfile", "create", "strreplace", "replace",
		"strreplaceeditor", "strreplacebasededittool", "applypatch", "patch", "applydiff", "writetofile", "replaceinfile", "fileeditor",
		"searchreplace", "inserteditintofile", "replacestringinfile", "editnotebookfile", "update", "insert", "insertcontent", "filechange":
		return true
	}
	return strings.HasPrefix(tool, "mcp__") && (strings.Contains(tool, "write_file") || strings.Contains(tool, "edit_file"))
}

// filesOf reads the files out of the input of a tool that writes them: one,
// or, of a patch, each that it names.
func filesOf(tool string, input []byte) []file {
	if !writesFiles(tool) {
		return nil
	}
	v := gjson.ParseBytes(input)
	in := fieldsOf(v)
	if files := patched(v, in); len(files) > 0 {
		return files
	}
	f := file{name: nameOf(v)}
	var texts []string
	for _, k := range []string{"content", "new_string", "new_str", "newString", "newText", "new_source", "newCode", "fileText", "file_text", "insert_text", "text", "code_edit", "diff", "patch", "edits.#.new_string", "edits.#.newText", "replacements.#.newString"} {
		t := in.get(k)
		if t.Type == gjson.String {
			texts = append(texts, t.String())
		}
		for _, e := range t.Array() {
			if t.IsArray() {
				texts = append(texts, e.String())
			}
		}
	}
	f.text = strings.Join(texts, "\n")
	for _, k := range []string{"old_string", "old_str", "oldString", "edits.0.old_string", "edits.0.oldText"} {
		f.edited = f.edited || in.get(k).Exists()
	}
	return []file{f}
}

// fields are those of an input, gone through once.
type fields map[string]gjson.Result

func fieldsOf(input gjson.Result) fields {
	f := fields{}
	input.ForEach(func(key, v gjson.Result) bool {
		if k := key.String(); !f[k].Exists() {
			f[k] = v
		}
		return true
	})
	return f
}

// get is the field of a path whose first part is a key.
func (f fields) get(path string) gjson.Result {
	key, rest, deep := strings.Cut(path, ".")
	if deep {
		return f[key].Get(rest)
	}
	return f[key]
}

// patched lists the files of a patch: the input itself, or one of its fields.
func patched(v gjson.Result, in fields) []file {
	var out []file
	add := func(text string) {
		for _, w := range policy.PatchedFiles(text) {
			out = append(out, file{name: w.Name, text: w.Text, edited: w.Append})
		}
	}
	if v.Type == gjson.String {
		add(v.String())
		return out
	}
	for _, k := range []string{"input", "patch", "diff", "patchText", "patch_text"} {
		if t := in[k]; t.Type == gjson.String && len(out) == 0 {
			add(t.String())
		}
	}
	return out
}

var nameKeys = [...]string{"file_path", "path", "filePath", "notebook_path", "filename", "target_file", "absolute_path", "TargetFile"}

// nameOf is the name of the file that the input of a file tool gives.
func nameOf(input gjson.Result) string {
	for _, k := range nameKeys {
		if n := input.Get(k); n.Type == gjson.String {
			return n.String()
		}
	}
	return ""
}

func firstWord(s string) string {
	word := s
	if i := strings.IndexAny(s, " \t\n;&|)<>"); i >= 0 {
		word = s[:i]
	}
	return strings.Trim(word, `"'`)
}

// base is the file's name in lower case, with either kind of separator.
func (f file) base() string {
	return strings.ToLower(path.Base(strings.ReplaceAll(f.name, `\`, "/")))
}

func (f file) slashed() string {
	return "/" + strings.ToLower(strings.ReplaceAll(f.name, `\`, "/"))
}

// isScript says whether the file is one that something runs.
func (f file) isScript() bool {
	base := f.base()
	switch path.Ext(base) {
	case ".sh", ".bash", ".zsh", ".fish", ".ksh", ".command", ".ps1", ".psm1", ".bat", ".cmd", ".mk", ".just",
		".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".rb", ".pl", ".php", ".lua",
		".groovy", ".gradle", ".kts", ".ipynb", ".tf", ".nix", ".awk", ".expect", ".service", ".timer", ".cron":
		return true
	}
	switch base {
	case "makefile", "gnumakefile", "justfile", "package.json", "composer.json", "deno.json", "rakefile", "fastfile", "procfile",
		"jenkinsfile", "vagrantfile", "taskfile.yml", "taskfile.yaml", "crontab", ".gitlab-ci.yml", ".travis.yml", "lefthook.yml",
		"azure-pipelines.yml", "bitbucket-pipelines.yml", "cloudbuild.yaml", ".pre-commit-config.yaml", "lerna.json", ".envrc",
		".bashrc", ".bash_profile", ".profile", ".zshrc", ".gitconfig", "settings.json", "settings.local.json":
		return true
	}
	if strings.HasPrefix(base, "dockerfile") || strings.HasPrefix(base, "containerfile") || strings.HasPrefix(base, "makefile.") {
		return true
	}
	for _, dir := range []string{"/.github/workflows/", "/.github/actions/", "/.circleci/", "/.husky/", "/.git/hooks/", "/.githooks/", "/.claude/commands/", "/.claude/hooks/", "/.buildkite/", "/bin/"} {
		if strings.Contains(f.slashed(), dir) {
			return true
		}
	}
	return strings.HasPrefix(f.text, "#!")
}

// commands lists the shell lines inside a file whose language is not a shell
// but that holds some: recipes, scripts, steps.
func (f file) commands() []string {
	base := f.base()
	ext := path.Ext(base)
	switch {
	case base == "package.json" || base == "composer.json":
		return packageScripts(f.text)
	case ext == ".mk" || strings.Contains(base, "makefile") || base == "justfile" || ext == ".just":
		return recipes(f.text)
	case strings.HasPrefix(base, "dockerfile") || strings.HasPrefix(base, "containerfile"):
		return runLines(f.text)
	case ext == ".yml" || ext == ".yaml":
		return steps(f.text)
	}
	return nil
}

// packageScripts lists the scripts of a package.json. A fragment of one, as an
// edit has it, is read line by line.
func packageScripts(text string) []string {
	var out []string
	if gjson.Valid(text) {
		gjson.Get(text, "scripts").ForEach(func(_, v gjson.Result) bool {
			if v.Type == gjson.String {
				out = append(out, v.String())
			}
			return true
		})
		return out
	}
	for line := range strings.Lines(text) {
		_, value, ok := strings.Cut(line, `":`)
		if value = strings.TrimRight(strings.TrimSpace(value), ","); ok && strings.HasPrefix(value, `"`) && gjson.Valid(value) {
			out = append(out, gjson.Parse(value).String())
		}
	}
	return out
}

// recipes lists the indented lines of a makefile.
func recipes(text string) []string {
	var out []string
	for line := range strings.Lines(joinContinued(text)) {
		if line[0] == '\t' || line[0] == ' ' {
			out = appendLine(out, strings.TrimLeft(line, " \t@-+"))
		}
	}
	return out
}

// runLines lists what the RUN, CMD and ENTRYPOINT lines of a Dockerfile run.
func runLines(text string) []string {
	var out []string
	for line := range strings.Lines(joinContinued(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch strings.ToUpper(word) {
		case "RUN", "CMD", "ENTRYPOINT", "ONBUILD":
			if gjson.Valid(rest) {
				var argv []string
				for _, a := range gjson.Parse(rest).Array() {
					argv = append(argv, a.String())
				}
				rest = strings.Join(argv, " ")
			}
			out = appendLine(out, rest)
		}
	}
	return out
}

// steps lists what the steps of a workflow run: the values of run, script and
// command keys, and the lines of blocks and lists under them.
func steps(text string) []string {
	var out []string
	inside := -1 // indentation of the key whose block this is
	for line := range strings.Lines(joinContinued(text)) {
		bare := strings.TrimLeft(line, " ")
		indent := len(line) - len(bare)
		bare = strings.TrimSpace(bare)
		if bare == "" {
			continue
		}
		if inside >= 0 && indent > inside {
			out = appendLine(out, strings.TrimPrefix(bare, "- "))
			continue
		}
		inside = -1
		key, value, ok := strings.Cut(strings.TrimPrefix(bare, "- "), ":")
		if !ok {
			continue
		}
		switch strings.TrimSpace(key) {
		case "run", "script", "before_script", "after_script", "command", "commands", "cmd", "cmds":
			value = strings.TrimSpace(value)
			if value == "" || strings.HasPrefix(value, "|") || strings.HasPrefix(value, ">") {
				inside = indent
				continue
			}
			out = appendLine(out, strings.Trim(value, `"'`))
		}
	}
	return out
}

func joinContinued(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\\\r\n", " "), "\\\n", " ")
}

// maxCommands bounds what is classified of one file; the words of the rest
// are looked through all the same.
const maxCommands = 2000

func appendLine(out []string, line string) []string {
	line = strings.TrimSpace(line)
	if line == "" || strings.HasPrefix(line, "#") || len(out) >= maxCommands {
		return out
	}
	return append(out, line)
}
