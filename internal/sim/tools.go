package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// runTool does what the tool does: Bash and files for real, all others with
// the script's words.
func (s *session) runTool(ctx context.Context, c call) (outcome, error) {
	switch c.tool {
	case "Bash":
		return s.bash(ctx, c)
	case "Write", "Edit", "Read":
		return s.file(c), nil
	case "Agent":
		return s.delegate(ctx, c)
	}
	if c.step.Fails {
		return outcome{text: c.step.Output, failed: true}, nil
	}
	text := c.step.Output
	if text == "" {
		text = "ok"
	}
	blocks := []object{{"type": "text", "text": text}}
	if _, _, ok := mcpName(c.tool); ok {
		return outcome{text: blocks, result: blocks}, nil
	}
	return outcome{text: text, result: object{"success": true}}, nil
}

type fileInput struct {
	Path string  `json:"file_path"`
	Text *string `json:"content"`
	Old  *string `json:"old_string"`
	New  *string `json:"new_string"`
	All  bool    `json:"replace_all"`
}

func invalid(tool, why string) outcome {
	msg := "InputValidationError: " + tool + " failed due to the following issue:\n" + why
	return outcome{text: "<tool_use_error>" + msg + "</tool_use_error>", result: msg, failed: true, unknown: true}
}

// file is Write, Edit or Read.
func (s *session) file(c call) outcome {
	var in fileInput
	if err := json.Unmarshal(c.input, &in); err != nil || in.Path == "" {
		return invalid(c.tool, "The required parameter `file_path` is missing")
	}
	if !filepath.IsAbs(in.Path) {
		in.Path = filepath.Join(s.cwd, in.Path)
	}
	old, err := os.ReadFile(in.Path)
	exists := err == nil
	switch {
	case c.tool == "Write" && in.Text != nil:
		return write(in, exists, string(old))
	case c.tool == "Edit" && in.Old != nil && in.New != nil && exists:
		return edit(in, string(old))
	case c.tool == "Read" && exists:
		return read(in.Path, string(old))
	case c.tool != "Write" && !exists:
		return outcome{text: "File does not exist. Note: your current working directory is " + s.cwd + ".", failed: true}
	}
	return invalid(c.tool, "A required parameter is missing")
}

const fresh = " (file state is current in your context — no need to Read it back)"

func write(in fileInput, exists bool, old string) outcome {
	if err := os.MkdirAll(filepath.Dir(in.Path), 0o755); err != nil {
		return outcome{text: err.Error(), failed: true}
	}
	if err := os.WriteFile(in.Path, []byte(*in.Text), 0o644); err != nil {
		return outcome{text: err.Error(), failed: true}
	}
	if !exists {
		return outcome{text: "File created successfully at: " + in.Path + fresh, result: object{
			"type": "create", "filePath": in.Path, "content": *in.Text, "structuredPatch": []any{}, "originalFile": nil, "userModified": false,
		}}
	}
	return outcome{text: "The file " + in.Path + " has been updated successfully." + fresh, result: object{
		"type": "update", "filePath": in.Path, "content": *in.Text, "structuredPatch": patch(old, *in.Text), "originalFile": old, "userModified": false,
	}}
}

func edit(in fileInput, old string) outcome {
	n := strings.Count(old, *in.Old)
	if n == 0 || *in.Old == "" {
		msg := "String to replace not found in file.\nString: " + *in.Old
		return outcome{text: "<tool_use_error>" + msg + "</tool_use_error>", result: "Error: " + msg, failed: true, unknown: true}
	}
	times := 1
	if in.All {
		times = n
	}
	text := strings.Replace(old, *in.Old, *in.New, times)
	if err := os.WriteFile(in.Path, []byte(text), 0o644); err != nil {
		return outcome{text: err.Error(), failed: true}
	}
	return outcome{text: "The file " + in.Path + " has been updated successfully." + fresh, result: object{
		"filePath": in.Path, "oldString": *in.Old, "newString": *in.New, "originalFile": old,
		"structuredPatch": patch(old, text), "userModified": false, "replaceAll": in.All,
	}}
}

func read(path, text string) outcome {
	lines := strings.Split(text, "\n")
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d\t%s", i+1, l)
	}
	return outcome{text: b.String(), result: object{"type": "text", "file": object{
		"filePath": path, "content": text, "numLines": len(lines), "startLine": 1, "totalLines": len(lines),
	}}}
}

// patch is one hunk from the first line that differs to the last.
func patch(old, text string) []object {
	a, b := lines(old), lines(text)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []string
	for _, l := range a[:head] {
		out = append(out, " "+l)
	}
	for _, l := range a[head : len(a)-tail] {
		out = append(out, "-"+l)
	}
	for _, l := range b[head : len(b)-tail] {
		out = append(out, "+"+l)
	}
	for _, l := range a[len(a)-tail:] {
		out = append(out, " "+l)
	}
	return []object{{"oldStart": 1, "oldLines": len(a), "newStart": 1, "newLines": len(b), "lines": out}}
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
