package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/report"
	"github.com/seed-b23e517c/loop/scanner"
)

// scanSessions reads the client's own session folder and prints what was sent
// out. It needs no repository and no set-up, and changes nothing.
func (a *app) scanSessions(ctx context.Context, o scanOptions) error {
	age, err := parseAge(o.since)
	if err != nil {
		return usagef("loop scan --since 30d", "%w", err)
	}
	dir, err := a.sessionFolder()
	if err != nil {
		return err
	}
	// Only the user's own rules: the sessions are of many repositories.
	c, err := config.Load(a.finder().UserDir(), "")
	if err != nil {
		return err
	}
	set, err := loadRules(c)
	if err != nil {
		return err
	}
	rules, err := rulesText(c)
	if err != nil {
		return err
	}
	now := a.now()
	s := newSessionScan(a, set, now.Add(-age))
	s.opts = scanner.Options{Set: set, Ignore: []string{rules}, CallsOnly: o.callsOnly}
	found := findSessions(dir, s.since)
	if err := s.all(ctx, found); err != nil {
		return err
	}
	out := s.tally.Outgoing(s.projects.name)
	out.Folder, out.Since, out.Until = dir, s.since, now
	out.Read, out.Unread = s.read, append(append(out.Unread, found.unread...), s.unread...)
	out.Read.Older = len(found.old)
	if err := a.printOutgoing(&out, o); err != nil {
		return err
	}
	if report.Count(out.Sent) > 0 {
		return codeOnly(exitWaiting)
	}
	return nil
}

func (a *app) printOutgoing(out *report.Outgoing, o scanOptions) error {
	switch {
	case o.json:
		return out.JSON(a.stdout)
	case o.csv:
		for _, u := range out.Unread {
			fmt.Fprintf(a.stderr, "loop: %s: %s\n", term.Quote(u.File), term.Quote(u.Error))
		}
		return out.CSV(a.stdout)
	}
	ro, err := a.reportOptions()
	if err != nil {
		return err
	}
	ro.All = o.all
	return out.Terminal(a.stdout, proc.Home(a.env), ro)
}

// sessionScan scans many files at a time. What it has found is guarded by mu.
type sessionScan struct {
	a     *app
	opts  scanner.Options
	since time.Time
	rules map[string]policy.RuleInfo
	bytes atomic.Int64 // read so far
	files atomic.Int64 // read to the end

	mu       sync.Mutex
	tally    *report.Tally
	projects *projects
	read     report.Read
	unread   []report.Unread
}

func newSessionScan(a *app, set *policy.Set, since time.Time) *sessionScan {
	s := &sessionScan{a: a, since: since, rules: map[string]policy.RuleInfo{}, tally: report.NewTally(), projects: newProjects()}
	for _, r := range set.Rules() {
		if _, ok := s.rules[r.ID]; !ok {
			s.rules[r.ID] = r
		}
	}
	return s
}

// maxAtATime bounds the memory on a machine of many processors.
const maxAtATime = 8

// all scans the sessions over the processors and returns early only when ctx
// ends: a file that cannot be read does not stop the others.
func (s *sessionScan) all(ctx context.Context, found *sessionWalk) error {
	stop := s.progress(found.files)
	defer stop()
	groups := group(found.files, found.old)
	next := make(chan *sessionGroup)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxAtATime, len(groups)) {
		wg.Go(func() {
			for g := range next {
				s.session(ctx, g)
			}
		})
	}
	for _, g := range groups {
		if ctx.Err() != nil {
			break
		}
		next <- g
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}

// session scans the files of one session, each with what the others wrote.
func (s *sessionScan) session(ctx context.Context, g *sessionGroup) {
	o := s.opts
	if len(g.files)+len(g.old) > 1 {
		o.Session = gathered(ctx, g, o, func(path string) string { return path })
	}
	for _, f := range g.files {
		if ctx.Err() == nil {
			s.file(ctx, f, o)
		}
	}
}

func (s *sessionScan) file(ctx context.Context, f sessionFile, o scanner.Options) {
	defer s.files.Add(1)
	in, err := openTranscript(f.path)
	if err != nil {
		s.fail(f.path, err)
		return
	}
	defer in.Close()
	text, err := plainText(&countingReader{r: in, n: &s.bytes}, f.path, scanCommand)
	if err != nil {
		s.fail(f.path, err)
		return
	}
	o.File = f.path
	hit := func(h scanner.Hit) error { s.hit(f, h); return nil }
	o.Shared = hit
	stats, err := scanner.Scan(ctx, text, o, hit)
	if err != nil && ctx.Err() == nil {
		s.fail(f.path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read.Files++
	s.read.Bytes += stats.Bytes
	s.read.Calls += stats.Calls
	s.read.Broken += stats.Broken
	s.read.Oversize += stats.Oversize
	s.read.Opaque += stats.Opaque
}

func (s *sessionScan) fail(path string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread = append(s.unread, unread(path, err))
}

// hit counts one hit. One without a time counts as old as its file.
func (s *sessionScan) hit(f sessionFile, h scanner.Hit) {
	if !h.Time.IsZero() && h.Time.Before(s.since) {
		return
	}
	seen := report.Seen{
		File: f.path, Line: h.Line, Folder: f.project, Cwd: h.Cwd, ToolUseID: h.ToolUseID, Tool: h.Tool,
		Command: h.Command, Rule: s.gravest(h), Tier: h.Tier, Evidence: h.Evidence, Outcome: h.Outcome, Time: h.Time,
	}
	if seen.Evidence == policy.Mentioned || seen.Command == "" {
		seen.Command = h.Excerpt
	}
	rule := s.rules[seen.Rule]
	seen.Family, seen.Undo = report.Family(rule.Pack, seen.Rule), rule.Undo
	if rule.ID == "" && seen.Family == "git" {
		seen.Undo = policy.UndoCorrection // a push that only the client saw
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.projects.note(f.project, h.Cwd)
	s.tally.Add(seen)
}

// gravest is the rule of a hit whose work can be taken back least. The rules
// of a hit name dry runs too, so a call that several speak of is asked about
// again.
func (s *sessionScan) gravest(h scanner.Hit) string {
	if len(h.Rules) < 2 || h.Tier != policy.External || h.Evidence == policy.Mentioned {
		return first(h.Rules)
	}
	worst := first(h.Rules)
	res := s.opts.Set.Classify(policy.Call{Tool: h.Tool, Input: h.Input, Cwd: h.Cwd})
	found := false
	for _, x := range res.Hits {
		if x.Mention || x.Tier != policy.External {
			continue
		}
		if !found || policy.UndoRank(s.rules[x.Rule].Undo) < policy.UndoRank(s.rules[worst].Undo) {
			worst, found = x.Rule, true
		}
	}
	return worst
}
