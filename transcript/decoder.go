package transcript

import (
	"errors"
	"io"
)

// Decoder reads a transcript event by event.
type Decoder struct {
	lines   *Lines
	waiting []Event
	stats   Stats
}

// NewDecoder returns a Decoder that reads r.
func NewDecoder(r io.Reader, o Options) *Decoder {
	return &Decoder{lines: NewLines(r, o)}
}

// Next returns the next event as soon as its line is complete. It returns
// io.EOF at the end; any other error is the reader's.
func (d *Decoder) Next() (Event, error) {
	for len(d.waiting) == 0 {
		line, err := d.lines.Next()
		d.stats.Bytes = d.lines.Read()
		if err != nil {
			return Event{}, err
		}
		d.waiting = line.Events(&d.stats)
	}
	ev := d.waiting[0]
	d.waiting = d.waiting[1:]
	return ev, nil
}

// Each decodes r to its end and hands each event to do, whose error ends it.
func Each(r io.Reader, o Options, do func(Event) error) error {
	d := NewDecoder(r, o)
	for {
		ev, err := d.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(ev)
		}
		if err != nil {
			return err
		}
	}
}

// Stats says what has been read so far.
func (d *Decoder) Stats() Stats { return d.stats }
