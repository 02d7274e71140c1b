package policy

import (
	"path"
	"slices"
	"strings"
)

// importForm is how a language names other files of the project, which are
// run when they are loaded.
type importForm struct {
	words string   // what stands in front of the string that names a file
	there bool     // the name is seen from the file, not from where the program runs
	any   bool     // a bare name is a file of the project too
	exts  []string // what is put behind the name, in order
}

var scriptExts = []string{"", ".ts", ".js", ".mjs", ".tsx", ".cjs", ".mts", "/index.ts", "/index.js"}

// importForms are the forms of each language that name the file in a string.
func importForms(lang string) []importForm {
	switch lang {
	case "javascript":
		return []importForm{{words: " require import from fork Worker createRequire ", there: true, exts: scriptExts}}
	case "python":
		return []importForm{{words: " run_path runpy.run_path execfile ", any: true, exts: []string{""}}}
	case "ruby":
		return []importForm{
			{words: " require_relative ", there: true, any: true, exts: []string{"", ".rb"}},
			{words: " load require Kernel.load instance_eval ", exts: []string{"", ".rb"}},
		}
	case "perl":
		return []importForm{{words: " require do ", exts: []string{""}}}
	case "php":
		return []importForm{{words: " require require_once include include_once ", there: true, any: true, exts: []string{""}}}
	case "lua":
		return []importForm{{words: " dofile loadfile ", any: true, exts: []string{""}}}
	case "rscript":
		return []importForm{{words: " source sys.source ", any: true, exts: []string{""}}}
	case "julia":
		return []importForm{{words: " include ", there: true, any: true, exts: []string{""}}}
	case "elixir":
		return []importForm{{words: " Code.require_file Code.eval_file ", any: true, exts: []string{""}}}
	}
	return nil
}

// maxImports is how many files one program text may load.
const maxImports = 24

// imports classifies the files of the project that a program text loads. Of
// what they define, only what the program can reach by name counts.
func (r *reading) imports(lang, text, file string) []Hit {
	t := r.tree
	if t == nil || !mayImport(lang, text) || isTestFile(file) && !r.testing || lang == "go" && !r.testing {
		return nil
	}
	src := lex(lang, text)
	if src.hasDoubles() {
		return nil
	}
	base := t.dir
	if file != "" {
		base = path.Dir(file)
	}
	seen := map[string]bool{}
	var names map[string]bool
	var hits []Hit
	load := func(tries ...string) bool {
		for _, n := range tries {
			if n == "" || len(seen) >= maxImports {
				return false
			}
			text, name, ok := r.readAt(n)
			if !ok {
				continue
			}
			if !seen[name] {
				seen[name] = true
				if names == nil {
					names = src.identifiers()
				}
				hits = append(hits, r.programPart(lang, text, name, names)...)
			}
			return true
		}
		return false
	}
	for _, f := range importForms(lang) {
		for _, name := range src.namedBehind(f) {
			load(f.places(name, base, t.dir)...)
		}
	}
	switch lang {
	case "python":
		for _, m := range src.pythonModules() {
			r.loadModule(m, base, load)
		}
	case "perl":
		for _, m := range src.perlModules() {
			load(joinDir(base, m), joinDir(base, "lib/"+m), joinDir(t.dir, "lib/"+m), joinDir(t.dir, m))
		}
	case "go":
		src.goImports(r, base, load)
		if file != "" { // the other files of its package
			for _, n := range r.listAt(base) {
				if path.Ext(n) == ".go" && !strings.HasSuffix(n, "_test.go") && path.Join(base, n) != file {
					load(path.Join(base, n))
				}
			}
		}
	case "rust":
		for _, m := range src.rustModules() {
			load(joinDir(base, m+".rs"), joinDir(base, m+"/mod.rs"))
		}
	}
	return hits
}

// mayImport is a quick look whether a text could load a file.
func mayImport(lang, text string) bool {
	for _, w := range []string{"import", "require", "include", "load", "source(", "dofile", "execfile", "run_path", "fork(", "Worker(", "do ", "use ", "mod ", "open(", " from "} {
		if strings.Contains(text, w) {
			return importForms(lang) != nil || lang == "rust" || lang == "go"
		}
	}
	return false
}

// isTestFile: the file holds tests. What they load is under test, and what it
// sends goes to doubles.
func isTestFile(file string) bool {
	base := path.Base(file)
	name, _, _ := strings.Cut(base, ".")
	return strings.HasPrefix(base, "test_") || strings.HasSuffix(name, "_test") || strings.HasSuffix(name, "_spec") || base == "conftest.py" ||
		strings.Contains(base, ".test.") || strings.Contains(base, ".spec.")
}

// readAt reads a file by a name that t.dir is in already.
func (r *reading) readAt(name string) (text, file string, ok bool) {
	defer func(dir string) { r.tree.dir = dir }(r.tree.dir)
	r.tree.dir = ""
	return r.tree.read(name)
}

// places are the files that a name may stand for, the likeliest first.
func (f importForm) places(name, base, here string) []string {
	name = strings.TrimPrefix(name, "file:")
	dirs := []string{here}
	if f.there {
		dirs[0] = base
		if f.any && base != here {
			dirs = append(dirs, here)
		}
	}
	if rest, ok := strings.CutPrefix(name, "@/"); ok && f.there { // the usual alias of a bundler
		name, dirs = "src/"+rest, []string{here}
	} else if !f.any && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "/") && !strings.Contains(name, "/") && path.Ext(name) == "" {
		return nil // a library
	}
	var out []string
	for _, d := range dirs {
		for _, e := range f.exts {
			if e == "" && path.Ext(name) == "" && len(f.exts) > 1 {
				continue // a folder, or a file that no loader takes
			}
			out = append(out, path.Clean(joinDir(d, name+e)))
		}
		if bare, ok := strings.CutSuffix(name, ".js"); ok {
			out = append(out, path.Clean(joinDir(d, bare+".ts"))) // as TypeScript names its own output
		} else if bare, ok := strings.CutSuffix(name, ".mjs"); ok {
			out = append(out, path.Clean(joinDir(d, bare+".mts")))
		}
	}
	return out
}

// namedBehind lists the strings in front of which one of the words stands.
func (s *source) namedBehind(f importForm) []string {
	var out []string
	for _, l := range s.lits {
		if len(out) == maxImports || len(l.text) > 200 || strings.ContainsAny(l.text, " \n$*<>") {
			continue
		}
		before := s.code[max(0, l.start-80):l.start]
		before = strings.TrimRight(before, " \t(")
		name := l.text
		for _, here := range []string{"__DIR__ .", "__DIR__.", "dirname(__FILE__) .", "dirname(__FILE__).", "__dir__ +", "SCRIPT_DIR,"} {
			if rest, ok := strings.CutSuffix(before, here); ok {
				before, name = strings.TrimRight(rest, " \t("), strings.TrimPrefix(l.text, "/")
			}
		}
		i := len(before)
		for i > 0 && (isIdent(before[i-1]) || before[i-1] == '.') {
			i--
		}
		word := before[i:]
		if strings.HasPrefix(strings.TrimLeft(before[:i]+" ", "\n"), "new ") && word == "" || word == "" {
			continue
		}
		if strings.Contains(f.words, " "+word+" ") {
			out = append(out, name)
		}
	}
	return out
}

// pythonModule is what one import statement asks for.
type pythonModule struct {
	name  string   // with the dots in front of a relative one
	names []string // from NAME import these
}

// pythonModules lists the modules that a Python text imports.
func (s *source) pythonModules() []pythonModule {
	var out []pythonModule
	lines := strings.Split(strings.ReplaceAll(s.code, "\\\n", " "), "\n")
	for i, line := range lines {
		for stmt := range strings.SplitSeq(strings.TrimSpace(line), ";") {
			stmt = strings.TrimSpace(stmt)
			for _, p := range []string{"try:", "else:"} {
				stmt = strings.TrimSpace(strings.TrimPrefix(stmt, p))
			}
			if rest, ok := strings.CutPrefix(stmt, "import "); ok {
				for m := range strings.SplitSeq(rest, ",") {
					if f := strings.Fields(m); len(f) > 0 {
						out = append(out, pythonModule{name: f[0]})
					}
				}
			}
			rest, ok := strings.CutPrefix(stmt, "from ")
			mod, what, is := strings.Cut(rest, " import ")
			if !ok || !is {
				continue
			}
			for k := i + 1; strings.Contains(what, "(") && !strings.Contains(what, ")") && k < len(lines) && k < i+20; k++ {
				what += " " + lines[k]
			}
			m := pythonModule{name: strings.TrimSpace(mod)}
			for w := range strings.SplitSeq(strings.Trim(what, "() "), ",") {
				if f := strings.Fields(strings.Trim(w, "() ")); len(f) > 0 {
					m.names = append(m.names, f[0])
				}
			}
			out = append(out, m)
		}
		if len(out) >= maxImports {
			break
		}
	}
	for _, l := range s.lits {
		before := strings.TrimRight(s.code[max(0, l.start-40):l.start], "( ")
		if plainModule(l.text) && (strings.HasSuffix(before, "import_module") || strings.HasSuffix(before, "__import__") || strings.HasSuffix(before, "run_module")) {
			out = append(out, pythonModule{name: l.text})
		}
		if strings.HasSuffix(before, "open") && strings.HasSuffix(l.text, ".py") && strings.Contains(s.code[:l.start], "exec(") {
			out = append(out, pythonModule{name: "/" + l.text})
		}
	}
	return out
}

func plainModule(s string) bool { return s != "" && plainWord(strings.ReplaceAll(s, ".", "_")) }

// notOfProject are modules of Python's own library that scripts import, which
// are not looked for.
const notOfProject = " os sys re json subprocess time datetime pathlib typing argparse logging math random collections itertools functools shutil tempfile io csv hashlib base64 uuid copy glob " +
	"string textwrap threading multiprocessing asyncio contextlib dataclasses enum abc urllib http socket ssl email smtplib sqlite3 unittest platform signal traceback inspect importlib runpy " +
	"warnings types operator struct zipfile tarfile gzip getpass configparser pprint queue secrets statistics decimal fractions heapq bisect select shlex stat errno ctypes __future__ " +
	"requests httpx numpy pandas pytest yaml boto3 torch click fastapi flask django pydantic aiohttp rich typer tqdm "

// loadModule loads a module with the packages that it lies in.
func (r *reading) loadModule(m pythonModule, base string, load func(...string) bool) {
	if f, ok := strings.CutPrefix(m.name, "/"); ok {
		load(joinDir(r.tree.dir, f))
		return
	}
	name := strings.TrimLeft(m.name, ".")
	up := len(m.name) - len(name)
	first, _, _ := strings.Cut(name, ".")
	if up == 0 && strings.Contains(notOfProject, " "+first+" ") || !plainModule(name) && name != "" {
		return
	}
	roots := []string{base}
	if up > 1 {
		roots[0] = path.Join(base, strings.Repeat("../", up-1))
	}
	if up == 0 {
		for _, d := range append(r.tree.modules, r.tree.dir, joinDir(r.tree.dir, "src")) {
			if !slices.Contains(roots, d) {
				roots = append(roots, d)
			}
		}
	}
	at := strings.ReplaceAll(name, ".", "/")
	for _, root := range roots {
		found := false
		for i := range strings.Split(at, "/") {
			if part := strings.Join(strings.Split(at, "/")[:i+1], "/"); part != at {
				found = load(path.Join(root, part, "__init__.py")) || found
			}
		}
		found = at != "" && load(path.Join(root, at+".py"), path.Join(root, at, "__init__.py")) || found
		for _, n := range m.names {
			if n != "*" && (found || up > 0 || len(roots) > 0 && plainWord(n)) {
				found = (at == "" || path.Join(root, at) != path.Join(root)) && load(path.Join(root, at, n+".py")) || found
			}
		}
		if found {
			return
		}
	}
}

// perlModules lists the files of the modules that a Perl text uses.
func (s *source) perlModules() []string {
	var out []string
	for line := range strings.Lines(s.code) {
		for _, w := range []string{"use ", "require "} {
			rest, ok := strings.CutPrefix(strings.TrimSpace(line), w)
			name := strings.TrimRight(strings.TrimSpace(rest), ";")
			name, _, _ = strings.Cut(name, " ")
			if ok && name != "" && name[0] >= 'A' && name[0] <= 'Z' && plainWord(strings.ReplaceAll(name, "::", "_")) && len(out) < maxImports {
				dir := ""
				for _, l := range s.lits {
					if strings.HasSuffix(strings.TrimRight(s.code[:l.start], " "), "use lib") {
						dir = l.text + "/"
					}
				}
				out = append(out, dir+strings.ReplaceAll(name, "::", "/")+".pm")
			}
		}
	}
	return out
}

// rustModules lists the modules that a Rust text declares.
func (s *source) rustModules() []string {
	var out []string
	for line := range strings.Lines(s.code) {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(line, "pub ")
		if name, ok := strings.CutPrefix(line, "mod "); ok && strings.HasSuffix(name, ";") && len(out) < maxImports {
			out = append(out, strings.TrimSuffix(name, ";"))
		}
	}
	return out
}
