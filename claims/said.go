package claims

import "strings"

// clause is a part of a text that says one thing.
type clause struct{ start, end int }

// clauses splits a text at the ends of sentences, lines and before "but".
func clauses(text string) []clause {
	var out []clause
	from := 0
	cut := func(to int) {
		if strings.TrimSpace(text[from:to]) != "" {
			out = append(out, clause{from, to})
		}
		from = to
	}
	for i := range len(text) {
		switch {
		case endsSentence(text, i):
			cut(i + 1)
		case strings.HasPrefix(text[i:], ", but ") || strings.HasPrefix(text[i:], " but "):
			cut(i)
		}
	}
	cut(len(text))
	return out
}

var (
	// denied: what stands between the start of a clause and the end of a claim
	// says that it is not so.
	denied = lazy(`(?i)\b(not|never|cannot|unable to|failed to|without (running|having)|yet to|neither|nor|didn|wasn|weren|haven|hasn|couldn|don|doesn|isn|aren|won|can)\b('t|’t)?|n['’]t\b|\b(un|not )tested\b|\bskipped\b|\bunverified\b|\bno (tests?|benchmarks?|linter) (were|was|have|has)\b|\bfails?\b|\bfailed\b`)
	// open: it is wanted, or would be.
	wanted = lazy(`(?i)\b(should|must|need(s|ed)? to|needs|will|would|may|might|shall|please|make sure|making sure|ensure[sd]?|ensuring|todo|to-do|let's|want|wants|plan(s|ned)? to|going to|in order to|so that|expect(s|ed)? to|remember to|ask(ed|s)?|how to|try to|to be|can be|could|unless|until|whether|hopefully|pending|verify that|check that|confirm that the|waiting for|(make|makes|making|lets?|letting|gets?|getting|allow(s|ed)?|helps?) (the|all|our|these|those))\b|\[ \]`)
	// conditional words make what follows them a condition, up to a comma.
	conditional = lazy(`(?i)\b(if|once|when|whenever|before|after|as soon as|as long as|provided|assuming|in case)\b[^,:;\n]*$`)
	// settled: "no failures" denies nothing that is claimed.
	settled = lazy(`(?i)\b(no|zero|0|without( any)?|not a single|not only|free of) (new |test |lint |type |build )*(failures?|errors?|warnings?|issues?|problems?|regressions?|failing tests?|findings?|tests? (fail\w*|are failing))\b|\b0 (failed|failing|errors)\b|\bcan (confirm|report|say)\b|\bdouble[- ]checked\b`)
)

// asserts reports whether the clause says that what stands at start to end in
// it is so: not that it is not, would be, or should be.
func asserts(clause string, start, end int) bool {
	upTo := settled().ReplaceAllStringFunc(clause[:end], func(s string) string { return strings.Repeat("_", len(s)) })
	start = min(start, len(upTo))
	behind := clause[end:min(len(clause), end+40)]
	switch {
	case denied().MatchString(upTo), wanted().MatchString(upTo), conditional().MatchString(upTo[:start]):
		return false
	case notBehind().MatchString(behind):
		return false
	}
	return true
}

var notBehind = lazy(`(?i)^[^,.;]{0,20}\b(not|n['’]t|never|yet to|tomorrow|later|fail(s|ed|ing)?|pending)\b`)

// findRuns lists what a text says was run or went well.
func findRuns(t Text, bare string, add func(claim)) {
	for _, c := range clauses(bare) {
		text := bare[c.start:c.end]
		if strings.HasSuffix(strings.TrimSpace(text), "?") {
			continue
		}
		found := false
		for i := range works {
			w := &works[i]
			at := w.said().FindStringIndex(text)
			switch {
			case at == nil || !asserts(text, at[0], at[1]),
				w.name == "tests" && manual().MatchString(text) && !strings.Contains(strings.ToLower(text), "pass"),
				w.name == "anything" && found:
				continue
			}
			from, to := part(text, at[0], at[1])
			add(claim{kind: kindRun, text: strings.TrimLeft(t.Body[c.start+from:c.start+to], "-*#>• \t\n"), work: w, whole: whole().MatchString(text)})
			found = true
		}
	}
}

// part is what of a clause stands between the commas around start and end.
func part(clause string, start, end int) (from, to int) {
	if i := strings.LastIndex(clause[:start], ", "); i >= 0 {
		from = i + 2
	}
	if i := strings.Index(clause[end:], ", "); i >= 0 {
		return from, end + i
	}
	return from, len(clause)
}

var (
	manual = lazy(`(?i)\bmanual(ly)?\b|\bby hand\b|\bin (the |a |my )?(browser|chrome|firefox|safari)\b`)
	whole  = lazy(`(?i)\b(all|full|whole|entire|every|complete|suite|everything)\b`)
)
