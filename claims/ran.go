package claims

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/transcript"
)

var (
	// failures stand in the output of programs whose exit code a pipe has hidden.
	failures = lazy(`(?m)^\s*(--- )?FAIL(ED|URE)?\b|\b[1-9]\d* (tests? |specs? |examples? )?(failed|failing|failures?|errors?|problems?)\b|\b(?i:failures|failed|errors): *[1-9]|\bBUILD FAILURE\b|\(failures=[1-9]|^error(\[E\d+\])?: |: error TS\d+`)
	// nothing: a test runner found no tests.
	nothing = lazy(`(?i)\bno tests? (specified|ran|found|to run|were run|collected|files? found)\b|\bcollected 0 items\b|\bran 0 tests\b|\[no test files\]|\[no tests to run\]|\b0 (passing|tests? (ran|run|found|executed))\b|\bno test files\b|running 0 tests`)
	// something: some did pass.
	something = lazy(`(?m)^ok\s+\S+\s+(\(cached\)|[\d.]+s)(\s+coverage:[^\n\[]*)?$|\b[1-9]\d* (tests? )?(passed|passing)\b|--- PASS|\bPASS\b|^ok \d`)
)

// stale: files are changed, and what was said of them holds no longer.
func (j *judge) stale() {
	for _, x := range j.claims {
		f := &x.found
		if x.kind == kindRun && x.work.tree && j.open[x.call] && f.Source == queue.SourceResult && f.Doubt == "" {
			f.Doubt = queue.DoubtStale
		}
	}
}

// ran holds what a call did against the claims that something was run.
func (j *judge) ran(m *made, r *transcript.Result, line int) {
	if m.line == "" || m.partial || r.Background || m.source == queue.SourceAgent {
		return
	}
	for _, x := range j.claims {
		switch {
		case x.kind == kindCommand:
			if c := m.runs(x.command); c {
				j.take(x, j.outcome(m, r, line))
			}
		case x.kind == kindRun && x.work.unseen == "":
			j.did(x, m, r, line)
		}
	}
}

// did holds a call against one claim that a sort of work was done.
func (j *judge) did(x *open, m *made, r *transcript.Result, line int) {
	c := x.work.in(m.commands)
	if c == nil || background(m.line) {
		return
	}
	s := j.outcome(m, r, line)
	isTests := x.work.name == "tests" || x.work.name == "checks"
	if isTests && !s.failed && nothing().MatchString(r.Text) && !something().MatchString(r.Text) {
		return
	}
	if isTests && x.claim.whole && !s.failed && partly(c) {
		if x.whole && !x.found.Failed && x.found.Doubt == "" {
			return // all of them went well, and nothing was changed
		}
		s.doubt = queue.DoubtPart
	}
	x.whole = !s.failed && s.doubt == ""
	j.take(x, s)
}

// outcome is what a result says of the run that it is of.
func (j *judge) outcome(m *made, r *transcript.Result, line int) sighting {
	s := sighting{source: queue.SourceResult, made: m, line: line, last: true, failed: r.IsError || r.Interrupted, quote: lastLine(r.Text)}
	text := clip(r.Text, maxResult)
	if at := failures().FindStringIndex(text); at != nil && (r.IsError || hidesExit(m.line) && !settledCount(text)) {
		s.failed, s.quote = true, lineAround(text, at[0], at[1])
	}
	return s
}

// hidesExit: the exit code of the line need not be that of the run.
func hidesExit(line string) bool {
	for _, plain := range []string{"&&", "2>&1", ">&2", "&>"} {
		line = strings.ReplaceAll(line, plain, " ")
	}
	return strings.ContainsAny(strings.TrimSpace(line), "|;&\n")
}

// settledCount: the line that a runner ends with says that nothing failed.
func settledCount(text string) bool { return zeroFailed().MatchString(lastLine(text)) }

var zeroFailed = lazy(`\b0 (failed|failures|errors)\b`)

// in is the command of a line that does the work; nil = none.
func (w *work) in(commands []shell.Command) *shell.Command {
	for i := range commands {
		if w.runsIt(&commands[i]) {
			return &commands[i]
		}
		for k := range works {
			for _, name := range w.of {
				if works[k].name == name && works[k].runsIt(&commands[i]) {
					return &commands[i]
				}
			}
		}
	}
	return nil
}

// runs reports whether a call runs a command line that a text quotes.
func (m *made) runs(command string) bool {
	line := strings.Join(strings.Fields(m.line), " ")
	if line == command {
		return true
	}
	for i := range m.commands {
		source := strings.Join(strings.Fields(m.commands[i].Source), " ")
		argv := make([]string, len(m.commands[i].Argv))
		for k, w := range m.commands[i].Argv {
			argv[k] = w.Text
		}
		if beginsWith(source, command) || beginsWith(strings.Join(argv, " "), command) {
			return true
		}
	}
	return strings.ContainsAny(command, "|;&") && strings.Contains(line, command)
}

func beginsWith(line, command string) bool {
	rest, ok := strings.CutPrefix(line, command)
	return ok && (rest == "" || rest[0] == ' ')
}

// background: the result is only of its start.
func background(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasSuffix(line, "&") && !strings.HasSuffix(line, "&&")
}

func lastLine(text string) string {
	text = strings.TrimSpace(clip(text, maxResult))
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
