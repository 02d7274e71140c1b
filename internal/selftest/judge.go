package selftest

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
)

// nights are the guarantees that the night shows.
func nights() []string {
	return []string{HooksLive, RefusedMain, RefusedSub, RefusedMCP, ProjectStart, SettingsGone, SessionID, Allowed, BigCall, OneVersion}
}

// judgeNight says what the night shows.
func (w *world) judgeNight(ctx context.Context, snap queue.Snapshot, settingsThere bool) findings {
	f := findings{}
	if len(snap.Attempts) != 1 {
		for _, id := range nights() {
			f.unknown(id, "the client was not started")
		}
		return f
	}
	a := snap.Attempts[0]
	asked := len(w.api.Requests()) > 0
	if !asked {
		for _, id := range nights() {
			f.unknown(id, "the client did not ask its model: %s", why(a))
		}
	}
	f.is(ProjectStart, !w.has(plantedHook) && !w.has(plantedMCP), "a command that a file of the project or the user's names was run")
	if asked {
		f.is(HooksLive, a.Outcome != queue.Unguarded && !settingsThere, "%s", orElse(a.Outcome == queue.Unguarded, a.Reason, "the model was asked before loop"))
		f.is(SettingsGone, !settingsThere, "it was still there when the model was asked first")
		if a.Outcome == queue.Unguarded {
			f.unknown(SettingsGone, "the client never reported")
		}
		w.judgeRefused(ctx, f, snap)
		w.judgeAllowed(f, a)
	}
	w.judgeStream(f, a)
	return f
}

func why(a queue.Attempt) string { return orElse(a.Reason != "", a.Reason, string(a.Outcome)) }

func orElse(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}

// judgeRefused looks at the calls that must not have run.
func (w *world) judgeRefused(ctx context.Context, f findings, snap queue.Snapshot) {
	refused := func(id, call string, ran bool) {
		told, ok := w.told(call)
		waits := slices.ContainsFunc(snap.Actions, func(x queue.Action) bool { return x.ToolUseID == call && x.FoundBy == queue.ByHook })
		switch {
		case ran:
			f.is(id, false, "it ran")
		case !ok:
			f.unknown(id, "the call was not made: %s", why(snap.Attempts[0]))
		default:
			if !waits {
				f.unknown(id, "it did not run, but nobody asked about it")
				return
			}
			f.is(id, told.IsError && strings.Contains(told.Text, "queued as #"), "it did not run, but the agent was told %q", clip(told.Text))
		}
	}
	heads, err := w.git(ctx, "ls-remote", filepath.Join(w.dir, "remote.git"))
	if err != nil {
		heads = pushedMain + pushedSub + err.Error() // not known to be clean
	}
	refused(RefusedMain, callPush, strings.Contains(heads, pushedMain))
	refused(RefusedSub, callSub, strings.Contains(heads, pushedSub))
	refused(RefusedMCP, callMCP, w.has("posted"))
}

// judgeAllowed looks at the calls that must have run.
func (w *world) judgeAllowed(f findings, a queue.Attempt) {
	if a.Outcome == queue.Unguarded {
		f.unknown(Allowed, "the attempt was stopped as unguarded")
		f.unknown(BigCall, "the attempt was stopped as unguarded")
		return
	}
	readme, _ := w.told(callRead)
	var missing []string
	for name, ok := range map[string]bool{
		"Bash": w.read("repo/one.txt") == "one\n", "Read": strings.Contains(readme.Text, marker), "Edit": w.read("repo/README.md") == "edited\n",
		"Write": w.has("repo/big.txt"),
	} {
		if !ok {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	f.is(Allowed, len(missing) == 0, "no effect of: %s", strings.Join(missing, ", "))
	if r := a.Receipts; r != nil {
		f.is(Receipts, len(r.Missing) == 0, "%d of %d results had no receipt", len(r.Missing), r.Results)
	}
	got := len(w.read("repo/big.txt"))
	f.is(BigCall, w.read("repo/big.txt") == bigText(), "%d of %d bytes were written", got, bigSize)
}

// judgeStream reads what the client says of itself.
func (w *world) judgeStream(f findings, a queue.Attempt) {
	rel, err := filepath.Rel(w.dir, a.Dir)
	if err != nil {
		return
	}
	for line := range strings.Lines(w.read(filepath.Join(rel, "transcript.jsonl"))) {
		var e struct {
			Type, Subtype string
			Session       string `json:"session_id"`
			Version       string `json:"claude_code_version"`
		}
		if json.Unmarshal([]byte(line), &e) != nil || e.Type != "system" || e.Subtype != "init" {
			continue
		}
		f.is(SessionID, e.Session == a.ID, "given %s, it runs as %q", a.ID, clip(e.Session))
		named, err := ParseVersion(w.t.client.Version)
		runs, err2 := ParseVersion(e.Version)
		if err != nil || err2 != nil {
			f.unknown(OneVersion, "it names %q and runs as %q", clip(w.t.client.Version), clip(e.Version))
			return
		}
		f.is(OneVersion, named == runs, "it names %s and runs as %s", named, runs)
		return
	}
}

func clip(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "")
}
