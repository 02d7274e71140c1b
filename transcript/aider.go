package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
)

// aiderStart is the heading under which Aider's chat history goes on.
var aiderStart = []byte("# aider chat started at ")

// aiderCommand is the command that a line of Aider's chat history says was
// run: by the model, with leave, or by the person.
func aiderCommand(line string) (string, bool) {
	for _, prefix := range []string{"> Running ", "#### /run ", "#### /test ", "#### /lint ", "#### !"} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			rest = strings.TrimSpace(rest)
			return rest, rest != ""
		}
	}
	if rest, ok := strings.CutPrefix(line, "#### /git "); ok {
		return "git " + strings.TrimSpace(rest), true
	}
	return "", false
}

// aider decodes a line of Aider's chat history, nil when it tells of no call.
func (l Line) aider() []Event {
	command, ok := aiderCommand(string(l.Bytes))
	if !ok {
		return nil
	}
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return nil
	}
	return []Event{{Kind: KindCall, Line: l.Number, Call: &Call{Name: "shell", Input: input}}}
}

// isAider: the line is the heading of such a history.
func isAider(line []byte) bool {
	return len(line) > 0 && line[0] == '#' && bytes.HasPrefix(line, aiderStart)
}
