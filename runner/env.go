package runner

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/proc"
)

// AttemptVar marks the environment of an attempt; a command of loop that
// decides something refuses to run where it is set.
const AttemptVar = "LOOP_ATTEMPT"

// ownVars are set by the client for its children, or switch hooks off; a run
// that is itself started from a client's shell must not hand them on.
var ownVars = []string{
	"CLAUDECODE", "CLAUDE_PID", "CLAUDE_EFFORT", "CLAUDE_ENV_FILE", "CLAUDE_PROJECT_DIR", "AI_AGENT",
	"CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_CHILD_SESSION",
	"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_RETRY_WATCHDOG",
}

// credentials are the names of variables that let a program push, publish or
// post in the person's name: patterns as path.Match has them, upper case.
var credentials = []string{
	"TOKEN", "*_TOKEN", "*_TOKEN_FILE", "*_PAT", "*_SECRET", "*_SECRET_KEY", "*_PASSWORD", "*_PASSWD", "*_PASSPHRASE", "*_API_KEY", "*_APIKEY",
	"*_ACCESS_KEY", "*_ACCESS_KEY_ID", "*_PRIVATE_KEY", "*_DEPLOY_KEY", "*_CREDENTIALS", "*_CREDENTIALS_FILE", "*_AUTH", "*_AUTHTOKEN",
	"*_WEBHOOK", "*_WEBHOOK_URL", "*_DSN",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "SUDO_ASKPASS", "GIT_ASKPASS", "GIT_SSH_COMMAND", "VSCODE_GIT_*", "GPG_AGENT_INFO",
	"AWS_PROFILE", "AWS_CONTAINER_*", "CLOUDSDK_AUTH_*", "TWINE_*", "UV_PUBLISH_*", "POETRY_PYPI_TOKEN_*", "POETRY_HTTP_BASIC_*", "TF_TOKEN_*",
	"CF_API_*", "NPM_CONFIG_*AUTH*", "NPM_CONFIG_OTP", "CARGO_REGISTRIES_*_TOKEN", "PGPASSWORD", "PGPASSFILE", "MYSQL_PWD",
}

// provider are what the client itself needs to reach its model, and which of
// its switches asks for them.
var provider = []struct{ asks, names string }{
	{"", "ANTHROPIC_*"},
	{"", "CLAUDE_*"},
	{"CLAUDE_CODE_USE_BEDROCK", "AWS_*"},
	{"CLAUDE_CODE_USE_MANTLE", "AWS_*"},
	{"CLAUDE_CODE_USE_VERTEX", "GOOGLE_*"},
	{"CLAUDE_CODE_USE_VERTEX", "CLOUDSDK_*"},
	{"CLAUDE_CODE_USE_FOUNDRY", "AZURE_*"},
}

// Withheld splits env into what an attempt and its gates may have, and the
// names of the credentials that are kept from them. keep are the patterns of
// names that the user lets through.
func Withheld(env, keep []string) (given, withheld []string) {
	keep = slices.Clone(keep)
	for _, p := range provider {
		if p.asks == "" || proc.Getenv(env, p.asks) != "" {
			keep = append(keep, p.names)
		}
	}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if !matches(keep, name) && (matches(credentials, name) || secretURL(name, value)) {
			withheld = append(withheld, name)
			continue
		}
		given = append(given, kv)
	}
	slices.Sort(withheld)
	return given, slices.Compact(withheld)
}

func matches(patterns []string, name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(patterns, func(p string) bool {
		// A broken pattern matches nothing; those of the user are checked where
		// they are read.
		ok, err := path.Match(strings.ToUpper(p), name)
		return ok && err == nil
	})
}

// secretURL reports whether a value is an address with a password in it that
// is not on this machine. A proxy's is needed to work at all.
func secretURL(name, value string) bool {
	if !strings.Contains(value, "://") || strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
		return false
	}
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return false
	}
	if _, has := u.User.Password(); !has {
		return false
	}
	host := u.Hostname()
	return host != "" && host != "localhost" && host != "::1" && !strings.HasPrefix(host, "127.")
}

// belt is pushBelt, unless a rule of the user's own lets something through: it
// may be a push.
func belt(o *Options, env []string) []string {
	if o.Set != nil && o.Set.Allows() {
		return nil
	}
	return pushBelt(env)
}

// pushBelt makes git refuse to push to another machine, whoever asks it to: the
// addresses that a push would go to are rewritten to one that no git can
// reach. Fetching is not touched. It is a second belt: a repository with
// addresses for pushing of its own, and an agent that takes the variables
// away, get round it.
func pushBelt(env []string) []string {
	const base = "url.loop-defers-pushes:.pushInsteadOf"
	// What is there already stays: the count says where to go on.
	n, err := strconv.Atoi(proc.Getenv(env, "GIT_CONFIG_COUNT"))
	if err != nil || n < 0 {
		n = 0
	}
	var out []string
	for _, prefix := range []string{"https://", "http://", "ssh://", "git://", "git+ssh://", "ssh+git://", "git@"} {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, base), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, prefix))
		n++
	}
	return append(out, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
}

// noProxy keeps the client's hooks off a proxy: it would ask that one for
// loopback too, and find nobody there.
func noProxy(env []string) []string {
	const loopback = "127.0.0.1,localhost"
	var out []string
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		switch old := proc.Getenv(env, name); {
		case old == "*":
		case old == "":
			out = append(out, name+"="+loopback)
		default:
			out = append(out, name+"="+old+","+loopback)
		}
	}
	return out
}

// clientEnv is the environment of one attempt.
func clientEnv(o *Options, attemptID string) []string {
	given, _ := Withheld(o.Env, o.KeepEnv)
	set := []string{
		AttemptVar + "=" + attemptID,
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		"CLAUDE_CODE_DISABLE_CRON=1",
		"CLAUDE_CODE_DISABLE_WORKFLOWS=1",
		"CLAUDE_CODE_FORWARD_SUBAGENT_TEXT=1", // else the stream has only their calls
		"DISABLE_AUTOUPDATER=1",
		"GIT_TERMINAL_PROMPT=0",
	}
	if !o.AutoMemory {
		set = append(set, "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1")
	}
	set = append(set, noProxy(given)...)
	return override(given, ownVars, append(set, belt(o, given)...))
}

// gateEnv is the environment of a gate: it runs what the agent wrote, and may
// push as little as the agent.
func gateEnv(o *Options) []string {
	if o.gateEnv != nil {
		return o.gateEnv
	}
	given, _ := Withheld(o.Env, o.KeepEnv)
	return override(given, nil, append(belt(o, given), "GIT_TERMINAL_PROMPT=0"))
}

// override is env without the names of drop and with set in place of what has
// the same name.
func override(env, drop, set []string) []string {
	drop = slices.Clone(drop)
	for _, kv := range set {
		name, _, _ := strings.Cut(kv, "=")
		drop = append(drop, name)
	}
	out := make([]string, 0, len(env)+len(set))
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(drop, name) {
			out = append(out, kv)
		}
	}
	return append(out, set...)
}
