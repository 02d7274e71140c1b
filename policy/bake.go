package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

var bakeFiles = []string{"docker-bake.override.hcl", "docker-bake.hcl", "docker-bake.json", "docker-bake.override.json"}

// bake judges the outputs that a bake file gives the targets that are built.
func (r *reading) bake(prog string, c *shell.Command) []Hit {
	if r.tree == nil || prog != "docker" && prog != "depot" && prog != "buildx" {
		return nil
	}
	words := operandsOf(c.Argv[1:], " -f --file --set --builder --metadata-file --progress --provenance --sbom --allow --call --list -H -c --context --project --token ")
	for len(words) > 0 && words[0].Text == "buildx" {
		words = words[1:]
	}
	if len(words) == 0 || words[0].Text != "bake" || containsAnyWord(c.Argv, "--print", "--load", "--check", "--list") {
		return nil
	}
	opts := optionValues(c.Argv[1:])
	files := append(opts["-f"], opts["--file"]...)
	if len(files) == 0 {
		files = bakeFiles
	}
	for _, v := range opts["--set"] {
		if strings.Contains(v, ".output=") && !strings.Contains(v, "registry") && !strings.Contains(v, "push=true") {
			return nil
		}
	}
	for _, name := range files {
		text, file, ok := r.file(c, name)
		if !ok {
			continue
		}
		blocks := hclBlocks(text)
		wanted := wordTexts(words[1:])
		if len(wanted) == 0 {
			wanted = []string{"default"}
		}
		done := map[string]bool{}
		for len(wanted) > 0 && len(done) < maxTargets {
			b := blocks[wanted[0]]
			wanted = wanted[1:]
			if done[b.name] {
				continue
			}
			done[b.name] = true
			for line := range strings.Lines(b.text) {
				if pushesImage(line) {
					h := Hit{Rule: "docker-push", Tier: External, Why: "The output of a target that it builds goes to a registry.", Text: strings.TrimSpace(line)}
					return []Hit{h.at(file, text, 0, r.shown(file))}
				}
			}
			wanted = append(wanted, b.names...)
		}
	}
	return nil
}

// pushesImage: the line of a bake file sends what is built to a registry.
func pushesImage(line string) bool {
	key, value, _ := strings.Cut(line, "=")
	key = strings.Trim(strings.TrimSpace(key), `"`)
	return (strings.HasPrefix(key, "output") || strings.HasPrefix(key, `cache-to`)) && (strings.Contains(value, "type=registry") || strings.Contains(value, "push=true")) ||
		strings.Contains(line, `"output"`) && (strings.Contains(line, "type=registry") || strings.Contains(line, "push=true"))
}

// hclBlock is a target or a group of a bake file, with the targets it names.
type hclBlock struct {
	name, text string
	names      []string
}

// hclBlocks cuts a bake file, in HCL or JSON, into its targets and groups by
// how it is indented.
func hclBlocks(text string) map[string]hclBlock {
	out := map[string]hclBlock{}
	var name string
	var body []string
	flush := func() {
		if name == "" {
			return
		}
		b := hclBlock{name: name, text: strings.Join(body, "\n")}
		for _, l := range lex("go", b.text).lits {
			b.names = append(b.names, l.text)
		}
		if old, ok := out[name]; ok {
			b.text, b.names = old.text+"\n"+b.text, append(old.names, b.names...)
		}
		out[name] = b
	}
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		word, rest, _ := strings.Cut(bare, " ")
		if (word == "target" || word == "group") && strings.HasPrefix(rest, `"`) {
			flush()
			name, rest, _ = strings.Cut(rest[1:], `"`)
			body = []string{strings.TrimLeft(rest, " {")}
			continue
		}
		if n, rest, ok := strings.Cut(bare, `": {`); ok && strings.HasPrefix(n, `"`) && n != `"target` && n != `"group` {
			flush()
			name, body = n[1:], []string{rest}
			continue
		}
		body = append(body, bare)
	}
	flush()
	return out
}
