package transcript

import (
	"bytes"
	"errors"
	"io"
)

const (
	defaultMaxLine = 16 << 20
	firstBuffer    = 64 << 10
	overlap        = 64 << 10 // bytes of a chunk that the next one repeats
	emptyReads     = 100      // reads without a byte before the reader is given up
)

// Options say how a reader is read.
type Options struct {
	MaxLine int // the longest line that is kept whole; 0 = 16 MiB

	// Chunk, when set, is given every byte of every line over MaxLine, piece
	// by piece, before that line is returned.
	Chunk func(Chunk)
}

// Chunk is one piece of a line over the cap.
type Chunk struct {
	Line    int
	Data    []byte // valid only during the call
	Overlap int    // the first bytes of Data that the chunk before has had too
}

// Line is one line, or one record printed over several lines.
type Line struct {
	Number   int    // 1-based, of the first line
	Count    int    // how many lines it spans
	Bytes    []byte // without the line end; the first part of a line over the cap; valid until the next call of Next
	Tail     []byte // the last part of a line over the cap, else nil
	Size     int64  // its length without the line end
	Oversize bool
	Aider    bool // it stands in Aider's chat history, which is Markdown
}

// Lines splits a reader into lines in bounded memory. A line is returned as
// soon as its end has been read. It drops a byte order mark and reads UTF-16
// that begins with one.
type Lines struct {
	r       io.Reader
	in      *counter // under r
	o       Options
	buf     []byte // buf[start:end] is read and not yet returned
	start   int
	end     int
	scanned int // buf[start:scanned] holds no line end
	number  int
	bytes   int64 // read into buf so far
	begun   bool
	err     error
	aider   bool
	alone   int64 // offset up to which a lone bracket is not looked into again
}

// NewLines returns a Lines that reads r.
func NewLines(r io.Reader, o Options) *Lines {
	if o.MaxLine <= 0 {
		o.MaxLine = defaultMaxLine
	}
	in := &counter{r: r}
	return &Lines{r: in, in: in, o: o, buf: make([]byte, min(firstBuffer, o.MaxLine+1))}
}

// Read says how many bytes have been read from the reader so far.
func (l *Lines) Read() int64 { return l.in.n }

// counter counts what is read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Next returns the next line. After the last one it returns io.EOF; any other
// error is the reader's, and everything read before it has been returned.
func (l *Lines) Next() (Line, error) {
	if !l.begun {
		l.begun = true
		l.skipMark()
	}
	n, ok := l.findEnd(l.start)
	if n-l.start > l.o.MaxLine {
		return l.long(), nil
	}
	if !ok && n == l.start {
		return Line{}, l.err
	}
	if bracketAlone(l.buf[l.start:n]) && l.offset(l.start) >= l.alone {
		if line, ok := l.pretty(); ok {
			return line, nil
		}
		// the search may have moved the buffer
		n, _ = l.findEnd(l.start)
	}
	return l.take(n, 1), nil
}

// take returns buf[start:n] as a line and goes on behind its line end.
func (l *Lines) take(n, count int) Line {
	b := trimCR(l.buf[l.start:n])
	l.aider = l.aider || isAider(b)
	line := Line{Number: l.number + 1, Count: count, Bytes: b, Size: int64(len(b)), Aider: l.aider}
	l.number += count
	l.start = min(n+1, l.end)
	l.scanned = l.start
	return line
}

// findEnd returns the index of the first line end at or after from, reading
// on as needed. Without one it returns the end of what is buffered: the line
// is over the cap (the distance says so) or it is the last one.
func (l *Lines) findEnd(from int) (int, bool) {
	rel := max(l.scanned, from) - l.start
	for {
		if i := bytes.IndexByte(l.buf[l.start+rel:l.end], '\n'); i >= 0 {
			l.scanned = l.start + rel + i
			return l.scanned, true
		}
		rel = l.end - l.start
		l.scanned = l.end
		if l.end-l.start > l.o.MaxLine || !l.fill() {
			return l.end, false
		}
	}
}

// fill reads once, moving or growing the buffer when it is full. It reports
// whether there is more than before.
func (l *Lines) fill() bool {
	if l.err != nil {
		return false
	}
	if l.end == len(l.buf) {
		l.room()
	}
	for range emptyReads {
		n, err := l.r.Read(l.buf[l.end:])
		n = max(0, min(n, len(l.buf)-l.end))
		l.end += n
		l.bytes += int64(n)
		if err != nil {
			l.err = err
		}
		if n > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	l.err = io.ErrNoProgress
	return false
}

// room makes space behind end: by moving what is left to the front, or by a
// larger buffer when the front is taken.
func (l *Lines) room() {
	if l.start < len(l.buf)/2 {
		size := min(2*len(l.buf), l.o.MaxLine+overlap)
		if size > len(l.buf) {
			grown := make([]byte, size)
			l.slideTo(grown)
			return
		}
	}
	l.slideTo(l.buf)
}

func (l *Lines) slideTo(buf []byte) {
	n := copy(buf, l.buf[l.start:l.end])
	l.scanned -= l.start
	l.buf, l.start, l.end = buf, 0, n
}

// offset is the position in the input of an index into the buffer.
func (l *Lines) offset(i int) int64 { return l.bytes - int64(l.end-i) }

// pretty takes the line of one bracket at start together with the indented
// lines up to the bracket that closes it. It gives up, and leaves all in the
// buffer, at the first line that is neither indented nor a closing bracket.
func (l *Lines) pretty() (Line, bool) {
	at, count := 0, 0 // at: distance of the current line from start
	for {
		end, ok := l.findEnd(l.start + at)
		line := trimCR(l.buf[l.start+at : end])
		count++
		if count > 1 && closes(line) {
			return l.take(end, count), true
		}
		if count > 1 && !indented(line) || !ok {
			l.alone = l.offset(l.start + at)
			l.scanned = l.start
			return Line{}, false
		}
		at = end + 1 - l.start
	}
}

func bracketAlone(b []byte) bool {
	b = trimCR(b)
	return len(b) == 1 && (b[0] == '{' || b[0] == '[')
}

func closes(b []byte) bool {
	return len(b) > 0 && len(b) <= 2 && (b[0] == '}' || b[0] == ']')
}

func indented(b []byte) bool { return len(b) > 0 && (b[0] == ' ' || b[0] == '\t') }

func trimCR(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return b[:n-1]
	}
	return b
}

// skipMark drops a byte order mark at the start; one of UTF-16 puts a
// converter before the reader.
func (l *Lines) skipMark() {
	for l.end < 3 && maybeMark(l.buf[:l.end]) && l.fill() {
	}
	b := l.buf[:l.end]
	switch {
	case bytes.HasPrefix(b, markUTF8):
		l.start, l.scanned = 3, 3
	case bytes.HasPrefix(b, markLE), bytes.HasPrefix(b, markBE), wide(b):
		mark := 2
		if wide(b) {
			mark = 0
		}
		l.r = newUTF16(bytes.Clone(b[mark:]), l.r, b[0] == 0xfe || b[0] == 0)
		l.start, l.end, l.scanned = 0, 0, 0
		if errors.Is(l.err, io.EOF) {
			l.err = nil // the bytes at hand still have to be converted
		}
	}
}

var (
	markUTF8 = []byte("\xef\xbb\xbf")
	markLE   = []byte("\xff\xfe")
	markBE   = []byte("\xfe\xff")
)

// wide says whether b begins with a bracket in UTF-16 that no mark stands
// before.
func wide(b []byte) bool {
	return len(b) > 1 && (b[1] == 0 && (b[0] == '{' || b[0] == '[') || b[0] == 0 && (b[1] == '{' || b[1] == '['))
}

// maybeMark says whether b can be the beginning of a mark, so that no first
// byte is waited for in vain.
func maybeMark(b []byte) bool {
	if len(b) == 1 && (b[0] == 0 || b[0] == '{' || b[0] == '[') {
		return true
	}
	return bytes.HasPrefix(markUTF8, b) || bytes.HasPrefix(markLE, b) || bytes.HasPrefix(markBE, b)
}
