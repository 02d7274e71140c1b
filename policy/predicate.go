package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// predicate is a condition that data cannot express. It gets the parsed
// command and the operands after the rule's path.
type predicate func(a *args, rest []shell.Word) bool

func findPredicates(names []string) ([]predicate, error) {
	var out []predicate
	for _, n := range names {
		p := predicateNamed(n)
		if p == nil {
			return nil, fmt.Errorf("unknown predicate %q", n)
		}
		out = append(out, p)
	}
	return out, nil
}

// predicateNamed returns the predicate of a name, or nil. A switch and not a
// map: a package-level map of functions would be built in every process.
func predicateNamed(name string) predicate {
	switch name {
	case "loopback":
		return func(a *args, _ []shell.Word) bool { return allLoopback(a) }
	case "loopback-host", "loopback-tail":
		return func(_ *args, rest []shell.Word) bool { return someLoopback(rest) }
	case "loopback-ws":
		return func(a *args, rest []shell.Word) bool {
			return someLoopback(append(a.all("-c", "--connect"), rest...)) && !remoteOperand(a, rest)
		}
	case "bare":
		return func(a *args, rest []shell.Word) bool { return len(a.argv) == 0 }
	case "curl-sends":
		return curlSends
	case "url-exfil":
		return urlExfil
	case "httpie-sends":
		return httpieSends
	case "powershell-sends":
		return powershellSends
	case "gh-api-sends":
		return apiSends
	case "local-remote":
		return localRemote
	case "remote-dest":
		return remoteDest
	case "remote-source":
		return remoteSource
	case "remote-operand":
		return remoteOperand
	case "subst-operand":
		return substOperand
	case "has-input":
		return hasInput
	case "literal-operands":
		return func(a *args, rest []shell.Word) bool {
			for _, w := range rest {
				if w.Dynamic || strings.HasPrefix(w.Text, "(") {
					return false
				}
			}
			return len(rest) > 0
		}
	case "risky-name":
		return riskyOperand
	case "risky-first":
		return func(a *args, rest []shell.Word) bool { return riskyOperand(a, rest[:min(len(rest), 1)]) }
	case "dynamic-operand":
		return dynamicOperand
	case "db-remote":
		return dbRemote
	case "db-writes":
		return dbWrites
	case "redis-writes":
		return redisWrites
	case "ssh-command":
		return sshCommand
	case "docker-remote":
		return dockerRemote
	case "local-context":
		return localContext
	case "machine-elsewhere", "nix-stays", "local-file":
		return clientPredicate(name)
	}
	if p := placePredicate(name); p != nil {
		return p
	}
	if p := guardPredicate(name); p != nil {
		return p
	}
	return shapePredicate(name)
}

// remoteDest: the last operand is a place on another machine.
func remoteDest(_ *args, rest []shell.Word) bool {
	if len(rest) < 2 {
		return false
	}
	d := rest[len(rest)-1]
	return isRemoteSpec(d.Text) || unknownWord(d)
}

// remoteSource: an operand before the last is a place on another machine.
func remoteSource(_ *args, rest []shell.Word) bool {
	for _, w := range rest[:max(len(rest)-1, 0)] {
		if isRemoteSpec(w.Text) {
			return true
		}
	}
	return len(rest) == 1 && isRemoteSpec(rest[0].Text)
}

// remoteOperand: some operand is a place on another machine.
func remoteOperand(_ *args, rest []shell.Word) bool {
	for _, w := range rest {
		if isRemoteSpec(w.Text) {
			return true
		}
	}
	return false
}

// substOperand: an operand carries what a command printed or a file holds.
func substOperand(a *args, rest []shell.Word) bool {
	if a.tool.is("dig") {
		rest = append(a.all("-p", "--pattern"), rest...) // ping's padding
	}
	for _, w := range rest {
		if w.Subst && !harmlessSubst(w.Text) {
			return true
		}
	}
	return false
}

// hasInput: something is sent into the command's standard input.
func hasInput(a *args, _ []shell.Word) bool {
	switch a.cmd.Stdin.Kind {
	case shell.InputNone:
		return false
	case shell.InputFile:
		return a.cmd.Stdin.From != "/dev/null"
	default:
		return !a.cmd.Stdin.Known || strings.TrimSpace(a.cmd.Stdin.Text) != ""
	}
}

// dynamicOperand: the first operand is not known before the line runs.
func dynamicOperand(_ *args, rest []shell.Word) bool {
	return len(rest) > 0 && unknownWord(rest[0])
}

// localContext: the call names a cluster that runs on this machine.
func localContext(a *args, _ []shell.Word) bool {
	v, ok := a.last("--context", "--kube-context", "--cluster")
	if !ok {
		return false
	}
	s := v.Text
	return strings.HasPrefix(s, "kind-") || strings.HasPrefix(s, "k3d-") || strings.HasPrefix(s, "minikube") ||
		s == "docker-desktop" || s == "rancher-desktop" || s == "orbstack" || s == "colima"
}

// dockerRemote: the client speaks to a daemon on another machine.
func dockerRemote(a *args, _ []shell.Word) bool {
	ctx, ok := a.last("--context")
	if !ok && len(a.argv) > 1 && a.argv[0].Text == "-c" { // in front of the subcommand
		ctx, ok = a.argv[1], true
	}
	if !ok && !a.has("-H") && !a.has("--host") {
		ctx, ok = a.env("DOCKER_CONTEXT")
	}
	if ok && (a.tool.is("docker") || a.tool.is("docker-compose")) {
		return !containsString([]string{"default", "desktop-linux", "colima", "orbstack", "rancher-desktop", "rootless"}, ctx.Text)
	}
	host, ok := a.last("-H", "--host")
	if !ok {
		host, ok = a.env("DOCKER_HOST")
	}
	if !ok {
		return false
	}
	s := strings.ToLower(host.Text)
	return (strings.HasPrefix(s, "ssh://") || strings.HasPrefix(s, "tcp://") || strings.HasPrefix(s, "http")) && !isLoopbackURL(s)
}

// sshCommand: ssh is given something to run, or a tunnel to open.
func sshCommand(a *args, rest []shell.Word) bool {
	if slices.ContainsFunc([]string{"-R", "-L", "-D", "-w", "-W"}, a.has) {
		return true
	}
	return len(rest) > 1 || hasInput(a, rest)
}

// someLoopback: an operand names this machine, and none that looks like an
// address names another.
func someLoopback(rest []shell.Word) bool {
	found := false
	for _, w := range rest {
		switch {
		case isLoopbackURL(w.Text):
			found = true
		case strings.Contains(w.Text, "://"):
			return false
		}
	}
	return found
}
