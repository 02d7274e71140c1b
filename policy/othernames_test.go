package policy

import (
	"testing"
)

// A copy of a program, or a link to it, is judged as that program.
func TestProgramsUnderOtherNames(t *testing.T) {
	s := builtin(t)
	disk := map[string]string{"/w/old": "git", "/w/bin/fmt": "git", "/w/venv/bin/python": "python3.11", "/w/say": "tee"}
	for _, tt := range []struct {
		lines []string
		held  bool // the last
	}{
		{[]string{`cp "$(command -v git)" gg`, "./gg push origin main"}, true},
		{[]string{`cp /usr/bin/git gg && ./gg push origin main`}, true},
		{[]string{`ln -s $(which git) tool`, "./tool push"}, true},
		{[]string{`mkdir b; cp /usr/bin/git b/fmt; export PATH=$PWD/b:$PATH; fmt push`}, true},
		{[]string{"cp /bin/sh mysh", `./mysh -c "git push"`}, true},
		{[]string{"cp /bin/bash w; cp w v", `echo "git push" | ./v`}, true},
		{[]string{`cp $(which python3) py`, `./py -c "import os; os.system('git push')"`}, true},
		{[]string{"./old push"}, true},
		{[]string{"PATH=./bin:$PATH fmt push"}, true},
		{[]string{"echo '{}' | ./say .claude/settings.json"}, true},

		{[]string{`cp "$(command -v git)" gg`, "./gg status"}, false},
		{[]string{"venv/bin/python -c 'print(1)'"}, false},
		{[]string{"cp a b", "./b status"}, false},
		{[]string{"./say notes.txt"}, false},
	} {
		builds := &Builds{}
		var res Result
		for _, line := range tt.lines {
			res = s.Classify(Call{
				Tool: "Bash", Input: mustJSON(t, map[string]string{"command": line}), Cwd: "/w", Builds: builds, Guarded: &Guarded{Root: "/w", Home: "/home/me"},
				ReadFile:  func(string) (string, bool) { return "", false },
				ProgramOf: func(name string) string { return disk[name] },
			})
		}
		if got := res.Tier == External; got != tt.held {
			t.Errorf("%q: held %v: %+v", tt.lines, got, res.Hits)
		}
	}
}

// A link that a command has made is, for who looks afterwards, where it leads:
// that was not changed.
func TestALinkIsNotWhatItLeadsTo(t *testing.T) {
	s := builtin(t)
	g := &Guarded{Root: "/w", Home: "/home/me", Path: []string{"/home/me/bin", "/usr/bin"}, Finds: func(program, except string) bool { return program == "git" && except != "/usr/bin" }, Real: func(name string) string {
		if name == "/w/tool" {
			return "/home/me/bin/git"
		}
		return name
	}}
	for line, held := range map[string]bool{`ln -s "$(command -v git)" tool`: false, "ln -sf /tmp/x ~/bin/git": true} {
		res := s.Classify(Call{Tool: "Bash", Input: mustJSON(t, map[string]string{"command": line}), Cwd: "/w", Guarded: g})
		if got := res.Tier == External; got != held {
			t.Errorf("%s: held %v: %+v", line, got, res.Hits)
		}
	}
}

// The place of a remote is that remote, by whatever name git is told it; another
// repository of this machine is not.
func TestPushesToThePlaceOfARemote(t *testing.T) {
	s := builtin(t)
	g := &Guarded{Root: "/w/app", Home: "/home/me", Remotes: []string{"/w/remote.git", "/srv/git/app/.git"}}
	for line, held := range map[string]bool{
		"git push ../remote.git HEAD:x": true, "git send-pack ../remote.git HEAD:x": true, "git push file:///w/remote.git": true, "git push /srv/git/app main": true,
		"cd sub && git push ../../remote main": true, "git push /tmp/fixture.git main": false, "git push ../other.git": false,
	} {
		res := s.Classify(Call{Tool: "Bash", Input: mustJSON(t, map[string]string{"command": line}), Cwd: "/w/app", Guarded: g})
		if got := res.Tier == External; got != held {
			t.Errorf("%s: held %v: %+v", line, got, res.Hits)
		}
	}
}
