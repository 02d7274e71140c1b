package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/internal/term"
)

// CSV prints one line for each call that reached outside, was stopped, or was
// written for later, after RFC 4180. Secrets are masked, and no cell begins
// with what a spreadsheet takes for a formula.
func (o *Outgoing) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	// The writer keeps its first error for the end.
	_ = c.Write([]string{"time", "evidence", "outcome", "undo", "family", "project", "rule", "tool", "command", "file", "line", "tool_use_id"})
	for _, s := range o.calls {
		at := ""
		if !s.Time.IsZero() {
			at = stamp(s.Time)
		}
		cells := []string{
			at, string(s.Evidence), s.Outcome, s.Undo, s.Family, o.project(s), s.Rule, s.Tool, s.Command,
			s.File, strconv.Itoa(s.Line), s.ToolUseID,
		}
		for i := range cells {
			cells[i] = cell(cells[i])
		}
		_ = c.Write(cells)
	}
	c.Flush()
	return c.Error()
}

// cell is a text as a cell. A leading apostrophe is what spreadsheets know as
// "this is text"; they look behind blanks too.
func cell(s string) string {
	s = term.Command(s)
	if t := strings.TrimLeft(s, " '"); t != "" && strings.ContainsRune("=+-@\t\r\n|%＝＋－＠", []rune(t)[0]) {
		return "'" + s
	}
	return s
}
