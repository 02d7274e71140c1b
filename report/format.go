package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// stamp is a time in the form that scripts read: RFC 3339, UTC, seconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// clock is a time as the reader's wall shows it.
func (o Options) clock(t time.Time) string { return t.In(o.location()).Format("2 Jan 15:04") }

// between is a span of time; the second date is left out when it is the first.
func (o Options) between(from, to time.Time) string {
	from, to = from.In(o.location()), to.In(o.location())
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		return from.Format("2 Jan 15:04") + " – " + to.Format("15:04")
	}
	return from.Format("2 Jan 15:04") + " – " + to.Format("2 Jan 15:04")
}

// duration has at most two units: 42s, 4m12s, 1h04m, 3d02h.
func duration(d time.Duration) string {
	d = max(0, d.Round(time.Second))
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h >= 48:
		return fmt.Sprintf("%dd%02dh", h/24, h%24)
	case h > 0:
		return fmt.Sprintf("%dh%02dm", h, m)
	case m > 0:
		return fmt.Sprintf("%dm%02ds", m, s)
	}
	return fmt.Sprintf("%ds", s)
}

// age has one unit: 42s, 4m, 3h, 2d.
func age(d time.Duration) string {
	switch d = max(0, d); {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	}
	return strconv.Itoa(int(d.Hours())/24) + "d"
}

func money(usd float64) string { return fmt.Sprintf("$%.2f", usd) }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// outcomeWord is an outcome as a person reads it.
func outcomeWord(o queue.Outcome) string {
	if o == queue.HostFailed {
		return "host failed"
	}
	return strings.ReplaceAll(term.Line(string(o)), "-", " ")
}
