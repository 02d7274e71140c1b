package policy

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// Classify says how far a tool call reaches. It never panics; an input that
// it cannot read is judged by its text and marked opaque.
func (s *Set) Classify(c Call) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			res = s.failed(string(c.Input), p)
		}
	}()
	if len(c.Input) > MaxInput {
		return s.tooLong(c)
	}
	in, ok := c.input()
	if !ok {
		return s.unreadable(c)
	}
	return s.call(c, in)
}

// ClassifyCommand says how far a shell command line reaches. The second
// argument is the directory it would run in, "" when that is not known; nothing
// is read from it, and a relative path is judged by its name.
func (s *Set) ClassifyCommand(command, cwd string) Result {
	return s.classifyLine(command, Call{Cwd: cwd})
}

// classifyLine classifies the command line of a call.
func (s *Set) classifyLine(command string, c Call) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			res = s.failed(command, p)
		}
	}()
	return finish(s.readingOf(c).line(command), Mentioned)
}

// failed is the answer when the classifier itself is at fault: the higher
// tier, and visibly so.
func (s *Set) failed(text string, cause any) Result {
	return finish([]Hit{opaqueHit("classifier-failed", text, fmt.Sprintf("The classifier failed: %v", cause))}, Mentioned)
}

// unreadable judges a call whose input is no JSON object.
func (s *Set) unreadable(c Call) Result {
	var words []string
	if json.Unmarshal(c.Input, &words) == nil && s.isShellTool(c.Tool) {
		return s.classifyLine(quoteWords(words), c)
	}
	var text string
	if json.Unmarshal(c.Input, &text) != nil {
		text = string(c.Input)
	}
	if s.isShellTool(c.Tool) {
		return s.classifyLine(text, c)
	}
	if isFileTool(toolKey(c.Tool)) {
		return s.fileCall(c, map[string]any{"patch": text})
	}
	hits := s.mentions(text)
	if t := s.table(); !t.localTools.has(toolKey(c.Tool)) && !t.netTools.has(toolKey(c.Tool)) && !t.wordTools.has(toolKey(c.Tool)) {
		hits = append(hits, opaqueHit("unread-input", text, "The input of the call could not be read."))
	}
	return finish(hits, Mentioned)
}

// toolKey is a tool's name without the differences between clients:
// run_shell_command, RunShellCommand and run-shell-command are one.
func toolKey(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (s *Set) isShellTool(name string) bool { return s.table().shellTools.has(toolKey(name)) }

// call classifies a call by its tool. A file of the kernel's that shows the run,
// and the port at which it is guarded, are kept from every tool.
func (s *Set) call(c Call, in map[string]any) Result {
	res := s.byTool(c, in)
	if hits := s.guardedPlace(c, in); len(hits) > 0 {
		return finish(append(hits, res.Hits...), Mentioned)
	}
	return res
}

func (s *Set) byTool(c Call, in map[string]any) Result {
	t := s.table()
	key := toolKey(c.Tool)
	if m, ok := asMCP(c, in); ok {
		args, _ := in["arguments"].(map[string]any)
		if m.Tool == c.Tool || args == nil {
			args = in
		}
		res := s.mcpCall(m, args)
		if changesFiles(m.Tool) {
			if hits := s.guardedFile(c, args); len(hits) > 0 {
				return finish(append(hits, res.Hits...), Mentioned)
			}
		}
		return res
	}
	if changesFiles(c.Tool) && !isFileTool(key) {
		if hits := s.guardedFile(c, in); len(hits) > 0 {
			return finish(hits, Mentioned)
		}
	}
	switch {
	case c.Tool == "" || t.shellTools.has(key):
		if cmd, ok := commandField(in); ok {
			if key == "writebash" || key == "writestdin" {
				cmd = strings.NewReplacer("{enter}", "\n", "\r", "\n").Replace(cmd)
			}
			return s.shellCall(cmd, in, c)
		}
		return finish(s.wordsOf(c, in), Mentioned)
	case isFileTool(key):
		res := s.fileCall(c, in)
		if hits := s.guardedFile(c, in); len(hits) > 0 {
			return finish(append(hits, res.Hits...), Written)
		}
		return res
	case key == "config" && c.Guarded != nil && in["value"] != nil:
		return finish(append(s.guardHits("guard-client", c.Tool), s.wordsOf(c, in)...), Mentioned)
	case key == "skill" || key == "slashcommand":
		return finish(append(s.wordsOf(c, in), s.skill(c, in)...), Mentioned)
	case t.wordTools.has(key), t.localTools.has(key):
		return finish(s.wordsOf(c, in), Mentioned)
	case t.netTools.has(key):
		hits := append(s.wordsOf(c, in), Hit{Rule: "net-read-tool", Tier: Local, Net: true, Why: "The tool reads the network.", Text: c.Tool})
		return finish(hits, Mentioned)
	}
	return s.unknownCall(c, in)
}

// shellCall classifies the command line of a shell tool. Some tools name the
// language of their code.
func (s *Set) shellCall(cmd string, in map[string]any, c Call) Result {
	lang, _ := in["language"].(string)
	if v, ok := in["languageId"].(string); ok && lang == "" {
		lang = v
	}
	if l := languageOf(lang); l != "" && l != "shell" || lang == "javascript" || lang == "typescript" {
		if l == "" {
			l = "javascript"
		}
		r := s.readingOf(c)
		return finish(append(r.program(l, cmd), s.wordsOf(c, cmd)...), Mentioned)
	}
	if toolKey(c.Tool) == "powershell" {
		return s.powershellCall(cmd, in, c)
	}
	res := s.classifyLine(cmd, c)
	if code, ok := in["code"].(string); ok && code == cmd && res.Tier < External {
		// Which language is not said: what sends in one of the two that such
		// tools know counts.
		r := s.readingOf(c)
		for _, h := range append(r.program("python", cmd), r.program("javascript", cmd)...) {
			if h.Tier == External && !h.Mention {
				res.Hits = append(res.Hits, h)
			}
		}
		res = finish(res.Hits, Mentioned)
	}
	if res.Verdict == VerdictLocal {
		if extra := s.wordsOf(c, without(in, cmd)); len(extra) > 0 {
			return finish(append(res.Hits, extra...), Mentioned)
		}
	}
	return res
}

// skill judges a skill or slash command by its name: what it makes the agent
// do is classified call by call, and this is the first notice of it.
func (s *Set) skill(c Call, in map[string]any) []Hit {
	for _, k := range []string{"skill", "command", "name"} {
		if v, ok := in[k].(string); ok {
			name, _, _ := strings.Cut(strings.TrimSpace(v), " ")
			if s.table().riskyName(name) {
				return []Hit{opaqueHit("opaque-skill", v, "A skill is named like one that reaches outside.")}
			}
			if hits := s.skillFile(c, strings.TrimPrefix(name, "/")); len(hits) > 0 {
				return hits
			}
		}
	}
	return nil
}

// without is the input without the field that holds the command.
func without(in map[string]any, cmd string) map[string]any {
	out := make(map[string]any, len(in))
	for k, v := range in {
		if v != cmd && k != "command" && k != "cmd" {
			out[k] = v
		}
	}
	return out
}

// commandField finds the command line of a shell-like tool's input: a string,
// or an argument list.
func commandField(in map[string]any) (string, bool) {
	for _, k := range []string{"command", "cmd", "code", "script", "shell_command", "commandLine", "command_line", "CommandLine", "input", "chars", "args", "argv"} {
		switch v := in[k].(type) {
		case string:
			if args, ok := in["args"].([]any); ok && k != "args" {
				return v + " " + quoteWords(stringsOf(args)), true
			}
			return v, true
		case []any:
			if w := stringsOf(v); len(w) > 0 {
				return quoteWords(w), true
			}
		}
	}
	return commandList(in["commands"])
}

// commandList joins the commands of a tool that takes several: strings, or
// objects with a command each.
func commandList(v any) (string, bool) {
	list, _ := v.([]any)
	lines := stringsOf(list)
	for _, x := range list {
		if m, ok := x.(map[string]any); ok {
			if s, ok := m["command"].(string); ok {
				lines = append(lines, s)
			}
		}
	}
	return strings.Join(lines, "\n"), len(lines) > 0
}

func stringsOf(list []any) []string {
	var out []string
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// wordsOf gathers the mentions of every text of an input, or part of it.
func (s *Set) wordsOf(c Call, v any) []Hit {
	if c.NoWords {
		return nil
	}
	var hits []Hit
	eachString(v, func(text string) { hits = append(hits, s.mentions(text)...) })
	return hits
}

// eachString calls f for each string of a JSON value, keys in order.
func eachString(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, x := range v {
			eachString(x, f)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			eachString(v[k], f)
		}
	}
}

// unknownCall judges a tool that no table names: by a command it carries, then
// by the verb in its name, and in doubt as external.
func (s *Set) unknownCall(c Call, in map[string]any) Result {
	t := s.table()
	words := nameWords(c.Tool)
	if t.mcp().runs(words) {
		if cmd, ok := commandField(in); ok {
			return s.shellCall(cmd, in, c)
		}
	}
	hits := s.wordsOf(c, in)
	switch t.mcp().verb(words) {
	case verbRead:
		hits = append(hits, Hit{Rule: "tool-read", Tier: Local, Net: true, Why: "The tool's name says that it only reads.", Text: c.Tool})
	case verbExternal:
		hits = append(hits, Hit{Rule: "tool-verb", Tier: External, Why: "The tool's name says that it changes something.", Text: c.Tool, Opaque: true})
	default:
		if _, ok := in["text"].(string); ok && len(in) == 1 {
			break
		}
		unknown := opaqueHit("tool-unknown", c.Tool, "Nothing is known of the tool.")
		hits = append(hits, c.Annotations.lower(unknown, in))
	}
	return finish(hits, Mentioned)
}
