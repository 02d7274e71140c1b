package stories

import (
	"encoding/json"
	"fmt"
	"strings"
)

// flagKeys are the names of a yes-or-no done mark.
func flagKeys() []string { return []string{"passes", "passed", "complete", "completed", "done"} }

const statusKey = "status"

// words is what a file calls a done and an open story in its status.
type words struct {
	done, open string
}

// readMarks finds everything in a story that says done or not done.
func readMarks(src *source, n *node) []mark {
	var marks []mark
	for _, key := range append(flagKeys(), statusKey) {
		v := n.get(key)
		if v == nil {
			continue
		}
		m := mark{key: key, start: v.start, end: v.end, raw: string(src.data[v.start:v.end])}
		if key == statusKey {
			m.done, m.known = isDoneWord(v.text), v.kind == '"' || v.kind == 'n'
		} else {
			m.done, m.known = flagValue(strings.TrimSpace(m.raw))
		}
		marks = append(marks, m)
	}
	return marks
}

// flagValue reads a yes-or-no mark. Quoted and 0/1 forms are in use; anything
// else says neither.
func flagValue(raw string) (done, known bool) {
	switch raw {
	case "true", `"true"`, "1":
		return true, true
	case "false", `"false"`, "0", "null":
		return false, true
	}
	// What only YAML and JSON5 write. Strict JSON has none of these.
	switch strings.ToLower(raw) {
	case "true", "'true'", "yes", "on":
		return true, true
	case "false", "'false'", "no", "off", "null", "~", "":
		return false, true
	}
	return false, false
}

func statusWord(s string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(s)))
}

func isDoneWord(s string) bool {
	switch statusWord(s) {
	case "done", "completed", "complete", "closed", "passed":
		return true
	}
	return false
}

func isStartedWord(s string) bool {
	switch statusWord(s) {
	case "in_progress", "inprogress", "started", "doing":
		return true
	}
	return false
}

// isHeldWord is true for a status that a person gives to a story that is not
// to be worked on.
func isHeldWord(s string) bool {
	switch statusWord(s) {
	case "blocked", "deferred", "on_hold", "cancelled", "canceled", "rejected", "skipped", "wontfix", "wont_do":
		return true
	}
	return false
}

// judge decides from the marks what state a story is in. Done needs every mark
// to say so: when they disagree, working once more is the smaller harm.
func judge(s *Story, n *node, marks []mark) {
	status := text(n.get(statusKey))
	var yes, no string
	for _, m := range marks {
		said := fmt.Sprintf("%q is %s", m.key, visible(m.raw))
		switch {
		case !m.known:
			s.Conflict = said + ", which says neither done nor not done"
		case m.done:
			yes = said
		case m.raw != "null":
			no = said
		}
	}
	if yes != "" && no != "" {
		s.Conflict = yes + " but " + no
	}
	s.Done = yes != "" && s.Conflict == ""
	if s.Done {
		return
	}
	s.InProgress = isTrue(n.get("inProgress")) || isTrue(n.get("started")) || isStartedWord(status)
	if isHeldWord(status) {
		s.Held = fmt.Sprintf("its status is %q", status)
	}
}

// fileWords finds the file's own words for a status: the most used ones, else
// those that go with the other, else the plainest.
func fileWords(list *node) words {
	done, open := map[string]int{}, map[string]int{}
	var w words
	for i := range list.items {
		v := list.items[i].get(statusKey)
		if v == nil || v.kind != '"' || v.text == "" {
			continue
		}
		switch {
		case isDoneWord(v.text):
			w.done = commoner(done, v.text, w.done)
		case !isStartedWord(v.text) && !isHeldWord(v.text):
			w.open = commoner(open, v.text, w.open)
		}
	}
	if w.done == "" {
		w.done = partner(w.open, "done", map[string]string{
			"pending": "completed", "not_started": "completed", "open": "closed",
		})
	}
	if w.open == "" {
		w.open = partner(w.done, "todo", map[string]string{
			"completed": "pending", "complete": "pending", "closed": "open", "passed": "pending",
		})
	}
	return w
}

// commoner counts a word and returns the one seen more often.
func commoner(count map[string]int, word, best string) string {
	if count[word]++; best == "" || count[word] > count[best] {
		return word
	}
	return best
}

func partner(word, fallback string, pairs map[string]string) string {
	if p, ok := pairs[statusWord(word)]; ok {
		return p
	}
	return fallback
}

// flagKey is the mark that the stories of a list use, for one that has none.
func flagKey(list *node, fallback string) string {
	count := map[string]int{}
	best, status := "", false
	for i := range list.items {
		for _, key := range flagKeys() {
			if list.items[i].get(key) != nil {
				best = commoner(count, key, best)
			}
		}
		status = status || list.items[i].get(statusKey) != nil
	}
	switch {
	case best != "":
		return best
	case status:
		return statusKey
	}
	return fallback
}

// value is how a mark is written, in the manner of the value it replaces.
func (f *File) value(key, old string, done bool) string {
	word := f.impl.words.open
	if done {
		word = f.impl.words.done
	}
	switch f.Form {
	case FormPlan, FormTasks:
		return word
	case FormMarkdown, FormCodeTask, FormChief:
		if key != statusKey {
			word = fmt.Sprint(done)
		}
		return leadOf(old) + word
	case FormYAML:
		return leadOf(old) + yamlValue(key, strings.TrimSpace(old), word, done)
	}
	if key == statusKey {
		return quoteJSON(word)
	}
	switch old {
	case `"true"`, `"false"`:
		return fmt.Sprintf(`"%t"`, done)
	case "0", "1":
		if done {
			return "1"
		}
		return "0"
	}
	return fmt.Sprint(done)
}

// leadOf is the space between a colon and its value.
func leadOf(old string) string {
	if lead := old[:len(old)-len(strings.TrimLeft(old, " \t"))]; lead != "" {
		return lead
	}
	return " "
}

func quoteJSON(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""` // cannot be: a string
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// jsonSlot is where a missing mark goes: after the last member, with the same
// line break, indent and colon as that one has.
func jsonSlot(data []byte, object *node, key string) slot {
	if len(object.members) == 0 {
		return slot{}
	}
	last := &object.members[len(object.members)-1]
	from := object.start + 1
	if n := len(object.members); n > 1 {
		from = object.members[n-2].value.end
	}
	// Only the space before the key: a comment there belongs to that key.
	gap := string(data[from:last.keyStart])
	gap = gap[len(strings.TrimRight(gap, " \t\r\n")):]
	colon := string(data[last.keyEnd:last.value.start])
	if strings.Trim(colon, ": \t\r\n") != "" {
		colon = ": " // a comment stands there
	}
	return slot{key: key, at: last.value.end, before: "," + gap + quoteJSON(key) + colon}
}
