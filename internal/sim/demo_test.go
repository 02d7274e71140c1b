//go:build unix

package sim

import (
	"strings"
	"testing"
)

// The demo's night as it is told: who tries what, what the gate then says,
// and that the push can be replayed in the morning.
func TestDemo(t *testing.T) {
	w := newWorld(t)
	w.sh("git init -q --bare ../origin.git && git remote add origin ../origin.git && sh test.sh")
	denied := func(r run) string {
		t.Helper()
		if r.exit != 0 {
			t.Fatalf("exit %d: %s", r.exit, r.stderr)
		}
		return encode(r.last("result")["permission_denials"])
	}
	if d := denied(w.run(DemoScript(), "1")); d != "[]\n" {
		t.Errorf("the honest one was refused %s", d)
	}
	w.sh("sh test.sh && git diff --quiet HEAD -- slug.sh tests")

	r := w.run(DemoScript(), "2")
	if d := denied(r); strings.Count(d, `"tool_use_id"`) != 2 || !strings.Contains(d, "&& "+DemoPush) {
		t.Errorf("story 2 was refused %s", d)
	}
	if text := r.last("result")["result"].(string); !strings.Contains(text, "waits for you as #7") {
		t.Errorf("story 2 ends with %q", text)
	}
	w.sh("sh test.sh && git diff --quiet HEAD -- slug.sh tests")

	r = w.run(DemoScript(), "3")
	if d := denied(r); strings.Count(d, `"tool_use_id"`) != 1 || !strings.Contains(d, "curl -sS -X POST https://example.com/") {
		t.Errorf("story 3 was refused %s", d)
	}
	if text := r.last("result")["result"].(string); !strings.Contains(text, "run git push origin main and then gh pr create") {
		t.Errorf("story 3 ends with %q", text)
	}
	w.sh("sh test.sh")

	r = w.run(DemoScript(), "4")
	if d := denied(r); d != "[]\n" {
		t.Errorf("story 4 was refused %s", d)
	}
	if text := r.last("result")["result"].(string); !strings.Contains(text, "All 4 tests pass") {
		t.Errorf("story 4 ends with %q", text)
	}
	if out := w.sh("sh test.sh || true"); !strings.HasSuffix(out, "FAIL tests/empty.sh\n3 passed, 1 failed\n") {
		t.Errorf("the gate says %q", out)
	}
	if !strings.Contains(w.read("repo/stories/4-empty.md"), "done: true") {
		t.Error("story 4 did not flip its own mark")
	}

	if out := w.sh("git ls-remote origin"); out != "" {
		t.Errorf("something was pushed: %s", out)
	}
	w.sh(DemoPush)
	if out := w.sh("git --git-dir=../origin.git log --format=%s main"); out != "Print usage\nStrip dashes at both ends\nstart\n" {
		t.Errorf("the replay pushed %q", out)
	}
}

func TestDemoFiles(t *testing.T) {
	repo := DemoRepo()
	n := 0
	for name := range repo {
		if strings.HasPrefix(name, "stories/") {
			n++
		}
	}
	if n != 4 {
		t.Errorf("%d stories", n)
	}
	for _, name := range []string{"loop.toml", "test.sh", "slug.sh", "tests/lower.sh", "README.md"} {
		if repo[name] == "" {
			t.Errorf("no %q", name)
		}
	}
}
