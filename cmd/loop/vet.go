package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/selftest"
	"github.com/seed-b23e517c/loop/runner"
)

// clientTests is the file that remembers which clients were tested.
func (a *app) clientTests() (string, error) {
	home, err := a.stateHome()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, "client-tests.json"), nil
}

// build names this build of loop: what a test by another one said is not
// known to hold for this one. A build without a version is told by its file.
func build() string {
	if version != "dev" {
		return version
	}
	self, err := os.Executable()
	if err != nil {
		return version
	}
	info, err := os.Stat(self)
	if err != nil {
		return version
	}
	return fmt.Sprintf("%s %d-%d", version, info.Size(), info.ModTime().UnixNano())
}

// vet decides whether a client may work, for runner.Options.Vet.
type vet struct {
	a      *app
	c      config.Config
	root   string
	notice func(string)
}

// check refuses a client that is too old or does not keep what the firewall
// relies on; it tests one that it does not remember.
func (v *vet) check(ctx context.Context, version string) (ok runner.Vetted, err error) {
	client, err := selftest.Locate([]string{v.c.Claude}, v.root, v.a.env)
	if err != nil {
		return ok, err
	}
	client.Version = version
	old := selftest.Gate(client)
	if old != nil {
		if !v.c.OldClient {
			return ok, old
		}
		ok.Old = true
		ok.Notes = append(ok.Notes, runner.Note{Kind: "old-client", Text: old.Error() + "; it was run because you said so (" + v.c.Source("firewall.old_client") +
			"). It does not record that a call was refused: refused ones may be shown as executed"})
	}
	if !v.c.SelfTest {
		ok.Notes = append(ok.Notes, runner.Note{Kind: "untested", Text: fmt.Sprintf(
			"whether the firewall holds with this client was not tested: firewall.self_test is false in %s", v.c.Source("firewall.self_test"))})
		return ok, nil
	}
	good := (*selftest.Result).Passed
	if old != nil {
		good = (*selftest.Result).PassedOld
	}
	res, err := v.result(ctx, client, good)
	if err != nil {
		return ok, err
	}
	if good(&res) {
		return ok, nil
	}
	return ok, &selftest.BrokenError{Client: client.Name(), Broken: res.Broken()}
}

// mark tells one program from another, for runner.Options.ClientMark.
func (v *vet) mark() string {
	c, err := selftest.Locate([]string{v.c.Claude}, v.root, v.a.env)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %d %d", c.Path, c.Size, c.Changed.UnixNano())
}

// result is what is remembered of the client, when it was good, else a new test.
func (v *vet) result(ctx context.Context, client selftest.Client, good func(*selftest.Result) bool) (selftest.Result, error) {
	path, err := v.a.clientTests()
	if err != nil {
		return selftest.Result{}, err
	}
	if res, ok := selftest.Remembered(path, client, build()); ok && good(&res) {
		return res, nil
	}
	v.notice(fmt.Sprintf("testing the client once (%s)…", client.Name()))
	res, err := v.a.testClient(ctx, client)
	if err == nil && !good(&res) && !res.Failed() {
		// Nothing was seen to break: a machine under load is given a second chance.
		v.notice("not all could be seen; testing again…")
		res, err = v.a.testClient(ctx, client)
	}
	if err != nil {
		return res, err
	}
	return res, selftest.Remember(path, res)
}

// testClient plays the self-test with a client.
func (a *app) testClient(ctx context.Context, client selftest.Client) (selftest.Result, error) {
	self, err := os.Executable()
	if err != nil {
		return selftest.Result{}, err
	}
	res, err := selftest.Run(ctx, client, selftest.Options{
		Env: a.env, Temp: a.tempDir(), Self: []string{self, selftest.MCPCommand}, Now: a.now,
	})
	res.Loop = build()
	return res, err
}

func (a *app) tempDir() string {
	if dir := a.getenv("TMPDIR"); filepath.IsAbs(dir) {
		return dir
	}
	return os.TempDir()
}
