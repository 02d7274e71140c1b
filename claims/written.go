package claims

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
	"github.com/seed-b23e517c/loop/transcript"
)

// maxWritten bounds the text that is kept of the files of one session.
const maxWritten = 16 << 20

// written is what an agent wrote into files, as far as its calls show it.
type written struct {
	texts map[string]string
	names map[string][]string // of texts, by their last part
	parts map[string]bool     // only what was put into it is known, not the rest
	lines map[string]bool     // the lines of all of them, trimmed
	size  int
}

func newWritten() written {
	return written{texts: map[string]string{}, names: map[string][]string{}, parts: map[string]bool{}, lines: map[string]bool{}}
}

// edit is one change of a file.
type edit struct {
	name, old, text string
	from            string // a file that was copied or moved there
	appends         bool
}

// edits are what a call writes into files.
func edits(c *transcript.Call) []edit {
	in := inputOf(c)
	var out []edit
	switch {
	case in.isShell:
		read := shell.Read(in.line, shell.Options{})
		for _, w := range read.Written {
			if w.Known {
				out = append(out, edit{name: w.Name, text: w.Text, appends: w.Append})
			}
		}
		for i := range read.Commands {
			out = append(out, copied(&read.Commands[i])...)
		}
	case in.patch != "":
		out = patched(in.patch)
	case in.isWriter:
		if len(in.edits) == 0 {
			out = append(out, edit{name: in.path, old: in.old, text: in.text, appends: in.inserts})
		}
		for _, e := range in.edits {
			out = append(out, edit{name: in.path, old: e.Old, text: e.New})
		}
	}
	return slices.DeleteFunc(out, func(e edit) bool { return e.name == "" })
}

// patched are the lines that a patch adds, file by file.
func patched(patch string) []edit {
	var out []edit
	for line := range strings.SplitSeq(patch, "\n") {
		for _, head := range []string{"*** Add File: ", "*** Update File: ", "+++ b/", "+++ "} {
			if name, ok := strings.CutPrefix(line, head); ok {
				out = append(out, edit{name: strings.TrimSpace(name), appends: true})
				line = ""
			}
		}
		if added, ok := strings.CutPrefix(line, "+"); ok && len(out) > 0 {
			out[len(out)-1].text += added + "\n"
		}
	}
	return out
}

// copied is what cp and mv make of one file.
func copied(c *shell.Command) []edit {
	if p := c.Program(); p != "cp" && p != "mv" && p != "ln" && p != "install" {
		return nil
	}
	var names []string
	for _, w := range c.Argv[1:] {
		if !strings.HasPrefix(w.Text, "-") {
			names = append(names, w.Text)
		}
	}
	if len(names) != 2 {
		return nil
	}
	return []edit{{name: names[1], from: names[0]}}
}

// write keeps what a call writes, and returns it.
func (w *written) write(c *transcript.Call) []edit {
	list := edits(c)
	for _, e := range list {
		name := path.Clean(e.name)
		text := e.text
		if e.from != "" {
			var ok bool
			if text, ok = w.text(e.from); !ok {
				continue
			}
		}
		if _, ok := w.texts[name]; !ok && (e.old != "" || e.appends) {
			w.parts[name] = true
		}
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimSpace(line); len(line) > 3 {
				w.lines[line] = true
			}
		}
		if old, ok := w.texts[name]; ok {
			switch {
			case e.appends:
				text = old + "\n" + text
			case e.old != "" && strings.Contains(old, e.old):
				text = strings.Replace(old, e.old, e.text, 1)
			case e.old != "":
				text = old + "\n" + text
			}
		}
		if w.size += len(text); w.size > maxWritten {
			break
		}
		if _, ok := w.texts[name]; !ok {
			w.names[path.Base(name)] = append(w.names[path.Base(name)], name)
		}
		w.texts[name] = text
	}
	return list
}

// text is what the agent wrote into the file that a later call names.
func (w *written) text(name string) (string, bool) {
	full := w.known(name)
	return w.texts[full], full != ""
}

// known is the name under which a file was written; "" = it was not.
func (w *written) known(name string) string {
	if name == "" || name == "-" {
		return ""
	}
	name = path.Clean(name)
	if _, ok := w.texts[name]; ok {
		return name
	}
	for _, full := range w.names[path.Base(name)] {
		if sameFile(full, name) {
			return full
		}
	}
	return ""
}

// sameFile: one of the names is the other with folders in front.
func sameFile(a, b string) bool {
	return a == b || strings.HasSuffix(a, "/"+strings.TrimPrefix(b, "./")) || strings.HasSuffix(b, "/"+strings.TrimPrefix(a, "./"))
}

// partly reports whether only a part of a file's text is known.
func (w *written) partly(name string) bool { return w.parts[w.known(name)] }
