package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// clientPredicate returns the predicates of the pack of small clients.
func clientPredicate(name string) predicate {
	switch name {
	case "machine-elsewhere":
		return machineElsewhere
	case "local-file":
		return func(_ *args, rest []shell.Word) bool {
			return len(rest) > 0 && (strings.HasPrefix(rest[0].Text, "file:") || isLoopbackURL(rest[0].Text))
		}
	case "nix-stays":
		return nixStays
	}
	return nil
}

// machineElsewhere: a tool that can act on this machine too is given the
// address of another.
func machineElsewhere(a *args, _ []shell.Word) bool {
	v, given := a.last("-H", "-c", "--connect")
	switch {
	case a.tool.is("ipmitool"):
		return given && !isLoopbackHost(v.Text)
	case a.tool.is("virsh"):
		return given && strings.Contains(v.Text, "+")
	}
	return true
}

// nixStays: nix copies into a store of this machine, or out of another.
func nixStays(a *args, rest []shell.Word) bool {
	to, given := a.last("--to")
	switch {
	case a.tool.is("nix"):
		return !given || isLocalPath(to.Text) || to.Text == "daemon" || to.Text == "local" || to.Text == "auto"
	case a.tool.is("nix-copy-closure"):
		return a.has("--from")
	}
	return false
}
