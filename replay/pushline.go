package replay

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
	"github.com/seed-b23e517c/loop/queue"
)

// pushLine is one `git push` of a command line, as far as its words tell.
type pushLine struct {
	line   string // as it stands there
	dir    string
	remote string // as it names it; "" = git chooses
	specs  []refspec

	all, tags, mirror, deletes   bool
	force, lease, follow, dryRun bool
	before                       string // a git command before it in the line that changes what it sends; "" = none
	moves                        bool   // one that brings in what the remote has, or goes elsewhere
	makes                        bool   // one that may make the ref
	offline                      string // why its remote must not be asked; "" = it may be
	problem                      string // why it cannot be looked into; "" = it can
}

type refspec struct {
	src, dst string // src "" deletes dst; dst "" = git chooses
	force    bool
}

// pushLines are the pushes that an action would run.
func pushLines(a queue.Action) (out []pushLine) {
	if a.Tool != "Bash" {
		return nil
	}
	l := shell.Read(commandOf(a), shell.Options{})
	before, moves, makes := "", false, false
	for i := range l.Commands {
		verb, p := gitOf(&l.Commands[i], a.Cwd)
		switch verb {
		case "push":
			p.before, p.moves, p.makes = before, moves, makes
			out = append(out, p)
		case "commit", "cherry-pick", "revert", "am":
			before = firstOf(before, verb)
		case "tag", "branch":
			before, makes = firstOf(before, verb), true
		case "pull", "fetch", "merge", "rebase", "reset", "checkout", "switch", "remote", "update-ref", "config":
			before, moves = verb, true
		}
	}
	return out
}

// gitOf is the command that git is given, and a push looked into.
func gitOf(c *shell.Command, cwd string) (verb string, p pushLine) {
	if c.Program() != "git" || c.Mode != shell.Runs {
		return "", p
	}
	p = pushLine{line: c.Source, dir: within(cwd, c.Dir)}
	rest := p.global(c.Argv[1:])
	if len(rest) == 0 || rest[0].Text != "push" {
		if len(rest) > 0 {
			verb = rest[0].Text
		}
		return verb, p
	}
	p.words(rest[1:])
	switch {
	case c.Remote != "":
		p.problem = "it runs on another machine, " + c.Remote
	case slices.ContainsFunc(c.Argv, func(w shell.Word) bool { return w.Dynamic }) || strings.ContainsAny(p.dir, "$`"):
		p.problem = "what it pushes is not known before the line runs"
	case slices.ContainsFunc(c.Env, func(e shell.Assign) bool { return strings.HasPrefix(e.Name, "GIT_") }):
		p.problem = "the line sets variables of git's for it"
	}
	return "push", p
}

// within is a folder as a command names it, seen from another.
func within(dir, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return firstOf(name, dir)
	}
	return filepath.Join(dir, name)
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// global takes off git's own options before the command.
func (p *pushLine) global(words []shell.Word) []shell.Word {
	for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") {
		name, value, joined := strings.Cut(words[0].Text, "=")
		words = words[1:]
		takes := slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env", "--attr-source"}, name)
		if takes && !joined && (name != "--exec-path") && len(words) > 0 {
			value, words = words[0].Text, words[1:]
		}
		switch name {
		case "-C":
			p.dir = within(p.dir, value)
		case "-c", "--config-env", "--exec-path", "--namespace":
			p.offline = "the line gives git settings of its own"
		case "--git-dir", "--work-tree", "--super-prefix":
			p.problem = "the line names another repository by " + name
		}
	}
	return words
}

// words reads what stands behind `git push`.
func (p *pushLine) words(words []shell.Word) {
	var plain []string
	for i := 0; i < len(words); i++ {
		w := words[i].Text
		if w == "--" {
			for _, r := range words[i+1:] {
				plain = append(plain, r.Text)
			}
			break
		}
		if !strings.HasPrefix(w, "-") || w == "-" {
			plain = append(plain, w)
			continue
		}
		if p.option(w) && i+1 < len(words) {
			i++
			if strings.HasPrefix(w, "--repo") {
				p.remote = words[i].Text
			}
		}
	}
	if len(plain) > 0 {
		p.remote, plain = plain[0], plain[1:]
	}
	for i := 0; i < len(plain); i++ {
		s := plain[i]
		if s == "tag" && i+1 < len(plain) {
			i++
			s = "refs/tags/" + plain[i]
		}
		p.specs = append(p.specs, p.refspec(s))
	}
}

// option reports whether the next word is the option's value.
func (p *pushLine) option(w string) (takes bool) {
	if !strings.HasPrefix(w, "--") {
		return p.letters(w[1:])
	}
	name, value, joined := strings.Cut(w, "=")
	switch name {
	case "--all", "--branches":
		p.all = true
	case "--tags":
		p.tags = true
	case "--mirror":
		p.mirror = true
	case "--delete":
		p.deletes = true
	case "--force":
		p.force = true
	case "--force-with-lease":
		p.lease = true
	case "--follow-tags":
		p.follow = true
	case "--dry-run":
		p.dryRun = true
	case "--no-force":
		p.force = false
	case "--receive-pack", "--exec":
		p.offline = "the line names a program for the other side"
		return !joined
	case "--repo":
		p.remote = value
		return !joined
	case "--push-option", "--recurse-submodules":
		return !joined
	}
	return false
}

// letters reads short options, which may stand together.
func (p *pushLine) letters(s string) (takes bool) {
	for i, c := range s {
		switch c {
		case 'f':
			p.force = true
		case 'd':
			p.deletes = true
		case 'n':
			p.dryRun = true
		case 'o':
			return i == len(s)-1
		}
	}
	return false
}

func (p *pushLine) refspec(s string) refspec {
	s, force := strings.CutPrefix(s, "+")
	src, dst, both := strings.Cut(s, ":")
	r := refspec{src: src, dst: dst, force: force || p.force}
	if p.deletes {
		return refspec{dst: s, force: r.force}
	}
	if both && src == "" && dst == "" || strings.HasPrefix(s, "^") || strings.Contains(s, "*") {
		p.problem = "it pushes whatever matches, " + s
	}
	return r
}
