package policy

import "strings"

// filePatch is what a patch does to one file.
type filePatch struct {
	name    string // under which the file is known afterwards
	old     string // under which it was known, when another
	create  bool
	deleted bool
	hunks   []hunk
}

// hunk is one change: the lines that were there and those that stand there
// then, with what surrounds them.
type hunk struct{ from, to string }

// maxPatched is how many files of one patch are looked at.
const maxPatched = 256

// patches reads a patch: the envelope that agents use (*** Begin Patch) or a
// unified diff. It is nil when the text is neither.
func patches(text string) []filePatch {
	p := patchReader{envelope: strings.Contains(text, "*** Add File: ") || strings.Contains(text, "*** Update File: ")}
	if !p.envelope && !strings.Contains(text, "+++ ") {
		return nil
	}
	for line := range strings.Lines(text) {
		p.line(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	p.endHunk()
	return p.files
}

type patchReader struct {
	envelope bool
	files    []filePatch
	from, to strings.Builder
	old      string // the name behind ---
}

func (p *patchReader) line(s string) {
	if name, kind := p.header(s); kind != 0 {
		p.endHunk()
		if kind == 'M' {
			if f := p.file(); f != nil {
				f.old, f.name = f.name, name
			}
			return
		}
		if len(p.files) < maxPatched {
			p.files = append(p.files, filePatch{name: name, create: kind == 'A', deleted: kind == 'D'})
		}
		return
	}
	switch {
	case s == "", p.file() == nil, strings.HasPrefix(s, "*** "):
		p.both(s)
	case strings.HasPrefix(s, "@@"):
		p.endHunk()
	case s[0] == '+':
		p.to.WriteString(s[1:] + "\n")
	case s[0] == '-':
		p.from.WriteString(s[1:] + "\n")
	case s[0] == ' ':
		p.both(s[1:])
	}
}

// both adds a line that the patch does not change; an empty one has lost its
// space on the way.
func (p *patchReader) both(s string) {
	if s == "" && (p.from.Len() > 0 || p.to.Len() > 0) || s != "" && !strings.HasPrefix(s, "*** ") {
		p.from.WriteString(s + "\n")
		p.to.WriteString(s + "\n")
	}
}

// header reads the line that names a file, and how: A added, U updated, D
// deleted, M moved to.
func (p *patchReader) header(s string) (name string, kind byte) {
	if p.envelope {
		for prefix, kind := range map[string]byte{"*** Add File: ": 'A', "*** Update File: ": 'U', "*** Delete File: ": 'D', "*** Move to: ": 'M'} {
			if name, ok := strings.CutPrefix(s, prefix); ok {
				return strings.TrimSpace(name), kind
			}
		}
		return "", 0
	}
	if name, ok := strings.CutPrefix(s, "--- "); ok {
		p.old = name
		return "", 0
	}
	name, ok := strings.CutPrefix(s, "+++ ")
	if !ok {
		return "", 0
	}
	kind = 'U'
	if strings.HasPrefix(p.old, "/dev/null") {
		kind = 'A'
	}
	if strings.HasPrefix(name, "/dev/null") {
		name, kind = p.old, 'D'
	}
	name, _, _ = strings.Cut(name, "\t")
	if rest, ok := strings.CutPrefix(name, "b/"); ok || strings.HasPrefix(name, "a/") {
		name = strings.TrimPrefix(rest, "a/")
	}
	p.from.Reset() // the line of --- reads like one that is taken out
	return strings.Trim(name, `"`), kind
}

func (p *patchReader) file() *filePatch {
	if len(p.files) == 0 {
		return nil
	}
	return &p.files[len(p.files)-1]
}

func (p *patchReader) endHunk() {
	if f := p.file(); f != nil && p.from.Len()+p.to.Len() > 0 {
		f.hunks = append(f.hunks, hunk{p.from.String(), p.to.String()})
	}
	p.from.Reset()
	p.to.Reset()
}

// apply is the file's text after the patch, and whether all of it is known.
func (f *filePatch) apply(old string, known bool) (text string, whole bool) {
	text, whole = old, known || f.create
	if f.create {
		text = ""
	}
	for _, h := range f.hunks {
		if h.from != "" && strings.Contains(text, h.from) {
			text = strings.Replace(text, h.from, h.to, 1)
			continue
		}
		text += h.to
		whole = whole && f.create
	}
	return text, whole
}
