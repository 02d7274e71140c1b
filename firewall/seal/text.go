package seal

import (
	"crypto/sha256"
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-b23e517c/loop/receipt"
)

// asText is what is kept of a reported result for the case that the stream
// shows it as a text only, as it does with those of subagents: enough to tell
// another result from the client's way of putting this one. The zero value says
// nothing of the text.
type asText struct {
	kind textKind
	sum  sum    // of what stands there, see squeeze
	path string // that is named there
}

type textKind int

const (
	anyText  textKind = iota
	upToMark          // sum is of all up to the receipt, with it
	numbered          // sum is of the lines that have numbers, without them
	named             // path is named
)

// textOf says how a text that shows a result will be known. updated is the
// result with the receipt in it; nil = it stands beside.
func textOf(tool string, response, updated json.RawMessage, t receipt.Token) asText {
	switch {
	case tool == "Bash" && updated != nil:
		return bashText(updated, t)
	case strings.HasPrefix(tool, "mcp__") && updated != nil:
		return mcpText(updated, t)
	case tool == "Read":
		return readText(response)
	case tool == "Write", tool == "Edit", tool == "MultiEdit":
		return namedText(response)
	}
	return asText{}
}

// bashText: the client shows stdout and then stderr, and of a long output, of one
// in the background and of one that was cut off says more, or not all.
func bashText(updated json.RawMessage, t receipt.Token) asText {
	var r struct {
		Stdout, Stderr                        string
		Interrupted                           bool
		PersistedOutputPath, BackgroundTaskID string
	}
	if json.Unmarshal(updated, &r) != nil || r.Interrupted || r.PersistedOutputPath != "" || r.BackgroundTaskID != "" {
		return asText{}
	}
	for _, own := range []string{"<sandbox_violations", "<claude-code-hint", "<persisted-output"} {
		if strings.Contains(r.Stdout, own) {
			return asText{} // what the client takes out, or puts in
		}
	}
	return marked(r.Stdout+r.Stderr, t)
}

// mcpText: texts as they are. What the client makes of other blocks is its own.
func mcpText(updated json.RawMessage, t receipt.Token) asText {
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(updated, &blocks) != nil {
		var text string
		if json.Unmarshal(updated, &text) != nil {
			return asText{}
		}
		return marked(text, t)
	}
	var all strings.Builder
	for _, b := range blocks {
		if b.Type != "text" {
			return asText{}
		}
		all.WriteString(b.Text)
	}
	return marked(all.String(), t)
}

func marked(text string, t receipt.Token) asText {
	head, _, ok := strings.Cut(text, mark(t))
	if !ok {
		return asText{}
	}
	return asText{kind: upToMark, sum: squeezed(head)}
}

// readText: each line of a text file has its number. What stands between or
// after them is the client's: that the file is empty, or known already.
func readText(response json.RawMessage) asText {
	var r struct {
		Type string
		File struct{ Content string }
	}
	if json.Unmarshal(response, &r) != nil || r.Type != "text" || strings.TrimSpace(r.File.Content) == "" {
		return asText{}
	}
	const longest = 2000 // characters of a line that every version shows whole
	for line := range strings.Lines(r.File.Content) {
		if len(line) > longest {
			return asText{}
		}
	}
	return asText{kind: numbered, sum: squeezed(r.File.Content)}
}

// namedText: the client says of which file it wrote what.
func namedText(response json.RawMessage) asText {
	var r struct{ FilePath string }
	if json.Unmarshal(response, &r) != nil || r.FilePath == "" {
		return asText{}
	}
	return asText{kind: named, path: r.FilePath}
}

// maybe reports whether a text may be the client's way of showing the result.
func (a asText) maybe(text string, t receipt.Token) bool {
	switch a.kind {
	case upToMark:
		head, _, ok := strings.Cut(text, mark(t))
		return !ok || squeezed(head) == a.sum // a receipt that is not there is another matter
	case numbered:
		lines, any := withoutNumbers(text)
		return !any && clientsOwn(text) || squeezed(lines) == a.sum
	case named:
		return names(text, a.path)
	}
	return true
}

// keptApart reports whether the client shows the beginning of a long result and
// where all of it is.
func keptApart(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "<persisted-output>") || strings.Contains(text, "exceeds maximum allowed tokens")
}

// clientsOwn are sentences that stand in place of a file's lines.
func clientsOwn(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "File unchanged") || strings.HasPrefix(text, "<system-reminder>") || keptApart(text)
}

// withoutNumbers gives the lines that have a number, without it.
func withoutNumbers(text string) (lines string, any bool) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, " ")
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits == 0 {
			continue
		}
		after, tab := strings.CutPrefix(rest[digits:], "\t")
		if !tab {
			var arrow bool
			if after, arrow = strings.CutPrefix(rest[digits:], "→"); !arrow {
				continue
			}
		}
		any = true
		b.WriteString(after)
	}
	return b.String(), any
}

// names reports whether a text names a file: with its whole path, or the end of
// it.
func names(text, path string) bool {
	if strings.Contains(text, path) {
		return true
	}
	base := filepath.Base(path)
	for from := 0; ; {
		i := strings.Index(text[from:], base)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(base)
		word := text[strings.LastIndexAny(text[:start], " \t\n\"'`(:")+1 : end]
		if !filepath.IsAbs(word) && strings.HasSuffix(filepath.ToSlash(path), "/"+strings.TrimPrefix(filepath.ToSlash(filepath.Clean(word)), "~/")) {
			return true
		}
		from = end
	}
}

// squeezed is the hash of a text without what two ways of showing it differ in:
// white space, colours, and what is no text.
func squeezed(text string) sum {
	h := sha256.New()
	buf := make([]byte, 0, 4096+utf8.UTFMax)
	for i := 0; i < len(text); {
		switch b := text[i]; {
		case b == '\x1b':
			i += receipt.EscapeLen(text[i:])
		case b < utf8.RuneSelf:
			if b > ' ' && b != 0x7f {
				buf = append(buf, b)
			}
			i++
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			if r != utf8.RuneError && !unicode.IsSpace(r) && !unicode.IsControl(r) {
				buf = append(buf, text[i:i+n]...)
			}
			i += n
		}
		if len(buf) >= 4096 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	h.Write(buf)
	return sum(h.Sum(nil))
}
