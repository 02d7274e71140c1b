package runner

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/policy"
)

func TestEnvironment(t *testing.T) {
	o := &Options{Env: []string{
		"PATH=/bin", "CLAUDECODE=1", "CLAUDE_CODE_SIMPLE=1", "CLAUDE_CODE_MAX_RETRIES=1", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=0",
		"CLAUDE_CODE_DISABLE_AUTO_MEMORY=0", "LOOP_ATTEMPT=old", "ODD",
	}}
	env := clientEnv(o, "new")
	for _, want := range []string{
		"PATH=/bin", "CLAUDE_CODE_MAX_RETRIES=1", "LOOP_ATTEMPT=new", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "CLAUDE_CODE_FORWARD_SUBAGENT_TEXT=1", "GIT_TERMINAL_PROMPT=0",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
	for _, kv := range env {
		if kv == "CLAUDECODE=1" || kv == "CLAUDE_CODE_SIMPLE=1" || kv == "LOOP_ATTEMPT=old" || strings.HasSuffix(kv, "=0") && kv != "GIT_TERMINAL_PROMPT=0" {
			t.Errorf("%s reaches the client", kv)
		}
	}
	o.AutoMemory = true
	if env := clientEnv(o, "new"); slices.Contains(env, "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1") {
		t.Error("the client's memory is off although it was asked for")
	}
}

func TestCredentialsAreWithheld(t *testing.T) {
	tests := map[string]struct {
		env, keep, withheld []string
	}{
		"plain": {env: []string{"PATH=/bin", "LANG=C", "GOFLAGS=-mod=mod", "MAX_TOKENS=4", "TOKENIZERS_PARALLELISM=1", "KEYBOARD=de"}},
		"forges and registries": {
			env:      []string{"GH_TOKEN=a", "GITHUB_TOKEN=a", "NPM_TOKEN=a", "NODE_AUTH_TOKEN=a", "npm_config__auth=a", "CARGO_REGISTRY_TOKEN=a", "TWINE_USERNAME=a", "UV_PUBLISH_URL=a", "POETRY_PYPI_TOKEN_X=a"},
			withheld: []string{"CARGO_REGISTRY_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "NODE_AUTH_TOKEN", "NPM_TOKEN", "POETRY_PYPI_TOKEN_X", "TWINE_USERNAME", "UV_PUBLISH_URL", "npm_config__auth"},
		},
		"ssh and git": {
			env:      []string{"SSH_AUTH_SOCK=/s", "GIT_ASKPASS=/a", "VSCODE_GIT_IPC_HANDLE=/v", "GIT_SSH_COMMAND=ssh -i k", "GIT_AUTHOR_NAME=n"},
			withheld: []string{"GIT_ASKPASS", "GIT_SSH_COMMAND", "SSH_AUTH_SOCK", "VSCODE_GIT_IPC_HANDLE"},
		},
		"clouds": {
			env:      []string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=a", "AWS_SESSION_TOKEN=a", "AWS_REGION=r", "GOOGLE_APPLICATION_CREDENTIALS=/f", "ARM_CLIENT_SECRET=a", "CLOUDFLARE_API_TOKEN=a", "SENTRY_DSN=a"},
			withheld: []string{"ARM_CLIENT_SECRET", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "CLOUDFLARE_API_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS", "SENTRY_DSN"},
		},
		"the client's own": {env: []string{"ANTHROPIC_API_KEY=a", "ANTHROPIC_AUTH_TOKEN=a", "CLAUDE_CODE_OAUTH_TOKEN=a"}},
		"its provider's": {
			env: []string{"CLAUDE_CODE_USE_BEDROCK=1", "AWS_SECRET_ACCESS_KEY=a", "AWS_PROFILE=p", "GH_TOKEN=a"}, withheld: []string{"GH_TOKEN"},
		},
		"kept by the user": {env: []string{"MY_TOKEN=a", "OUR_TOKEN=a"}, keep: []string{"my_*"}, withheld: []string{"OUR_TOKEN"}},
		"addresses with a password": {
			env:      []string{"DATABASE_URL=postgres://u:p@db.example.com/x", "TEST_URL=postgres://u:p@localhost/x", "LO=redis://:p@127.0.0.1/0", "PLAIN=https://example.com/", "HTTPS_PROXY=http://u:p@proxy.example.com"},
			withheld: []string{"DATABASE_URL"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			given, withheld := Withheld(tt.env, tt.keep)
			if diff := cmp.Diff(tt.withheld, withheld); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(given)+len(withheld) != len(tt.env) {
				t.Errorf("%d given and %d withheld of %d", len(given), len(withheld), len(tt.env))
			}
		})
	}
}

// The client and the gates get none of them, the person's own git does.
func TestWithheldInEveryEnvironment(t *testing.T) {
	o := &Options{Env: []string{"GH_TOKEN=secret", "A=b"}}
	for name, env := range map[string][]string{"client": clientEnv(o, "x"), "gate": gateEnv(o)} {
		if proc.Getenv(env, "GH_TOKEN") != "" || proc.Getenv(env, "A") != "b" {
			t.Errorf("%s: %q", name, env)
		}
	}
}

func TestLoopbackIsNotAskedOfAProxy(t *testing.T) {
	for old, want := range map[string]string{"": "127.0.0.1,localhost", "corp": "corp,127.0.0.1,localhost", "*": "*"} {
		var env []string
		if old != "" {
			env = []string{"NO_PROXY=" + old, "no_proxy=" + old}
		}
		got := clientEnv(&Options{Env: env}, "x")
		if a, b := proc.Getenv(got, "NO_PROXY"), proc.Getenv(got, "no_proxy"); a != want || b != want {
			t.Errorf("%q: %q and %q", old, a, b)
		}
	}
}

// Git itself refuses to push to another machine, whatever asks it to, and
// still knows where to fetch from.
func TestGitCannotPushElsewhere(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	env := append([]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=me"}, "PATH=/usr/bin:/bin:/usr/local/bin", "HOME="+dir)
	env = clientEnv(&Options{Env: env}, "x")
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			return err.Error() + ": " + string(out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	for _, address := range []string{"https://forge.example/x.git", "git@forge.example:x.git", "ssh://git@forge.example/x.git"} {
		git("remote", "remove", "o")
		git("remote", "add", "o", address)
		if got := git("remote", "get-url", "o"); got != address {
			t.Errorf("fetching from %q", got)
		}
		if got := git("push", "o", "HEAD:main"); !strings.Contains(got, "loop-defers-pushes") {
			t.Errorf("push to %s: %s", address, got)
		}
	}
	if got := git("config", "user.name"); got != "me" {
		t.Errorf("the configuration that was there is lost: %q", got)
	}
}

// A rule of the user's own that lets a push through must not be undone by git.
func TestUsersOwnRulesTakeTheBeltOff(t *testing.T) {
	own := `pack = "mine"
[[rule]]
id = "allow-staging"
tier = "local"
allow = true
why = "The staging remote is a disk in this room."
cmd = ["git push staging"]
match = ["git push staging main", "cd x && git push staging", "git -C a push --force staging HEAD"]
not_match = ["git push origin main", "git push"]
`
	set, err := policy.Load(policy.LoadOptions{Packs: []policy.PackFile{{Name: "rules.toml", Data: []byte(own), Own: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := proc.Getenv(clientEnv(&Options{Set: set}, "x"), "GIT_CONFIG_COUNT"); got != "" {
		t.Errorf("the belt is on: %s", got)
	}
}
