package main

import (
	"net/url"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy"
)

// nearer finds what would keep a command on this machine, from the definition
// of the rule that says it leaves. Whatever it names has been classified: it
// never guesses.
type nearer struct {
	set   *policy.Set
	rules map[string]policy.Detail
}

func newNearer(set *policy.Set) (nearer, error) {
	n := nearer{set: set, rules: map[string]policy.Detail{}}
	details, err := set.Details()
	for _, d := range details {
		n.rules[d.ID] = d
	}
	return n, err
}

// form is one way to keep a command here.
type form struct {
	label   string
	command string
}

// of is the first form of a node's command that holds; none when nothing is
// known, or when the command would run elsewhere anyway.
func (n nearer) of(node policy.Node) (form, bool) {
	if node.Verdict != policy.VerdictExternal || node.Remote != "" || len(node.Argv) == 0 {
		return form{}, false
	}
	for _, h := range node.Hits {
		if h.Mention || h.Tier != policy.External || h.File != "" {
			continue
		}
		d := n.rules[h.Rule]
		sure, unsure := dryForms(&d, node.Argv)
		forms := slices.Concat(sure, readForms(&d, node.Argv), localForms(&d, node.Argv), optionForms(&d, node.Argv))
		if !h.Opaque {
			forms = append(forms, n.nearMiss(&d, node.Argv)...)
		}
		for _, f := range append(forms, unsure...) {
			if n.isLocal(f.command) {
				return f, true
			}
		}
	}
	return form{}, false
}

func (n nearer) isLocal(command string) bool {
	return n.set.ClassifyCommand(command, "").Verdict == policy.VerdictLocal
}

// dryForms are the command with each of the rule's dry-run forms. A rule may
// speak of many programs, of which not all know each of its options; sure are
// those that its examples show for this program.
func dryForms(d *policy.Detail, argv []string) (sure, unsure []form) {
	for _, opt := range append(slices.Clone(d.Values("dry")), d.Values("without")...) {
		if strings.ContainsAny(opt, "*|") || !looksOnly(opt) {
			continue
		}
		f := []form{{"local as a dry run", shellLine(append(slices.Clone(argv), opt))}}
		// Options may have to stand before the operands.
		for i := min(len(argv), 3); i > 0; i-- {
			f = append(f, form{f[0].label, shellLine(slices.Insert(slices.Clone(argv), i, opt))})
		}
		if exampleHas(d.NotMatch, argv, opt) {
			sure = append(sure, f...)
			continue
		}
		for i := range f {
			f[i].label = "local as a dry run, where it knows " + opt
		}
		unsure = append(unsure, f...)
	}
	for _, env := range d.Values("dry_env") {
		if exampleHas(d.NotMatch, argv, env) {
			sure = append(sure, form{"local as a dry run", env + " " + shellLine(argv)})
		}
	}
	return sure, unsure
}

// looksOnly says that an option is one of those by which a command only says
// what it would do. A rule's other options may send something else instead.
func looksOnly(opt string) bool {
	if opt == "-n" || opt == "-d" || opt == "-m" {
		return true
	}
	for _, w := range []string{"dry", "check", "preview", "diff", "validate", "simulat", "plan", "snapshot", "noop"} {
		if strings.Contains(strings.ToLower(opt), w) {
			return strings.HasPrefix(opt, "-")
		}
	}
	return false
}

// exampleHas says that one of the examples gives the option, or setting of the
// environment, to the same subcommand of the same program.
func exampleHas(examples, argv []string, opt string) bool {
	var words []string // what may be the subcommand
	for _, w := range argv[1:] {
		if isSubcommand(w) {
			words = append(words, w)
		}
	}
	for _, line := range examples {
		f := strings.Fields(line)
		same := len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(f, w) })
		if same && slices.Contains(f, argv[0]) && slices.Contains(f, opt) {
			return true
		}
	}
	return false
}

// readForms are the command with what makes it send taken away, where the
// rule asks whether it sends, or its direction turned round.
func readForms(d *policy.Detail, argv []string) []form {
	if slices.Contains(d.Values("when"), "url-exfil") {
		return nil
	}
	var out []form
	if d.Pack == "http" && slices.ContainsFunc(argv, func(w string) bool { return strings.Contains(w, "://") }) {
		out = append(out, plainRead(argv)...)
	}
	for _, when := range d.Values("when") {
		switch {
		case strings.HasSuffix(when, "-sends"):
			out = append(out, plainRead(argv)...)
		case when == "remote-dest", when == "bucket-dest":
			if n := len(argv); n > 2 {
				turned := append(slices.Clone(argv[:n-2]), argv[n-1], argv[n-2])
				out = append(out, form{"local the other way round, where it reads", shellLine(turned)})
			}
		}
	}
	return out
}

// plainRead is the command with its address and nothing else. A word behind an
// option may be its value, so only one with a scheme counts there.
func plainRead(argv []string) []form {
	for i, w := range argv[1:] {
		before := argv[i]
		switch {
		case strings.HasPrefix(w, "-"), strings.ContainsAny(w, "@=$`"), !strings.ContainsAny(w, "/."):
			continue
		case strings.HasPrefix(before, "-") && !strings.Contains(w, "://"):
			continue
		}
		head := []string{argv[0]}
		if argv[1] == "api" { // gh api PATH
			head = append(head, argv[1])
		}
		return []form{{"local as a plain read", shellLine(append(head, w))}}
	}
	return nil
}

// localForms are the command with this machine as its other end.
func localForms(d *policy.Detail, argv []string) []form {
	const label = "local when it speaks to this machine"
	if slices.Contains(d.Values("when"), "url-exfil") {
		return nil
	}
	var out []form
	changed := slices.Clone(argv)
	for i, w := range argv {
		if u, err := url.Parse(w); err == nil && u.Scheme != "" && u.Host != "" && !strings.ContainsAny(w, "$`") {
			u.Host, u.User = "localhost", nil
			changed[i] = u.String()
		}
	}
	if !slices.Equal(changed, argv) {
		out = append(out, form{label, shellLine(changed)})
	}
	for _, opt := range d.Values("loopback") {
		out = append(out, form{label, shellLine(append(slices.Clone(argv), opt, "http://localhost:8080"))})
	}
	return out
}

// isSwitch says that an option takes no value, so that a command stays whole
// without it.
func isSwitch(opt string) bool {
	switch opt {
	case "--push", "--execute", "--remote", "--linked", "--prod", "--production", "--apply", "--publish", "--upload", "--deploy", "--broadcast", "--live":
		return true
	}
	return strings.Contains(opt, "=")
}

// optionForms are the command without the switches that the rule asks for.
func optionForms(d *policy.Detail, argv []string) []form {
	with := d.Values("with")
	var dropped []string
	kept := slices.DeleteFunc(slices.Clone(argv), func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		drop := isSwitch(w) && slices.ContainsFunc(with, func(o string) bool { return o == w || o == name })
		if drop {
			dropped = append(dropped, w)
		}
		return drop
	})
	if len(dropped) == 0 {
		return nil
	}
	return []form{{"local without " + strings.Join(dropped, " "), shellLine(kept)}}
}

// nearMiss is one of the rule's own examples of what it does not mean: of the
// same program, as much alike as there is, and local.
func (n nearer) nearMiss(d *policy.Detail, argv []string) []form {
	best, most := "", 0
	for _, line := range d.NotMatch {
		words := strings.Fields(line)
		help := slices.ContainsFunc(words, func(w string) bool { return strings.TrimLeft(w, "-") == "help" || w == "-h" || w == "--version" })
		if help || words[0] != argv[0] || !n.isLocal(line) {
			continue
		}
		same := 0
		for same < len(words) && same < len(argv) && words[same] == argv[same] {
			same++
		}
		if same > most {
			best, most = line, same
		}
	}
	if best == "" {
		return nil
	}
	return []form{{"near it, and local", best}}
}

// shellLine is shellJoin for words that may hold expansions, which stay alive.
func shellLine(argv []string) string {
	out := make([]string, len(argv))
	for i, w := range argv {
		if out[i] = shellJoin([]string{w}); strings.ContainsAny(w, "$`") {
			out[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
		}
	}
	return strings.Join(out, " ")
}
