package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
)

// maxGitOutput is enough for the changes of a push in a hundred thousand files.
const maxGitOutput = 16 << 20

// git asks a repository questions. It runs no hook, no external diff, no pager
// and no program that checks signatures, and nobody is asked for a password.
type git struct {
	ctx context.Context
	dir string
	env []string
}

func (g git) run(timeout time.Duration, args ...string) (string, error) {
	out := proc.Run(g.ctx, proc.RunOptions{
		Argv: append([]string{"git", "--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull}, args...),
		Dir:  g.dir, Env: quiet(g.env), Plain: true, Timeout: timeout, Separate: true, Tail: maxGitOutput,
	})
	if out.OK() && out.Cut {
		return "", errors.New("git says more than is read")
	}
	if out.OK() {
		return string(out.Tail), nil
	}
	problem, _, _ := strings.Cut(strings.TrimSpace(string(out.Stderr)), "\n")
	switch {
	case out.TimedOut:
		problem = fmt.Sprintf("no answer within %s", timeout)
	case out.Err != nil:
		return "", out.Err
	case problem == "":
		problem = fmt.Sprintf("git %s ended with %d", args[0], out.ExitCode)
	}
	return "", errors.New(problem)
}

// quiet is an environment in which git and what it starts ask nobody.
func quiet(env []string) []string {
	mine := []string{
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never",
		"GCM_INTERACTIVE=never", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C",
	}
	// Of two with one name, the first counts for git.
	return append(mine, slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(mine, func(m string) bool { return strings.HasPrefix(m, name+"=") })
	})...)
}

func (g git) line(args ...string) (string, error) {
	out, err := g.run(gitTimeout, args...)
	return strings.TrimSpace(out), err
}

func (g git) is(args ...string) bool {
	_, err := g.line(args...)
	return err == nil
}

func (g git) lines(args ...string) []string {
	out, err := g.line(args...)
	if err != nil || out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

// defaultRemote is where `git push` goes that names none.
func (g git) defaultRemote(branch string) string {
	if name := g.pushOfBranch(branch, "push:remotename"); name != "" {
		return name
	}
	if all := g.lines("remote"); len(all) == 1 {
		return all[0]
	}
	return "origin"
}

func (g git) pushOfBranch(branch, what string) string {
	if branch == "" {
		return ""
	}
	out, _ := g.line("for-each-ref", "--format=%("+what+")", branch)
	return out
}

// pushURL is the address behind the name of a remote; a remote that is none
// of the repository's is one itself.
func (g git) pushURL(remote string) string {
	if url, err := g.line("remote", "get-url", "--push", "--", remote); err == nil {
		return url
	}
	return remote
}

// ask fills in what the remote says, and returns its refs.
func (g git) ask(p *Push, l pushLine, refs []wanted, o PushOptions) map[string]string {
	switch {
	case len(refs) == 0:
		return nil
	case o.Offline:
		p.Silent = "it was not to be asked"
		return nil
	case l.offline != "":
		p.Silent, p.Guarded = l.offline, true
		return nil
	}
	if key := g.hooked(p.Remote); key != "" {
		p.Silent, p.Guarded = "the repository's own settings say how it is reached ("+key+")", true
		return nil
	}
	args := []string{"ls-remote", "--quiet", "--", p.URL}
	for _, r := range refs {
		for _, name := range r.dests() {
			if !slices.Contains(args, name) {
				args = append(args, name)
			}
		}
	}
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = DefaultPushTimeout
	}
	out, err := g.run(timeout, args...)
	if err != nil {
		p.Silent = err.Error()
		return nil
	}
	p.Asked = true
	there := map[string]string{}
	for line := range strings.Lines(out) {
		if hash, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			there[name] = hash
		}
	}
	return there
}

// hooked finds a setting of the repository itself, where an agent can write,
// that would have a program run or passwords go astray when the remote is
// asked.
func (g git) hooked(remote string) string {
	out, err := g.run(gitTimeout, "config", "--list", "--show-scope", "--name-only", "-z", "--includes")
	if err != nil {
		return "which could not be read"
	}
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		scope, key := fields[i], strings.ToLower(fields[i+1])
		if (scope == "local" || scope == "worktree") && dangerous(key, strings.ToLower(remote)) {
			return key
		}
	}
	return ""
}

func dangerous(key, remote string) bool {
	if rest, ok := strings.CutPrefix(key, "remote."); ok {
		if rest, ok = strings.CutPrefix(rest, remote+"."); !ok {
			return false
		}
		return slices.Contains([]string{"uploadpack", "receivepack", "vcs", "proxy", "proxyauthmethod"}, rest)
	}
	section, _, _ := strings.Cut(key, ".")
	last := key[strings.LastIndexByte(key, '.')+1:]
	switch section {
	case "core":
		return slices.Contains([]string{"sshcommand", "gitproxy", "askpass"}, last)
	case "credential":
		return last == "helper"
	case "protocol":
		return last == "allow"
	case "ssh":
		return last == "variant"
	case "http":
		return strings.Contains(last, "proxy") || last == "sslverify" || last == "sslcainfo" || last == "sslcapath"
	}
	return false
}
