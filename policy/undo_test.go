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
