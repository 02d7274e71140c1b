//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
)

// mcpMain is a small MCP server on stdio with the tools post_message and
// read_messages; it appends what was posted to the file args[0].
func mcpMain(args []string, in io.Reader, out io.Writer) int {
	if len(args) != 1 {
		return 2
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var req struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Protocol  string          `json:"protocolVersion"`
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil || req.ID == nil {
			continue // a notification
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": req.ID, "result": map[string]any{}}
		switch req.Method {
		case "initialize":
			answer["result"] = map[string]any{
				"protocolVersion": req.Params.Protocol, "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": "chat", "version": "1"},
			}
		case "tools/list":
			answer["result"] = map[string]any{"tools": []any{mcpTool("post_message"), mcpTool("read_messages")}}
		case "tools/call":
			if err := appendLine(args[0], req.Params.Name+" "+string(req.Params.Arguments)); err != nil {
				return 1
			}
			answer["result"] = map[string]any{"content": []any{map[string]any{"type": "text", "text": "done: " + req.Params.Name}}}
		}
		if json.NewEncoder(out).Encode(answer) != nil {
			return 1
		}
	}
	return 0
}

func mcpTool(name string) map[string]any {
	return map[string]any{"name": name, "description": name, "inputSchema": map[string]any{
		"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}},
	}}
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// mcpConfig names the server of this file; it posts into the file "posted".
func (w *world) mcpConfig() string {
	return marshal(map[string]any{"mcpServers": map[string]any{"chat": map[string]any{
		"command": self(w.t), "args": []string{"act-as-mcp", filepath.Join(w.root, "posted")},
	}}})
}
