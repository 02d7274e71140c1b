package report

import "strings"

// families are the rule packs by the words that a person has for them.
var families = map[string]string{
	"git":       "version control",
	"forge":     "code forges",
	"http":      "HTTP requests",
	"package":   "package registries",
	"container": "containers and charts",
	"infra":     "infrastructure",
	"cloud":     "clouds",
	"deploy":    "deploys",
	"transfer":  "transfers, remote shells",
	"message":   "mail and messages",
	"database":  "databases",
	"code":      "inline code",
	"make":      "build tools",
	"agent":     "other agents",
	"windows":   "Windows tools",
	"tools":     "MCP and other tools",
	"opaque":    "not seen through",
	"patterns":  "your patterns",
}

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
	case rule == "net-redirect":
		return "http"
	case rule == "remote-command":
		return "transfer"
	case rule == "applescript-send":
		return "message"
	}
	return "opaque"
}

// familyTitle is a family for people; a user's pack goes by its own name.
func familyTitle(family string) string {
	if t, ok := families[family]; ok {
		return t
	}
	return family
}

// How far something can be taken back, as rules say it.
const (
	UndoNone       = "none"
	UndoCorrection = "correction"
	UndoFull       = "full"
)

// UndoRank orders what rules say of taking back, worst first. What a rule does
// not say may be as bad as nearly anything.
func UndoRank(undo string) int {
	switch undo {
	case UndoNone:
		return 0
	case UndoCorrection:
		return 2
	case UndoFull:
		return 3
	}
	return 1
}
