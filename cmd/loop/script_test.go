package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-b23e517c/loop/internal/trap"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"loop": main, trap.Command: func() {
		fmt.Fprintln(os.Stderr, trap.Become(os.Args[1:]))
		os.Exit(exitFailed)
	}})
}

// clientScript is the client of the scripts: the stand-in, playing script.json.
const clientScript = "#!/bin/sh\nexec loop sim --script \"$WORK/script.json\" \"$@\"\n"

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: os.Getenv("LOOP_UPDATE") == "1",
		Setup: func(env *testscript.Env) error {
			bin := filepath.Join(env.WorkDir, ".bin")
			if err := os.Mkdir(bin, 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(bin, "claude"), []byte(clientScript), 0o755); err != nil {
				return err
			}
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
			if err := noSelfTest(filepath.Join(env.WorkDir, ".home", ".config", "loop", "config.toml")); err != nil {
				return err
			}
			env.Setenv("LOOP_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			for _, who := range []string{"AUTHOR", "COMMITTER"} {
				env.Setenv("GIT_"+who+"_NAME", "t")
				env.Setenv("GIT_"+who+"_EMAIL", "t@example.com")
			}
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "repo": repo},
	})
}

// noSelfTest lets the stand-in be a client: the self-test would find out that
// it asks no model. And git is left alone but where a script is about that. A script's own configuration says for itself.
func noSelfTest(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte("[firewall]\nself_test = false\n[host]\ninhibit = false\n[git]\nbranch = \"none\"\n"), 0o600)
}

// exits runs a command and checks its exit code: exits CODE PROGRAM ARGS...
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// repo makes the current folder a repository with one commit and a bare
// remote in $WORK/remote.git.
func repo(ts *testscript.TestScript, _ bool, _ []string) {
	remote := filepath.Join(ts.Getenv("WORK"), "remote.git")
	for _, args := range [][]string{
		{"init", "-q", "--bare", "-b", "main", remote},
		{"init", "-q", "-b", "main", "."},
		{"add", "--all"},
		{"commit", "-q", "--allow-empty", "-m", "start"},
		{"remote", "add", "origin", remote},
		{"push", "-q", "origin", "main"},
	} {
		ts.Check(ts.Exec("git", args...))
	}
}
