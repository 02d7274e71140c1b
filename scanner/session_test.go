package scanner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
)

// at puts a time into a line.
func at(minute int, line string) string {
	return strings.Replace(line, "{", fmt.Sprintf(`{"timestamp":"2026-11-30T03:%02d:00Z","cwd":"/p",`, minute), 1)
}

// scanSession scans the files of one session, in the order of their names.
func scanSession(t *testing.T, files map[string][]string) (hits []Hit, calls int) {
	t.Helper()
	ses := NewSession()
	o := Options{Set: builtin(t), Session: ses}
	text := map[string]string{}
	for name, lines := range files {
		text[name] = strings.Join(lines, "\n")
		o.File = name
		if err := ses.Gather(t.Context(), strings.NewReader(text[name]), o); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{}
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		o.File = name
		stats, err := Scan(context.Background(), strings.NewReader(text[name]), o, func(h Hit) error {
			if h.Evidence == policy.Executed {
				hits = append(hits, h)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		calls += stats.Calls
	}
	return hits, calls
}

// What one agent of a session wrote is what another runs, whichever of their
// files is read first.
func TestFilesOfOneSession(t *testing.T) {
	push := "#!/bin/sh\ngit push\n"
	tests := map[string]struct {
		files map[string][]string
		want  string
	}{
		"written by the main agent": {map[string][]string{
			"b.jsonl":     {at(1, write("w", "/p/x.sh", push)), at(2, bashUse("c", "ls"))},
			"agent.jsonl": {at(3, bashUse("run", "./x.sh"))},
		}, "written at line 1 of b.jsonl: git push; run at line 1: ./x.sh"},
		"written by the subagent": {map[string][]string{
			"a.jsonl":     {at(1, bashUse("c", "ls")), at(4, bashUse("run", "./x.sh"))},
			"agent.jsonl": {at(3, write("w", "/p/x.sh", push))},
		}, "written at line 1 of agent.jsonl: git push; run at line 2: ./x.sh"},
		"written later": {map[string][]string{
			"a.jsonl":     {at(1, bashUse("run", "./x.sh"))},
			"agent.jsonl": {at(3, write("w", "/p/x.sh", push))},
		}, ""},
		"changed in between": {map[string][]string{
			"a.jsonl":     {at(1, write("w", "/p/x.sh", push)), at(5, bashUse("run", "./x.sh"))},
			"agent.jsonl": {at(3, edit("e", "/p/x.sh", "git push", "true"))},
		}, ""},
		"changed by the other": {map[string][]string{
			"a.jsonl":     {at(1, write("w", "/p/x.sh", "#!/bin/sh\nGO\n")), at(5, bashUse("run", "./x.sh"))},
			"agent.jsonl": {at(3, edit("e", "/p/x.sh", "GO", "git push"))},
		}, "written at line 1 of agent.jsonl: git push; run at line 2: ./x.sh"},
		"without times": {map[string][]string{
			"a.jsonl":     {initLine, bashUse("run", "./x.sh")},
			"agent.jsonl": {initLine, write("w", "/p/x.sh", push)},
		}, "written at line 2 of agent.jsonl: git push; run at line 2: ./x.sh"},
		"its own first": {map[string][]string{
			"a.jsonl":     {at(1, write("w", "/p/x.sh", push)), at(2, bashUse("run", "./x.sh"))},
			"agent.jsonl": {at(3, write("v", "/p/x.sh", "true"))},
		}, "written at line 1: git push; run at line 2: ./x.sh"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			hits, _ := scanSession(t, tt.files)
			for _, h := range hits {
				if h.ToolUseID == "run" {
					got = h.Excerpt
				}
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// A call of a subagent that the main file tells of too counts once.
func TestNestedCallsCountOnce(t *testing.T) {
	call := bashUse("p", "git push")
	nested := `{"type":"progress","uuid":"u","data":{"type":"agent_progress","agentId":"a1","message":` + call + `},"parentToolUseID":"toolu_task"}`
	hits, calls := scanSession(t, map[string][]string{
		"agent.jsonl": {at(1, call), done("p")},
		"main.jsonl":  {nested, nested},
	})
	if len(hits) != 1 || calls != 1 || hits[0].File != "agent.jsonl" || hits[0].Outcome != OutcomeOK {
		t.Errorf("%d calls, %+v", calls, hits)
	}
}

func TestSessionIsBounded(t *testing.T) {
	ses := NewSession()
	lines := make([]string, 0, maxSessionWrites+10)
	for i := range maxSessionWrites + 10 {
		lines = append(lines, write(fmt.Sprint(i), "/p/x.sh", "true"))
	}
	if err := ses.Gather(t.Context(), strings.NewReader(strings.Join(lines, "\n")), Options{File: "a"}); err != nil {
		t.Fatal(err)
	}
	if len(ses.writes) != maxSessionWrites {
		t.Errorf("%d writes are kept", len(ses.writes))
	}
}
