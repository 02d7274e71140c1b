package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// Classifier says what is thought of a call, and how far it can be taken back.
type Classifier interface {
	Classify(policy.Call) policy.Result
	Undo(rules []string) string
}

// EditText is what a person may change of an action: of a shell call the
// command line, of any other its input as JSON.
func EditText(a queue.Action) string {
	a = a.AsRun()
	if a.Tool == "Bash" {
		return commandOf(a)
	}
	var b bytes.Buffer
	if json.Indent(&b, a.Input, "", "  ") != nil {
		return string(a.Input)
	}
	return b.String()
}

// NewForm is the form that an action has with a text which a person made of
// its EditText. It is nil when the text is the agent's own again.
func NewForm(a queue.Action, text string, c Classifier) (*queue.Edited, error) {
	own := a
	own.Edited = nil
	input, err := inputOf(own, text)
	if err != nil {
		return nil, err
	}
	if text == EditText(own) || sameJSON(input, own.Input) {
		return nil, nil //nolint:nilnil // the agent's own form
	}
	call := policy.Call{Tool: a.Tool, Input: input, Cwd: a.Cwd}
	res := c.Classify(call)
	form := &queue.Edited{Input: input, Command: policy.CommandOf(call), Tier: res.Tier, Rules: res.Rules(), Opaque: res.Opaque}
	form.Undo = c.Undo(form.Rules)
	if len(res.Hits) > 0 {
		form.Why = res.Hits[0].Why
	}
	return form, nil
}

// inputOf puts the text into the place that it came from; what else the call
// says stays.
func inputOf(a queue.Action, text string) (json.RawMessage, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("nothing is left of it; loop reject closes what is not to run")
	}
	input := map[string]json.RawMessage{}
	if a.Tool != "Bash" {
		if err := json.Unmarshal([]byte(text), &input); err != nil {
			return nil, fmt.Errorf("it is no longer a JSON object: %w", err)
		}
		var b bytes.Buffer
		err := json.Compact(&b, []byte(text))
		return b.Bytes(), err
	}
	if len(a.Input) > 0 && json.Unmarshal(a.Input, &input) != nil {
		input = map[string]json.RawMessage{}
	}
	var err error
	if input["command"], err = exactJSON(text); err != nil {
		return nil, err
	}
	return exactJSON(input)
}

// exactJSON is JSON without escapes that HTML alone needs.
func exactJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func sameJSON(x, y []byte) bool {
	var a, b bytes.Buffer
	return json.Compact(&a, x) == nil && json.Compact(&b, y) == nil && bytes.Equal(a.Bytes(), b.Bytes())
}

// DiffLine is one line of what an edit changed.
type DiffLine struct {
	Sign byte // '-' the agent's, '+' the person's, ' ' both
	Text string
}

// FormDiff is what a person changed of an action, line by line; nil when it
// was not edited.
func FormDiff(a queue.Action) []DiffLine {
	if a.Edited == nil {
		return nil
	}
	own := a
	own.Edited = nil
	return diffLines(strings.Split(EditText(own), "\n"), strings.Split(EditText(a), "\n"))
}

// maxDiff bounds the lines that are compared with each other.
const maxDiff = 1000

func diffLines(x, y []string) (out []DiffLine) {
	put := func(sign byte, lines []string) {
		for _, l := range lines {
			out = append(out, DiffLine{sign, l})
		}
	}
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	put(' ', x[:n])
	x, y = x[n:], y[n:]
	m := 0
	for m < len(x) && m < len(y) && x[len(x)-1-m] == y[len(y)-1-m] {
		m++
	}
	tail := x[len(x)-m:]
	x, y = x[:len(x)-m], y[:len(y)-m]
	if len(x) > maxDiff || len(y) > maxDiff {
		put('-', x)
		put('+', y)
	} else {
		out = append(out, longestCommon(x, y)...)
	}
	put(' ', tail)
	return out
}

// longestCommon compares two texts by their longest common lines.
func longestCommon(x, y []string) (out []DiffLine) {
	long := make([][]int, len(x)+1)
	for i := range long {
		long[i] = make([]int, len(y)+1)
	}
	for i := range slices.Backward(x) {
		for j := range slices.Backward(y) {
			if x[i] == y[j] {
				long[i][j] = long[i+1][j+1] + 1
			} else {
				long[i][j] = max(long[i+1][j], long[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			out = append(out, DiffLine{' ', x[i]})
			i, j = i+1, j+1
		case i < len(x) && (j == len(y) || long[i+1][j] >= long[i][j+1]):
			out = append(out, DiffLine{'-', x[i]})
			i++
		default:
			out = append(out, DiffLine{'+', y[j]})
			j++
		}
	}
	return out
}
