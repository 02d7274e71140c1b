package scanner

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-b23e517c/loop/policy"
)

// The bounds of what is remembered of files.
const (
	maxKeptFiles = 64
	maxKeptFile  = 256 << 10
)

// memory is what the calls of a session have put into files that something
// may run, so that a later call that runs one can be judged by its text. What
// lies on this machine is not read: the transcript may come from another.
type memory struct {
	files map[string]*written
	order []string // oldest first
	asked bool     // the last question was answered by a guess, or in part
	from  string   // the file of the session whose call writes now; "" = the one that is scanned
}

// written is the text of one file.
type written struct {
	text    string
	line    int    // of the call that wrote it last
	from    string // the file in which that call stands; "" = the one that is scanned
	partial bool   // the rest of the file is not known
}

func (m *memory) put(name, text string, line int, partial bool) {
	if name == "" {
		return
	}
	if m.files == nil {
		m.files = map[string]*written{}
	}
	m.forget(name)
	if len(text) > maxKeptFile {
		return
	}
	m.files[name] = &written{text: text, line: line, from: m.from, partial: partial}
	if m.order = append(m.order, name); len(m.order) > maxKeptFiles {
		delete(m.files, m.order[0])
		m.order = m.order[1:]
	}
}

func (m *memory) forget(name string) {
	if m.files[name] != nil {
		delete(m.files, name)
		m.order = slices.DeleteFunc(m.order, func(n string) bool { return n == name })
	}
}

// add puts text behind what the file holds.
func (m *memory) add(name, text string, line int) {
	old := m.files[name]
	if old == nil {
		m.put(name, text, line, true)
		return
	}
	m.put(name, old.text+text, line, old.partial)
}

// change applies an edit. Of a file that is not known, what is put in is kept.
func (m *memory) change(name, from, to string, all bool, line int) {
	old := m.files[name]
	switch {
	case old == nil:
		m.put(name, to, line, true)
	case from == "" || !strings.Contains(old.text, from):
		m.put(name, old.text+"\n"+to, line, true)
	case all:
		m.put(name, strings.ReplaceAll(old.text, from, to), line, old.partial)
	default:
		m.put(name, strings.Replace(old.text, from, to, 1), line, old.partial)
	}
}

// read answers the classifier: the name as it stands, or, where the agent may
// have been in another folder than the transcript says, a file of that name.
func (m *memory) read(cwd, name string) (string, bool) {
	w := m.files[m.find(cwd, name)]
	if w == nil {
		return "", false
	}
	m.asked = m.asked || w.partial
	return w.text, true
}

// list gives the names in a folder, of the files that are remembered.
func (m *memory) list(dir string) ([]string, bool) {
	var out []string
	for name := range m.files {
		rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/")
		first, _, _ := strings.Cut(rest, "/")
		if ok && !slices.Contains(out, first) {
			out = append(out, first)
		}
	}
	slices.Sort(out)
	return out, len(out) > 0
}

func (m *memory) find(cwd, name string) string {
	if m.files[name] != nil {
		return name
	}
	tail := strings.TrimPrefix(name, strings.TrimSuffix(cwd, "/")+"/")
	if cwd != "" && (tail == name || isProjectFile(tail)) {
		tail = name // every folder may have one of these
	}
	for _, n := range slices.Backward(m.order) {
		if strings.HasSuffix(n, "/"+strings.TrimPrefix(tail, "/")) && !path.IsAbs(tail) || !path.IsAbs(n) && strings.HasSuffix(name, "/"+n) {
			m.asked = true
			return n
		}
	}
	return ""
}

func isProjectFile(name string) bool {
	switch strings.ToLower(path.Base(name)) {
	case "makefile", "gnumakefile", "package.json", "composer.json", "deno.json", "justfile", "taskfile.yml", "taskfile.yaml", "rakefile", "config", ".git",
		"pyproject.toml", "project.json", "turbo.json", "nx.json", "tox.ini", "noxfile.py", "tasks.py", "dodo.py", "mise.toml", ".mise.toml", "procfile", "makefile.toml",
		"config.toml", "lefthook.yml", ".pre-commit-config.yaml", "compose.yaml", "docker-compose.yml", "__init__.py", "__main__.py", "index.js", "index.ts", "main.rs":
		return true
	}
	return false
}

// classify judges a call with what is remembered. A file that may be another,
// or of which only a part is known, can make a call reach further, not less.
func (s *scanning) classify(c policy.Call) policy.Result {
	if len(s.files.files) == 0 {
		return s.rules.Classify(c)
	}
	return s.classifyFiles(c)
}

func (s *scanning) classifyFiles(c policy.Call) policy.Result {
	s.files.asked = false
	plain := c
	c.ReadFile = func(name string) (string, bool) { return s.files.read(c.Cwd, name) }
	c.ReadDir = s.files.list
	res := s.rules.Classify(c)
	if s.files.asked && res.Verdict != policy.VerdictExternal {
		if p := s.rules.Classify(plain); p.Tier > res.Tier {
			return p
		}
	}
	return res
}

// withoutNames is a result without what is said of names alone.
func withoutNames(res policy.Result) policy.Result {
	out := policy.Result{Verdict: policy.VerdictLocal, Net: res.Net, Opaque: true}
	for _, h := range res.Hits {
		switch {
		case h.Opaque && !h.Mention:
			continue
		case !h.Mention && h.Tier == policy.External:
			return res
		case !h.Mention && h.Tier == policy.Shared:
			out.Verdict, out.Tier, out.Evidence = policy.VerdictShared, policy.Shared, policy.Executed
		}
		out.Hits = append(out.Hits, h)
	}
	return out
}

// remember keeps what a call puts into files.
func (s *scanning) remember(c policy.Call, line int) {
	switch {
	case len(c.Input) > policy.MaxInput:
		for _, f := range longTarget(c.Tool, c.Input).files {
			s.files.forget(joinCwd(c.Cwd, f.name)) // it is too long to be kept
		}
	case writesFiles(c.Tool):
		in := gjson.ParseBytes(c.Input)
		if len(patched(in, fieldsOf(in))) > 0 {
			s.rememberShell(c, line)
			return
		}
		if f := (file{name: nameOf(in), text: first(in, "content", "file_text", "fileText", "new_source").String()}); f.mayRun() {
			s.files.apply(joinCwd(c.Cwd, f.name), in, line)
		}
	case mayWrite(c.Input):
		s.rememberShell(c, line)
	}
}

// rememberShell keeps what a command line puts into files.
func (s *scanning) rememberShell(c policy.Call, line int) {
	c.ReadFile = func(name string) (string, bool) { return s.files.read(c.Cwd, name) }
	for _, w := range s.rules.Writes(c) {
		switch {
		case !(file{name: w.Name, text: w.Text}).mayRun():
		case w.Known && w.Append:
			s.files.add(w.Name, w.Text, line)
		case w.Known:
			s.files.put(w.Name, w.Text, line, false)
		case !w.Append:
			s.files.forget(w.Name)
		}
	}
}

func joinCwd(cwd, name string) string {
	if name == "" || cwd == "" || path.IsAbs(name) || strings.Contains(name, `:\`) {
		return path.Clean(name)
	}
	return path.Join(cwd, name)
}

// mayWrite is a quick look whether a command could write a file: most do not.
func mayWrite(input []byte) bool {
	if !bytes.Contains(input, []byte(`"command"`)) && !bytes.Contains(input, []byte(`"cmd"`)) && !bytes.Contains(input, []byte(`"code"`)) {
		return false
	}
	for _, word := range []string{"tee ", "cp ", "mv ", "ln ", "install ", "config ", "pkg set", "sed ", "perl ", "patch", "git apply", "git am"} {
		if bytes.Contains(input, []byte(word)) {
			return true
		}
	}
	return redirected(input, ">") || redirected(input, `\u003e`)
}

// redirected: something behind the sign is a file.
func redirected(input []byte, sign string) bool {
	for rest := input; ; {
		_, after, ok := bytes.Cut(rest, []byte(sign))
		if !ok {
			return false
		}
		rest = bytes.TrimLeft(after, ">| ")
		if !bytes.HasPrefix(rest, []byte("&")) && !bytes.HasPrefix(rest, []byte(`\u0026`)) && !bytes.HasPrefix(rest, []byte("/dev/")) {
			return true
		}
	}
}

// mayRun: the file is one that something runs, or has a name that does not
// say what it is.
func (f file) mayRun() bool {
	return f.isScript() || path.Ext(f.base()) == "" || strings.HasPrefix(f.base(), ".git")
}

// apply keeps what the input of a file tool says.
func (m *memory) apply(name string, in gjson.Result, line int) {
	for _, k := range []string{"content", "file_text", "fileText"} {
		if t := in.Get(k); t.Type == gjson.String {
			m.put(name, t.String(), line, false)
			return
		}
	}
	if cell := first(in, "new_source", "newCode"); cell.Exists() {
		m.add(name, "\n"+cell.String()+"\n", line) // which cell it replaces is not known
		return
	}
	edits := []gjson.Result{in}
	for _, k := range []string{"edits", "replacements"} {
		if list := in.Get(k); list.IsArray() {
			edits = list.Array()
		}
	}
	for _, e := range edits {
		from := first(e, "old_string", "old_str", "oldText", "oldString")
		to := first(e, "new_string", "new_str", "newText", "newString", "insert_text")
		if from.Exists() || to.Exists() {
			m.change(name, from.String(), to.String(), e.Get("replace_all").Bool(), line)
		}
	}
}

func first(v gjson.Result, keys ...string) gjson.Result {
	for _, k := range keys {
		if t := v.Get(k); t.Type == gjson.String {
			return t
		}
	}
	return gjson.Result{}
}

// bothLines names the call that wrote what a hit's call ran, and the run.
func (s *scanning) bothLines(h Hit, res policy.Result) string {
	if len(res.Hits) == 0 || res.Hits[0].File == "" {
		return ""
	}
	w := s.files.files[s.files.find(h.Cwd, res.Hits[0].File)]
	if w == nil {
		return ""
	}
	text := res.Hits[0].Text
	where := fmt.Sprintf("line %d", w.line)
	if w.from != "" {
		where += " of " + oneLine(path.Base(w.from))
	}
	return fmt.Sprintf("written at %s: %s; run at line %d: %s", where, excerpt([]byte(text), 0, 0), h.Line, excerpt([]byte(h.Command), 0, 0))
}
