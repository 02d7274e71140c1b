package transcript

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// jsTool is how a program that Codex runs calls a tool.
var jsTool = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\btools(?:\.([A-Za-z_$][\w$]*)|\[\s*["'` + "`" + `]([\w.$-]+)["'` + "`" + `]\s*\])\s*\(\s*`)
})

// jsCommand finds the command among the arguments of such a call.
var jsCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`["']?\b(?:cmd|command)\b["']?\s*:\s*`) })

// maxJSCalls is how many calls of one program are listed.
const maxJSCalls = 256

// jsCalls adds the calls of tools that a program makes, as far as they are
// spelled out, and the program itself. The first has the id of the program,
// whose result is theirs.
func (d *lineDecoder) jsCalls(id, code string, ev Event) {
	at := jsTool().FindAllStringSubmatchIndex(code, maxJSCalls)
	n := 0
	for i, m := range at {
		end := len(code)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		name := code[max(m[2], m[4]):max(m[3], m[5])]
		if c := jsCall(name, code[m[1]:end]); c != nil {
			if n++; n > 1 {
				c.ID = fmt.Sprintf("%s#%d", id, n)
			} else {
				c.ID = id
			}
			d.addCall(c, ev)
		}
	}
	input, err := json.Marshal(map[string]string{"language": "javascript", "code": code})
	if err != nil {
		return
	}
	if n > 0 {
		id += "#0"
	}
	d.addCall(&Call{ID: id, Name: "exec", Input: input}, ev)
}

func jsCall(name, args string) *Call {
	c := &Call{Name: name}
	if value, ok := jsString(args); ok { // apply_patch("...")
		c.Input, _ = json.Marshal(value)
		return c
	}
	if m := jsCommand().FindStringIndex(args); m != nil && strings.HasPrefix(args, "{") {
		if value, ok := jsString(args[m[1]:]); ok {
			c.Input, _ = json.Marshal(map[string]string{"command": value})
			return c
		}
	}
	if !strings.HasPrefix(name, "mcp__") {
		return nil
	}
	if n := valueEnd(args); strings.HasPrefix(args, "{") && n > 0 && json.Valid([]byte(args[:n])) {
		c.Input = json.RawMessage(args[:n])
	} else {
		c.Input = json.RawMessage(`{}`)
	}
	return c
}

// jsString reads the string literal at the beginning of s.
func jsString(s string) (string, bool) {
	if s == "" || strings.IndexByte("\"'`", s[0]) < 0 {
		return "", false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return b.String(), true
		case s[i] == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '\n':
			default:
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return "", false
}
