package watch

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/report"
)

// Plain writes a line whenever the run comes to something new, until it ends or
// ctx does. pause waits between two looks.
func Plain(ctx context.Context, w io.Writer, src Source, loc *time.Location, pause func(context.Context) error) error {
	last := ""
	for {
		s, err := src.Snapshot(ctx)
		if err != nil {
			return err
		}
		if line := plainLine(&s); line != last {
			last = line
			if _, err := fmt.Fprintf(w, "%s %s\n", s.At.In(loc).Format("15:04:05"), line); err != nil {
				return err
			}
		}
		if s.State != report.StateRunning && s.State != report.StateStarting {
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// plainLine says how the run stands, without what changes all the time.
func plainLine(s *Snapshot) string {
	switch s.State {
	case report.StateNone:
		return "no run has worked in this repository yet"
	case report.StateStarting:
		return fmt.Sprintf("a run is starting (pid %d)", s.Pid)
	case report.StateDied:
		return fmt.Sprintf("LOOP DIED: pid %d is gone and wrote no end", s.Pid)
	case report.StateEnded:
		text := fmt.Sprintf("ended: %d passed, %d did not, $%.2f, %s", s.Passed, s.Failed, s.CostUSD, waits(s.Waiting))
		if s.Why != "" {
			text += "; stopped early: " + term.Line(s.Why)
		}
		return text
	}
	text := fmt.Sprintf("[%d/%d] %s: %s, %d refused, %s", s.Number, s.Total, term.Line(s.Story), s.Phase, s.Refused, waits(s.Waiting))
	if len(s.InFlight) > 1 {
		text = ""
		for _, f := range s.InFlight {
			text += fmt.Sprintf("[%d/%d] %s: %s, ", f.Number, s.Total, term.Line(f.Story), f.Phase)
		}
		text += waits(s.Waiting)
	}
	if s.Phase == "waiting" {
		text += ", until " + s.Until.UTC().Format(time.RFC3339) + ": " + term.Line(s.Why)
	}
	if s.StopAsked != "" {
		text += "; asked to stop"
	}
	return text
}
