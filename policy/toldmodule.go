package policy

import "strings"

// toldModule classifies a Python module that a text runs as a program after
// it has set the words that the program is told: sys.argv = ['twine', 'upload'].
func (r *reading) toldModule(s *source, calls []call) []Hit {
	var argv, modules []string
	for _, k := range calls {
		name := k.name[strings.LastIndexByte(k.name, '.')+1:]
		switch {
		case name == "argv=":
			argv = s.strings(k)
		case name == "run_module" && len(s.strings(k)) > 0:
			modules = append(modules, s.strings(k)[0])
		case name == "run_path" && len(s.strings(k)) > 0:
			modules = append(modules, s.strings(k)[0])
		}
	}
	if len(argv) == 0 {
		for _, m := range modules {
			argv = []string{m} // as its name says
		}
		if len(argv) == 0 {
			return nil
		}
	}
	hits := reachOutside(r.line(quoteWords(argv)))
	for _, m := range modules {
		m = strings.TrimSuffix(m, ".__main__")
		hits = append(hits, reachOutside(r.line("python3 -m "+quoteWords(append([]string{m}, argv[1:]...))))...)
	}
	return hits
}
