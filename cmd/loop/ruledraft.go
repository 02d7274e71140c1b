package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
)

// notNarrow is a refusal to make a rule.
func notNarrow(hint, format string, args ...any) error {
	return &hintedError{err: fmt.Errorf("no narrow rule can be made of this: "+format, args...), hint: hint}
}

// draftRule makes the text of a rule and proves that it loads.
func draftRule(set *policy.Set, command, tier string, words int) (string, error) {
	command = strings.TrimSpace(command)
	if term.Quote(command) != command {
		return "", notNarrow("", "the command holds characters that cannot be seen")
	}
	d := draft{tier: tier, shown: term.Mask(command)}
	n, err := onlyCommand(set.Explain(d.shown))
	if err != nil {
		return "", err
	}
	if err := d.read(n.Argv, words); err != nil {
		return "", err
	}
	if err := alreadySo(n, tier); err != nil {
		return "", err
	}
	if err := d.name(set); err != nil {
		return "", err
	}
	d.examples(n.Argv)
	return d.proven()
}

// onlyCommand is the one simple command of a line.
func onlyCommand(x policy.Explanation) (policy.Node, error) {
	switch {
	case len(x.Nodes) == 0:
		return policy.Node{}, notNarrow("", "there is no command in it")
	case len(x.Nodes) > 1 || len(x.Nodes[0].Children) > 0:
		return policy.Node{}, notNarrow("give one of its commands alone; `loop explain` lists them", "it runs several commands")
	case len(x.Opaque) > 0 || len(x.Nodes[0].Argv) == 0:
		return policy.Node{}, notNarrow("", "it cannot be seen through")
	case x.Nodes[0].Remote != "":
		return policy.Node{}, notNarrow("", "it runs on another machine and is external already")
	}
	return x.Nodes[0], nil
}

// alreadySo refuses a rule that would say what another says already. What the
// classifier only guesses from a name may well get a rule.
func alreadySo(n policy.Node, tier string) error {
	for _, h := range n.Hits {
		if !h.Mention && !h.Opaque && (h.Tier == policy.External || h.Tier.String() == tier) {
			return &hintedError{err: fmt.Errorf("no rule is needed: %s says that it is %s", h.Rule, h.Tier), hint: "loop rules show " + h.Rule}
		}
	}
	return nil
}

// draft is a rule on its way.
type draft struct {
	id, tier, shown string
	program         string
	path            []string
	match, notMatch []string
}

// isProgram says that a rule can name the program.
func isProgram(s string) bool {
	return s != "" && isAlnum(rune(s[0])) && !strings.ContainsFunc(s, func(r rune) bool { return !isAlnum(r) && !strings.ContainsRune("._+-", r) })
}

// isSubcommand says that a word looks like one and not like a value.
func isSubcommand(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && len(s) <= 32 &&
		!strings.ContainsFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' || !isAlnum(r) && !strings.ContainsRune(":_-", r) })
}

func isAlnum(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// read takes the program and at most so many words of its subcommand.
func (d *draft) read(argv []string, words int) error {
	d.program = strings.TrimSuffix(path.Base(argv[0]), ".exe")
	if !isProgram(d.program) {
		return notNarrow("", "%q is no name of a program", argv[0])
	}
	for _, w := range argv[1:] {
		if !isSubcommand(w) || len(d.path) == words {
			break
		}
		d.path = append(d.path, w)
	}
	switch {
	case len(d.path) > 0:
		return nil
	case len(argv) > 1 && strings.HasPrefix(argv[1], "-"):
		return notNarrow("put the options behind the subcommand", "%s comes before the subcommand, and may or may not take a value", argv[1])
	}
	return notNarrow("name a subcommand, or write a rule with arg or with by hand; docs/rules.md shows how",
		"a rule without a subcommand would speak of every call of %s", d.program)
}

func (d *draft) command() string { return strings.Join(append([]string{d.program}, d.path...), " ") }

// name finds an id that no other rule has.
func (d *draft) name(set *policy.Set) error {
	words := strings.FieldsFunc(strings.ToLower(d.command()), func(r rune) bool { return !isAlnum(r) })
	id := strings.Join(words, "-")
	for _, candidate := range []string{id, "own-" + id, "own-" + id + "-2", "own-" + id + "-3"} {
		if !slices.ContainsFunc(set.Rules(), func(r policy.RuleInfo) bool { return r.ID == candidate }) {
			d.id = candidate
			return nil
		}
	}
	return fmt.Errorf("there are rules for %q already", d.command())
}

// examples makes what must match and what must not, from the command and its
// words.
func (d *draft) examples(argv []string) {
	line, command := shellJoin(argv), d.command()
	d.match = []string{line, "sudo " + line, "cd app && " + command + " --verbose"}
	last := len(d.path) - 1
	for _, other := range []string{"status", "list", "help-me"} {
		if d.path[last] != other {
			d.notMatch = append(d.notMatch, strings.Join(append(append([]string{d.program}, d.path[:last]...), other), " "))
			break
		}
	}
	d.notMatch = append(d.notMatch, command+" --help", "echo '"+command+"'")
}

// proven is the text of the rule, once it has been loaded.
func (d *draft) proven() (string, error) {
	text := d.text()
	problems, _, _ := policy.Check(policy.PackFile{Name: "new", Data: []byte(text)})
	if len(problems) > 0 {
		return "", notNarrow("`loop explain` shows how the command is read", "%s", problems[0].Text)
	}
	return text, nil
}

func (d *draft) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Made from: %s", d.shown)
	line("# Say in why what it sends and where. A word less in cmd catches more.")
	line("[[rule]]")
	line("id = %q", d.id)
	line("tier = %q", d.tier)
	why := "It reaches outside: "
	if d.tier == "shared" {
		why = "It changes what others share: "
	}
	line("why = %q", why+d.command()+".")
	line("cmd = [%q]", d.command())
	line(`# dry = ["--dry-run"] # if it has an option that makes it a dry run`)
	line("match = %s", tomlList(d.match))
	line("not_match = %s", tomlList(d.notMatch))
	return b.String()
}

// tomlList writes strings without characters that need a special escape.
func tomlList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// shellJoin writes words as a line that a shell reads as these words.
func shellJoin(argv []string) string {
	out := make([]string, len(argv))
	for i, w := range argv {
		out[i] = w
		if w == "" || strings.ContainsFunc(w, func(r rune) bool {
			return !isAlnum(r) && !strings.ContainsRune("-_./:=@%+,…", r)
		}) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
