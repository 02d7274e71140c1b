package selftest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// MCPCommand is the word after which loop plays the MCP server of the test.
const MCPCommand = "self-test-mcp"

// ServeMCP is a small MCP server on stdio with the tools post_message and
// read_messages. What is called is appended to a file, a line each.
func ServeMCP(file string, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var req mcpRequest
		if json.Unmarshal(lines.Bytes(), &req) != nil || req.ID == nil {
			continue // a notification
		}
		if req.Method == "tools/call" {
			if err := appendLine(file, req.Params.Name+" "+string(req.Params.Arguments)); err != nil {
				return err
			}
		}
		if err := json.NewEncoder(out).Encode(req.answer()); err != nil {
			return err
		}
	}
	return lines.Err()
}

type mcpRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Protocol  string          `json:"protocolVersion"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
}

func (r mcpRequest) answer() map[string]any {
	result := map[string]any{}
	switch r.Method {
	case "initialize":
		result = map[string]any{
			"protocolVersion": r.Params.Protocol, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "chat", "version": "1"},
		}
	case "tools/list":
		result["tools"] = []any{mcpTool("post_message"), mcpTool("read_messages")}
	case "tools/call":
		result["content"] = []any{map[string]any{"type": "text", "text": "done: " + r.Params.Name}}
	}
	return map[string]any{"jsonrpc": "2.0", "id": r.ID, "result": result}
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
	return errors.Join(err, f.Close())
}
