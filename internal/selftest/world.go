package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/fakeapi"
	"github.com/seed-b23e517c/loop/internal/proc"
)

// world is one machine in small: home, work tree, remote, and a model.
type world struct {
	t    *test
	dir  string // everything below is inside
	repo string
	api  *fakeapi.Server
	env  []string

	ended string // the last words of a client that was started directly
}

// Names of what a planted setting would leave behind, below a world's folder.
const (
	plantedHook = "a-planted-hook-ran"
	plantedMCP  = "a-planted-server-ran"
)

// newWorld makes a world whose model says what script returns for it.
func (t *test) newWorld(name string, script func(*world) fakeapi.Script) (*world, error) {
	w := &world{t: t, dir: filepath.Join(t.dir, name)}
	w.repo = filepath.Join(w.dir, "repo")
	for _, sub := range []string{"repo", "home", "tmp", "state"} {
		if err := os.MkdirAll(filepath.Join(w.dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	w.api = fakeapi.New(script(w))
	if err := w.api.Start(); err != nil {
		return nil, err
	}
	home := filepath.Join(w.dir, "home")
	w.env = append(programEnv(t.o.Env),
		"HOME="+home, "CLAUDE_CONFIG_DIR="+filepath.Join(home, ".claude"), "TMPDIR="+filepath.Join(w.dir, "tmp"),
		"ANTHROPIC_BASE_URL="+w.api.URL, "ANTHROPIC_API_KEY=none",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=loop", "GIT_AUTHOR_EMAIL=loop@example.com",
		"GIT_COMMITTER_NAME=loop", "GIT_COMMITTER_EMAIL=loop@example.com")
	return w, nil
}

func (w *world) close() { _ = w.api.Close() }

// programEnv is what programs need to start, with nothing of the person's
// account, credentials, proxies or git in it. Version managers whose shims
// stand in the PATH find themselves by their variables.
func programEnv(env []string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SystemRoot", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "NIX_LD", "NIX_LD_LIBRARY_PATH",
			"ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "VOLTA_HOME", "NVM_DIR", "NVM_BIN", "FNM_DIR", "N_PREFIX", "BUN_INSTALL", "PNPM_HOME":
			out = append(out, kv)
		}
	}
	return out
}

// write makes a file below the world's folder.
func (w *world) write(name, text string) error {
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// read gives a file below the world's folder, "" when there is none.
func (w *world) read(name string) string {
	b, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(name)))
	if err != nil {
		return ""
	}
	return string(b)
}

func (w *world) has(name string) bool {
	_, err := os.Lstat(filepath.Join(w.dir, filepath.FromSlash(name)))
	return !errors.Is(err, fs.ErrNotExist)
}

// plant writes settings that would switch the hooks off and run a command of
// their own, into the project and the home. The touched file is the proof.
func (w *world) plant() error {
	touch := map[string]any{"hooks": []any{map[string]any{
		"type": "command", "command": "touch '" + filepath.Join(w.dir, plantedHook) + "'",
	}}}
	hooks := map[string]any{}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"} {
		hooks[event] = []any{touch}
	}
	text := asJSON(map[string]any{"disableAllHooks": true, "hooks": hooks})
	// Once alone: with the hooks off no planted one could show itself.
	armed := asJSON(map[string]any{"hooks": hooks})
	return errors.Join(
		w.write("repo/.claude/settings.json", text), w.write("repo/.claude/settings.local.json", armed),
		w.write("home/.claude/settings.json", text),
	)
}

// git runs git in the work tree.
func (w *world) git(ctx context.Context, args ...string) (string, error) {
	out := proc.Run(ctx, proc.RunOptions{
		Argv: append([]string{"git"}, args...), Dir: w.repo, Env: w.env, Timeout: 30 * time.Second, Now: w.t.o.Now,
	})
	if !out.OK() {
		return "", fmt.Errorf("git %s: exit %d: %w: %s", args[0], out.ExitCode, errors.Join(out.Err), out.Tail)
	}
	return string(out.Tail), nil
}

// told is the result of a call as the model was given it.
func (w *world) told(callID string) (fakeapi.Content, bool) {
	for _, r := range w.api.Requests() {
		for _, c := range r.Results() {
			if c.ID == callID {
				return c, true
			}
		}
	}
	return fakeapi.Content{}, false
}

// sent reports whether a text was in any request to the model.
func (w *world) sent(text string) bool {
	for _, r := range w.api.Requests() {
		if strings.Contains(string(r.Body), text) {
			return true
		}
	}
	return false
}

// asJSON marshals values that this package builds itself.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(b)
}
