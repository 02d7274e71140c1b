package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

// The nights of the tests begin at the same instant and are read at the same.
var (
	evening = time.Date(2026, 11, 29, 22, 10, 0, 0, time.UTC)
	morning = time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)
)

const sessionID = "019ad0f2-7b3c-7e11-9a40-5d2f8c1b6e07"

func session(order ...string) queue.Session {
	return queue.Session{
		Schema: 1, ID: sessionID, Started: evening, Ended: evening.Add(7*time.Hour + 2*time.Minute),
		Level: "unattended", StoryFile: "prd.json", Dir: "/home/mara/src/shop", Pid: 4711, Client: "2.1.3",
		StoryOrder: order,
	}
}

// attempt is the n-th attempt at a story, begun some minutes into the night.
func attempt(story, title string, n, minute int, took time.Duration, o queue.Outcome) queue.Attempt {
	begin := evening.Add(time.Duration(minute) * time.Minute)
	return queue.Attempt{
		Schema: 1, ID: fmt.Sprintf("019ad0f2-0000-7000-8000-%s%04d", strings.Repeat("0", 8), minute), Session: sessionID,
		Story: story, StoryTitle: title, Number: n, Started: begin, Ended: begin.Add(took), Outcome: o,
		Dir:   "/home/mara/.local/state/loop/shop-3f2a9c/runs/" + sessionID + "/" + story + "-" + fmt.Sprint(n),
		Model: "claude-opus-4-5", CostUSD: 0.31 + float64(minute)/400, Turns: 12, Calls: 30, Scanned: true,
	}
}

func action(number uint64, story, command string, e policy.Evidence, rule, why string) queue.Action {
	in, _ := json.Marshal(map[string]string{"command": command})
	return queue.Action{
		Schema: 1, ID: fmt.Sprintf("019ad0f2-8000-7000-8000-00000000%04d", number), Number: number, Kind: "call",
		Session: sessionID, Story: story, Tool: "Bash", ToolUseID: fmt.Sprintf("toolu_%d", number), Input: in,
		Command: command, Cwd: "/home/mara/src/shop", GitBranch: "main", GitHead: "3f2a9c1d", Rules: []string{rule}, Why: why, Undo: map[string]string{"git-push": policy.UndoCorrection, "npm-publish": policy.UndoNone}[rule],
		Tier: policy.External, Evidence: e, FoundBy: queue.ByHook, Status: queue.Pending,
		DetectedAt: evening.Add(time.Duration(number) * 17 * time.Minute),
	}
}

func gate(command string, passed bool, output string) queue.Gate {
	g := queue.Gate{Command: command, Passed: passed, Duration: 12 * time.Second, Output: output}
	if !passed {
		g.ExitCode = 1
	}
	return g
}

func goodNight() queue.Snapshot {
	titles := []string{"Let a customer reset the password", "Show the delivery date in the basket", "Count failed payments", "Export orders as CSV"}
	d := queue.Snapshot{Session: session("1", "2", "3", "4")}
	for i, t := range titles {
		a := attempt(fmt.Sprint(i+1), t, 1, i*95, 11*time.Minute+time.Duration(i)*time.Minute, queue.Done)
		a.Gates = []queue.Gate{gate("go test ./...", true, ""), gate("golangci-lint run", true, "")}
		a.SharedRuns, a.Shared = 1, []string{"git commit -m '" + t + "'"}
		d.Attempts = append(d.Attempts, a)
	}
	return d
}

func badNight() queue.Snapshot {
	d := queue.Snapshot{Session: session("1", "2", "3", "4", "5", "6", "7")}
	d.Session.Stopped = "You've hit your limit · resets 9am (Europe/Berlin)"
	d.Session.StopKind = queue.Limit
	d.Session.ResetsAt = time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	d.Attempts = badAttempts()
	d.Actions = badActions()
	d.Findings = []queue.Finding{
		{Schema: 1, ID: "f1", Session: sessionID, Story: "4", Kind: "tampered", Text: `the attempt changed ".claude/settings.json": it now has "disableAllHooks": true`},
		{Schema: 1, ID: "f2", Session: sessionID, Story: "3", Kind: "claim", Text: "the agent set passes=true itself; loop put it back"},
		{Schema: 1, ID: "f3", Session: sessionID, Story: "5", Kind: "leftover", Text: `process 5120 ("node server.js") outlived its attempt; loop ended it`},
		{Schema: 1, ID: "f4", Session: sessionID, Story: "5", Kind: "leftover", Text: `process 5120 ("node server.js") outlived its attempt; loop ended it`},
	}
	return d
}

func badAttempts() []queue.Attempt {
	passed := []queue.Gate{gate("go test ./...", true, ""), gate("golangci-lint run", true, "")}
	one := attempt("1", "Let a customer reset the password", 1, 0, 12*time.Minute, queue.Done)
	one.Gates, one.SharedRuns, one.Shared = passed, 2, []string{"git commit -m 'reset form'", "git commit -m 'tests'"}
	two := attempt("2", "Show the delivery date in the basket, on phones too", 1, 15, 31*time.Minute, queue.Unproven)
	three := attempt("3", "Count failed payments", 2, 75, 22*time.Minute, queue.GateFailed)
	three.Reason = "1 of 2 gates did not pass"
	three.Gates = []queue.Gate{gate("golangci-lint run", true, ""), gate("go test ./...", false,
		"ok  \tshop/basket\t0.31s\n--- FAIL: TestFailedPayments (0.00s)\n    payments_test.go:41: got 3 failures, want 4\nFAIL\nFAIL\tshop/payments\t0.210s\nFAIL\n")}
	four := attempt("4", "Export orders as CSV", 1, 100, 9*time.Minute, queue.Unguarded)
	four.Reason = "the hooks did not answer before the first tool call"
	four.Memory = []queue.MemoryChange{{File: "MEMORY.md", Diff: "--- a/MEMORY.md\n+++ b/MEMORY.md\n@@ -3,2 +3,4 @@\n" +
		" ## Facts\n-- The suite takes 40 s.\n+- The suite takes 12 s after my change.\n+- The staging deploy works; 4 211 orders were exported.\n"}}
	five := attempt("5", "Send the weekly mail in the customer's own language", 1, 130, 4*time.Minute, queue.Hung)
	five.Reason = "no sign of life for 10m0s"
	five.Recovered = true
	six := attempt("6", "Search by order number", 1, 400, 2*time.Minute, queue.Limit)
	six.Reason = "usage limit reached"
	return []queue.Attempt{one, two, attempt("3", "Count failed payments", 1, 50, 20*time.Minute, queue.GateFailed), three, four, five, six}
}

func badActions() []queue.Action {
	push := action(3, "4", "git push origin main", policy.Executed, "git-push", "Sends commits to a remote, where others build on them.")
	push.Outcome, push.FoundBy = "ok", queue.ByScan
	push.Family, push.Target = "git", "origin"
	push.Said = &queue.Said{Text: "All 214 tests pass. I push to main now, so that the deploy can begin before the morning."}
	post := action(1, "1", `curl -X POST https://hooks.slack.com/services/T024/B1 -H "Authorization: Bearer abcd1234efgh5678" -d '{"text":"deploy of 1.4.2 is done"}'`,
		policy.Blocked, "http-write", "Sends data to another machine.")
	post.Repeats = 2
	post.Family, post.Target, post.Undo = "http", "hooks.slack.com", policy.UndoNone
	post.Said = &queue.Said{Text: "Deploy of 1.4.2 is done.\n\nNow I tell the team.", Calls: 3}
	chain := action(2, "2", `git add -A && git commit -m "Show the delivery date in the basket, on phones and on tablets, and cover the date line with tests" && git push -u origin feature/delivery-date`,
		policy.Blocked, "git-push", "Sends commits to a remote, where others build on them.")
	chain.GitBranch, chain.Agent = "feature/delivery-date", "general-purpose"
	chain.Family, chain.Target = "git", "origin"
	chain.Said = &queue.Said{Text: "Commit what is there and publish the branch.", Delegated: true}
	written := action(4, "5", "npm publish --access public", policy.Written, "npm-publish", "Publishes a version that cannot be taken back after 72 hours.")
	written.Family, written.Said = "package", &queue.Said{}
	written.Cwd = "/home/mara/src/shop/packages/mail"
	mention := action(5, "1", "git push", policy.Mentioned, "classic-git-push", "")
	second := action(6, "3", "npm publish", policy.Mentioned, "classic-npm-publish", "")
	rejected := action(7, "1", "git push --force", policy.Blocked, "git-push", "")
	rejected.Status = queue.Rejected
	lost := action(8, "1", "gh pr create --fill", policy.Blocked, "gh-pr-create", "")
	lost.Status = queue.Unknown
	return []queue.Action{post, chain, push, written, mention, second, rejected, lost}
}

func runningNight() queue.Snapshot {
	d := goodNight()
	d.Session.Ended = time.Time{}
	d.Attempts = d.Attempts[:3]
	last := &d.Attempts[2]
	last.Ended, last.Outcome, last.Gates, last.Scanned = time.Time{}, "", nil, false
	last.Started = morning.Add(-6 * time.Minute)
	d.Actions = []queue.Action{action(1, "2", "git push", policy.Blocked, "git-push", "Sends commits to a remote, where others build on them.")}
	return d
}

// hostile is put into every text of a snapshot.
const hostile = "\x1b[2J\x1b]0;pwned\a evil\r\nStory #9 [2026-01-01T00:00:00Z]: git push\u202etxt.exe\u200b \u2066x\u2069\ufeff \xff\xfe " +
	"\u0430pple\u0338 e\u0301\u0301\u0301\u0301\u0301\u0301 <script>alert(1)</script> =cmd|' /C calc'!A0 TOKEN=abcdef0123456789 世界"

func hostileNight() queue.Snapshot { return nightOf(hostile) }

// nightOf has the text h in every place that holds text.
func nightOf(h string) queue.Snapshot {
	d := queue.Snapshot{Session: session(h, "2"+h)}
	d.Session.Stopped, d.Session.StopKind, d.Session.Level, d.Session.Client = h, queue.Outcome(h), h, h
	a := attempt(h, h, 1, 0, time.Minute, queue.GateFailed)
	a.Reason, a.ScanNote, a.Dir, a.FinalText = h, h, "/x/"+h+"/1", h
	a.Gates = []queue.Gate{{Command: h, Output: strings.Repeat(h+"\n", 12), Error: h}}
	a.Memory = []queue.MemoryChange{{File: h, Diff: "+" + h + "\n-" + h}}
	a.SharedRuns, a.Shared = 1, []string{h}
	a.Receipts = &queue.Receipts{Results: 3, Receipted: 1, Missing: []string{h, h}, Judged: []queue.Citation{{Token: h, Verdict: h, Severity: h, Reason: h, Sentence: h, Line: 1}}}
	a.AuditRoot = h
	b := attempt("2"+h, h, 1, 1, time.Minute, queue.Outcome(h))
	d.Attempts = []queue.Attempt{a, b}
	for i, e := range []policy.Evidence{policy.Executed, policy.Blocked, policy.Mentioned, policy.Evidence(h), policy.Blocked} {
		x := action(uint64(i+1), h, h, e, h, h)
		x.Cwd, x.GitBranch, x.GitHead, x.Agent, x.Outcome, x.Excerpt, x.Transcript = h, h, h, h, h, h, h
		x.Family, x.Target, x.Undo, x.Said = h, h, h, &queue.Said{Text: h}
		x.Tool, x.ToolUseID, x.StoryTitle, x.Attempt, x.RelatedTo = h, h, h, h, h
		x.Decisions = []queue.Decision{{Verb: h, Who: h, When: morning, Reason: h}}
		x.Claims = []queue.Claim{{Kind: h, Text: h, Where: h, Source: queue.ClaimSource(h), Tool: h, Command: h, CallID: h, Line: 3, Quote: h, Receipt: h, Note: h}}
		x.Replay = &queue.Replay{Started: morning, Output: h + "\n" + h, Error: h, ExitCode: 1}
		d.Actions = append(d.Actions, x)
	}
	d.Actions[1].Input = json.RawMessage("{broken " + h)
	d.Actions[4].Status = queue.Failed
	for _, kind := range []string{"claim", "unguarded", h} {
		d.Findings = append(d.Findings, queue.Finding{Schema: 1, ID: kind, Session: sessionID, Story: h, Kind: kind, Text: h})
	}
	return d
}
