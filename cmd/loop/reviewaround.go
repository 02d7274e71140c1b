package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/transcript"
)

// How much of a transcript is shown round a call.
const (
	linesBefore = 8
	linesAfter  = 5
	aroundLine  = 256 << 10 // bytes of a line; a longer one is left out
)

// around is what stands in the transcript before and after an action.
func around(x queue.Action, ro report.Options) (string, error) {
	if x.Transcript == "" || x.Line < 1 {
		return "", nil
	}
	f, err := os.Open(x.Transcript)
	if errors.Is(err, os.ErrNotExist) {
		return "the transcript is gone (loop prune)\n", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines, err := linesAround(f, x.Line)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	l := report.NewLog(&b, ro, func(id string) uint64 {
		if id == x.ToolUseID {
			return x.Number
		}
		return 0
	})
	told := false
	err = transcript.Each(bytes.NewReader(lines), transcript.Options{}, func(ev transcript.Event) error {
		if ev.Kind == transcript.KindCall && ev.Call.ID == x.ToolUseID && x.ToolUseID != "" && !told {
			told = true
			fmt.Fprintf(&b, "!! this is #%d\n", x.Number)
		}
		return l.Event(ev)
	})
	return b.String(), err
}

// linesAround reads the lines round one, without keeping the others.
func linesAround(r io.Reader, line int) ([]byte, error) {
	in := bufio.NewReaderSize(r, aroundLine)
	var out bytes.Buffer
	for n := 1; n <= line+linesAfter; n++ {
		text, err := in.ReadSlice('\n')
		long := false
		for errors.Is(err, bufio.ErrBufferFull) {
			long = true
			_, err = in.ReadSlice('\n')
		}
		if n >= line-linesBefore && !long {
			out.Write(text)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}
