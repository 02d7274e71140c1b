package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// runners is the table of task runners, made once.
func (s *Set) runners() []taskRunner { return s.table().runners }

// operandsOf are the words that are no options; valued are the options whose
// value is the next word.
func operandsOf(argv []shell.Word, valued string) []shell.Word {
	var out []shell.Word
	for i := 0; i < len(argv); i++ {
		switch w := argv[i].Text; {
		case w == "--":
			return append(out, argv[i+1:]...)
		case strings.Contains(valued, " "+w+" "):
			i++
		case len(w) > 1 && w[0] == '-':
		default:
			out = append(out, argv[i])
		}
	}
	return out
}

// optionValues are the words behind options, and what is glued to them by =.
func optionValues(argv []shell.Word) map[string][]string {
	out := map[string][]string{}
	for i, w := range argv {
		if len(w.Text) < 2 || w.Text[0] != '-' {
			continue
		}
		name, value, glued := strings.Cut(w.Text, "=")
		switch {
		case w.Text == "--":
			return out
		case glued:
			out[name] = append(out[name], value)
		case i+1 < len(argv):
			out[name] = append(out[name], argv[i+1].Text)
		}
	}
	return out
}

func asWords(list []string) []shell.Word {
	out := make([]shell.Word, 0, len(list))
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, shell.Word{Text: s})
		}
	}
	return out
}

func containsAnyWord(argv []shell.Word, words ...string) bool {
	return slices.ContainsFunc(argv, func(w shell.Word) bool { return containsString(words, w.Text) })
}

// dropWord leaves out the first word that reads so.
func dropWord(argv []shell.Word, text string) []shell.Word {
	if i := slices.IndexFunc(argv, func(w shell.Word) bool { return w.Text == text }); i >= 0 {
		return slices.Concat(argv[:i], argv[i+1:])
	}
	return argv
}

func sortedTasks(t *taskfile) []string { return slices.Sorted(maps.Keys(t.tasks)) }

// toxNames are the environments that tox runs; none are those of its list.
func toxNames(words []shell.Word, opts map[string][]string) taskNames {
	n := taskNames{each: true}
	for _, v := range append(opts["-e"], opts["--env"]...) {
		n.words = append(n.words, asWords(strings.Split(v, ","))...)
	}
	if len(n.words) == 0 {
		n.words = asWords([]string{"\x00list"})
	}
	return n
}

// composeNames are the services that compose starts.
func composeNames(prog string, words []shell.Word) (n taskNames, ok bool) {
	if prog == "docker" {
		if len(words) == 0 || words[0].Text != "compose" {
			return n, false
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return n, false
	}
	n.each = true
	switch words[0].Text {
	case "up", "start", "restart", "watch":
		n.words, n.all = words[1:], len(words) == 1
		return n, true
	case "run":
		n.words = words[1:min(2, len(words))]
		return n, len(words) == 2 // with its own command, it does not run the service's
	}
	return n, false
}

// hookNames are the hooks that pre-commit runs.
func hookNames(words []shell.Word, opts map[string][]string) (n taskNames, ok bool) {
	if len(words) == 0 || words[0].Text != "run" && words[0].Text != "hook-impl" {
		return n, false
	}
	stage := "pre-commit"
	for _, v := range slices.Concat(opts["--hook-stage"], opts["-s"], opts["--hook-type"]) {
		stage = v
	}
	n.each = true
	if words[0].Text == "run" && len(words) > 1 {
		n.words = asWords([]string{words[1].Text + "@" + stage})
	} else {
		n.words = asWords([]string{"@" + stage})
	}
	return n, true
}
