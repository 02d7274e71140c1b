//go:build e2e

package e2e

import (
	"io"
	"os"
	"path/filepath"

	"github.com/seed-b23e517c/loop/internal/selftest"
)

// mcpMain is the MCP server of the self-test: it appends what was called to
// the file args[0].
func mcpMain(args []string, in io.Reader, out io.Writer) int {
	if len(args) != 1 || selftest.ServeMCP(args[0], in, out) != nil {
		return 2
	}
	return 0
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
