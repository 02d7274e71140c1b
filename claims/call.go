package claims

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/seed-b23e517c/loop/transcript"
)

// shells are the tools that run a command line, of this client and of others.
var shells = wordSet("bash powershell shell local_shell exec_command run_shell_command run_terminal_cmd run_terminal_command execute_command execute_bash run_command terminal command_execution")

// tools of the client that bring nothing from outside: what their results say,
// the agent has said.
var inward = wordSet("TodoWrite TodoRead TaskCreate TaskUpdate TaskGet TaskList ExitPlanMode EnterPlanMode SendMessage ReportFindings ScheduleWakeup think update_plan")

// input is what a call is told, as far as it is of use here.
type input struct {
	line     string // of a shell
	path     string // of a file
	text     string // that is written
	old      string // that it takes the place of
	inserts  bool
	edits    []struct{ Old, New string }
	patch    string
	isShell  bool
	isWriter bool
}

func inputOf(c *transcript.Call) input {
	var raw struct {
		FilePath string          `json:"file_path"`
		Notebook string          `json:"notebook_path"`
		Path     string          `json:"path"`
		File     string          `json:"filename"`
		Content  *string         `json:"content"`
		FileText *string         `json:"file_text"`
		Contents *string         `json:"contents"`
		Old      string          `json:"old_string"`
		OldStr   string          `json:"old_str"`
		New      *string         `json:"new_string"`
		NewStr   *string         `json:"new_str"`
		Source   *string         `json:"new_source"`
		Patch    string          `json:"patch"`
		Input    json.RawMessage `json:"input"`
		Edits    []struct {
			Old string `json:"old_string"`
			New string `json:"new_string"`
		} `json:"edits"`
	}
	_ = json.Unmarshal(c.Input, &raw) // of what does not fit, the rest is read
	in := input{path: cmp.Or(raw.FilePath, raw.Notebook, raw.Path, raw.File), old: cmp.Or(raw.Old, raw.OldStr), inserts: raw.Source != nil}
	name := c.Name[strings.LastIndex(c.Name, "__")+1:]
	if in.isShell = shells[strings.ToLower(strings.TrimLeft(name, "_"))]; in.isShell {
		in.line, _ = lineIn(c.Input)
	}
	for _, text := range []*string{raw.Content, raw.FileText, raw.Contents, raw.New, raw.NewStr, raw.Source} {
		if text != nil && in.path != "" {
			in.text, in.isWriter = *text, true
		}
	}
	for _, e := range raw.Edits {
		in.edits = append(in.edits, struct{ Old, New string }{e.Old, e.New})
		in.isWriter = true
	}
	if strings.Contains(c.Name, "patch") {
		in.patch, in.isWriter = raw.Patch, true
		if text := ""; in.patch == "" && json.Unmarshal(raw.Input, &text) == nil {
			in.patch = text
		}
	}
	return in
}

// lineIn is the command line in a call's input: a text, or the words of one.
func lineIn(data json.RawMessage) (string, bool) {
	var raw struct {
		Command json.RawMessage `json:"command"`
		Cmd     json.RawMessage `json:"cmd"`
	}
	if json.Unmarshal(data, &raw) != nil {
		return "", false
	}
	for _, r := range []json.RawMessage{raw.Command, raw.Cmd} {
		var line string
		var words []string
		switch {
		case len(r) == 0:
		case json.Unmarshal(r, &line) == nil:
			return line, true
		case json.Unmarshal(r, &words) == nil && len(words) > 0:
			if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
				return words[2], true // bash -lc LINE
			}
			return strings.Join(words, " "), true
		}
	}
	return "", false
}
