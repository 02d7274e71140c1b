package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// rule is a rule made ready for matching.
type rule struct {
	*ruleDef
	pack    string
	tier    Tier
	cmds    []pattern
	lines   [][]string // the words of each Line
	excepts []pattern
	when    []predicate
	unless  []predicate
	phrases []string
}

// pattern is a program and a subcommand path.
type pattern struct {
	program string
	path    []wordPattern
}

func parsePattern(s string) (pattern, error) {
	f := strings.Fields(s)
	if len(f) == 0 {
		return pattern{}, fmt.Errorf("empty command pattern")
	}
	return pattern{program: f[0], path: wordPatterns(f[1:])}, nil
}

// match reports whether the operands begin with the path. A word that is not
// known before the line runs matches any word, unless exact.
func (p pattern) match(words []shell.Word, exact bool) (guess, ok bool) {
	if len(words) < len(p.path) {
		return false, false
	}
	for i, w := range p.path {
		switch {
		case w.match(words[i].Text):
		case !exact && w.literal() && (unknownWord(words[i]) || w.mayBe(words[i])):
			guess = true
		default:
			return false, false
		}
	}
	return guess, true
}

// mayBe reports whether a word of which only the beginning is known may be
// one of those that the pattern lists: pu$x.
func (w wordPattern) mayBe(word shell.Word) bool {
	at := strings.IndexAny(word.Text, "$`")
	if !word.Dynamic || at <= 0 {
		return false
	}
	for s := range w.alternatives() {
		if strings.HasPrefix(s, word.Text[:at]) {
			return true
		}
	}
	return false
}

// unknownWord reports whether nothing of the word is known.
func unknownWord(w shell.Word) bool {
	return w.Dynamic && w.Text != "" && (w.Text[0] == '$' || w.Text[0] == '`')
}

// compile checks a rule and makes it ready. It does not run the examples.
func (d *ruleDef) compile(pack string) (*rule, error) {
	r := &rule{ruleDef: d, pack: pack}
	if d.ID == "" {
		return nil, fmt.Errorf("a rule without an id")
	}
	if err := r.tier.UnmarshalText([]byte(d.Tier)); err != nil {
		return nil, err
	}
	if d.Why == "" {
		return nil, fmt.Errorf("why is missing")
	}
	if len(d.Cmd) == 0 && len(d.Code) == 0 && !d.looksAround() {
		return nil, fmt.Errorf("cmd is missing")
	}
	if !slices.Contains([]string{"", "none", "correction", "full"}, d.Undo) {
		return nil, fmt.Errorf("undo is %q, not none, correction or full", d.Undo)
	}
	var err error
	if r.cmds, err = parsePatterns(d.Cmd); err != nil {
		return nil, err
	}
	if err := r.compileExact(); err != nil {
		return nil, err
	}
	if d.Allow {
		if err := r.narrow(); err != nil {
			return nil, err
		}
	}
	if r.excepts, err = parsePatterns(d.Except); err != nil {
		return nil, err
	}
	if r.when, err = findPredicates(d.When); err != nil {
		return nil, err
	}
	if r.unless, err = findPredicates(d.Unless); err != nil {
		return nil, err
	}
	return r, nil
}

// looksAround: the rule looks at what any command does, not at one program.
func (d *ruleDef) looksAround() bool { return len(d.Writes)+len(d.Sets)+len(d.Opens) > 0 || d.Port }

// narrow refuses a rule that would allow more than the few calls that its
// user had in mind.
func (r *rule) narrow() error {
	if r.tier != Local || len(r.cmds) == 0 {
		return fmt.Errorf("allow is for rules with tier local and cmd")
	}
	for i, p := range r.cmds {
		if len(p.path) == 0 && len(r.Line) == 0 || strings.ContainsAny(r.Cmd[i], "*?[") {
			return fmt.Errorf("cmd %q allows too much: name the program and its subcommand, without wildcards", r.Cmd[i])
		}
	}
	return nil
}

func parsePatterns(list []string) ([]pattern, error) {
	out := make([]pattern, 0, len(list))
	for _, s := range list {
		p, err := parsePattern(s)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// match says what the rule has to say about a command: a hit, or nothing.
func (r *rule) match(a *args) (Hit, bool) {
	n, guess, ok := r.path(a)
	if !ok || !r.conditions(a, a.words[n:]) {
		return Hit{}, false
	}
	if r.Allow && guess {
		return Hit{}, false
	}
	h := Hit{Rule: r.ID, Tier: r.tier, Why: r.Why, Net: r.Net, Opaque: r.Opaque || guess, Allowed: r.Allow, Denied: r.Deny, Instead: r.Instead}
	if r.isDry(a) {
		h.Tier, h.Net, h.Opaque = Local, r.DryNet, false
		h.Why = "a dry run: " + r.Why
	}
	return h, true
}

// path finds the longest command pattern that matches, and how many operands
// it covers.
func (r *rule) path(a *args) (n int, guess, ok bool) {
	for _, e := range r.excepts {
		if !a.tool.is(e.program) {
			continue
		}
		if _, hit := e.match(a.words, true); hit {
			return 0, false, false
		}
	}
	n = -1
	for _, p := range r.cmds {
		if len(p.path) <= n || !a.tool.is(p.program) {
			continue
		}
		if g, hit := p.match(a.words, false); hit {
			n, guess = len(p.path), g
		}
	}
	return max(n, 0), guess, n >= 0
}

func (r *rule) conditions(a *args, rest []shell.Word) bool {
	switch {
	case !r.exactly(a),
		len(r.With) > 0 && !a.hasAny(r.With),
		len(r.Without) > 0 && a.hasAny(r.Without),
		r.NoArgs && len(rest) > 0,
		len(rest) < r.MinArgs,
		len(r.Arg) > 0 && !r.operand(rest),
		len(r.Env) > 0 && !r.environment(a),
		len(r.URL) > 0 && !r.url(a),
		len(r.Loopback) > 0 && loopbackValue(a, r.Loopback):
		return false
	}
	for _, p := range r.when {
		if !p(a, rest) {
			return false
		}
	}
	for _, p := range r.unless {
		if p(a, rest) {
			return false
		}
	}
	return true
}

func (r *rule) operand(rest []shell.Word) bool {
	for _, w := range rest {
		if matchAny(r.Arg, w.Text) && !matchAny(r.NotArg, w.Text) {
			return true
		}
	}
	return false
}

func (r *rule) environment(a *args) bool {
	for _, e := range r.Env {
		name, glob, eq := strings.Cut(e, "=")
		if v, ok := a.env(name); ok && (!eq || v.Dynamic || matchGlob(glob, v.Text)) {
			return true
		}
	}
	return false
}

func (r *rule) url(a *args) bool {
	for _, u := range urlsOf(a) {
		s := u.Text
		if _, after, ok := strings.Cut(s, "://"); ok {
			s = after
		}
		if matchAny(r.URL, strings.ToLower(s)) {
			return true
		}
	}
	return false
}

func (r *rule) isDry(a *args) bool {
	if len(r.Dry) > 0 && a.dry(r.Dry) {
		return true
	}
	for _, e := range r.DryEnv {
		name, want, _ := strings.Cut(e, "=")
		if v, ok := a.env(name); ok && v.Text == want && !a.cancelled(r.Dry) {
			return true
		}
	}
	return false
}

// cancelled reports whether a dry-run option is given and says no.
func (a *args) cancelled(names []string) bool {
	for _, n := range names {
		for _, o := range a.opts {
			if o.name == n || strings.HasPrefix(n, "--") && o.name == "--no-"+n[2:] {
				return !a.dry(names)
			}
		}
	}
	return false
}

// loopbackValue reports whether one of the options names this machine.
func loopbackValue(a *args, names []string) bool {
	found := false
	for _, n := range names {
		if v, ok := a.last(n); ok {
			if !isLoopbackURL(v.Text) {
				return false
			}
			found = true
		}
	}
	return found
}

// makePhrases makes the phrases that count as a mention of the rule: those of
// the pack, and, for a rule without further conditions, those of the command
// patterns whose words are plain.
func (d *ruleDef) makePhrases() []string {
	out := slices.Clone(d.Mention)
	if d.Quiet || d.NoArgs || d.looksAround() || len(d.With)+len(d.When)+len(d.Arg)+len(d.Env)+len(d.URL) > 0 {
		return out
	}
	for _, c := range d.Cmd {
		if f := strings.Fields(c); len(f) > 1 && !strings.Contains(c, "*") {
			out = append(out, expandWords(f)...)
		}
	}
	return out
}

// expandWords writes out the alternatives of a pattern's words.
func expandWords(f []string) []string {
	out := []string{""}
	for i, w := range f {
		var next []string
		for _, head := range out {
			for alt := range strings.SplitSeq(w, "|") {
				if i > 0 {
					alt = head + " " + alt
				}
				next = append(next, alt)
			}
		}
		out = next
	}
	return out
}
