package policy

import "testing"

func TestUndoIsTheWorstThatARuleSays(t *testing.T) {
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"npm publish":                          UndoNone,
		"git push origin main":                 UndoCorrection,
		"npm publish && git push":              UndoNone,
		"git push && npm publish":              UndoNone,
		"ls":                                   "",
		"git commit -m 'a' && git push --tags": UndoCorrection,
	} {
		if got := s.Undo(s.ClassifyCommand(command, "").Rules()); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// A rule that does not say how far it can be taken back is no reason to call
// the whole correctable.
func TestUndoThatIsNotSaidIsNoCorrection(t *testing.T) {
	rule := func(id, tier, undo string) ruleDef { return ruleDef{ID: id, Tier: tier, Undo: undo} }
	s := &Set{packs: []*pack{{def: packDef{Rules: []ruleDef{
		rule("a", "external", ""), rule("b", "external", UndoCorrection), rule("c", "external", UndoFull),
		rule("d", "external", UndoNone), rule("local-rule", "local", UndoNone),
	}}}}}
	for _, tt := range []struct {
		rules []string
		want  string
	}{
		{[]string{"a", "b"}, ""}, {[]string{"b", "a"}, ""}, {[]string{"a", "d"}, UndoNone}, {[]string{"c", "b"}, UndoCorrection},
		{[]string{"c", "local-rule"}, UndoFull}, {[]string{"local-rule"}, ""}, {nil, ""},
	} {
		if got := s.Undo(tt.rules); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.rules, got, tt.want)
		}
	}
}
