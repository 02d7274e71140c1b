package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// standing is a rule about one command for good, on its way into the user's
// own rules.
type standing struct {
	id, text, file string
	about          string // which of an action's forms it is for, safe to print; "" = it has one
	there          bool   // it stands in the file already
}

// ruled is the form of an action that a rule about it is for: what a person
// approved, edited or not, is allowed; what an agent calls is refused.
func ruled(x queue.Action, verb string) (form queue.Action, about string) {
	if x.Edited == nil {
		return x, ""
	}
	own, who := x, term.Line(cmp.Or(x.Edited.Who, "you"))
	own.Edited = nil
	if verb == queue.Reject {
		return own, fmt.Sprintf("It is about #%d as the agent called it, not about the form that %s gave it:\n\n  %s\n",
			x.Number, who, term.Command(x.Edited.Command))
	}
	return x.AsRun(), fmt.Sprintf("It is about #%d in the form that %s gave it. What the agent called is kept back as before:\n\n  %s\n",
		x.Number, who, term.Command(own.Command))
}

// always makes the rule that allows or refuses an action's command for good:
// these words, in this folder, and nothing else.
func (a *app) always(ctx context.Context, x queue.Action, verb, reason string) (standing, error) {
	x, about := ruled(x, verb)
	words, err := oneCommand(x)
	if err != nil {
		return standing{}, err
	}
	w, err := a.workspace(ctx)
	if err != nil {
		return standing{}, err
	}
	if w.User == "" {
		return standing{}, errors.New("no place for your own rules: neither XDG_CONFIG_HOME nor HOME is set")
	}
	sum := sha256.Sum256([]byte(verb + "\x00" + x.Cwd + "\x00" + strings.Join(words, "\x00")))
	s := standing{about: about, file: filepath.Join(w.User, "rules.toml"), id: "always-" + verb + "-" + hex.EncodeToString(sum[:4])}
	s.text = a.standingText(s.id, x, words, verb, reason)
	old, err := os.ReadFile(s.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return standing{}, fmt.Errorf("read your rules: %w", err)
	}
	s.there = strings.Contains(string(old), fmt.Sprintf("id = %q", s.id))
	if s.there {
		return s, nil
	}
	return s, a.provenStanding(w, s, x, old, verb)
}

// oneCommand is the words of an action about which a rule can be made that is
// no wider than itself.
func oneCommand(x queue.Action) ([]string, error) {
	refuse := func(why string) ([]string, error) {
		return nil, &hintedError{
			err:  fmt.Errorf("no rule for good can be made of #%d: %s", x.Number, why),
			hint: fmt.Sprintf("loop show %d shows it; docs/rules.md says how to write a rule by hand", x.Number),
		}
	}
	switch {
	case x.Tampering || slices.ContainsFunc(x.Rules, policy.IsGuard):
		return refuse("it reaches for what guards a run")
	case x.Evidence == policy.Mentioned || x.Evidence == policy.Written:
		return refuse("nothing was called")
	case x.Opaque:
		return refuse("it cannot be seen through")
	case x.Tool != "Bash":
		return refuse("it is no command line")
	case !filepath.IsAbs(x.Cwd):
		return refuse("its folder is not known")
	case term.Quote(x.Command) != x.Command || strings.Contains(x.Command, "\n"):
		return refuse("it has several lines, or characters that cannot be seen")
	case term.Mask(x.Command) != x.Command:
		return refuse("it holds what looks like a secret")
	}
	words, ok := policy.ExactWords(strings.TrimSpace(x.Command))
	if !ok || !isProgram(path.Base(words[0])) {
		return refuse("it is more than one plain command")
	}
	return words, nil
}

func (a *app) standingText(id string, x queue.Action, words []string, verb, reason string) string {
	day := a.now().UTC().Format("2006-01-02")
	line := shellJoin(words)
	edited := ""
	if x.Edited != nil {
		edited = ", as edited"
	}
	why, tier, key := fmt.Sprintf("Allowed for good on %s by %s (#%d%s).", day, a.who(), x.Number, edited), "local", "allow"
	if verb == "reject" {
		why, tier, key = fmt.Sprintf("You rejected this for good on %s (#%d).", day, x.Number), "external", "deny"
	}
	if reason = strings.TrimSpace(term.Quote(reason)); reason != "" {
		why += " " + reason
	}
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put("[[rule]]")
	put("id = %q", id)
	put("tier = %q", tier)
	put("%s = true", key)
	put("why = %s", tomlString(why))
	put("cmd = [%s]", tomlString(path.Base(words[0])))
	put("line = [%s]", tomlString(line))
	put("dir = %s", tomlString(filepath.ToSlash(x.Cwd)))
	put("match = [%s, %s, %s]", tomlString(line), tomlString("true && "+line), tomlString(line+" > /dev/null"))
	put("not_match = [%s, %s]", tomlString(line+" --more"), tomlString("echo "+shellJoin([]string{line})))
	return b.String()
}

// tomlString writes a basic string of TOML; JSON's escapes are all known there.
func tomlString(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	// A string always encodes.
	_ = enc.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// provenStanding checks that the file with the rule loads, and that the rule
// has the say on the action's call.
func (a *app) provenStanding(w workspace.Workspace, s standing, x queue.Action, old []byte, verb string) error {
	data := appended(old, s.text)
	if problems, _, _ := policy.Check(policy.PackFile{Name: s.file, Data: data, Own: true}); len(problems) > 0 {
		return &hintedError{
			err:  fmt.Errorf("%s would not load with the rule: line %d: %s", s.file, problems[0].Line, term.Quote(problems[0].Text)),
			hint: "loop rules check " + shellJoin([]string{s.file}),
		}
	}
	c, err := config.Load(w.User, w.Root)
	if err != nil {
		return err
	}
	o, err := c.RulePacks()
	if err != nil {
		return err
	}
	o.Packs = append(o.Packs, policy.PackFile{Name: s.file, Data: []byte(s.text), Own: true})
	set, err := policy.Load(o)
	if err != nil {
		return err
	}
	res := set.Classify(policy.Call{Tool: x.Tool, Input: x.Input, Cwd: x.Cwd})
	_, denied := res.Denied()
	switch {
	case verb == "reject" && !denied, verb == "approve" && (denied || res.Tier >= policy.External):
		return &hintedError{
			err:  fmt.Errorf("a rule about #%d would have no effect: %s speaks of it too", x.Number, strings.Join(res.Rules(), ", ")),
			hint: fmt.Sprintf("loop explain %s", shellJoin([]string{x.Command})),
		}
	}
	return nil
}

// appended is a file of rules with one more; what stands in it stays.
func appended(old []byte, text string) []byte {
	if len(old) == 0 {
		return []byte("# Your own rules. docs/rules.md says what may stand here.\n\n" + text)
	}
	gap := "\n"
	if !strings.HasSuffix(string(old), "\n") {
		gap = "\n\n"
	}
	return append(slices.Clone(old), gap+text...)
}

// writeStanding shows the rule, asks, and puts it at the end of the file.
func (a *app) writeStanding(s standing, yes bool) error {
	if s.there {
		a.printf("%s has this rule already: %s\n", term.Quote(s.file), s.id)
		return nil
	}
	if s.about != "" {
		a.printf("\n%s", s.about)
	}
	a.printf("\nThis rule goes to the end of %s:\n\n", term.Quote(s.file))
	for line := range strings.Lines(s.text) {
		a.printf("  %s\n", term.Quote(strings.TrimSuffix(line, "\n")))
	}
	if !yes {
		ok, err := a.confirm("\nwrite it? [y/N] ")
		if err != nil {
			return err
		}
		if !ok {
			return &codeError{code: exitFailed}
		}
	}
	if err := s.write(); err != nil {
		return err
	}
	a.printf("written: %s\n", s.id)
	return nil
}

// write puts the rule at the end of the file.
func (s standing) write() error {
	old, err := os.ReadFile(s.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(s.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write your rules: %w", err)
	}
	_, err = f.Write(appended(old, s.text)[len(old):])
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write your rules: %w", err)
	}
	return nil
}

// confirm asks on the terminal; without one, nobody can say yes.
func (a *app) confirm(question string) (bool, error) {
	if !term.IsTerminal(a.stdin) || !term.IsTerminal(a.stdout) {
		return false, &hintedError{err: errors.New("there is no terminal to ask at"), hint: "--yes goes on without asking"}
	}
	a.printf("%s", question)
	answer, err := bufio.NewReader(a.stdin).ReadString('\n')
	if err != nil && answer == "" {
		return false, nil
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}
