package shell

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// maxFrames bounds the parser's recursion. The parser has no limit of its own,
// and an overflowed stack ends the process, so the reader it pulls from looks
// at how deep the stack is.
const maxFrames = 2500

// chunk is how many bytes the parser gets at a time: it can nest at most that
// much deeper between two looks at the stack.
const chunk = 512

var errTooDeep = errors.New("nested too deep")

// depthReader hands out a text and refuses to go on once the stack of the
// caller is deeper than maxFrames.
type depthReader struct {
	text  string
	given int
	deep  bool
}

func (d *depthReader) Read(p []byte) (int, error) {
	var pc [1]uintptr
	if d.given > 2*chunk && runtime.Callers(maxFrames, pc[:]) > 0 {
		d.deep = true
		return 0, errTooDeep
	}
	if d.text == "" {
		return 0, io.EOF
	}
	n := copy(p, d.text[:min(len(d.text), chunk)])
	d.text, d.given = d.text[n:], d.given+n
	return n, nil
}

// Parsers keeps parsers for the next line: to make one costs as much as to
// parse a short line. The zero value is ready, and safe for use by several
// goroutines; nil keeps none.
type Parsers struct{ pools [len(dialects)]sync.Pool }

func (p *Parsers) get(lang syntax.LangVariant) *syntax.Parser {
	if p != nil {
		if parser, ok := p.pools[slices.Index(dialects[:], lang)].Get().(*syntax.Parser); ok {
			return parser
		}
	}
	return syntax.NewParser(syntax.Variant(lang))
}

func (p *Parsers) put(lang syntax.LangVariant, parser *syntax.Parser) {
	if p != nil {
		p.pools[slices.Index(dialects[:], lang)].Put(parser)
	}
}

// dialects are the shells whose grammar is tried, in this order.
var dialects = [...]syntax.LangVariant{syntax.LangBash, syntax.LangZsh, syntax.LangPOSIX, syntax.LangMirBSDKorn}

// parse reads text as shell code. The statements come back even when an error
// does: they are the ones in front of it.
func (p *Parsers) parse(text string) (*syntax.File, string, error) {
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "") // as bash does
	}
	var first error
	var partial *syntax.File
	for _, lang := range dialects {
		f, src, err := p.parseAs(text, lang)
		if err == nil {
			return f, src, nil
		}
		if first == nil {
			first, partial = err, f
		}
		if errors.Is(err, errTooDeep) {
			break
		}
	}
	return partial, text, first
}

// parseAs parses in one dialect. A heredoc without its end runs to the end of
// the text, as in the shells themselves.
func (p *Parsers) parseAs(text string, lang syntax.LangVariant) (*syntax.File, string, error) {
	for range 4 {
		f, err := p.once(text, lang)
		var pe syntax.ParseError
		if err == nil || !errors.As(err, &pe) || !strings.HasPrefix(pe.Text, "unclosed here-document") {
			return f, text, err
		}
		_, stop, ok := strings.Cut(pe.Text, "`")
		if !ok {
			return f, text, err
		}
		text += "\n" + strings.Trim(stop, "`\"'") + "\n"
	}
	f, err := p.once(text, lang)
	return f, text, err
}

func (p *Parsers) once(text string, lang syntax.LangVariant) (f *syntax.File, err error) {
	f = &syntax.File{}
	src := &depthReader{text: text}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("parser gave up: %v", cause)
		}
		if src.deep {
			err = errTooDeep
		}
	}()
	parser := p.get(lang)
	syntax.KeepComments(strings.IndexByte(text, '#') >= 0)(parser)
	whole, err := parser.Parse(src, "")
	p.put(lang, parser) // not after a panic
	if whole != nil {
		f = whole
	}
	return f, err
}
