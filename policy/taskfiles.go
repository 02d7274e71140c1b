package policy

import (
	"strings"
)

// readJustfile reads the recipes of a justfile.
func readJustfile(text, file string) *taskfile {
	t := &taskfile{lang: "shell", vars: map[string]string{}, tasks: map[string]*task{}, file: file}
	var k *task
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimSpace(line)
		if k != nil && bare != "" && (line[0] == ' ' || line[0] == '\t') {
			k.line(bare, file, n)
			continue
		}
		if bare == "" || strings.HasPrefix(bare, "#") || strings.HasPrefix(bare, "[") || strings.HasPrefix(bare, "set ") {
			continue
		}
		k = nil
		head, rest, ok := strings.Cut(bare, ":")
		name, value, set := strings.Cut(bare, ":=")
		switch {
		case strings.HasPrefix(bare, "alias ") && set:
			t.tasks[strings.TrimSpace(strings.TrimPrefix(name, "alias "))] = &task{needs: []string{strings.TrimSpace(value)}}
		case set && !strings.ContainsAny(strings.TrimPrefix(strings.TrimSpace(name), "export "), " "):
			t.vars[strings.TrimPrefix(strings.TrimSpace(name), "export ")] = strings.Trim(strings.TrimSpace(value), `"'`)
		case ok:
			if f := strings.Fields(strings.TrimPrefix(head, "@")); len(f) > 0 {
				k = t.add(f[0])
				k.params = f[1:]
				k.needs = justNeeds(rest)
			}
		}
	}
	return t
}

// justNeeds are the recipes behind the colon: a, (b "arg"), && c.
func justNeeds(s string) []string {
	s, _, _ = strings.Cut(s, "#")
	var out []string
	inside := false
	for w := range strings.FieldsSeq(strings.ReplaceAll(s, "&&", " ")) {
		if !inside {
			out = append(out, strings.Trim(w, "()"))
		}
		inside = (inside || strings.HasPrefix(w, "(")) && !strings.HasSuffix(w, ")")
	}
	return out
}

// line adds a line to a recipe. One that goes on, and the lines of a script
// with a first line of its own, are one.
func (k *task) line(text, file string, n int) {
	if last := len(k.lines) - 1; last >= 0 {
		l := &k.lines[last]
		if strings.HasSuffix(l.text, `\`) || strings.HasPrefix(k.lines[0].text, "#!") {
			l.text = strings.TrimSuffix(l.text, `\`) + "\n" + text
			return
		}
	}
	k.lines = append(k.lines, recipeLine{text: strings.TrimLeft(text, "@-"), file: file, line: n})
}

// readTaskfile reads the tasks of a Taskfile: as much YAML as they are written
// in.
func readTaskfile(text, file string) *taskfile {
	t := &taskfile{lang: "shell", vars: map[string]string{}, tasks: map[string]*task{}, file: file}
	section, key := "", ""
	taskAt, blockAt := -1, -1
	var k *task
	n := 0
	for line := range strings.Lines(text) {
		n++
		bare := strings.TrimSpace(line)
		if bare == "" || strings.HasPrefix(bare, "#") {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if blockAt >= 0 && indent > blockAt && k != nil {
			k.lines[len(k.lines)-1].text += "\n" + bare
			continue
		}
		blockAt = -1
		name, value, _ := strings.Cut(bare, ":")
		value = strings.TrimSpace(value)
		switch {
		case indent == 0:
			section, k, taskAt = name, nil, -1
		case section == "vars" || section == "env":
			t.vars[name] = strings.Trim(value, `"'`)
		case section != "tasks":
		case taskAt < 0 || indent <= taskAt:
			taskAt = indent
			k = t.add(strings.Trim(name, `"'`))
			if key = "cmds"; value != "" {
				k.yaml("- "+value, file, n)
			}
		case strings.HasPrefix(bare, "- ") && (key == "cmds" || key == "deps"):
			if k.yaml(bare, file, n, key) {
				blockAt = indent
			}
		case !strings.HasPrefix(bare, "- ") && (name == "cmds" || name == "deps" || name == "cmd"):
			if key = name; value != "" && k.yaml("- "+value, file, n, key) {
				blockAt = indent
			}
		case name == "task" || name == "cmd":
			k.yaml("- "+bare, file, n, key)
		default:
			if indent <= taskAt+2 {
				key = name
			}
		}
	}
	return t
}

// yaml adds one item of cmds or deps; it reports whether a block begins.
func (k *task) yaml(item, file string, n int, key ...string) bool {
	s := strings.TrimSpace(strings.TrimPrefix(item, "-"))
	if strings.HasPrefix(s, "[") {
		for x := range strings.SplitSeq(strings.Trim(s, "[]"), ",") {
			k.yaml("- "+strings.Trim(x, ` "'`), file, n, key...)
		}
		return false
	}
	for _, p := range []string{"task:", "cmd:"} {
		rest, ok := strings.CutPrefix(strings.Trim(s, "{} "), p)
		if !ok {
			continue
		}
		rest = strings.Trim(strings.TrimSpace(rest), `"'`)
		if p == "task:" {
			rest, _, _ = strings.Cut(rest, ",")
			k.needs = append(k.needs, strings.TrimSpace(rest))
			return false
		}
		s = rest
	}
	if len(key) > 0 && key[0] == "deps" {
		k.needs = append(k.needs, strings.Trim(s, `"'`))
		return false
	}
	block := strings.HasPrefix(s, "|") || strings.HasPrefix(s, ">")
	if block {
		s = ""
	}
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	k.lines = append(k.lines, recipeLine{text: s, file: file, line: n})
	return block
}

// readRakefile reads the tasks of a Rakefile, each with the Ruby in it.
func readRakefile(text, file string) *taskfile {
	t := &taskfile{lang: "ruby", vars: map[string]string{}, tasks: map[string]*task{}, file: file}
	var spaces []string
	var k *task
	n, at := 0, 0
	for line := range strings.Lines(text) {
		n++
		bare := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		word, rest, _ := strings.Cut(bare, " ")
		switch {
		case k != nil && bare == "end" && indent <= at:
			k = nil
		case k != nil:
			k.lines = append(k.lines, recipeLine{text: bare, file: file, line: n})
		case word == "namespace":
			spaces = append(spaces, rakeName(rest))
		case bare == "end" && len(spaces) > 0:
			spaces = spaces[:len(spaces)-1]
		case word == "task" || word == "multitask":
			name := strings.Join(append(spaces[:len(spaces):len(spaces)], rakeName(rest)), ":")
			k, at = t.add(name), indent
			if _, needs, ok := strings.Cut(rest, "=>"); ok {
				k.rakeNeeds(needs)
			} else if _, needs, ok := strings.Cut(strings.TrimPrefix(rest, ":"), ": "); ok {
				k.rakeNeeds(needs)
			}
			if _, block, ok := strings.Cut(rest, "{"); ok || !strings.HasSuffix(bare, "do") && !strings.Contains(bare, " do ") {
				k.lines = append(k.lines, recipeLine{text: strings.TrimSuffix(block, "}"), file: file, line: n})
				k = nil
			}
		}
	}
	return t
}

func rakeName(s string) string {
	s = strings.TrimLeft(s, ` :"'(`)
	if i := strings.IndexFunc(s, func(c rune) bool {
		return c != '_' && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')
	}); i >= 0 {
		s = s[:i]
	}
	return s
}

func (k *task) rakeNeeds(s string) {
	s, _, _ = strings.Cut(s, " do")
	for _, w := range strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune("[], ", c) }) {
		if w = strings.Trim(w, `:"'`); w != "" && w != "do" {
			k.needs = append(k.needs, w)
		}
	}
}
