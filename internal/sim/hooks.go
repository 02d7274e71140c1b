package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// hook is one command or address of the settings file.
type hook struct {
	Type      string            `json:"type"`
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	URL       string            `json:"url,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Timeout   float64           `json:"timeout"` // seconds
	OnFailure string            `json:"onFailure"`
}

type hookGroup struct {
	Matcher string `json:"matcher"`
	Hooks   []hook `json:"hooks"`
}

type settings struct {
	DisableAllHooks bool                   `json:"disableAllHooks"`
	Hooks           map[string][]hookGroup `json:"hooks"`
}

// readSettings reads the --settings value. What is not valid is ignored
// without a word, as the client does in print mode; only a file that is not
// there is an error.
func readSettings(value string) (settings, error) {
	var s settings
	if value == "" {
		return s, nil
	}
	b := []byte(value)
	if !json.Valid(b) {
		var err error
		if b, err = os.ReadFile(value); err != nil {
			return s, errors.New("Error: Settings file not found: " + value)
		}
	}
	if json.Unmarshal(b, &s) != nil || !s.valid() || s.DisableAllHooks {
		return settings{}, nil
	}
	return s, nil
}

func (s settings) valid() bool {
	for _, groups := range s.Hooks {
		for _, g := range groups {
			for _, h := range g.Hooks {
				if !slices.Contains([]string{"", "block", "allow"}, h.OnFailure) {
					return false
				}
			}
		}
	}
	return true
}

// of lists the hooks of an event for a tool.
func (s settings) of(event, tool string) []hook {
	var out []hook
	for _, g := range s.Hooks[event] {
		if g.matches(tool) {
			out = append(out, g.Hooks...)
		}
	}
	return out
}

// matches knows the plain matchers; a name is exact and case-sensitive.
func (g hookGroup) matches(tool string) bool {
	switch g.Matcher {
	case "", "*", ".*":
		return true
	}
	names := strings.FieldsFunc(g.Matcher, func(r rune) bool { return r == '|' || r == ',' })
	return slices.Contains(names, tool)
}

// line is how the client names a hook in a refusal.
func (h hook) line() string {
	if h.Type == "http" {
		return h.URL
	}
	return strings.Join(append([]string{h.Command}, h.Args...), " ")
}

// answer is what one hook said.
type answer struct {
	stdout, stderr string
	exit           int
	timedOut       bool
	decision       string // allow, deny, ask; "" = none
	reason         string
	updated        json.RawMessage // updatedToolOutput
}

const defaultHookTimeout = 600 * time.Second

// run runs the hook with input on its standard input.
func (h hook) run(ctx context.Context, event string, input []byte, env []string, dir string) answer {
	timeout := defaultHookTimeout
	if h.Timeout > 0 {
		timeout = time.Duration(h.Timeout * float64(time.Second))
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if h.Type == "http" {
		a := h.post(ctx, input)
		h.judge(&a, event)
		return a
	}
	cmd := exec.CommandContext(ctx, h.Command, h.Args...)
	if h.Args == nil {
		cmd = exec.CommandContext(ctx, "/bin/sh", "-c", h.Command)
	}
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &errOut
	cmd.Env, cmd.Dir = env, dir
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	a := answer{stdout: out.String(), stderr: errOut.String(), timedOut: errors.Is(ctx.Err(), context.DeadlineExceeded)}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		a.exit = exit.ExitCode()
	case err != nil:
		a.exit = 127
		a.stderr += err.Error()
	}
	h.judge(&a, event)
	return a
}

// post sends the input to an address. A status other than 2xx, a body that is
// no JSON and no answer at all are failures; an empty body says nothing.
func (h hook) post(ctx context.Context, input []byte) answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(input))
	if err != nil {
		return answer{exit: 127, stderr: err.Error()}
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range h.Headers {
		req.Header.Set(k, v)
	}
	// A transport of its own: the next hook must not find a dead connection.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return answer{exit: 127, stderr: err.Error(), timedOut: errors.Is(ctx.Err(), context.DeadlineExceeded)}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return answer{exit: 127, stderr: err.Error()}
	case resp.StatusCode/100 != 2:
		return answer{exit: 127, stderr: resp.Status}
	case len(body) > 0 && !json.Valid(body):
		return answer{exit: 127, stderr: "not JSON"}
	}
	return answer{stdout: string(body)}
}

type hookJSON struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Specific *struct {
		Event    string          `json:"hookEventName"`
		Decision string          `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason"`
		Updated  json.RawMessage `json:"updatedToolOutput"`
	} `json:"hookSpecificOutput"`
}

// judge reads the decision out of the exit code and the output. Output that
// is no JSON object is plain text and decides nothing, whatever onFailure says.
func (h hook) judge(a *answer, event string) {
	var j hookJSON
	isJSON := strings.HasPrefix(strings.TrimSpace(a.stdout), "{") && json.Valid([]byte(a.stdout))
	bad := isJSON && json.Unmarshal([]byte(a.stdout), &j) != nil
	if sp := j.Specific; sp != nil {
		bad = bad || sp.Event != event || !slices.Contains([]string{"", "allow", "deny", "ask"}, sp.Decision)
	}
	switch {
	case a.timedOut:
		h.failed(a, `timed out; blocking because onFailure is "block"`)
	case a.exit == 2:
		a.decision, a.reason = "deny", "["+h.line()+"]: "+strings.TrimSpace(a.stderr)
	case a.exit != 0 && a.exit != 1, a.exit == 1 && !isJSON, bad:
		h.failed(a, `failed; blocking because onFailure is "block"`+"\n"+strings.TrimSpace(a.stderr))
	case j.Specific != nil:
		a.decision, a.reason, a.updated = j.Specific.Decision, j.Specific.Reason, j.Specific.Updated
	case j.Decision == "block":
		a.decision, a.reason = "deny", j.Reason
	}
}

// failed is a hook's own failure: nothing, unless it is set to block.
func (h hook) failed(a *answer, why string) {
	a.decision = ""
	if h.OnFailure == "block" {
		a.decision, a.reason = "deny", "["+h.line()+"]: "+why
	}
}
