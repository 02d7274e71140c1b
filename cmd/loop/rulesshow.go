package main

import (
	"fmt"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
)

// keyMeaning says what a key of a rule asks for.
func keyMeaning(key string) string {
	switch key {
	case "cmd":
		return "the program and its subcommand"
	case "except":
		return "but not these"
	case "with":
		return "at least one of these options"
	case "without":
		return "none of these options"
	case "dry":
		return "these options make it a dry run"
	case "dry_env":
		return "these settings of the environment make it a dry run"
	case "dry_net":
		return "the dry run still reads the network"
	case "env":
		return "one of these is set in the environment"
	case "arg":
		return "an operand that looks like this"
	case "not_arg":
		return "operands that do not count"
	case "no_args":
		return "no operand"
	case "min_args":
		return "at least so many operands"
	case "url":
		return "a URL that looks like this"
	case "loopback":
		return "not when one of these options names this machine"
	case "when":
		return "and this holds"
	case "unless":
		return "and this does not hold"
	case "code":
		return "looks at code in these languages"
	case "calls":
		return "calls of these names"
	case "imports":
		return "in code that names one of these"
	case "call_args":
		return "with one of these words in the arguments"
	case "runs":
		return "what the call is given runs as a command"
	case "net":
		return "it reads the network"
	case "opaque":
		return "what it runs cannot be seen through"
	case "mention":
		return "words that count as a mention"
	case "quiet":
		return "the commands alone are no mention"
	}
	return ""
}

// undoMeaning says how far something can be taken back.
func undoMeaning(undo string) string {
	switch undo {
	case "none":
		return "cannot be undone"
	case "correction":
		return "can be followed by a correction"
	case "full":
		return "can be taken back"
	}
	return "not said"
}

// ruleShower prints one rule whole.
type ruleShower struct {
	a      *app
	styles term.Styles
	width  int // 0: no terminal, nothing is broken
}

func (a *app) showRule(d *policy.Detail) error {
	ro, err := a.reportOptions()
	if err != nil {
		return err
	}
	s := ruleShower{a: a, styles: term.NewStyles(ro.Color), width: ro.Width}
	a.printf("%s  %s\n", s.styles.Bold.Render(term.Quote(d.ID)), tierStyle(s.styles, d.Tier).Render(d.Tier.String()))
	s.text(0, d.Why)
	a.printf("\n")
	s.field("pack", term.Quote(d.Pack)+ruleSource(d))
	if d.Tier != policy.Local {
		s.field("undo", undoMeaning(d.Undo))
	}
	for _, c := range d.Conditions {
		values := c.Values
		if values[0] == "true" {
			values = nil // the key alone says it
		}
		s.list(c.Key, keyMeaning(c.Key), values)
	}
	if len(d.Match)+len(d.NotMatch) > 0 {
		s.list("matches", "", d.Match)
		s.list("does not match", "", d.NotMatch)
	}
	if len(d.Conditions) == 0 {
		a.printf("\n")
		s.text(0, "It is part of the classifier; `loop explain 'COMMAND'` shows when it speaks.")
	}
	return nil
}

func (s ruleShower) field(label, text string) {
	s.a.printf("%s %s\n", s.styles.Faint.Render(term.Pad(label, 6)), text)
}

// list prints values under a heading, one a line.
func (s ruleShower) list(title, meaning string, values []string) {
	if meaning != "" {
		meaning = "  " + s.styles.Faint.Render(meaning)
	}
	s.a.printf("\n%s%s\n", s.styles.Heading.Render(title), meaning)
	for _, v := range values {
		s.text(2, v)
	}
}

// text prints hostile text in lines of its own, so that the terminal breaks
// none of them.
func (s ruleShower) text(indent int, text string) {
	lines := []string{term.Command(text)}
	if s.width > 0 {
		lines = term.Wrap(lines[0], max(s.width-indent-2, 20))
	}
	for i, l := range lines {
		if i > 0 {
			l = "  " + l
		}
		s.a.printf("%s%s\n", term.Spaces(indent), l)
	}
}

// ruleSource says where a rule stands.
func ruleSource(d *policy.Detail) string {
	switch {
	case d.File == "" && d.Builtin:
		return ", built in"
	case d.File == "":
		return ", from your configuration"
	case d.Builtin:
		return ", built in: policy/" + d.File
	}
	return ", yours: " + strings.TrimSuffix(fmt.Sprintf("%s:%d", term.Quote(d.File), d.Line), ":0")
}
