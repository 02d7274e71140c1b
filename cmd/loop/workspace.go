package main

import (
	"context"
	"errors"
	"os"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

func (a *app) workspace(ctx context.Context) (workspace.Workspace, error) {
	dir, err := os.Getwd()
	if err != nil {
		return workspace.Workspace{}, err
	}
	w, err := a.finder().At(ctx, dir)
	return w, placeError(err)
}

func (a *app) finder() workspace.Finder { return workspace.Finder{Env: a.env, Now: a.now} }

func (a *app) stateHome() (string, error) {
	home, err := a.finder().StateHome()
	return home, placeError(err)
}

// placeError adds what to type when loop does not know where its state goes.
func placeError(err error) error {
	if errors.Is(err, workspace.ErrNoState) {
		return &usageError{err: err, hint: "export LOOP_HOME=/a/folder/of/yours"}
	}
	return err
}

// store opens the queue of the workspace; reading makes nothing.
func (a *app) store(w workspace.Workspace, readOnly bool) (*queue.Store, error) {
	self := proc.Self()
	s, err := queue.Open(w.State, queue.Options{
		Now: a.now, ReadOnly: readOnly, Audit: a.recorder(),
		Self:  queue.Owner{Pid: self.Pid, Start: self.Start, Boot: proc.BootID()},
		Alive: func(o queue.Owner) bool { return proc.Running(o.Pid, o.Start, o.Boot) },
	})
	if err == nil && readOnly && s.Spooled() {
		// Who only reads wants to see what waits beside the queue too.
		return a.store(w, false)
	}
	return s, err
}

// openStore is workspace and store in one, for the commands of the queue.
func (a *app) openStore(ctx context.Context, readOnly bool) (workspace.Workspace, *queue.Store, error) {
	w, err := a.workspace(ctx)
	if err != nil {
		return w, nil, err
	}
	s, err := a.store(w, readOnly)
	return w, s, err
}

// configured is the workspace, its configuration and its rules in one.
func (a *app) configured(ctx context.Context) (workspace.Workspace, config.Config, *policy.Set, error) {
	w, err := a.workspace(ctx)
	if err != nil {
		return w, config.Config{}, nil, err
	}
	c, set, err := a.loadConfig(w)
	return w, c, set, err
}

// loadConfig reads the configuration and the rules it names.
func (a *app) loadConfig(w workspace.Workspace) (config.Config, *policy.Set, error) {
	c, err := config.Load(w.User, w.Root)
	if err != nil {
		return c, nil, err
	}
	set, err := loadRules(c)
	return c, set, err
}

func loadRules(c config.Config) (*policy.Set, error) {
	o, err := c.RulePacks()
	if err != nil {
		return nil, err
	}
	return policy.Load(o)
}
