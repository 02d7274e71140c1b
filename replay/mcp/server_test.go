package mcp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverVar makes the test binary an MCP server and nothing else.
const serverVar = "LOOP_TEST_MCP"

func TestMain(m *testing.M) {
	if how := os.Getenv(serverVar); how != "" {
		os.Exit(serve(how))
	}
	os.Exit(m.Run())
}

func serve(how string) int {
	if how, ok := strings.CutPrefix(how, "raw "); ok {
		return raw(how)
	}
	fmt.Fprintln(os.Stderr, "server up, token", os.Getenv("TOKEN"))
	switch how {
	case "dies":
		fmt.Fprintln(os.Stderr, "no database")
		return 3
	case "hangs":
		// A grandchild that left the group is ended with it.
		cmd := exec.Command("setsid", "sleep", "600")
		_ = cmd.Start()
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"busy"}}`)
		time.Sleep(time.Hour)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name string, do func(context.Context, map[string]any) (*mcp.CallToolResult, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(ctx context.Context, _ *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, any, error) {
			res, err := do(ctx, in)
			return res, nil, err
		})
	}
	say := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	add("echo", func(_ context.Context, in map[string]any) (*mcp.CallToolResult, error) {
		dir, _ := os.Getwd()
		return say(fmt.Sprintf("got %v in %s args %v token %s", in, dir, os.Args[1:], os.Getenv("TOKEN"))), nil
	})
	add("post.message", func(context.Context, map[string]any) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "posted"}, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("abc")}}}, nil
	})
	add("refuse", func(context.Context, map[string]any) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("not allowed with %s", os.Getenv("TOKEN"))
	})
	add("hang", func(ctx context.Context, _ map[string]any) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "hanging")
		time.Sleep(time.Hour)
		return say(""), nil
	})
	add("die", func(context.Context, map[string]any) (*mcp.CallToolResult, error) {
		fmt.Fprint(os.Stderr, "dying of ", os.Getenv("TOKEN"))
		os.Exit(7)
		return nil, nil
	})
	if how == "stdio" {
		if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	return serveHTTP(how, s)
}

func serveHTTP(how string, s *mcp.Server) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	get := func(*http.Request) *mcp.Server { return s }
	var h http.Handler = mcp.NewStreamableHTTPHandler(get, nil)
	if how == "sse" {
		h = mcp.NewSSEHandler(get, nil)
	}
	fmt.Println("http://" + l.Addr().String())
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/away":
			http.Redirect(w, r, "http://example.invalid/mcp", http.StatusTemporaryRedirect)
		case r.Header.Get("Authorization") != "Bearer hunter2hunter2":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			h.ServeHTTP(w, r)
		}
	}))
	return 0
}

// onHTTP starts a server process and returns its address.
func onHTTP(t *testing.T, how string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverVar+"="+how)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	buf := make([]byte, 256)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(buf[:n]))
}
