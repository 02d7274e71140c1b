package policy

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// loadKeys are the settings by which runners of tests and builds are told to
// load further files of the project.
const loadKeys = " setupFiles setupFilesAfterEnv setupFilesAfterEach globalSetup globalTeardown testEnvironment testRunner runner transform reporters resolver snapshotSerializers " +
	"watchPlugins prettierPath dependencyExtractor testSequencer filter supportFile require import file plugins presets loader loaders preset execArgv nodeArguments "

// settingsFiles are the files of data in which such settings stand, by program.
func settingsFiles(prog string) []string {
	switch prog {
	case "jest":
		return []string{"package.json", "jest.config.json"}
	case "mocha":
		return []string{"package.json", ".mocharc.json", ".mocharc.jsonc", ".mocharc.yml", ".mocharc.yaml"}
	case "ava", "c8", "nyc":
		return []string{"package.json"}
	case "babel", "eslint":
		return []string{"package.json", ".babelrc", ".babelrc.json"}
	}
	return nil
}

// namedBySettings classifies the files that the settings of a runner name.
func (r *reading) namedBySettings(prog string, c *shell.Command) []Hit {
	var hits []Hit
	for _, name := range settingsFiles(prog) {
		text, file, ok := r.file(c, name)
		if !ok {
			continue
		}
		var names []string
		if strings.HasPrefix(path.Ext(name), ".y") {
			setLines(strings.ReplaceAll(text, "\n  -", "\n- :"), ":", func(key, value string, _ int) {
				if strings.Contains(loadKeys, " "+strings.TrimLeft(key, "- ")+" ") || key == "-" {
					names = append(names, strings.Fields(value)...)
				}
			})
		} else {
			var v any
			if json.Unmarshal([]byte(text), &v) != nil {
				continue
			}
			if m, ok := v.(map[string]any); ok && name == "package.json" {
				v = m[prog]
			}
			namedInJSON(v, false, &names)
		}
		hits = append(hits, r.loadNamed(path.Dir(file), names)...)
	}
	return hits
}

// namedInJSON collects the strings behind the keys that load files.
func namedInJSON(v any, behind bool, names *[]string) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			namedInJSON(inner, behind || strings.Contains(loadKeys, " "+key+" "), names)
		}
	case []any:
		for _, inner := range v {
			namedInJSON(inner, behind, names)
		}
	case string:
		if behind {
			*names = append(*names, v)
		}
	}
}

// namedInCode lists the strings behind such keys in a configuration that is a
// program.
func (s *source) namedInCode() []string {
	var out []string
	for at := 0; at < len(s.code); {
		i := strings.IndexByte(s.code[at:], ':')
		if i < 0 {
			break
		}
		at += i + 1
		key := strings.Trim(strings.TrimRight(s.code[:at-1], " \t"), `"'`)
		for n := len(key); ; n-- {
			if n == 0 || !isIdent(key[n-1]) {
				key = key[n:]
				break
			}
		}
		if key == "" || !strings.Contains(loadKeys, " "+key+" ") {
			continue
		}
		for _, l := range s.within(at, s.valueEnd(at)) {
			out = append(out, l.text)
		}
	}
	return out
}

// valueEnd is where the value of a property ends.
func (s *source) valueEnd(at int) int {
	depth := 0
	for ; at < len(s.code); at++ {
		switch s.code[at] {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			if depth--; depth < 0 {
				return at
			}
		case ',', ';':
			if depth == 0 {
				return at
			}
		}
	}
	return at
}

// loadNamed classifies files of the project that settings in a folder name.
func (r *reading) loadNamed(dir string, names []string) []Hit {
	var hits []Hit
	slices.Sort(names)
	for _, name := range slices.Compact(names)[:min(len(slices.Compact(names)), maxImports)] {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "<rootDir>/"), "{projectRoot}/")
		if name == "" || strings.ContainsAny(name, " *$") || !strings.HasPrefix(name, ".") && !strings.Contains(name, "/") && path.Ext(name) == "" {
			continue
		}
		for _, ext := range scriptExts {
			text, file, ok := r.readAt(path.Clean(joinDir(dir, name+ext)))
			if !ok {
				continue
			}
			hits = append(hits, r.outsideOnce(file+"\x00named", func() []Hit { return r.programFile("javascript", text, file) })...)
			break
		}
	}
	return hits
}
