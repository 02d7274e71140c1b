package policy

import "sort"

// finish makes a result of the hits. evidence is what a mention is in this
// place.
func finish(hits []Hit, evidence Evidence) Result {
	hits = unique(hits)
	sort.SliceStable(hits, func(i, j int) bool { return weight(hits[i]) > weight(hits[j]) })
	res := Result{Verdict: VerdictLocal, Hits: hits}
	for _, h := range hits {
		res.Net = res.Net || h.Net && !h.Mention
		res.Opaque = res.Opaque || h.Opaque && !h.Mention
	}
	if len(hits) == 0 {
		return res
	}
	switch h := hits[0]; {
	case !h.Mention && h.Tier == External:
		res.Verdict, res.Tier, res.Evidence = VerdictExternal, External, Executed
	case !h.Mention && h.Tier == Shared:
		res.Verdict, res.Tier, res.Evidence = VerdictShared, Shared, Executed
	case anyMention(hits):
		res.Verdict, res.Evidence = VerdictMention, evidence
	case res.Net:
		res.Evidence = Executed
	}
	return res
}

// weight orders hits: what runs by its tier, then mentions, then what is
// local.
func weight(h Hit) int {
	switch {
	case !h.Mention && h.Tier == External && !h.Opaque:
		return 6
	case !h.Mention && h.Tier == External:
		return 5
	case !h.Mention && h.Tier == Shared:
		return 4
	case h.Mention:
		return 2 + int(h.Tier)/2
	}
	return 1
}

// unique drops hits that say the same of the same text.
func unique(hits []Hit) []Hit {
	seen := make(map[Hit]bool, len(hits))
	out := hits[:0]
	for _, h := range hits {
		if !seen[h] {
			seen[h] = true
			out = append(out, h)
		}
	}
	return out
}
