package queue

// maxRead is the longest record that readAction reads: of a longer one, what is
// kept of its texts would hold all of it in memory.
const maxRead = 64 << 10

// readAction reads an action as encodeAction writes it, ten times as fast as
// encoding/json: a person waits while ten thousand are read. It reports whether
// the record was one; if not, a may hold anything. Each field of Action stands
// here, in its order: a test holds the two against each other.
func readAction(raw string, a *Action) bool {
	if len(raw) > maxRead {
		return false
	}
	j := &jsonText{text: raw}
	j.take('{')
	j.int("schema", &a.Schema)
	j.string("id", &a.ID)
	if j.has("number") {
		j.bad = j.peek() == '-'
		a.Number = uint64(j.number())
		j.next()
	}
	j.string("kind", &a.Kind)
	j.string("session", &a.Session)
	j.string("story", &a.Story)
	j.string("story_title", &a.StoryTitle)
	j.string("story_hash", &a.StoryHash)
	j.string("checkpoint", &a.Checkpoint)
	j.value("holds", &a.Holds)
	j.string("attempt", &a.Attempt)
	j.string("tool", &a.Tool)
	j.string("tool_use_id", &a.ToolUseID)
	j.string("agent", &a.Agent)
	j.bytes("input", &a.Input)
	j.string("command", &a.Command)
	j.string("cwd", &a.Cwd)
	j.string("git_head", &a.GitHead)
	j.string("git_branch", &a.GitBranch)
	j.texts("rules", &a.Rules)
	j.string("why", &a.Why)
	j.string("undo", &a.Undo)
	if j.has("tier") {
		j.bad = j.bad || a.Tier.UnmarshalText([]byte(j.str())) != nil
		j.next()
	}
	readText(j, "evidence", &a.Evidence)
	j.flag("opaque", &a.Opaque)
	j.flag("tampering", &a.Tampering)
	j.flag("asked", &a.Asked)
	j.string("transcript", &a.Transcript)
	j.int("line", &a.Line)
	j.string("excerpt", &a.Excerpt)
	if j.has("said") {
		a.Said = readSaid(j)
		j.next()
	}
	j.time("detected_at", &a.DetectedAt)
	readText(j, "found_by", &a.FoundBy)
	j.string("outcome", &a.Outcome)
	j.string("family", &a.Family)
	j.string("target", &a.Target)
	j.string("related_to", &a.RelatedTo)
	j.value("tried_again", &a.Again)
	j.int("repeats", &a.Repeats)
	if j.has("claims") {
		a.Claims = readList(j, readClaim)
		j.next()
	}
	j.int("more_claims", &a.MoreClaims)
	j.flag("judged", &a.Judged)
	readText(j, "status", &a.Status)
	j.value("edited", &a.Edited)
	j.value("decisions", &a.Decisions)
	j.value("replay", &a.Replay)
	j.value("earlier_replays", &a.Earlier)
	j.value("replay_owner", &a.Owner)
	var exact []byte
	j.value("exact_input", &exact)
	if exact != nil {
		a.Input = exact
	}
	j.take('}')
	return j.whole()
}

func readSaid(j *jsonText) *Said {
	var s Said
	j.take('{')
	j.string("text", &s.Text)
	j.int("calls", &s.Calls)
	j.flag("delegated", &s.Delegated)
	j.take('}')
	return &s
}

func readClaim(j *jsonText) (c Claim) {
	j.take('{')
	j.string("kind", &c.Kind)
	j.string("text", &c.Text)
	j.string("where", &c.Where)
	readText(j, "source", &c.Source)
	j.flag("failed", &c.Failed)
	j.string("tool", &c.Tool)
	j.string("command", &c.Command)
	j.string("tool_use_id", &c.CallID)
	j.int("line", &c.Line)
	j.string("quote", &c.Quote)
	j.string("receipt", &c.Receipt)
	j.string("note", &c.Note)
	readText(j, "doubt", &c.Doubt)
	j.string("rounded_from", &c.Rounded)
	j.flag("earlier_attempt", &c.Earlier)
	j.take('}')
	return c
}
