package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/internal/workspace"
)

// builtPrograms are loop and loop-hook as `make build` makes them, in one folder.
func builtPrograms(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", dir+string(filepath.Separator), ".", "../loop-hook")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func TestTheClientCallsTheSmallProgramWhereThereIsOne(t *testing.T) {
	dir, home := builtPrograms(t), t.TempDir()
	small := filepath.Join(dir, workspace.Executable("loop-hook"))
	loop := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, workspace.Executable("loop")), args...)
		cmd.Dir = home
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("loop %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	installed := func() string {
		t.Helper()
		loop("firewall", "install", "--level", "unattended")
		var s struct {
			Hooks struct {
				PreToolUse []struct{ Hooks []struct{ Command string } }
			}
		}
		data, err := os.ReadFile(filepath.Join(home, ".claude", "settings.json"))
		if err == nil {
			err = json.Unmarshal(data, &s)
		}
		if err != nil || len(s.Hooks.PreToolUse) != 1 {
			t.Fatalf("%v\n%s", err, data)
		}
		return s.Hooks.PreToolUse[0].Hooks[0].Command
	}
	if got := installed(); got != small {
		t.Errorf("the client calls %s, want %s", got, small)
	}
	if out := loop("firewall", "status"); !strings.Contains(out, sameVersion) {
		t.Errorf("%s", out)
	}
	if out := loop("firewall", "test"); !strings.Contains(out, "git push origin main") {
		t.Errorf("%s", out)
	}
	if err := os.WriteFile(small, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, want := installed(), filepath.Join(dir, workspace.Executable("loop")); got != want {
		t.Errorf("beside a stranger the client calls %s, want %s", got, want)
	}
}

func TestBuildsOfTwoRevisionsAreNotTheSame(t *testing.T) {
	build := func(version, revision, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: version}, Settings: []debug.BuildSetting{
			{Key: "-trimpath", Value: revision + "x"}, {Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified},
		}}
	}
	released := build("v1.2.0", "a1", "false")
	for name, tt := range map[string]struct {
		other *debug.BuildInfo
		want  bool
	}{
		"itself":            {released, true},
		"another version":   {build("v1.2.1", "a1", "false"), false},
		"another revision":  {build("v1.2.0", "a2", "false"), false},
		"changed since":     {build("v1.2.0", "a1", "true"), false},
		"no version system": {&debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v1.2.0"}}, false},
	} {
		if got := sameBuild(released, tt.other); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
