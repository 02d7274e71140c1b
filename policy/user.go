package policy

import (
	"fmt"
	"slices"
)

// addUser checks and adds a user's own pack; of a trusted one the examples are
// not run. Its rules can only add: a rule
// of theirs that says local takes nothing away from what another says.
func (s *Set) addUser(f PackFile, trusted bool) error {
	def, err := decodePack(f.Name, f.Data)
	if err != nil {
		return err
	}
	p := &pack{name: f.Name, data: f.Data, def: *def}
	p.load()
	if p.err != nil {
		return p.err
	}
	if err := checkDefs(p); err != nil {
		return err
	}
	for _, r := range p.rules {
		if r.Deny && !f.Own {
			return fmt.Errorf("%s:%d: rule %q: deny stands in your own rules.toml only: what it refuses nobody sees", f.Name, lineOfRule(f.Data, r.ID), r.ID)
		}
		if r.Allow && !f.Own {
			return fmt.Errorf("%s:%d: rule %q: allow stands in your own rules.toml only; a repository can tighten, not loosen", f.Name, lineOfRule(f.Data, r.ID), r.ID)
		}
	}
	for _, pat := range def.Patterns {
		if err := s.addPattern(pat); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	s.packs = append(s.packs, p)
	for _, name := range p.programs() {
		s.own[name] = append(s.own[name], p)
		delete(s.tools, name)
	}
	if trusted {
		return nil
	}
	for _, r := range p.rules {
		if err := s.checkExamples(r); err != nil {
			return fmt.Errorf("%s:%d: rule %q: %w", f.Name, lineOfRule(f.Data, r.ID), r.ID, err)
		}
	}
	return nil
}

// programs lists the programs that a pack speaks of. A pattern that names a
// program by one of its other names is meant for all of them only in the pack
// that says so.
func (p *pack) programs() []string {
	var out []string
	seen := map[string]bool{}
	add := func(names ...string) {
		for _, n := range names {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	for _, t := range p.def.Tools {
		add(t.Name)
		add(t.Names...)
		add(t.Like...)
	}
	for _, r := range p.rules {
		for _, c := range r.cmds {
			add(c.program)
		}
	}
	if p.def.Names != nil || p.def.Tables != nil || p.def.MCP != nil || p.def.Changers != nil {
		add("@tables")
	}
	for _, r := range p.rules {
		if r.looksAround() {
			add("@guards")
		}
	}
	for _, r := range p.rules {
		if len(r.Code) > 0 {
			add("@code")
		}
	}
	return out
}

// checkDefs looks at what the types cannot say: ids once, examples enough.
func checkDefs(p *pack) error {
	seen := map[string]bool{}
	for _, r := range p.rules {
		fail := func(format string, v ...any) error {
			return fmt.Errorf("%s:%d: rule %q: %w", p.name, lineOfRule(p.data, r.ID), r.ID, fmt.Errorf(format, v...))
		}
		switch {
		case seen[r.ID]:
			return fail("the id stands twice")
		case len(r.Match) < 3:
			return fail("%d match examples, at least 3 are needed", len(r.Match))
		case len(r.NotMatch) < 2:
			return fail("%d not_match examples, at least 2 are needed", len(r.NotMatch))
		}
		seen[r.ID] = true
	}
	return nil
}

// checkExamples runs a rule's examples through the whole classifier.
func (s *Set) checkExamples(r *rule) error {
	for _, m := range r.Match {
		if !s.speaks(r, m) {
			return fmt.Errorf("the example %q does not match", m)
		}
	}
	for _, m := range r.NotMatch {
		if s.speaks(r, m) {
			return fmt.Errorf("the near miss %q matches", m)
		}
	}
	return nil
}

// exampleCall is where the examples of a rule run: in a made-up run, where the
// rule speaks of one.
func (r *rule) exampleCall() Call {
	if !r.looksAround() && !slices.ContainsFunc(r.When, func(w string) bool { return guardPredicate(w) != nil }) {
		return Call{Cwd: r.Dir}
	}
	return Call{Cwd: "/repo", Guarded: &Guarded{
		Root: "/repo", Home: "/home/me", Pids: []int{4242, 4243}, Ports: []int{43210},
		Files: []string{"/home/me/.local/state/loop", "/home/me/.config/loop", "/repo/loop.toml", "/usr/local/bin/loop"},
	}}
}

// speaks reports whether the rule has a say on a command line: with its own
// tier, on something that runs.
func (s *Set) speaks(r *rule, line string) bool {
	for _, h := range s.classifyLine(line, r.exampleCall()).Hits {
		if h.Rule == r.ID && h.Tier == r.tier && !h.Mention {
			return true
		}
	}
	return false
}
