package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/sim"
	"github.com/seed-b23e517c/loop/policy"
)

// What reaches a remote that is a folder of this machine is seen there, however
// it was sent; what others send there is not the agent's.
func TestLocalRemotesAreLookedAt(t *testing.T) {
	const remote = `r=$(git remote get-url origin); `
	for name, c := range map[string]struct{ does, want string }{
		"copied": {remote + `echo x > a; git add a; git commit -qm a; cp -r .git/objects/. $r/objects/; git rev-parse HEAD > $r/refs/heads/other`, "refs/heads/other of origin now at "},
		"moved":  {remote + `echo x > a; git add a; git commit -qm a; cp -r .git/objects/. $r/objects/; git rev-parse HEAD > $r/refs/heads/main`, "refs/heads/main of origin now at "},
		"somebody else's": {remote + `git init -q ../else; cd ../else; git -c user.name=o -c user.email=o@example.com commit -q --allow-empty -m else
			cp -r .git/objects/. $r/objects/; git rev-parse HEAD > $r/refs/heads/else; cd "$OLDPWD"`, ""},
		"fetched": {remote + `git init -q ../more; cd ../more; git -c user.name=o -c user.email=o@example.com commit -q --allow-empty -m else
			cp -r .git/objects/. $r/objects/; git rev-parse HEAD > $r/refs/heads/else; cd "$OLDPWD"; git fetch -q`, ""},
		"nothing": {"true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNight(t, sim.Any(sim.Bash(c.does, ""), say("ok")), "first")
			if err := os.MkdirAll(filepath.Join(n.o.Root, "sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			n.pushedRepository()
			n.o.Env = append(n.o.Env, "HOME="+t.TempDir())
			snap := n.run(t.Context())
			switch {
			case c.want == "" && len(snap.Actions) > 0:
				t.Errorf("told %+v", snap.Actions)
			case c.want != "" && (len(snap.Actions) != 1 || snap.Actions[0].Evidence != policy.Executed || !strings.HasPrefix(snap.Actions[0].Excerpt, c.want)):
				t.Errorf("told %+v, want %q", snap.Actions, c.want)
			}
		})
	}
}
