package report

import "strings"

// Family is the family that a rule of a pack belongs to: the pack, except for
// the rules that are part of the classifier and stand in none.
func Family(pack, rule string) string {
	if pack != "engine" && pack != "" {
		return pack
	}
	switch {
	case strings.HasPrefix(rule, "mcp-"), strings.HasPrefix(rule, "tool-"):
		return "tools"
	case strings.HasPrefix(rule, "client-vcs"), strings.HasPrefix(rule, "classic-git"):
		return "git"
	case strings.HasPrefix(rule, "guard-"):
		return "agent"
	case strings.HasPrefix(rule, "code-"):
		return "code"
	case rule == "net-redirect":
		return "http"
	case rule == "remote-command":
		return "transfer"
	case rule == "applescript-send":
		return "message"
	}
	return "opaque"
}

// familyTitle is a family by the words that a person has for it; a user's pack
// goes by its own name.
func familyTitle(family string) string {
	switch family {
	case "git":
		return "version control"
	case "forge":
		return "code forges"
	case "http":
		return "HTTP requests"
	case "package":
		return "package registries"
	case "container":
		return "containers and charts"
	case "infra":
		return "infrastructure"
	case "cloud":
		return "clouds"
	case "deploy":
		return "deploys"
	case "transfer":
		return "transfers, remote shells"
	case "message":
		return "mail and messages"
	case "database":
		return "databases"
	case "code":
		return "inline code"
	case "make":
		return "build tools"
	case "agent":
		return "other agents"
	case "windows":
		return "Windows tools"
	case "tools":
		return "MCP and other tools"
	case "opaque":
		return "not seen through"
	case "patterns":
		return "your patterns"
	}
	return family
}
