package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seed-b23e517c/loop/"

// mayImport is the table of the house: what each package may import of ours.
// To add an edge, edit it in the same change and say why in the commit.
var mayImport = map[string][]string{
	"policy/shell":       {},
	"transcript":         {},
	"receipt":            {},
	"stories":            {"internal/regular"},
	"internal/proc":      {},
	"internal/term":      {},
	"internal/sim":       {},
	"internal/fakeapi":   {},
	"internal/browser":   {},
	"internal/trap":      {},
	"internal/weaken":    {},
	"policy":             {"policy/shell"},
	"config":             {"policy", "internal/regular"}, // the level is a word of policy
	"prompts":            {"stories", "policy"},
	"scanner":            {"policy", "transcript"},
	"queue":              {"policy"},
	"claims":             {"policy/shell", "queue", "transcript"},                  // knows a line, not what reaches out
	"firewall":           {"policy", "queue", "internal/proc", "internal/regular"}, // looks at files of the agent
	"firewall/port":      {"firewall"},
	"firewall/seal":      {"firewall", "receipt"}, // mints when the hook reports a result
	"internal/regular":   {},
	"internal/workspace": {"internal/proc", "internal/regular"},
	// One process, one call: what it holds, a person waits for.
	"internal/hook": {"config", "firewall", "internal/workspace", "policy", "queue"},
	"audit":         {"queue", "receipt"},
	"report":        {"queue", "policy", "transcript", "receipt", "audit", "internal/term"},              // shows what an audit found
	"notify":        {"internal/proc", "internal/term"},                                                  // runs the person's command; what it sends is masked
	"review":        {"queue", "replay", "policy", "internal/term"},                                      // draws what they say; behind it cmd/loop decides
	"serve":         {"queue", "replay", "report", "policy", "internal/term"},                            // pages of what report and replay say; behind it cmd/loop decides
	"watch":         {"report", "internal/term"},                                                         // draws what report says of a run
	"replay":        {"queue", "policy", "policy/shell", "internal/proc", "internal/term", "replay/mcp"}, // finds the pushes in a line
	"replay/mcp":    {"internal/proc"},
	// It plays a run, and answers hooks with what a sound firewall never says.
	"internal/selftest": {"runner", "firewall", "firewall/port", "policy", "queue", "prompts", "stories", "internal/fakeapi", "internal/proc"},
	// An agent's words are kept cut, and masked before that.
	"runner": {"prompts", "stories", "transcript", "scanner", "queue", "claims", "firewall", "firewall/port", "firewall/seal", "policy", "receipt", "internal/proc", "internal/weaken", "internal/workspace", "internal/term", "internal/regular"},
}

// thirdParty names the packages that alone may use a library.
var thirdParty = map[string][]string{
	"github.com/spf13/cobra":            {"cmd/loop"},
	"github.com/pelletier/go-toml":      {"config", "policy"},
	"go.etcd.io/bbolt":                  {"queue"},
	"github.com/charmbracelet/lipgloss": {"report", "internal/term"},
	"charm.land/bubbletea":              {"watch", "review"},
	"mvdan.cc/sh":                       {"policy/shell"},
	"github.com/tidwall/gjson":          {"transcript", "scanner"},
	"golang.org/x/mod":                  {"receipt"},
	"github.com/tailscale/hujson":       {"firewall"},
	"go.yaml.in/yaml":                   {"stories"},
	// The official one: what a server of any age answers is its business.
	"github.com/modelcontextprotocol/go-sdk": {"replay/mcp"},
	"github.com/santhosh-tekuri":             {}, // JSON Schema: for tests
}

type listed struct {
	ImportPath string
	Imports    []string
}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "../../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		checkImports(t, strings.TrimPrefix(p.ImportPath, module), p.Imports)
	}
}

func checkImports(t *testing.T, pkg string, imports []string) {
	allowed, known := mayImport[pkg]
	if !known && !strings.HasPrefix(pkg, "cmd/") && !strings.HasPrefix(pkg, "internal/e2e") {
		t.Errorf("package %s is not in the table of imports", pkg)
	}
	for _, imp := range imports {
		if ours, ok := strings.CutPrefix(imp, module); ok && known && !slices.Contains(allowed, ours) {
			t.Errorf("%s imports %s, which the table does not allow", pkg, ours)
		}
		for lib, users := range thirdParty {
			if (imp == lib || strings.HasPrefix(imp, lib+"/")) && !slices.Contains(users, pkg) {
				t.Errorf("%s imports %s, which is for %s only", pkg, path.Base(lib), strings.Join(users, ", "))
			}
		}
	}
}

// The program that a client starts before every call holds no more than it
// needs: what a package sets up when a process starts, a person waits for.
func TestTheHookIsSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../loop-hook").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range []string{"net/http", "crypto/tls", "html/template", "github.com/spf13/cobra", "github.com/charmbracelet/lipgloss", "go.yaml.in/yaml/v3"} {
		if slices.Contains(strings.Fields(string(out)), pkg) {
			t.Errorf("loop-hook holds %s", pkg)
		}
	}
}
