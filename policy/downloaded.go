package policy

import (
	"path"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// downloaded judges a command that runs a file which an earlier command of the
// line fetched from another machine: like curl | sh, it cannot be seen through.
func (r *reading) downloaded(list []shell.Command) []Hit {
	var hits []Hit
	var fetched map[string]bool
	for i := range list {
		c := &list[i]
		if len(c.Argv) == 0 || c.Mode == shell.Defined || c.Remote != "" {
			continue
		}
		if name := fetchedFile(c); name != "" {
			fetched = with(fetched, []string{path.Clean(name)})
			continue
		}
		if fetched == nil || !fetched[path.Clean(ranFile(c))] {
			continue
		}
		hits = append(hits, opaqueHit("opaque-payload", commandText(c), "It runs a file that the same line fetched from the network."))
	}
	return hits
}

// fetchedFile is the file into which a command puts what it fetches.
func fetchedFile(c *shell.Command) string {
	prog := c.Program()
	if prog != "curl" && prog != "wget" || helpOnly(c.Argv) {
		return ""
	}
	url := ""
	for _, w := range c.Argv[1:] {
		if strings.Contains(w.Text, "://") && !strings.HasPrefix(w.Text, "-") {
			url = w.Text
		}
	}
	if url == "" || isLoopbackURL(url) {
		return ""
	}
	own, _, _ := strings.Cut(url, "?")
	own = path.Base(own)
	name := ""
	for i, w := range c.Argv[1:] {
		flag, value, glued := strings.Cut(w.Text, "=")
		if !glued && i+2 < len(c.Argv) {
			value = c.Argv[i+2].Text
		}
		switch {
		case flag == "--output" || flag == "--output-document":
			name = value
		case flag == "--remote-name":
			name = own
		case len(flag) > 1 && flag[0] == '-' && flag[1] != '-' && !glued:
			switch last := flag[len(flag)-1]; {
			case prog == "curl" && last == 'o', prog == "wget" && last == 'O':
				name = value
			case prog == "curl" && strings.Contains(flag, "O"):
				name = own
			}
		}
	}
	for _, rd := range c.Redirects {
		if strings.HasPrefix(rd.Op, ">") && !strings.Contains(rd.Op, "&") {
			name = rd.Target.Text
		}
	}
	if name == "" && prog == "wget" {
		name = own
	}
	if name == "-" || strings.HasPrefix(name, "/dev/") {
		return ""
	}
	return name
}

// ranFile is the file that a command runs as a program or a script.
func ranFile(c *shell.Command) string {
	prog := c.Program()
	if lang := languageOf(prog); lang != "" {
		in := readInline(lang, prog, c.Argv[1:])
		if in.check {
			return ""
		}
		return in.script
	}
	if name := c.Argv[0].Text; strings.Contains(name, "/") {
		return name
	}
	return ""
}
