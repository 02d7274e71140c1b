package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/seed-b23e517c/loop/internal/regular"
	"github.com/seed-b23e517c/loop/policy"
)

// maxFile is the largest file of configuration or rules that is read.
const maxFile = 16 << 20

// duration is a time.Duration written as "90s", "15m" or "2h".
type duration struct{ time.Duration }

func (d *duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is not a duration like \"15m\" or \"2h\"", b)
	}
	if v <= 0 {
		return fmt.Errorf("%q: a limit must be longer than zero", b)
	}
	d.Duration = v
	return nil
}

// waiting is a duration of which zero, as "0", means never.
type waiting struct{ time.Duration }

func (w *waiting) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration like \"12h\", or \"0\" for never", b)
	}
	w.Duration = v
	return nil
}

// file is the shape of loop.toml and config.toml; a nil field was not said.
type file struct {
	Schema      *int          `toml:"schema"`
	Stories     *string       `toml:"stories"`
	Level       *policy.Level `toml:"level"`
	Model       *string       `toml:"model"`
	Billing     *string       `toml:"billing"`
	Claude      *string       `toml:"claude"`
	Gates       []string      `toml:"gates"`
	Parallel    *int          `toml:"parallel"`
	Rules       []string      `toml:"rules"`
	Patterns    []string      `toml:"patterns"`
	MemoryFiles []string      `toml:"memory_files"`
	Checks      struct {
		Baseline *bool `toml:"baseline"`
		KnownRed *bool `toml:"known_red_blocks"`
		Stories  *bool `toml:"stories"`
	} `toml:"checks"`
	Budget struct {
		Attempt *duration `toml:"attempt"`
		Silence *duration `toml:"silence"`
		Gate    *duration `toml:"gate"`
		CostUSD *float64  `toml:"cost_usd"`
		Stories *int      `toml:"stories"`

		SessionUSD    *float64 `toml:"session_usd"`
		StoryUSD      *float64 `toml:"story_usd"`
		SessionTokens *int64   `toml:"session_tokens"`
		StoryTokens   *int64   `toml:"story_tokens"`
	} `toml:"budget"`
	Retries struct {
		Attempts  *int `toml:"attempts"`
		StopAfter *int `toml:"stop_after"`
	} `toml:"retries"`
	Limits struct {
		Wait *waiting `toml:"wait"`
	} `toml:"limits"`
	Prompt struct {
		Append   *string `toml:"append"`
		Replace  *string `toml:"replace"`
		ClaudeMD *bool   `toml:"claude_md"`
	} `toml:"prompt"`
	MCP struct {
		Config *string `toml:"config"`
	} `toml:"mcp"`
	Memory struct {
		Auto *bool `toml:"auto"`
	} `toml:"memory"`
	Receipts struct {
		Enabled *bool   `toml:"enabled"`
		Format  *string `toml:"format"`
		Show    *bool   `toml:"show_in_response"`
		Cite    *bool   `toml:"cite"`
	} `toml:"receipts"`
	Git struct {
		Branch   *string  `toml:"branch"`
		Worktree *bool    `toml:"worktree"`
		Setup    []string `toml:"setup"`
		Dirty    *string  `toml:"dirty"`
	} `toml:"git"`
	Environment struct {
		Keep []string `toml:"keep"`
	} `toml:"environment"`
	Firewall struct {
		SelfTest  *bool `toml:"self_test"`
		OldClient *bool `toml:"old_client"`
	} `toml:"firewall"`
	Notify fileNotify `toml:"notify"`
	Host   fileHost   `toml:"host"`
}

// Load reads the user's own configuration and then the repository's. Either
// may be missing; userDir or root may be "".
func Load(userDir, root string) (Config, error) {
	c := Default()
	if userDir != "" {
		if err := c.read(filepath.Join(userDir, "config.toml"), false); err != nil {
			return c, err
		}
		own := filepath.Join(userDir, "rules.toml")
		if _, err := os.Stat(own); err == nil {
			c.OwnRules = append(c.OwnRules, own)
		}
	}
	if root != "" {
		if err := c.read(filepath.Join(root, FileName), true); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *Config) read(path string, repository bool) error {
	data, err := regular.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	f, err := decode(data)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if repository {
		sum := sha256.Sum256(data)
		c.Path, c.Hash = path, hex.EncodeToString(sum[:])
		if f.Level != nil && *f.Level < c.Level {
			return fmt.Errorf("%s: level = %q is looser than %q: a repository can only tighten the level; use --level, or level in your own config.toml", path, *f.Level, c.Level)
		}
		// The program that is started decides everything, so a file that an
		// agent can edit must not name it.
		if f.Claude != nil {
			return fmt.Errorf("%s: claude = %q: the program to start stands in your own config.toml or in --claude, not in the repository", path, *f.Claude)
		}
		if f.Billing != nil && *f.Billing != "" && *f.Billing != "subscription" {
			return fmt.Errorf("%s: billing = %q: what costs money stands in your own config.toml or in --billing, not in the repository", path, *f.Billing)
		}
		if on := f.Receipts.Enabled; on != nil && !*on && c.Receipts.Enabled {
			return fmt.Errorf("%s: receipts.enabled = false: what watches over the agent is switched off in your own config.toml, not in the repository", path)
		}
		if len(f.Environment.Keep) > 0 {
			return fmt.Errorf("%s: environment.keep: which credentials an agent gets stands in your own config.toml, not in the repository", path)
		}
		if f.Firewall.SelfTest != nil || f.Firewall.OldClient != nil {
			return fmt.Errorf("%s: firewall: which client is trusted stands in your own config.toml, not in the repository", path)
		}
		if key := f.Notify.own(); key != "" {
			return fmt.Errorf("%s: notify.%s: commands and addresses stand in your own config.toml, not in the repository", path, key)
		}
	}
	return c.merge(f, path, repository)
}

func decode(data []byte) (file, error) {
	var f file
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	dec := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return f, explain(err)
	}
	if f.Schema != nil && *f.Schema != Schema {
		return f, fmt.Errorf("schema = %d is not known to this version of loop (it reads %d)", *f.Schema, Schema)
	}
	return f, nil
}

// explain turns the decoder's errors into one line with a position.
func explain(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := strict.Errors[0]
		line, _ := e.Position()
		return fmt.Errorf("line %d: unknown key %q", line, strings.Join(e.Key(), "."))
	}
	var de *toml.DecodeError
	if errors.As(err, &de) {
		line, col := de.Position()
		return fmt.Errorf("line %d, column %d: %s", line, col, strings.TrimPrefix(de.Error(), "toml: "))
	}
	return err
}

func (c *Config) merge(f file, path string, repository bool) error {
	dir := filepath.Dir(path)
	abs := func(p string) string {
		if p == "" || filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(dir, p)
	}
	set(c, "stories", path, &c.Stories, f.Stories)
	set(c, "level", path, &c.Level, f.Level)
	set(c, "model", path, &c.Model, f.Model)
	set(c, "claude", path, &c.Claude, f.Claude)
	set(c, "parallel", path, &c.Parallel, f.Parallel)
	set(c, "checks.baseline", path, &c.Checks.Baseline, f.Checks.Baseline)
	set(c, "checks.known_red_blocks", path, &c.Checks.KnownRed, f.Checks.KnownRed)
	set(c, "checks.stories", path, &c.Checks.Stories, f.Checks.Stories)
	setDuration(c, "budget.attempt", path, &c.Budget.Attempt, f.Budget.Attempt)
	setDuration(c, "budget.silence", path, &c.Budget.Silence, f.Budget.Silence)
	setDuration(c, "budget.gate", path, &c.Budget.Gate, f.Budget.Gate)
	set(c, "budget.cost_usd", path, &c.Budget.CostUSD, f.Budget.CostUSD)
	set(c, "budget.stories", path, &c.Budget.Stories, f.Budget.Stories)
	set(c, "budget.session_usd", path, &c.Budget.SessionUSD, f.Budget.SessionUSD)
	set(c, "budget.story_usd", path, &c.Budget.StoryUSD, f.Budget.StoryUSD)
	set(c, "budget.session_tokens", path, &c.Budget.SessionTokens, f.Budget.SessionTokens)
	set(c, "budget.story_tokens", path, &c.Budget.StoryTokens, f.Budget.StoryTokens)
	set(c, "retries.attempts", path, &c.Retries.Attempts, f.Retries.Attempts)
	set(c, "retries.stop_after", path, &c.Retries.StopAfter, f.Retries.StopAfter)
	set(c, "billing", path, &c.Billing, f.Billing)
	if w := f.Limits.Wait; w != nil {
		set(c, "limits.wait", path, &c.Limits.Wait, &w.Duration)
	}
	set(c, "prompt.append", path, &c.Prompt.Append, f.Prompt.Append)
	set(c, "prompt.replace", path, &c.Prompt.Replace, f.Prompt.Replace)
	set(c, "prompt.claude_md", path, &c.Prompt.ClaudeMD, f.Prompt.ClaudeMD)
	set(c, "mcp.config", path, &c.MCPConfig, f.MCP.Config)
	set(c, "memory.auto", path, &c.AutoMemory, f.Memory.Auto)
	set(c, "firewall.self_test", path, &c.SelfTest, f.Firewall.SelfTest)
	set(c, "firewall.old_client", path, &c.OldClient, f.Firewall.OldClient)
	set(c, "git.branch", path, &c.Git.Branch, f.Git.Branch)
	set(c, "git.worktree", path, &c.Git.Worktree, f.Git.Worktree)
	set(c, "git.dirty", path, &c.Git.Dirty, f.Git.Dirty)
	set(c, "receipts.enabled", path, &c.Receipts.Enabled, f.Receipts.Enabled)
	set(c, "receipts.format", path, &c.Receipts.Format, f.Receipts.Format)
	set(c, "receipts.show_in_response", path, &c.Receipts.Show, f.Receipts.Show)
	set(c, "receipts.cite", path, &c.Receipts.Cite, f.Receipts.Cite)
	c.mergeNotify(f.Notify, path)
	c.mergeHost(f.Host, path, repository)
	if f.Git.Setup != nil {
		c.Git.Setup, c.Sources["git.setup"] = f.Git.Setup, path
	}
	if f.Gates != nil {
		c.Gates, c.Sources["gates"] = f.Gates, path
	}
	for _, r := range f.Rules {
		if repository {
			c.Rules = append(c.Rules, abs(r))
		} else {
			c.OwnRules = append(c.OwnRules, abs(r))
		}
	}
	c.Patterns = append(c.Patterns, f.Patterns...)
	c.MemoryFiles = append(c.MemoryFiles, f.MemoryFiles...)
	c.KeepEnv = append(c.KeepEnv, f.Environment.Keep...)
	if f.Prompt.Replace != nil {
		c.Prompt.Replace = abs(c.Prompt.Replace)
	}
	if f.MCP.Config != nil {
		c.MCPConfig = abs(c.MCPConfig)
	}
	return c.check(path)
}

func set[T any](c *Config, key, path string, dst, src *T) {
	if src != nil {
		*dst, c.Sources[key] = *src, path
	}
}

func setDuration(c *Config, key, path string, dst *time.Duration, src *duration) {
	if src != nil {
		*dst, c.Sources[key] = src.Duration, path
	}
}

// check refuses what would surprise at night rather than at the start.
func (c *Config) check(path string) error {
	if f := c.Receipts.Format; f != "v2" && f != "zc-v1" {
		return fmt.Errorf("%s: receipts.format = %q: it is \"v2\" or \"zc-v1\"", path, f)
	}
	if d := c.Git.Dirty; d != DirtyRefuse && d != DirtyStash && d != DirtyAllow {
		return fmt.Errorf("%s: git.dirty = %q: it is \"refuse\", \"stash\" or \"allow\"", path, d)
	}
	if c.Git.Branch == "" {
		return fmt.Errorf("%s: git.branch is empty: it is \"session\", \"none\" or the name of a branch", path)
	}
	if c.Git.Worktree && c.Git.Branch == BranchNone {
		return fmt.Errorf("%s: git.worktree needs a branch, and git.branch is \"none\"", path)
	}
	if c.Parallel < 1 {
		return fmt.Errorf("%s: parallel = %d: it is at least 1", path, c.Parallel)
	}
	if c.Parallel > 1 && c.Git.Branch == BranchNone {
		return fmt.Errorf("%s: parallel = %d needs a branch, and git.branch is \"none\"", path, c.Parallel)
	}
	for _, p := range c.KeepEnv {
		if _, err := pathpkg.Match(p, ""); p == "" || err != nil {
			return fmt.Errorf("%s: environment.keep: %q is no name and no pattern like \"MY_*\"", path, p)
		}
	}
	if err := c.checkNotify(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, of := range []struct {
		key      string
		commands []string
	}{{"gates", c.Gates}, {"git.setup", c.Git.Setup}} {
		if i := slices.IndexFunc(of.commands, func(line string) bool { return strings.TrimSpace(line) == "" }); i >= 0 {
			return fmt.Errorf("%s: %s: entry %d is empty", path, of.key, i+1)
		}
	}
	for i, p := range c.Patterns {
		if strings.TrimSpace(p) == "" {
			return fmt.Errorf("%s: patterns: entry %d is empty and would match everything", path, i+1)
		}
	}
	b := c.Budget
	if min(b.CostUSD, b.SessionUSD, b.StoryUSD) < 0 || b.Stories < 0 || min(b.SessionTokens, b.StoryTokens) < 0 {
		return fmt.Errorf("%s: budget: a cap cannot be negative; 0 is none", path)
	}
	if c.Retries.Attempts < 1 || c.Retries.StopAfter < 0 {
		return fmt.Errorf("%s: retries: attempts is at least 1, and stop_after at least 0, which is never", path)
	}
	if b := c.Billing; b != "" && b != "api-key" && b != "subscription" {
		return fmt.Errorf("%s: billing = %q: it is \"api-key\" or \"subscription\"", path, b)
	}
	return nil
}
