package runner

import (
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

func TestResetTime(t *testing.T) {
	at := func(zone, when string) time.Time {
		t.Helper()
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		out, err := time.ParseInLocation("2006-01-02 15:04", when, loc)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	berlin := at("Europe/Berlin", "2026-11-30 23:30")
	for _, tt := range []struct {
		now        time.Time
		text, want string
	}{
		{berlin, "You've hit your limit · resets 2pm (America/Toronto)", "2026-12-01T19:00:00Z"},
		{berlin, "You've hit your session limit · resets 5:30am (Asia/Calcutta)", "2026-12-01T00:00:00Z"},
		{berlin, "You've hit your session limit · resets 5:30am (Asia/Kathmandu)", "2026-11-30T23:45:00Z"},
		{berlin, "You've hit your 5-hour limit · resets 11:45pm (Europe/Berlin)", "2026-11-30T22:45:00Z"},
		{berlin, "You're out of extra usage · resets 9pm", "2026-12-01T20:00:00Z"},
		{berlin, "5-hour limit reached · resets 12am (UTC)", "2026-12-01T00:00:00Z"},
		{berlin, "Claude usage limit reached. Your limit will reset at 3am (America/Santiago).", "2026-12-01T06:00:00Z"},
		{berlin, "limit reached, resets 01:15", "2026-12-01T00:15:00Z"},
		{berlin, "limit reached, resets 9:30 a.m. (UTC+5:30)", "2026-12-01T04:00:00Z"},
		{berlin, "limit reached, resets tomorrow at 9am (UTC)", "2026-12-01T09:00:00Z"},
		{berlin, "Claude AI usage limit reached|1796015997", "2026-11-30T05:19:57Z"},
		{berlin, "Claude AI usage limit reached|1796015997000", "2026-11-30T05:19:57Z"},
		{berlin, "You've hit your weekly limit · resets Dec 5 at 9am (UTC)", "2026-12-05T09:00:00Z"},
		{berlin, "You've hit your limit · resets Dec 16, 11am (America/Toronto)", "2026-12-16T16:00:00Z"},
		{berlin, "You've hit your limit · resets Jan 2 at 11:30pm (UTC)", "2027-01-02T23:30:00Z"},
		{berlin, "resets December 3rd, 2026 at 9am (UTC)", "2026-12-03T09:00:00Z"},
		{berlin, "Weekly limit reached ∙ resets Thu 9:00 AM (UTC)", "2026-12-03T09:00:00Z"},
		{berlin, "You will regain access on 2026-12-01 at 00:00 UTC.", "2026-12-01T00:00:00Z"},
		{berlin, "resets 2026-12-01T06:30:00Z", "2026-12-01T06:30:00Z"},
		{berlin, "resets in 2h 15m", "2026-12-01T00:45:00Z"},
		{berlin, "Please try again in 20 minutes", "2026-11-30T22:50:00Z"},
		// Only just gone, or longer away than this limit lasts: it has passed.
		{berlin, "You've hit your limit · resets 11:19pm", "2026-11-30T22:19:00Z"},
		{berlin, "You've hit your session limit · resets 10pm", "2026-11-30T21:00:00Z"},
		{berlin, "You've hit your weekly limit · resets Nov 30 at 11:15pm", "2026-11-30T22:15:00Z"},
		// The clocks change: 2:30 is left out in March and is there twice in
		// October.
		{at("Europe/Berlin", "2027-03-27 23:00"), "resets 2:30am (Europe/Berlin)", "2027-03-28T01:30:00Z"},
		{at("Europe/Berlin", "2027-03-27 23:00"), "resets 4am (Europe/Berlin)", "2027-03-28T02:00:00Z"},
		{at("Europe/Berlin", "2027-10-30 23:00"), "resets 2:30am (Europe/Berlin)", "2027-10-31T00:30:00Z"},
		{time.Date(2027, 10, 31, 1, 0, 0, 0, time.UTC), "resets 2:30am (Europe/Berlin)", "2027-10-31T01:30:00Z"},
		{at("America/New_York", "2026-10-31 23:00"), "resets 3am (America/New_York)", "2026-11-01T08:00:00Z"},
		// Nothing, or nothing that can be meant.
		{berlin, "Credit balance is too low", ""},
		{berlin, "resets 2pm (Mars/Olympus)", ""},
		{berlin, "resets 14pm", ""},
		{berlin, "resets 25:00", ""},
		{berlin, "please try again 3 times", ""},
		{berlin, "usage limit reached|9999999999", ""},
		{berlin, "resets in 999999 days", ""},
	} {
		got := ""
		if at := resetTime(nil, tt.text, causeOfText(tt.text), tt.now); !at.IsZero() {
			got = at.UTC().Format(time.RFC3339)
		}
		if got != tt.want {
			t.Errorf("%q at %s: %s, want %s", tt.text, tt.now, got, tt.want)
		}
	}
	event := &transcript.RateLimit{ResetsAt: time.Unix(1796015997, 0)}
	if at := resetTime(event, "resets 2pm", queue.UsageLimit, berlin); !at.Equal(event.ResetsAt) {
		t.Errorf("the text outranks the event: %v", at)
	}
	if at := resetTime(&transcript.RateLimit{}, "You've hit your limit", queue.UsageLimit, berlin); !at.IsZero() {
		t.Errorf("an event without fields: %v", at)
	}
}
