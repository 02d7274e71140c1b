package main

import (
	"net/http"
	"path/filepath"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/replay"
)

// mcpPlaces says where a replay finds how MCP servers are reached. A
// configuration that cannot be read names no file: what is recorded holds.
func (a *app) mcpPlaces(w workspace.Workspace) replay.MCPPlaces {
	p := replay.MCPPlaces{
		Runs: filepath.Join(w.State, "runs"),
		HTTP: &http.Transport{Proxy: http.ProxyFromEnvironment},
	}
	if c, err := config.Load(w.User, w.Root); err == nil {
		p.Config = c.MCPConfig
	}
	if dir := a.getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		p.Client = filepath.Join(dir, ".claude.json")
	} else if home := proc.Home(a.env); home != "" {
		p.Client = filepath.Join(home, ".claude.json")
	}
	return p
}
