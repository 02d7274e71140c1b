package selftest

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/fakeapi"
)

// silent are the ways in which a hook does not say yes.
func silent() map[string]answer {
	return map[string]answer{
		"an error":             {status: http.StatusInternalServerError, body: "broken"},
		"garbage":              says("garbage"),
		"garbage round an yes": says("yes: " + firewall.Allow().Stdout + "\n" + firewall.Allow().Stdout),
		"an unknown word":      says(strings.Replace(firewall.Allow().Stdout, `"allow"`, `"maybe"`, 1)),
		"a yes to another":     says(strings.Replace(firewall.Allow().Stdout, firewall.EventPreToolUse, firewall.EventPostToolUse, 1)),
		"an empty answer":      says(""),
		"an empty object":      says("{}"),
		"a cut connection":     {cut: true},
		"a late yes":           {status: http.StatusOK, body: firewall.Allow().Stdout, late: true},
	}
}

// Calls of the scene of silence.
const (
	callUnread   = "toolu_selftest_unread"
	callOrphan   = "toolu_selftest_orphan"
	callOrphaned = "toolu_selftest_orphanread"
)

func silentID(way string) string   { return "toolu_selftest_" + strings.ReplaceAll(way, " ", "_") }
func silentFile(way string) string { return strings.ReplaceAll(way, " ", "-") + ".txt" }

// silence is a supervisor that fails in every way it can, and then dies.
func (t *test) silence(ctx context.Context) (findings, error) {
	byID := map[string]answer{callUnread: silent()["an error"]}
	for way, a := range silent() {
		byID[silentID(way)] = a
	}
	h, err := newHooks(t.settings("silence"), func(r firewall.Request) answer {
		if a, ok := byID[r.ToolUseID]; ok && r.Event == firewall.EventPreToolUse {
			return a
		}
		return of(firewall.NoObjection())
	})
	if err != nil {
		return nil, err
	}
	defer h.close()
	h.hurry = true
	w, err := t.newWorld("silence", func(w *world) fakeapi.Script {
		var turns []fakeapi.Turn
		for way := range silent() {
			turns = append(turns, fakeapi.Call(called(silentID(way), fakeapi.Bash("echo x > "+silentFile(way)))))
		}
		readme := map[string]any{"file_path": filepath.Join(w.repo, "README.md")}
		gone := fakeapi.Call(called(callOrphan, fakeapi.Bash("echo x > orphan.txt")))
		gone.From = func(fakeapi.Request) []fakeapi.Block { h.close(); return nil }
		turns = append(turns, fakeapi.Call(tool(callUnread, "Read", readme)), gone,
			fakeapi.Call(tool(callOrphaned, "Read", readme)), fakeapi.Say("Done."))
		return fakeapi.Script{{Turns: turns}}
	})
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.write("repo/README.md", marker+"\n"); err != nil {
		return nil, err
	}
	if err := w.start(ctx, h, "Do what the script says."); err != nil {
		return nil, err
	}
	return w.judgeSilence(h), nil
}

func (w *world) judgeSilence(h *hooks) findings {
	f := findings{}
	for way := range silent() {
		_, answered := w.told(silentID(way))
		switch {
		case w.has("repo/" + silentFile(way)):
			f.merge(findings{SilenceIsNo: {Fails, "a call ran after " + way}})
		case !answered || h.askedOf(silentID(way)) == 0:
			f.merge(findings{SilenceIsNo: {Unchecked, "the client did not ask: " + w.ended}})
		default:
			f.merge(findings{SilenceIsNo: {Holds, ""}})
		}
	}
	orphan, read, stopped := toldOf(w, callOrphan), toldOf(w, callOrphaned), toldOf(w, callUnread)
	switch {
	case w.has("repo/orphan.txt"):
		f.is(GoneIsNo, false, "a call ran")
	case orphan == nil:
		f.unknown(GoneIsNo, "the client did not get that far: %s", w.ended)
	default:
		f.is(GoneIsNo, orphan.IsError, "the agent was told %q", clip(orphan.Text))
	}
	if stopped == nil || read == nil {
		f.unknown(FailureStops, "the client did not get that far: %s", w.ended)
		return f
	}
	f.is(FailureStops, stopped.IsError && read.IsError && !strings.Contains(stopped.Text+read.Text, marker), "a file was read although the hook had failed")
	return f
}

// toldOf is the result of a call as the model was given it, nil when it was
// given none.
func toldOf(w *world, call string) *fakeapi.Content {
	if c, ok := w.told(call); ok {
		return &c
	}
	return nil
}
