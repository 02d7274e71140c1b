package firewall

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed-b23e517c/loop/policy"
)

// HookCommand is the first argument of the program that the client calls.
const HookCommand = "hook"

// PromptHook is loop's entry in a settings file of the client's.
type PromptHook struct {
	Program string // absolute path
	Level   policy.Level
}

// PromptSettings is what a settings file of the client's says of hooks.
type PromptSettings struct {
	Hooks       []PromptHook // loop's own
	DisableAll  *bool        // disableAllHooks; nil = not said
	ManagedOnly bool         // allowManagedHooksOnly, which counts in managed settings
}

// keys of the client's settings.
const (
	keyHooks   = "hooks"
	keyDisable = "disableAllHooks"
	keyManaged = "allowManagedHooksOnly"
)

// Argv is what the client starts.
func (h PromptHook) Argv() []string {
	return []string{h.Program, HookCommand, "--level", h.Level.String()}
}

// entry is the hook as it stands in the settings. A hook that fails stops the
// call, but not where a person sits at the prompt.
func (h PromptHook) entry() any {
	argv := h.Argv()
	e := struct {
		Type      string   `json:"type"`
		Command   string   `json:"command"`
		Args      []string `json:"args"`
		Timeout   int      `json:"timeout"`
		OnFailure string   `json:"onFailure,omitempty"`
	}{Type: "command", Command: argv[0], Args: argv[1:], Timeout: AloneTimeout}
	if h.Level != policy.Interactive {
		e.OnFailure = "block"
	}
	return e
}

// group is the entry with what the client wants around it; without a matcher
// it is called for every tool.
func (h PromptHook) group() any {
	return struct {
		Hooks []any `json:"hooks"`
	}{[]any{h.entry()}}
}

// ReadPromptSettings reads what a settings file says of hooks.
func ReadPromptSettings(text []byte) (PromptSettings, error) {
	var s PromptSettings
	d, err := parseSettings(text)
	if err != nil {
		return s, err
	}
	for _, at := range d.ours() {
		s.Hooks = append(s.Hooks, at.hook)
	}
	if v := d.root().member(keyDisable); v != nil {
		on := v.literal() == "true"
		s.DisableAll = &on
	}
	if v := d.root().member(keyManaged); v != nil {
		s.ManagedOnly = v.literal() == "true"
	}
	return s, nil
}

// AddPromptHook puts the hook into the text of a settings file, and into the
// place of an earlier one of loop's. Nothing else changes, not a blank. An
// empty text becomes a whole file.
func AddPromptHook(text []byte, h PromptHook) ([]byte, error) {
	d, err := parseSettings(text)
	if err != nil {
		return nil, err
	}
	ours := d.ours()
	if len(ours) == 1 && ours[0].whole && d.replace(ours[0], h) {
		return d.text(), nil
	}
	for range ours {
		d.remove(d.ours()[0])
	}
	hooks := d.root().member(keyHooks)
	groups := hooks.member(EventPreToolUse)
	switch {
	case hooks == nil:
		d.add(d.root(), keyHooks, map[string]any{EventPreToolUse: []any{h.group()}})
	case hooks.object() == nil:
		return nil, d.wrong(hooks, keyHooks, "an object")
	case groups == nil:
		d.add(hooks, EventPreToolUse, []any{h.group()})
	case groups.array() == nil:
		return nil, d.wrong(groups, EventPreToolUse, "a list")
	default:
		d.add(groups, "", h.group())
	}
	return d.text(), nil
}

// RemovePromptHook takes loop's entries out of the text of a settings file, and
// with them what they leave empty, as far as keep does not name it. It reports
// whether there was one.
func RemovePromptHook(text []byte, keep []string) ([]byte, bool, error) {
	d, err := parseSettings(text)
	if err != nil {
		return nil, false, err
	}
	ours := d.ours()
	if len(ours) == 0 {
		return text, false, nil
	}
	for range ours {
		d.remove(d.ours()[0])
	}
	hooks := d.root().member(keyHooks)
	if list := hooks.member(EventPreToolUse); list.empty() && !slices.Contains(keep, EventPreToolUse) {
		hooks.drop(hooks.index(EventPreToolUse))
	}
	if hooks.empty() && !slices.Contains(keep, keyHooks) {
		d.root().drop(d.root().index(keyHooks))
	}
	return d.text(), true, nil
}

// Containers lists which of the places that hold hooks a settings file has.
func Containers(text []byte) []string {
	d, err := parseSettings(text)
	if err != nil {
		return nil
	}
	var out []string
	if hooks := d.root().member(keyHooks); hooks != nil {
		out = append(out, keyHooks)
		if hooks.member(EventPreToolUse) != nil {
			out = append(out, EventPreToolUse)
		}
	}
	return out
}

// ourPlace is where an entry of loop's stands.
type ourPlace struct {
	group, entry int
	hook         PromptHook
	whole        bool // the group holds nothing else, and no matcher narrows it
}

// ours finds loop's entries.
func (d *document) ours() []ourPlace {
	var out []ourPlace
	groups := d.root().member(keyHooks).member(EventPreToolUse)
	for i, g := range groups.elements() {
		entries := g.member("hooks")
		for k, e := range entries.elements() {
			if h, ok := ourHook(e); ok {
				whole := len(entries.elements()) == 1 && g.member("matcher") == nil
				out = append(out, ourPlace{group: i, entry: k, hook: h, whole: whole})
			}
		}
	}
	return out
}

// ourHook reads an entry that calls `loop hook --level L`, whatever the program
// is called now.
func ourHook(e *node) (h PromptHook, ok bool) {
	var entry struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	if json.Unmarshal(e.standard(), &entry) != nil || entry.Type != "command" {
		return h, false
	}
	argv := append([]string{entry.Command}, entry.Args...)
	if entry.Args == nil {
		argv = strings.Fields(entry.Command) // a line for a shell, written by hand
	}
	if len(argv) < 3 || argv[1] != HookCommand {
		return h, false
	}
	for i, arg := range argv[2:] {
		name, ok := strings.CutPrefix(arg, "--level=")
		if arg == "--level" && i+3 < len(argv) {
			name, ok = argv[i+3], true
		}
		if !ok {
			continue
		}
		if l, err := policy.ParseLevel(name); err == nil {
			return PromptHook{Program: strings.Trim(argv[0], `"'`), Level: l}, true
		}
	}
	return h, false
}

// replace puts h where loop's entry stands, and reports false when something
// there is not as loop writes it and must be made anew.
func (d *document) replace(at ourPlace, h PromptHook) bool {
	e := d.root().member(keyHooks).member(EventPreToolUse).elements()[at.group].member("hooks").elements()[at.entry]
	want, err := json.Marshal(h.entry())
	if err != nil {
		return false
	}
	if have := e.standard(); bytes.Equal(compact(have), want) {
		return true
	}
	d.set(e, h.entry())
	return true
}

func (d *document) remove(at ourPlace) {
	groups := d.root().member(keyHooks).member(EventPreToolUse)
	entries := groups.elements()[at.group].member("hooks")
	if len(entries.elements()) > 1 {
		entries.drop(at.entry)
		return
	}
	groups.drop(at.group)
}

func compact(b []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, b) != nil {
		return b
	}
	return out.Bytes()
}

// document is a settings file as a tree that keeps every byte.
type document struct {
	bom     []byte
	source  []byte
	value   hujson.Value
	unit    string // one step of indentation
	newline string
}

// errSettings is a settings file that is not what the client reads.
var errSettings = errors.New("broken settings")

func parseSettings(text []byte) (*document, error) {
	d := &document{newline: "\n", unit: "  "}
	if rest, ok := bytes.CutPrefix(text, []byte("\ufeff")); ok {
		d.bom, text = text[:len(text)-len(rest)], rest
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	d.source = text
	var err error
	if d.value, err = hujson.Parse(text); err != nil {
		return nil, fmt.Errorf("%w: %s", errSettings, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if d.root().object() == nil {
		return nil, fmt.Errorf("%w: line 1, column 1: not a JSON object", errSettings)
	}
	if bytes.Contains(text, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	for i := range d.root().object().Members {
		if _, after, ok := strings.Cut(string(d.root().object().Members[i].Name.BeforeExtra), "\n"); ok {
			if unit := indentOf(after); unit != "" {
				d.unit = unit
			}
			break
		}
	}
	return d, nil
}

func (d *document) root() *node { return (*node)(&d.value) }

func (d *document) text() []byte { return append(slices.Clone(d.bom), d.value.Pack()...) }
