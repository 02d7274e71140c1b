package claims

import (
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
	"github.com/seed-b23e517c/loop/transcript"
)

// commits are the commits that the agent has made and not pushed, as far as its
// calls show it.
type commits struct{ made []committed }

type committed struct {
	call, message string
	pushed        bool // a push in this call sends it
	own           bool // it was made by this call
}

func (c *commits) messages() []string {
	var out []string
	for _, m := range c.made {
		out = append(out, m.message)
	}
	return out
}

func (c *commits) drop(call string) {
	c.made = slices.DeleteFunc(c.made, func(m committed) bool { return m.call == call })
}

// call takes up the commits that a call makes.
func (c *commits) call(call *transcript.Call, files func(string) (string, bool)) {
	line, ok := lineIn(call.Input)
	if !ok || !strings.Contains(line, "git") {
		return
	}
	for _, cmd := range shell.Read(line, shell.Options{}).Commands {
		verb := gitVerb(&cmd)
		switch {
		case verb == "push":
			for i := range c.made {
				c.made[i].own = c.made[i].own && c.made[i].call == call.ID
				c.made[i].pushed, c.made[i].call = true, call.ID
			}
		case verb == "commit":
			message := messageOf(&cmd, files)
			amends := slices.ContainsFunc(cmd.Argv, func(w shell.Word) bool { return w.Text == "--amend" })
			if amends && len(c.made) > 0 && message != "" {
				c.made = c.made[:len(c.made)-1]
			}
			if message != "" {
				c.made = append(c.made, committed{call: call.ID, message: message, own: true})
			}
		}
	}
}

// result: a commit that was refused is none, and one that was pushed is out.
func (c *commits) result(r *transcript.Result) {
	failed := r.NotRun || r.IsError
	made := !r.NotRun && (!r.IsError || committedLine().MatchString(r.Text))
	c.made = slices.DeleteFunc(c.made, func(m committed) bool {
		if m.call != r.CallID {
			return false
		}
		return m.own && !made || m.pushed && !failed
	})
	for i := range c.made {
		if c.made[i].call == r.CallID {
			c.made[i].pushed = false
		}
	}
}

// committedLine is what git says of a commit it made.
var committedLine = lazy(`(?m)^\[[^\]\n]+ [0-9a-f]{7,40}\]`)

// gitVerb is the subcommand of a git command line; "" = another program.
func gitVerb(c *shell.Command) string {
	if c.Program() != "git" || c.Mode != shell.Runs {
		return ""
	}
	for i := 1; i < len(c.Argv); i++ {
		switch w := c.Argv[i].Text; {
		case w == "-C" || w == "-c" || w == "--git-dir" || w == "--work-tree" || w == "--namespace":
			i++
		case !strings.HasPrefix(w, "-"):
			return w
		}
	}
	return ""
}

// messageOf is the message that a git commit is given.
func messageOf(c *shell.Command, files func(string) (string, bool)) string {
	var parts []string
	file := func(name string) {
		if name == "-" && c.Stdin.Known {
			parts = append(parts, c.Stdin.Text)
		}
		if text, ok := files(name); ok {
			parts = append(parts, text)
		}
	}
	for i, w := range c.Argv {
		before := ""
		if i > 0 {
			before = c.Argv[i-1].Text
		}
		value, joined := strings.CutPrefix(w.Text, "--message=")
		name, named := strings.CutPrefix(w.Text, "--file=")
		switch {
		case joined:
			parts = append(parts, value)
		case named:
			file(name)
		case before == "--file" || isShort(before, 'F'):
			file(w.Text)
		case before == "--message" || isShort(before, 'm'):
			parts = append(parts, w.Text)
		case len(w.Text) > 2 && strings.HasPrefix(w.Text, "-m"):
			parts = append(parts, w.Text[2:])
		}
	}
	return strings.Join(parts, "\n\n")
}

// isShort: -m, -am.
func isShort(w string, letter byte) bool {
	return len(w) > 1 && w[0] == '-' && w[1] != '-' && w[len(w)-1] == letter && !strings.Contains(w, "=")
}

// sendsCommits reports whether a command publishes the messages of commits.
func sendsCommits(c *shell.Command) bool {
	has := func(words ...string) bool {
		return slices.ContainsFunc(c.Argv, func(w shell.Word) bool {
			option, _, _ := strings.Cut(w.Text, "=")
			return slices.Contains(words, option)
		})
	}
	switch c.Program() {
	case "git":
		switch gitVerb(c) {
		case "push", "send-email", "format-patch", "request-pull", "bundle", "send-pack":
			return true
		}
	case "gh", "glab", "hub":
		return has("--fill", "--fill-first", "--fill-verbose", "-f", "--push") && has("create", "new", "pull-request")
	case "jj", "hg", "sl":
		return has("push", "submit", "email")
	case "gt", "av", "spr":
		return has("submit", "push", "diff")
	}
	return false
}
