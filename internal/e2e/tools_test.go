//go:build e2e

package e2e

import (
	"encoding/json"
	"testing"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// Every tool that the client offers, called once, right or wrong, asks before
// it runs: a tool that did not would end a good night as unguarded.
func TestNoToolOfTheClientEndsANightAsUnguarded(t *testing.T) {
	t.Parallel()
	title := "Try every tool"
	tool := func(name, input string) fakeapi.Turn {
		return fakeapi.Call(fakeapi.Tool(name, json.RawMessage(input)))
	}
	w := newWorld(t, fakeapi.Script{{Match: title, Turns: []fakeapi.Turn{
		tool("Read", `{"file_path":"README"}`),
		tool("Write", `{"file_path":"n.txt","content":"a\n"}`),
		tool("Edit", `{"file_path":"n.txt","old_string":"a","new_string":"b"}`),
		tool("NotebookEdit", `{"notebook_path":"x.ipynb","new_source":"1","edit_mode":"insert","cell_type":"code"}`),
		tool("ToolSearch", `{"query":"select:TodoWrite","max_results":3}`),
		tool("TodoWrite", `{"todos":[{"content":"a","status":"pending","activeForm":"a"}]}`),
		tool("TaskCreate", `{"subject":"a","description":"b"}`),
		tool("TaskList", `{}`),
		tool("TaskStop", `{"task_id":"nothing"}`),
		tool("Skill", `{"skill":"simplify"}`),
		tool("ReportFindings", `{"findings":[]}`),
		tool("ExitWorktree", `{"action":"keep"}`),
		tool("ExitPlanMode", `{"plan":"p"}`),
		tool("AskUserQuestion", `{"questions":[]}`),
		tool("Glob", `{"pattern":"*"}`),
		tool("Grep", `{"pattern":"x"}`),
		tool("WebFetch", `{"url":"http://127.0.0.1:1/","prompt":"x"}`),
		tool("WebSearch", `{"query":"go testing"}`),
		tool("BashOutput", `{"bash_id":"1"}`),
		tool("NoSuchTool", `{}`),
		tool("Bash", `{"no":"command"}`),
		fakeapi.Say("done"),
	}}})
	w.stories("", title)
	w.loop("run")
	diff(t, "outcomes", []string{"S1 unproven"}, outcomes(w.report()))
}
