package runner

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-b23e517c/loop/transcript"
)

// limitTexts are beginnings and parts of the client's own words for a usage
// limit, lower case. They are looked for in result records only.
var limitTexts = []string{
	"you've hit your", "limit reached", "usage limit", "spending cap reached", "credit balance is too low",
	"you're out of extra usage", "usage allocation has been disabled", "rate limit reached",
	"extra usage is required", "add funds to continue", "stop and wait for limit to reset",
}

func isLimitText(low string) bool {
	for _, t := range limitTexts {
		if strings.Contains(low, t) {
			return true
		}
	}
	return false
}

// resetWords finds "resets 5:19am (UTC)" and "reached|1796015997".
var resetWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)resets (?:at )?(\d{1,2})(?::(\d{2}))? ?([ap]m)(?: \(([A-Za-z_+\-/0-9]+)\))?|\|(\d{10})\b`)
})

// resetTime is when a limit ends: the event's time, else what the text says,
// else zero. A time of day is taken as its next occurrence.
func resetTime(l *transcript.RateLimit, text string, now time.Time) time.Time {
	if l != nil && !l.ResetsAt.IsZero() {
		return l.ResetsAt
	}
	m := resetWords().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}
	}
	if m[5] != "" {
		sec, err := strconv.ParseInt(m[5], 10, 64)
		if err != nil {
			return time.Time{}
		}
		return time.Unix(sec, 0).UTC()
	}
	loc := now.Location()
	if m[4] != "" {
		named, err := time.LoadLocation(m[4])
		if err != nil {
			return time.Time{}
		}
		loc = named
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi("0" + m[2])
	if hour > 12 || minute > 59 {
		return time.Time{}
	}
	hour %= 12
	if strings.EqualFold(m[3], "pm") {
		hour += 12
	}
	t := now.In(loc)
	at := time.Date(t.Year(), t.Month(), t.Day(), hour, minute, 0, 0, loc)
	if !at.After(now) {
		at = time.Date(t.Year(), t.Month(), t.Day()+1, hour, minute, 0, 0, loc)
	}
	return at
}
