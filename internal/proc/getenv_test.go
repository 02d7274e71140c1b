package proc

import "testing"

func TestGetenvTakesTheLastAsAShellDoes(t *testing.T) {
	env := []string{"A=1", "AB=2", "A=3=4", "ODD", "E="}
	for name, want := range map[string]string{"A": "3=4", "AB": "2", "E": "", "ODD": "", "B": ""} {
		if got := Getenv(env, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
