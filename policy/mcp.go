package policy

import (
	"maps"
	"strings"
)

// verbKind is what a tool's name says that it does.
type verbKind uint8

const (
	verbNone verbKind = iota
	verbRead
	verbExternal
)

// mcpTable is the verbs and the servers that are known.
type mcpTable struct {
	external, read, run  map[string]bool
	nouns, asks, senders map[string]bool
	servers              []mcpServer
}

type mcpServer struct {
	serverDef
	tier Tier
}

func newMCPTable(d *mcpDef) *mcpTable {
	t := &mcpTable{external: setOf(d.External), read: setOf(d.Read), run: setOf(d.Run), nouns: setOf(d.Nouns), asks: setOf(d.Asks), senders: setOf(d.Senders)}
	for _, s := range d.Servers {
		m := mcpServer{serverDef: s, tier: External}
		_ = m.tier.UnmarshalText([]byte(s.Default)) // checked when packs are tested
		t.servers = append(t.servers, m)
	}
	return t
}

// runs reports whether a tool's name says that it runs code.
func (t *mcpTable) runs(words []string) bool {
	for _, w := range words {
		if t.run[w] {
			return true
		}
	}
	return false
}

// verb finds the verb of a tool's name, which may stand first, behind the
// server's name, or last. The first one counts; one joined to it by and, or,
// may make it graver.
func (t *mcpTable) verb(words []string) verbKind {
	kind := verbNone
	for i, w := range words {
		k := verbNone
		switch {
		case t.external[w]:
			k = verbExternal
		case t.read[w]:
			k = verbRead
		}
		if k == verbNone {
			continue
		}
		if k == verbExternal && t.nouns[w] && anyOf(words[i+1:], t.asks) {
			continue // issue_get, comment_list
		}
		if w == "post" && i+1 < len(words) && t.asks[words[len(words)-1]] {
			k = verbRead // API-post-search: the method of a search
		}
		joined := i > 0 && (words[i-1] == "and" || words[i-1] == "or" || words[i-1] == "then")
		if kind == verbNone || joined && k > kind {
			kind = k
		}
		if i == len(words)-1 && w == "write" {
			kind = k // review_write: the method stands at the end
		}
	}
	return kind
}

func anyOf(words []string, set map[string]bool) bool {
	for _, w := range words {
		if set[w] {
			return true
		}
	}
	return false
}

// services are words in a server's name that say that it speaks for a service,
// whatever else it is named for: time-tracker, google-docs.
func servesOthers(words []string) bool {
	for _, w := range words {
		switch w {
		case "google", "azure", "aws", "gcp", "github", "gitlab", "slack", "notion", "jira", "atlassian", "confluence", "cloud", "drive", "hub", "tracker", "tracking", "toggl", "clockify", "harvest", "remote", "hosted", "online", "prod", "production", "saas", "office", "microsoft", "zoho", "hubspot", "salesforce":
			return true
		}
	}
	return false
}

// server finds what is known of a server by its name.
func (t *mcpTable) server(name string) *mcpServer {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	joined := strings.Join(words, "-")
	for i := range t.servers {
		for _, n := range t.servers[i].Names {
			if n == joined {
				return &t.servers[i]
			}
			own := strings.Split(n, "-")
			if containsRun(words, own) && (t.servers[i].tier == External || servesOthers(own) || !servesOthers(words)) {
				return &t.servers[i]
			}
		}
	}
	return nil
}

func containsRun(words, run []string) bool {
	for i := 0; i+len(run) <= len(words); i++ {
		same := true
		for k, w := range run {
			same = same && words[i+k] == w
		}
		if same {
			return true
		}
	}
	return false
}

// splitMCP divides mcp__server__tool.
func splitMCP(name string) (server, tool string) {
	rest := strings.TrimPrefix(name, "mcp__")
	if i := strings.LastIndex(rest, "__"); i >= 0 {
		return rest[:i], rest[i+2:]
	}
	return "", rest
}

// asMCP recognises a call of an MCP tool by the names that clients give it:
// mcp__server__tool, mcp_server_tool, server__tool, or a tool that takes the
// server and the tool as arguments.
func asMCP(c Call, in map[string]any) (Call, bool) {
	if strings.HasPrefix(c.Tool, "mcp__") {
		return c, true
	}
	switch rest, ok := strings.CutPrefix(c.Tool, "mcp_"); {
	case ok && strings.Contains(rest, "_"):
		server, tool, _ := strings.Cut(rest, "_")
		c.Tool = "mcp__" + server + "__" + tool
	case strings.Contains(c.Tool, "__"):
		c.Tool = "mcp__" + c.Tool
	default:
		server, _ := in["server_name"].(string)
		tool, _ := in["tool_name"].(string)
		if server == "" || tool == "" {
			return c, false
		}
		c.Tool = "mcp__" + server + "__" + tool
	}
	return c, true
}

// mcpCall classifies a call of an MCP tool.
func (s *Set) mcpCall(c Call, in map[string]any) Result {
	t := s.table().mcp()
	server, name := splitMCP(c.Tool)
	words := toolWords(server, name)
	known := t.server(server)
	if own := nameWords(server); containsString(own, "applescript") || containsString(own, "osascript") {
		in = withLanguage(in, "osascript")
	}
	if cmd, ok := in["cli_command"].(string); ok {
		return s.shellCall(cmd, in, c)
	}
	if t.runs(append(words, nameWords(server)...)) || t.runs(nameWords(name)) {
		if cmd, ok := commandField(in); ok && (known == nil || known.tier != External && !matchAny(known.External, strings.Join(words, "_"))) {
			return s.shellCall(s.ofProgram(cmd, words), in, c)
		}
	}
	hit := t.judge(known, words)
	if hit.Tier < External && hit.Net || hit.Rule == "mcp-unknown" {
		hit = t.byOperation(hit, in)
	}
	if hit.Rule == "mcp-playwright" && looksOnly(in) {
		hit.Tier, hit.Net = Local, true
	}
	if h, ok := s.statement(words, in); ok && (known == nil || known.tier == External) {
		hit = h
	}
	if hit.Rule == "mcp-unknown" && !anyOf(append(nameWords(server), words...), t.senders) {
		hit = c.Annotations.lower(hit, in)
	}
	hit.Text = c.Tool
	hits := []Hit{hit}
	if hit.Tier < External {
		hits = append(hits, s.wordsOf(c, in)...)
		hits = append(hits, s.codeArguments(in, c.Cwd)...)
	}
	return finish(hits, Mentioned)
}

// ofProgram is a command line with the program in front that the tool is named
// for, when it begins with a subcommand: ExecuteTerraformCommand, "apply".
func (s *Set) ofProgram(cmd string, words []string) string {
	f := strings.Fields(cmd)
	if len(f) == 0 || s.knows(baseOf(f[0])) {
		return cmd
	}
	for _, w := range words {
		switch w {
		case "terraform", "terragrunt", "tofu", "git", "gh", "docker", "kubectl", "helm", "gcloud", "aws", "az", "npm", "pulumi", "firebase", "vercel", "wrangler", "supabase", "heroku", "fly", "flyctl":
			return w + " " + cmd
		}
	}
	return cmd
}

// looksOnly: the tool that moves the mouse and types is told to look.
func looksOnly(in map[string]any) bool {
	switch v, _ := in["action"].(string); v {
	case "screenshot", "zoom", "scroll", "scroll_to", "wait", "hover", "mouse_move", "cursor_position":
		return true
	}
	return false
}

// withLanguage is the input with the language of its code.
func withLanguage(in map[string]any, lang string) map[string]any {
	out := map[string]any{"language": lang}
	maps.Copy(out, in)
	return out
}

// statement judges a database tool by the statement that it is given.
func (s *Set) statement(words []string, in map[string]any) (Hit, bool) {
	named := false
	for _, w := range words {
		named = named || w == "sql" || w == "query" || w == "statement" || w == "cypher"
	}
	if !named {
		return Hit{}, false
	}
	for _, k := range []string{"sql", "query", "statement", "sql_query"} {
		text, ok := in[k].(string)
		if !ok {
			continue
		}
		if s.table().writes(text) {
			return Hit{Rule: "mcp-statement", Tier: External, Why: "The statement given to the MCP tool changes a database."}, true
		}
		if f := strings.Fields(strings.ToLower(text)); len(f) > 1 && containsString([]string{"select", "show", "explain", "describe", "with", "pragma", "match", "return"}, f[0]) {
			return Hit{Rule: "mcp-read", Tier: Local, Net: true, Why: "The statement given to the MCP tool only reads."}, true
		}
	}
	return Hit{}, false
}

// codeArguments classifies arguments that are named like code.
func (s *Set) codeArguments(in map[string]any, cwd string) []Hit {
	var hits []Hit
	for _, k := range []string{"command", "cmd", "shell_command"} {
		if v, ok := in[k].(string); ok {
			hits = append(hits, s.newReading().line(v)...)
		}
	}
	return hits
}

// toolWords is the words of a tool's name without those of the server's.
func toolWords(server, tool string) []string {
	own := nameWords(server)
	var out []string
	for i, w := range nameWords(tool) {
		if i == 0 && containsString(own, w) && w != "publish" && w != "send" && w != "upload" && w != "deploy" || w == "api" || w == "mcp" || w == "tool" {
			continue
		}
		out = append(out, w)
	}
	return out
}

// judge says how far a tool reaches by its server's entry, then by its verb;
// nothing known of either is external, with low evidence.
func (t *mcpTable) judge(known *mcpServer, words []string) Hit {
	if known != nil {
		return t.judgeKnown(known, words)
	}
	switch t.verb(words) {
	case verbRead:
		return Hit{Rule: "mcp-read", Tier: Local, Net: true, Why: "The MCP tool's name says that it only reads."}
	case verbExternal:
		return Hit{Rule: "mcp-write", Tier: External, Why: "The MCP tool's name says that it changes something on its server."}
	}
	return Hit{Rule: "mcp-unknown", Tier: External, Opaque: true, Why: "Neither the MCP server nor the verb of its tool is known."}
}

// changes: the verb is one that changes what others see, and not one that a
// server for reading has for its own answers.
func (t *mcpTable) changes(words []string) bool {
	for _, w := range words {
		switch w {
		case "resolve", "generate", "open", "new", "click", "type", "press", "fill", "select", "convert", "call", "request", "invoke", "run", "start", "text", "print", "map", "subscribe", "register":
			if t.external[w] {
				return false
			}
		}
		if t.read[w] && !t.external[w] {
			return false
		}
		if t.external[w] {
			return true
		}
	}
	return false
}

// byOperation judges a tool that takes its verb as an argument.
func (t *mcpTable) byOperation(hit Hit, in map[string]any) Hit {
	for _, k := range []string{"operation", "action", "method", "op"} {
		v, ok := in[k].(string)
		if !ok {
			continue
		}
		switch t.verb(nameWords(v)) {
		case verbExternal:
			return Hit{Rule: "mcp-write", Tier: External, Why: "The operation that the MCP tool is given changes something on its server."}
		case verbRead:
			return Hit{Rule: "mcp-read", Tier: Local, Net: true, Why: "The operation that the MCP tool is given only reads."}
		}
	}
	return hit
}

func (t *mcpTable) judgeKnown(m *mcpServer, words []string) Hit {
	name := strings.Join(words, "_")
	h := Hit{Rule: "mcp-" + m.Names[0], Tier: m.tier, Net: m.Net, Why: "The MCP server is known: " + m.Names[0] + "."}
	switch {
	case matchAny(m.Local, name):
		h.Tier = Local
	case matchAny(m.External, name):
		h.Tier, h.Net = External, false
	case matchAny(m.Shared, name):
		h.Tier = Shared
	case m.tier == External && t.verb(words) == verbRead:
		h.Tier, h.Net = Local, true
	case m.tier == Local && m.Net && len(m.Local) == 0 && t.verb(words) == verbExternal && t.changes(words):
		h.Tier, h.Why = External, "The MCP tool's name says that it changes something on its server."
	}
	if h.Tier == External {
		h.Net = false
	}
	return h
}
