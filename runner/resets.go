package runner

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the client names zones that the system may not know

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

// A reset further away than farReset is taken for no time at all; one that is
// not longer gone than justGone is taken for one that has passed.
const (
	farReset = 35 * 24 * time.Hour
	justGone = 20 * time.Minute
)

// resetTime is when a limit ends: the event's time, else what the text says,
// else zero. It is a hint: it may lie in the past, and the limit may hold on.
func resetTime(l *transcript.RateLimit, text string, c queue.Cause, now time.Time) time.Time {
	now = now.Round(0) // the wall clock: a machine that slept has no other
	if l != nil && !l.ResetsAt.IsZero() {
		return sane(l.ResetsAt, now)
	}
	for _, read := range []func(string, queue.Cause, time.Time) (time.Time, bool){epochReset, dateReset, relativeReset, clockReset} {
		if at, ok := read(text, c, now); ok {
			return sane(at, now)
		}
	}
	return time.Time{}
}

func sane(at, now time.Time) time.Time {
	if d := at.Sub(now); d > farReset || d < -farReset {
		return time.Time{}
	}
	return at
}

const (
	clockExpr = `(\d{1,2})(?::(\d{2}))?(?::\d{2})? ?([ap]\.?m\.?)?`
	zoneExpr  = `(?: ?\(([A-Za-z][A-Za-z0-9_+\-/:]*)\)| ?(UTC|GMT|Z)\b)?`
	monthExpr = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`
	dayExpr   = `(sun|mon|tue|wed|thu|fri|sat)[a-z]*\.?`
)

// resetExprs find what a text says of the reset.
var resetExprs = sync.OnceValue(func() map[string]*regexp.Regexp {
	const lead = `(?i)(?:resets?|try again|available again|regain access|renews?|until|retry)(?: (?:at|on|in|after|by))?:? *`
	out := map[string]*regexp.Regexp{}
	for name, expr := range map[string]string{
		"epoch":    `\|(\d{13}|\d{10})\b`,
		"iso":      lead + `(\d{4})-(\d{2})-(\d{2})(?:(?:T| at | )` + clockExpr + zoneExpr + `)?`,
		"month":    lead + monthExpr + ` (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?:,? (?:at )?` + clockExpr + zoneExpr + `)?`,
		"weekday":  lead + dayExpr + `,? (?:at )?` + clockExpr + zoneExpr,
		"relative": lead + `((?:\d+ ?(?:d|h|m|s|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?)\b,? ?(?:and )?)+)`,
		"part":     `(?i)(\d+) ?(d|h|m|s)`,
		"clock":    lead + `(?:(tomorrow|today),? (?:at )?)?` + clockExpr + zoneExpr,
	} {
		out[name] = regexp.MustCompile(expr)
	}
	return out
})

func epochReset(text string, _ queue.Cause, _ time.Time) (time.Time, bool) {
	m := resetExprs()["epoch"].FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if len(m[1]) == 13 {
		return time.UnixMilli(n).UTC(), err == nil
	}
	return time.Unix(n, 0).UTC(), err == nil
}

// dateReset reads texts that name a day: by number, month or weekday.
func dateReset(text string, _ queue.Cause, now time.Time) (time.Time, bool) {
	if m := resetExprs()["iso"].FindStringSubmatch(text); m != nil {
		h, loc, ok := clockOf(m[4:], now)
		day := time.Date(number(m[1]), time.Month(number(m[2])), number(m[3]), 0, 0, 0, 0, loc)
		return h.on(day), ok
	}
	if m := resetExprs()["month"].FindStringSubmatch(text); m != nil {
		h, loc, ok := clockOf(m[4:], now)
		month := time.Month(strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(m[1]))/3 + 1)
		if year := number(m[3]); year > 0 {
			return h.on(time.Date(year, month, number(m[2]), 0, 0, 0, 0, loc)), ok
		}
		// Without a year it is the nearest one: January is near in December, and
		// a day that has just gone is not a year away.
		var best time.Time
		for y := now.Year() - 1; y <= now.Year()+1; y++ {
			at := h.on(time.Date(y, month, number(m[2]), 0, 0, 0, 0, loc))
			if best.IsZero() || at.Sub(now).Abs() < best.Sub(now).Abs() {
				best = at
			}
		}
		return best, ok
	}
	if m := resetExprs()["weekday"].FindStringSubmatch(text); m != nil {
		h, loc, ok := clockOf(m[2:], now)
		want := time.Weekday(strings.Index("sunmontuewedthufrisat", strings.ToLower(m[1])) / 3)
		day := now.In(loc)
		for day.Weekday() != want {
			day = day.AddDate(0, 0, 1)
		}
		at := h.on(day)
		if now.Sub(at) > justGone {
			at = h.on(day.AddDate(0, 0, 7))
		}
		return at, ok
	}
	return time.Time{}, false
}

// relativeReset reads "resets in 3h 20m".
func relativeReset(text string, _ queue.Cause, now time.Time) (time.Time, bool) {
	m := resetExprs()["relative"].FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
	var d time.Duration
	for _, part := range resetExprs()["part"].FindAllStringSubmatch(m[1], -1) {
		n := number(part[1])
		if n > 1e6 {
			return time.Time{}, false
		}
		d += time.Duration(n) * units[strings.ToLower(part[2])]
	}
	return now.Add(d), true
}

// clockReset reads a time of day: its next occurrence, or the last one when
// that has only just gone or no limit of this kind is so long.
func clockReset(text string, c queue.Cause, now time.Time) (time.Time, bool) {
	m := resetExprs()["clock"].FindStringSubmatch(text)
	if m == nil || m[3] == "" && m[4] == "" {
		return time.Time{}, false // "try again 5" is no time of day
	}
	h, loc, ok := clockOf(m[2:], now)
	if !ok {
		return time.Time{}, false
	}
	today := now.In(loc)
	switch strings.ToLower(m[1]) {
	case "today":
		return h.on(today), true
	case "tomorrow":
		return h.on(today.AddDate(0, 0, 1)), true
	}
	at := h.after(today, now)
	last := h.on(at.In(loc).AddDate(0, 0, -1))
	if now.Sub(last) <= justGone || c == queue.FiveHourLimit && at.Sub(now) > 5*time.Hour+justGone {
		return last, true
	}
	return at, true
}

// clockTime is a time of day.
type clockTime struct{ hour, minute int }

// clockOf reads hour, minute, am or pm and zone.
func clockOf(m []string, now time.Time) (clockTime, *time.Location, bool) {
	loc, ok := zone(m[3]+m[4], now.Location())
	h, half := number(m[0]), strings.ToLower(m[2])
	c := clockTime{h, number(m[1])}
	if half != "" {
		if h < 1 || h > 12 {
			return c, loc, false
		}
		c.hour = h % 12
		if half[0] == 'p' {
			c.hour += 12
		}
	}
	return c, loc, ok && c.hour < 24 && c.minute < 60
}

// zone finds a zone by its name, by an offset, or one of the few abbreviations
// that mean one zone only.
func zone(name string, local *time.Location) (*time.Location, bool) {
	if name == "" {
		return local, true
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(strings.ToUpper(name), "UTC"), "GMT")
	if rest == "" || rest == "Z" {
		return time.UTC, true
	}
	if sign := rest[0]; sign == '+' || sign == '-' {
		h, m, _ := strings.Cut(rest[1:], ":")
		if m == "" && len(h) == 4 {
			h, m = h[:2], h[2:]
		}
		seconds := number(h)*3600 + number(m)*60
		if sign == '-' {
			seconds = -seconds
		}
		return time.FixedZone(name, seconds), len(h) > 0 && number(h) <= 14
	}
	if offset, ok := map[string]int{"EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "CET": 1, "CEST": 2, "JST": 9}[rest]; ok {
		return time.FixedZone(name, offset*3600), true
	}
	loc, err := time.LoadLocation(name)
	if err != nil || strings.EqualFold(name, "local") {
		return time.UTC, false
	}
	return loc, true
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// on is the time on the day of a zone. A time that a change of the clocks
// leaves out is the moment that the clocks show after it.
func (c clockTime) on(day time.Time) time.Time {
	y, m, d := day.Date()
	at := time.Date(y, m, d, c.hour, c.minute, 0, 0, day.Location())
	if at.Hour() != c.hour || at.Minute() != c.minute {
		// Both zones' readings are off by the change; the later one is behind it.
		_, before := at.Add(-3 * time.Hour).Zone()
		naive := time.Date(y, m, d, c.hour, c.minute, 0, 0, time.UTC)
		at = naive.Add(-time.Duration(before) * time.Second).In(day.Location())
	}
	return at
}

// after is the next time after now, of the two that a day may have when the
// clocks are put back the first that is still to come.
func (c clockTime) after(day, now time.Time) time.Time {
	for {
		at := c.on(day)
		for _, d := range []time.Duration{-time.Hour, -30 * time.Minute, 0, 30 * time.Minute, time.Hour} {
			if twin := at.Add(d); twin.Hour() == at.Hour() && twin.Minute() == at.Minute() && twin.After(now) {
				return twin
			}
		}
		day = day.AddDate(0, 0, 1)
	}
}
