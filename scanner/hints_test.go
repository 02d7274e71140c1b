package scanner

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
)

// What a server says of a tool reaches the judgement of its calls, wherever
// the transcript has it, and of no other server's.
func TestAnnotations(t *testing.T) {
	const reads = `"annotations":{"readOnlyHint":true,"openWorldHint":false}`
	call := use("c", "mcp__acme__frobnicate", map[string]any{"id": 1})
	tests := map[string]struct {
		lines []string
		hits  int
	}{
		"not said":            {[]string{initLine, call}, 1},
		"tools/list":          {[]string{`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"frobnicate",` + reads + `}]}}`, call}, 0},
		"init, under servers": {[]string{`{"type":"system","subtype":"init","cwd":"/p","session_id":"s","mcp_servers":[{"name":"acme","status":"connected","tools":[{"name":"frobnicate",` + reads + `}]}]}`, call}, 0},
		"init, full name":     {[]string{`{"type":"system","subtype":"init","cwd":"/p","session_id":"s","tools":[{"name":"mcp__acme__frobnicate",` + reads + `}]}`, call}, 0},
		"a request":           {[]string{`{"type":"api-request","uuid":"u","request":{"tools":[{"name":"mcp__acme__frobnicate","input_schema":{"type":"object"},` + reads + `}]}}`, call}, 0},
		"servers by name":     {[]string{`{"type":"tools","mcpServers":{"acme":{"tools":[{"name":"frobnicate","toolAnnotations":{"readOnlyHint":true}}]}}}`, call}, 0},
		"another server's":    {[]string{`{"type":"system","subtype":"init","session_id":"s","mcp_servers":[{"name":"other","tools":[{"name":"frobnicate",` + reads + `}]}]}`, call}, 1},
		"two that differ":     {[]string{`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"frobnicate",` + reads + `}]}}`, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"frobnicate","annotations":{"readOnlyHint":false}}]}}`, call}, 1},
		"destructive":         {[]string{`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"frobnicate","annotations":{"readOnlyHint":true,"destructiveHint":true}}]}}`, call}, 1},
		"in a result's text":  {[]string{`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"ok"}]},"toolUseResult":{"tools":[{"name":"frobnicate",` + reads + `}]}}`, call}, 1},
		"beside the call":     {[]string{`{"type":"tool_use","tool_name":"mcp_acme_frobnicate","tool_id":"c","parameters":{},"toolAnnotations":{"readOnlyHint":true}}`}, 0},
		"beside it, no hint":  {[]string{`{"type":"tool_use","tool_name":"mcp_acme_frobnicate","tool_id":"c","parameters":{},"toolAnnotations":{"title":"x"}}`}, 1},
		"a verb that sends":   {[]string{`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"send_note",` + reads + `}]}}`, use("c", "mcp__acme__send_note", map[string]any{})}, 1},
		"code":                {[]string{`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"frobnicate",` + reads + `}]}}`, use("c", "mcp__acme__frobnicate", map[string]any{"code": "x"})}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			hits := 0
			_, err := Scan(context.Background(), strings.NewReader(strings.Join(tt.lines, "\n")), Options{Set: builtin(t)}, func(h Hit) error {
				if h.Evidence == policy.Executed {
					hits++
				}
				return nil
			})
			if err != nil || hits != tt.hits {
				t.Errorf("%d hits, want %d (%v)", hits, tt.hits, err)
			}
		})
	}
}
