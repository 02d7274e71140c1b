package browser

import (
	"fmt"
	"slices"
	"strings"
)

// Node is one node of the accessibility tree that a screen reader is given.
type Node struct {
	Role, Name string
	Level      int    // of a heading
	Live       string // how a change of it is told: polite, assertive; "" = not at all
	Focusable  bool
}

// Tree is the whole accessibility tree of the page, without what is ignored, in
// the order of the page.
func (b *Browser) Tree() []Node {
	b.t.Helper()
	var tree struct {
		Nodes []struct {
			NodeID     string
			ChildIDs   []string
			Ignored    bool
			Role, Name struct{ Value any }
			Properties []struct {
				Name  string
				Value struct{ Value any }
			}
		}
	}
	b.Call("Accessibility.getFullAXTree", nil, &tree)
	at := map[string]int{}
	for i, n := range tree.Nodes {
		at[n.NodeID] = i
	}
	var out []Node
	var walk func(i int)
	walk = func(i int) {
		n := tree.Nodes[i]
		if !n.Ignored {
			node := Node{Role: text(n.Role.Value), Name: strings.TrimSpace(text(n.Name.Value))}
			for _, p := range n.Properties {
				switch v := p.Value.Value; p.Name {
				case "level":
					_, _ = fmt.Sscan(text(v), &node.Level)
				case "live":
					node.Live = text(v)
				case "focusable":
					node.Focusable = text(v) == "true"
				}
			}
			out = append(out, node)
		}
		for _, id := range n.ChildIDs {
			if j, ok := at[id]; ok {
				walk(j)
			}
		}
	}
	if len(tree.Nodes) > 0 {
		walk(0)
	}
	return out
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// controls are the roles of what is operated.
var controls = []string{
	"button", "checkbox", "combobox", "link", "listbox", "menuitem", "radio", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "DisclosureTriangle",
}

// named are further roles that say nothing without a name.
var named = []string{"heading", "region", "navigation", "article", "form", "dialog", "group", "RootWebArea"}

// Hinders is what of a tree would hinder somebody who hears the page or has only a
// keyboard: what is operated without a name or a role of its own, landmarks that
// are not there, headings that skip a level.
func Hinders(tree []Node) (bad []string) {
	count, level := map[string]int{}, 0
	for _, n := range tree {
		count[n.Role]++
		operated := slices.Contains(controls, n.Role)
		switch {
		case n.Name == "" && (operated || slices.Contains(named, n.Role)):
			bad = append(bad, "a "+n.Role+" without a name")
		case operated && !n.Focusable:
			bad = append(bad, fmt.Sprintf("the keyboard does not reach the %s %q", n.Role, n.Name))
		case n.Role == "heading" && n.Level > level+1:
			bad = append(bad, fmt.Sprintf("the heading %q of level %d comes after one of level %d", n.Name, n.Level, level))
		case n.Role == "generic" && n.Name != "":
			bad = append(bad, fmt.Sprintf("the name %q is of nothing that has a role", n.Name))
		case n.Focusable && n.Name == "" && n.Role != "main":
			bad = append(bad, "the keyboard reaches a "+n.Role+" that has no name")
		}
		if n.Role == "heading" {
			level = n.Level
		}
	}
	for _, role := range []string{"banner", "main", "contentinfo"} {
		if count[role] != 1 {
			bad = append(bad, fmt.Sprintf("%d landmarks %q, want 1", count[role], role))
		}
	}
	return bad
}

// keys are those that are more than a character.
var keys = map[string]struct {
	code       int
	key, types string
}{"Tab": {9, "Tab", ""}, "Enter": {13, "Enter", "\r"}, "Space": {32, " ", " "}}

// Press presses keys one after the other as a keyboard does. "Shift+Tab" goes back.
func (b *Browser) Press(names ...string) {
	b.t.Helper()
	for _, name := range names {
		name, back := strings.CutPrefix(name, "Shift+")
		k, ok := keys[name]
		if !ok {
			b.t.Fatalf("no key %q", name)
		}
		down := map[string]any{"type": "rawKeyDown", "key": k.key, "code": name, "windowsVirtualKeyCode": k.code}
		if k.types != "" {
			down["type"], down["text"] = "keyDown", k.types
		}
		if back {
			down["modifiers"] = 8
		}
		b.Call("Input.dispatchKeyEvent", down, nil)
		down["type"] = "keyUp"
		delete(down, "text")
		b.Call("Input.dispatchKeyEvent", down, nil)
	}
}

// Type writes a text into what has the focus.
func (b *Browser) Type(text string) {
	b.t.Helper()
	b.Call("Input.insertText", map[string]any{"text": text}, nil)
}
