package policy

import "strings"

// loads reports whether the text loads the library of this name, or a part of
// it.
func (s *source) loads(name string) bool {
	for _, m := range s.loadedOnce() {
		if rest, ok := strings.CutPrefix(m, name); ok && (rest == "" || rest[0] == '.' || rest[0] == '/') {
			return true
		}
	}
	return false
}

// maxModules is how many libraries of one text are noted.
const maxModules = 64

// loaded lists the libraries that the text loads; never nil.
func (s *source) loaded() []string {
	out := []string{}
	switch s.lang {
	case "python":
		for line := range strings.FieldsFuncSeq(s.code, func(r rune) bool { return r == '\n' || r == ';' || r == ':' }) {
			if len(out) > maxModules {
				break
			}
			out = append(out, pythonImports(strings.TrimSpace(line))...)
		}
	case "javascript":
		for _, l := range s.lits {
			before := strings.TrimRight(s.code[:l.start], " (\n")
			if strings.HasSuffix(before, "require") || strings.HasSuffix(before, "from") || strings.HasSuffix(before, "import") {
				out = append(out, packageName(l.text))
			}
			if len(out) > maxModules {
				break
			}
		}
	}
	for _, l := range s.lits { // __import__('x'), import_module('x')
		if before := s.code[:l.start]; s.lang == "python" && (strings.HasSuffix(before, "__import__(") || strings.HasSuffix(before, "import_module(")) {
			out = append(out, l.text)
		}
	}
	return out
}

// pythonImports lists the modules of an import statement.
func pythonImports(line string) []string {
	if rest, ok := strings.CutPrefix(line, "from "); ok {
		f := strings.Fields(rest)
		if len(f) < 3 || f[1] != "import" {
			return nil
		}
		out := []string{f[0]}
		for name := range strings.SplitSeq(strings.Join(f[2:], " "), ",") {
			name, _, _ = strings.Cut(strings.Trim(name, " ()"), " ")
			out = append(out, f[0]+"."+name) // from google import genai
		}
		return out
	}
	rest, ok := strings.CutPrefix(line, "import ")
	if !ok {
		return nil
	}
	var out []string
	for name := range strings.SplitSeq(rest, ",") {
		if f := strings.Fields(name); len(f) > 0 {
			out = append(out, f[0])
		}
	}
	return out
}

// moduleOf is the library that a JavaScript name stands for: a, after const a =
// require('axios') or import a from 'axios'.
func (s *source) moduleOf(name string) string {
	if name == "" || len(s.loadedOnce()) == 0 {
		return ""
	}
	module, known := s.stands[name]
	if !known {
		module = s.findModule(name)
		if s.stands == nil {
			s.stands = map[string]string{}
		}
		s.stands[name] = module
	}
	return module
}

func (s *source) findModule(name string) string {
	for _, l := range s.lits {
		before := strings.TrimRight(s.code[max(0, l.start-80):l.start], " (\n")
		head, ok := strings.CutSuffix(before, "require")
		if !ok {
			head, ok = strings.CutSuffix(before, "import")
		}
		if ok {
			head = strings.TrimSuffix(strings.TrimSpace(head), "await")
			if head, ok = strings.CutSuffix(strings.TrimSpace(head), "="); !ok {
				continue
			}
		} else if head, ok = strings.CutSuffix(before, " from"); !ok {
			continue
		}
		head = strings.TrimSpace(head)
		if rest, ok := strings.CutSuffix(head, name); ok && (rest == "" || !isIdent(rest[len(rest)-1]) && rest[len(rest)-1] != '.') {
			return packageName(l.text)
		}
	}
	return ""
}

// loadedOnce lists the libraries that the text loads.
func (s *source) loadedOnce() []string {
	if s.modules == nil {
		s.modules = s.loaded()
	}
	return s.modules
}

// packageName is the package of a JavaScript import without what says where
// it comes from: npm:stripe@14, https://esm.sh/stripe@14.
func packageName(spec string) string {
	spec = strings.TrimPrefix(strings.TrimPrefix(spec, "node:"), "npm:")
	if rest, ok := strings.CutPrefix(spec, "https://"); ok {
		_, spec, _ = strings.Cut(rest, "/")
		spec = strings.TrimPrefix(spec, "npm/")
	}
	if i := strings.LastIndexByte(spec, '@'); i > 0 {
		rest := ""
		if j := strings.IndexByte(spec[i:], '/'); j > 0 {
			rest = spec[i+j:]
		}
		spec = spec[:i] + rest
	}
	return spec
}
