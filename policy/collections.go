package policy

import "strings"

// collects: the call is one of a collection, a digest or a template that
// stands in the same expression: d.setdefault(k, []).append(x).
func (s *source) collects(k call) bool {
	if k.name == "Object.create" || k.name == "axios.create" || s.lang == "go" && goLibrary(k.name) || strings.HasSuffix(k.name, ".send") && readCommand(s.code[k.start:k.end]) || restReads(k.name) || s.heldInMemory(k.name) {
		return true
	}
	at := k.start - 1 - len(k.name)
	if k.name == "" || k.name[0] != '.' || at <= 0 || at >= len(s.code) || s.code[at-1] != ')' {
		return false
	}
	depth := 0
	for i := at - 1; i >= 0; i-- {
		switch s.code[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth > 0 {
				continue
			}
			of := s.nameBefore(i)
			switch of[strings.LastIndexByte(of, '.')+1:] {
			case "setdefault", "dict", "list", "set", "sorted", "copy", "defaultdict", "Counter", "createHash", "createHmac", "sha256", "sha1", "md5", "Map", "Set", "WeakMap", "URLSearchParams", "Headers", "FormData":
				return true
			}
			return of == "hmac.new" || of == "hashlib.new"
		}
	}
	return false
}

// goLibrary: a call of a package that stays on this machine.
func goLibrary(name string) bool {
	pkg, _, _ := strings.Cut(name, ".")
	return containsString([]string{"os", "fmt", "errors", "context", "strings", "bytes", "json", "time", "filepath", "bufio", "io", "ioutil", "log", "sync", "sort", "slices", "maps", "zip", "tar", "gzip", "template"}, pkg)
}

// readCommand: the request that is sent is one that only reads, as the AWS
// library names them: new ListBucketsCommand({}).
func readCommand(args string) bool {
	_, name, ok := strings.Cut(args, "new ")
	if !ok {
		return false
	}
	for _, verb := range []string{"List", "Get", "Describe", "Head", "Query", "Scan", "BatchGet", "Select", "Search", "Lookup"} {
		if strings.HasPrefix(name, verb) {
			return true
		}
	}
	return false
}

// restReads: a method of a forge's library that only reads: rest.issues.listForRepo.
func restReads(name string) bool {
	_, method, ok := strings.Cut(name, ".rest.")
	if !ok {
		return false
	}
	method = method[strings.LastIndexByte(method, '.')+1:]
	for _, verb := range []string{"list", "get", "check", "compare", "search", "download"} {
		if strings.HasPrefix(method, verb) {
			return true
		}
	}
	return false
}

// heldInMemory: the call is a method of a variable that holds a collection:
// s = set(); s.add(x).
func (s *source) heldInMemory(name string) bool {
	obj, method, ok := strings.Cut(name, ".")
	if !ok || obj == "" || strings.Contains(method, ".") {
		return strings.Contains(name, ".searchParams.") || strings.Contains(name, ".headers.") || strings.Contains(name, ".classList.")
	}
	held, known := s.held[obj]
	if !known {
		held = s.isCollection(obj)
		if s.held == nil {
			s.held = map[string]bool{}
		}
		s.held[obj] = held
	}
	return held
}

// isCollection: the first that the variable is set to is a collection.
func (s *source) isCollection(obj string) bool {
	for at := 0; ; {
		i := strings.Index(s.code[at:], obj)
		if i < 0 {
			return false
		}
		i += at
		at = i + len(obj)
		if i > 0 && (isIdent(s.code[i-1]) || s.code[i-1] == '.') {
			continue
		}
		if rest := strings.TrimLeft(s.code[at:], " "); strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") {
			return makesCollection(strings.TrimLeft(rest[1:], " "))
		}
	}
}

func makesCollection(value string) bool {
	for _, w := range []string{"{", "[", "set(", "dict(", "list(", "deque(", "collections.", "Counter(", "defaultdict(", "OrderedDict(", "queue.", "Queue(", "asyncio.Queue", "hashlib.", "bytearray(",
		"new Map", "new Set", "new WeakMap", "new URLSearchParams", "new Headers", "new FormData", "new Array", "Object.", "Array.", "Hash.new", "Set.new"} {
		if strings.HasPrefix(value, w) {
			return true
		}
	}
	end := strings.IndexAny(value, ";\n")
	if end < 0 {
		end = len(value)
	}
	return strings.HasSuffix(strings.TrimSpace(value[:end]), ".json()")
}
