package stories

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/internal/regular"
)

// maxSize is the largest file that is read; the largest real one seen has
// half a megabyte.
const maxSize = 16 << 20

// maxStories bounds the work that a file made to be slow can cause.
const maxStories = 20000

var utf8BOM = []byte("\xef\xbb\xbf")

// Read reads a story file: a prd.json, a folder of stories, or one Markdown
// file of such a folder. Which it is, name and content say.
func Read(path string) (*File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w at %q", ErrNoFile, path)
	}
	if err != nil {
		return nil, quoted(err)
	}
	f, err := readKind(path, info)
	if err != nil {
		return nil, err
	}
	f.Path = path
	if err := f.finish(); err != nil {
		return nil, err
	}
	return f, nil
}

func readKind(path string, info fs.FileInfo) (*File, error) {
	if info.IsDir() {
		return readFolder(path)
	}
	if form := unreadName(path); form != "" {
		return nil, &UnsupportedError{Paths: []string{path}, Form: form}
	}
	p, err := readPart(path)
	if err != nil {
		return nil, err
	}
	f, err := parsePart(p)
	if err == nil && f.Form == FormMarkdown && len(f.Stories[0].Criteria) > 1 && !hasOwnFront(p.data) && !inOwnFolder(path) {
		f.Warnings = append(f.Warnings, fmt.Sprintf(
			"read as one story with %d criteria; if each checkbox is a story, call the file a plan (tasks.md, plan-x.md)", len(f.Stories[0].Criteria)))
	}
	return f, err
}

// parsePart reads the text of one file, before anything that needs the other
// stories of a folder.
func parsePart(p part) (*File, error) {
	src, from, err := openText(p)
	if err != nil {
		return nil, err
	}
	if p.form == "" {
		p.form = detect(p, from)
	}
	f, err := parseForm(p, src, from)
	if err != nil {
		return nil, err
	}
	f.Form, f.impl.parts = p.form, []part{p}
	return f, nil
}

func parseForm(p part, src *source, from int) (*File, error) {
	switch p.form {
	case FormMarkdown, FormCodeTask:
		return parseMarkdown(p, src, from)
	case FormPlan:
		return parsePlan(src)
	case FormTasks, FormChief:
		return parseHeadings(src, p.form)
	case FormLines:
		return parseLines(src, from)
	case FormYAML:
		return parseYAML(src, from)
	case FormPRD, FormJSONC:
		return parsePRD(src, from, p.form == FormJSONC)
	}
	return nil, &FormatError{Path: p.path, Problem: "neither JSON, YAML nor Markdown: `loop stories --forms` lists the forms that are read"}
}

// openText checks the encoding and skips a byte order mark.
func openText(p part) (*source, int, error) {
	if enc := foreignEncoding(p.data); enc != "" {
		return nil, 0, &FormatError{Path: p.path, Problem: enc + " text is not read; save the file as UTF-8"}
	}
	from := 0
	if bytes.HasPrefix(p.data, utf8BOM) {
		from = len(utf8BOM)
	}
	if len(bytes.TrimSpace(p.data[from:])) == 0 {
		return nil, 0, fmt.Errorf("%q: %w: the file is empty", p.path, ErrNoStories)
	}
	return newSource(p.path, p.data), from, nil
}

// foreignEncoding names an encoding that is not UTF-8. Without a mark it shows
// in the zero bytes that every ASCII character brings with it.
func foreignEncoding(data []byte) string {
	head := data[:min(len(data), 4)]
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(head, []byte{0, 0, 0xfe, 0xff}):
		return "UTF-32"
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return "UTF-16"
	case len(head) >= 2 && (head[0] == 0) != (head[1] == 0):
		return "UTF-16"
	}
	return ""
}

func readPart(path string) (part, error) {
	p := part{path: path}
	var err error
	if p.real, err = filepath.EvalSymlinks(path); err != nil {
		return p, quoted(err)
	}
	if link, err := os.Readlink(path); err == nil {
		p.link = link
	}
	p.data, err = regular.Read(p.real, maxSize)
	switch {
	case errors.Is(err, regular.ErrNot):
		return p, &FormatError{Path: path, Problem: "not a regular file"}
	case errors.Is(err, regular.ErrLarge):
		return p, &FormatError{Path: path, Problem: fmt.Sprintf("too large for a story file: more than %d MiB", maxSize>>20)}
	}
	return p, quoted(err)
}

// readFolder reads a folder of the program's own form.
func readFolder(dir string) (*File, error) {
	names, form, err := storyNames(dir)
	if err != nil {
		return nil, err
	}
	if len(names) > maxStories {
		return nil, &FormatError{Path: dir, Problem: fmt.Sprintf("%d stories are too many", len(names))}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%q: %w: the folder has no *.md file (README.md and names that begin with _ or . do not count)",
			dir, ErrNoStories)
	}
	all := &File{Form: form}
	for _, name := range names {
		p, err := readPart(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		p.form = form
		one, err := parsePart(p)
		if err != nil {
			return nil, err
		}
		all.add(one)
	}
	return all, nil
}

// add appends the stories of one more file of a folder.
func (f *File) add(one *File) {
	for i := range one.impl.places {
		one.impl.places[i].part += len(f.impl.parts)
	}
	f.impl.at, f.impl.texts = nil, nil
	f.impl.words = one.impl.words // in a folder the same for all
	f.Stories = append(f.Stories, one.Stories...)
	f.Warnings = append(f.Warnings, one.Warnings...)
	f.Unread = append(f.Unread, one.Unread...)
	f.impl.parts = append(f.impl.parts, one.impl.parts...)
	f.impl.places = append(f.impl.places, one.impl.places...)
}

// storyNames lists the story files of a folder in the order of their names.
// Where there are code tasks, only they are stories.
func storyNames(dir string) (names []string, form string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, "", quoted(err)
	}
	form = FormMarkdown
	for _, e := range entries {
		name := e.Name()
		if !hasExt(name, ".md") || strings.EqualFold(name, "README.md") || strings.ContainsRune("_.", rune(name[0])) {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
			continue
		}
		names = append(names, name)
	}
	isCode := func(name string) bool { return strings.HasSuffix(strings.ToLower(name), codeTaskExt) }
	if slices.ContainsFunc(names, isCode) {
		form = FormCodeTask
		names = slices.DeleteFunc(names, func(name string) bool { return !isCode(name) })
	}
	sortNames(names)
	return names, form, nil
}

// sortNames orders file names as people number them: 2-x.md before 10-x.md.
func sortNames(names []string) {
	slices.SortFunc(names, func(a, b string) int {
		na, nb := strings.TrimLeft(leadingDigits(a), "0"), strings.TrimLeft(leadingDigits(b), "0")
		if leadingDigits(a) != "" && leadingDigits(b) != "" && na != nb {
			if len(na) != len(nb) {
				return len(na) - len(nb)
			}
			return strings.Compare(na, nb)
		}
		return strings.Compare(a, b)
	})
}

func leadingDigits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}

func hasExt(path string, exts ...string) bool {
	return slices.Contains(exts, strings.ToLower(filepath.Ext(path)))
}
