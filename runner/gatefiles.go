package runner

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/regular"
	"github.com/seed-b23e517c/loop/policy"
)

// gateFiles are the files of the work tree that the gates name or are defined
// in, each with its gate.
func gateFiles(o *Options) map[string]string {
	out := map[string]string{}
	for _, gate := range o.Gates {
		for _, name := range filesOfGate(o, gate) {
			if _, known := out[name]; !known {
				out[name] = gate
			}
		}
	}
	return out
}

// gateDepth is how far package scripts and recipes are followed.
const gateDepth = 3

// filesOfGate are the files that one gate runs, relative to the root, as far
// as names tell.
func filesOfGate(o *Options, gate string) []string {
	return slices.DeleteFunc(namesOfGate(o, gate), isInstalled)
}

func namesOfGate(o *Options, gate string) []string {
	var out []string
	followGate(o, gate, "", gateDepth, &out)
	slices.Sort(out)
	return slices.Compact(out)
}

// bins is where packages put the programs that package scripts run by name.
const bins = "node_modules/.bin/"

// isInstalled: the file was put there by a package manager. Another version of it
// is ordinary work: it is neither kept nor run twice.
func isInstalled(name string) bool { return strings.Contains(name, bins) }

// installed are the programs of packages that the gates run, each with its gate.
func installed(o *Options) map[string]string {
	out := map[string]string{}
	for _, gate := range o.Gates {
		for _, name := range namesOfGate(o, gate) {
			if isInstalled(name) {
				out[name] = gate
			}
		}
	}
	return out
}

// locks are the files that change when other packages are installed.
var locks = []string{"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"}

func followGate(o *Options, command, dir string, depth int, out *[]string) {
	if depth == 0 {
		return
	}
	for _, n := range flatten(o.Set.Explain(command).Nodes) {
		if len(n.Argv) > 1 && n.Argv[0] == "cd" {
			dir = path.Join(dir, n.Argv[1])
			continue
		}
		for _, name := range filesOf(o.Root, dir, n.Argv) {
			if isProductTest(name) {
				continue
			}
			*out = append(*out, name)
			for _, line := range linesOf(o.Root, name, n.Argv) {
				followGate(o, line, path.Dir(name), depth-1, out)
			}
		}
	}
}

func flatten(nodes []policy.Node) (out []policy.Node) {
	for _, n := range nodes {
		out = append(append(out, n), flatten(n.Children)...)
	}
	return out
}

// interpreters run the file that is their first operand.
var interpreters = []string{"sh", "bash", "zsh", "dash", "ksh", "fish", "source", ".", "python", "python3", "node", "ruby", "perl", "php", "tsx", "ts-node", "pwsh"}

// definedIn are the files in which a program of this name finds what it is told
// to do, the one that wins first.
func definedIn(prog string) []string {
	switch prog {
	case "make", "gmake":
		return []string{"GNUmakefile", "makefile", "Makefile"}
	case "npm", "pnpm", "yarn", "bun":
		return []string{"package.json", ".npmrc", ".yarnrc.yml", "bunfig.toml"}
	case "npx", "pnpx", "bunx":
		return []string{".npmrc"}
	case "cargo":
		return []string{".cargo/config.toml", ".cargo/config"}
	case "just":
		return []string{"justfile", "Justfile", ".justfile"}
	case "task":
		return []string{"Taskfile.yml", "Taskfile.yaml"}
	case "rake":
		return []string{"Rakefile"}
	case "tox":
		return []string{"tox.ini"}
	case "nox":
		return []string{"noxfile.py"}
	case "composer":
		return []string{"composer.json"}
	case "mage":
		return []string{"magefile.go"}
	case "invoke":
		return []string{"tasks.py"}
	}
	return nil
}

// isToolSetting: the file tells a program by what to run scripts and tests, and
// one that was not there at the start is not work on the product.
func isToolSetting(name string) bool {
	switch path.Base(name) {
	case ".npmrc", ".yarnrc.yml", "bunfig.toml":
		return true
	}
	return strings.HasSuffix("/"+name, "/.cargo/config.toml") || strings.HasSuffix("/"+name, "/.cargo/config")
}

// hides reports whether a program that finds both files takes the first
// instead of the second.
func hides(one, other string) bool {
	if path.Dir(one) != path.Dir(other) {
		return false
	}
	for _, prog := range []string{"make", "just", "task"} {
		names := definedIn(prog)
		i, j := slices.Index(names, path.Base(one)), slices.Index(names, path.Base(other))
		if i >= 0 && i < j {
			return true
		}
	}
	return false
}

// filesOf are the files that a command of a gate runs, relative to the root.
func filesOf(root, dir string, argv []string) []string {
	if len(argv) == 0 {
		return nil
	}
	prog := path.Base(argv[0])
	names := definedIn(prog)
	if strings.Contains(argv[0], "/") {
		names = append(slices.Clone(names), argv[0])
	} else {
		names = append(slices.Clone(names), bins+prog)
	}
	if i := slices.IndexFunc(argv[1:], func(w string) bool {
		return !strings.HasPrefix(w, "-") && w != "exec" && w != "run" && w != "x"
	}); i >= 0 && slices.Contains([]string{"npx", "pnpx", "bunx", "pnpm", "yarn", "npm"}, prog) {
		names = append(names, bins+path.Base(argv[i+1]))
	}
	for i, w := range argv[1:] {
		switch {
		case prog == "make" && (w == "-f" || w == "-C") && i+2 < len(argv):
			names = append(slices.Clone(names), argv[i+2], path.Join(argv[i+2], "Makefile"))
		case slices.Contains(interpreters, prog) && !strings.HasPrefix(w, "-") && !slices.ContainsFunc(argv[1:i+1], isInline):
			names = append(slices.Clone(names), w)
		default:
			continue
		}
		if prog != "make" {
			break
		}
	}
	var out []string
	for _, n := range names {
		if path.IsAbs(n) {
			n = relativeTo(root, n)
		} else {
			n = path.Join(dir, n)
		}
		if info, err := os.Stat(filepath.Join(root, n)); filepath.IsLocal(n) && err == nil && info.Mode().IsRegular() {
			out = append(out, n)
		}
	}
	return out
}

func isInline(w string) bool { return w == "-c" || w == "-e" || w == "-m" || w == "--eval" }

// linesOf are the command lines that a gate's command runs out of the file in
// which its program finds them: package scripts and recipes.
func linesOf(root, name string, argv []string) []string {
	data, ok := firewall.Files{Root: root}.Read(root, filepath.Join(root, name))
	if !ok {
		return nil
	}
	switch path.Base(name) {
	case "package.json":
		return packageLines(data, argv)
	case "Makefile", "makefile", "GNUmakefile":
		return recipeLines(data, argv[1:])
	}
	return nil
}

func packageLines(data string, argv []string) []string {
	var p struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(data), &p) != nil {
		return nil
	}
	var out []string
	for _, w := range argv[1:] {
		if w == "t" || w == "tst" {
			w = "test"
		}
		for _, name := range []string{"pre" + w, w, "post" + w} {
			if line, ok := p.Scripts[name]; ok {
				out = append(out, line)
			}
		}
	}
	return out
}

// recipeLines are the lines of the targets, and of those that they need.
func recipeLines(data string, targets []string) []string {
	needs, recipes, first := map[string][]string{}, map[string][]string{}, ""
	var now []string
	for line := range strings.Lines(strings.ReplaceAll(data, "\\\n", " ")) {
		line = strings.TrimRight(line, "\r\n")
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, t := range now {
				recipes[t] = append(recipes[t], strings.TrimLeft(recipe, "@-+ "))
			}
			continue
		}
		left, right, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(right, "=") || strings.ContainsAny(left, "=#$") {
			continue
		}
		if now = strings.Fields(left); first == "" && len(now) > 0 && !strings.HasPrefix(now[0], ".") {
			first = now[0]
		}
		for _, t := range now {
			needs[t] = append(needs[t], strings.Fields(strings.TrimPrefix(right, ":"))...)
		}
	}
	targets = slices.DeleteFunc(slices.Clone(targets), func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
	if len(targets) == 0 {
		targets = []string{first}
	}
	var out []string
	for i := 0; i < len(targets) && i < 100; i++ {
		out = append(out, recipes[targets[i]]...)
		for _, n := range needs[targets[i]] {
			if !slices.Contains(targets, n) {
				targets = append(targets, n)
			}
		}
	}
	return out
}

// gateHash is the hash of what a gate runs; of a package.json only its scripts
// count, because its dependencies are ordinary work.
func gateHash(name string) hash {
	data, err := regular.Read(name, maxWatched)
	if err != nil {
		return hash{}
	}
	return hashOfGate(name, data)
}

func hashOfGate(name string, data []byte) hash {
	switch filepath.Base(name) {
	case "package.json":
		var p struct {
			Scripts json.RawMessage `json:"scripts"`
		}
		if json.Unmarshal(data, &p) == nil {
			data = p.Scripts
		}
	case ".npmrc": // the rest says where packages come from
		if data = linesOfKeys(data, "script-shell", "node-options", "ignore-scripts", "if-present", "workspace", "workspaces", "dry-run"); len(data) == 0 {
			return hash{}
		}
	}
	return sha256.Sum256(data)
}

// linesOfKeys are the lines of a file that set one of these.
func linesOfKeys(data []byte, keys ...string) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		key, _, _ := bytes.Cut(line, []byte("="))
		if slices.Contains(keys, strings.TrimSpace(string(key))) {
			out = append(out, line...)
		}
	}
	return out
}

// isProductTest reports whether a file that a gate names is a test of the
// product rather than what runs the tests: to write those is ordinary work.
func isProductTest(name string) bool {
	switch path.Ext(name) {
	case ".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".rb", ".php", ".pl", ".go", ".t":
	default:
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return strings.ContainsRune("/_-.", c) })
	has := func(w string) bool { return slices.Contains(words, w) }
	return (has("test") || has("tests") || has("spec") || has("specs")) && !has("run") && !has("runner")
}
