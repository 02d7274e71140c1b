package shell

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// argvs lists the argument vectors of the commands that would run.
func argvs(l Line) [][]string {
	var out [][]string
	for _, c := range l.Commands {
		if c.Mode != Runs {
			continue
		}
		var argv []string
		for _, a := range c.Argv {
			argv = append(argv, a.Text)
		}
		out = append(out, argv)
	}
	return out
}

type readTest struct {
	line string
	want [][]string
}

var readTests = []readTest{
	{"git push", [][]string{{"git", "push"}}},
	{`g''it pu\sh "origin" main`, [][]string{{"git", "push", "origin", "main"}}},
	{"sudo -u bob git push", [][]string{{"git", "push"}}},
	{"bash -c 'git push'", [][]string{{"git", "push"}}},
	{"echo Z2l0IHB1c2g= | base64 -d | sh", [][]string{{"echo", "Z2l0IHB1c2g="}, {"base64", "-d"}, {"git", "push"}}},
}

func TestReadPlain(t *testing.T) {
	for _, tt := range readTests {
		if diff := cmp.Diff(tt.want, argvs(Read(tt.line, Options{}))); diff != "" {
			t.Errorf("Read(%q) (-want +got):\n%s", tt.line, diff)
		}
	}
}
