package main

import (
	"net/http"
	"path/filepath"
	"time"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/notify"
	"github.com/seed-b23e517c/loop/runner"
)

// away tells a person who is away what a run does. Notices of its own failures
// go to failed, from other goroutines.
func (a *app) away(w workspace.Workspace, c config.Notify, failed func(string)) (tell func(runner.Event), closeAll func()) {
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 10 * time.Second}}
	s := notify.New(notify.Options{
		Command: c.Command, Webhook: c.Webhook, Ntfy: c.Ntfy, Events: c.Events,
		Dir: w.Root, Env: a.env, Client: client, Failed: failed,
	})
	self := proc.Self()
	stop := notify.Heartbeat{
		File: c.HeartbeatFile, URL: c.HeartbeatURL, Every: c.HeartbeatEvery, Client: client, Failed: failed,
		Say: func() any {
			beat := heartbeat{Schema: 1, Pid: self.Pid, Start: self.Start, Repository: filepath.Base(w.Root), At: a.now().UTC()}
			if st, ok, err := runner.ReadStatus(w.State); ok && err == nil && st.Pid == self.Pid {
				beat.Session, beat.Number, beat.Total = st.Session, st.Number, st.Total
			}
			return beat
		},
	}.Start()
	name := filepath.Base(w.Root)
	return func(e runner.Event) { s.Send(messageOf(name, e)) }, func() { stop(); s.Close() }
}

// heartbeat is what stands in the heartbeat file.
type heartbeat struct {
	Schema     int       `json:"schema"`
	Pid        int       `json:"pid"`
	Start      string    `json:"pid_start"`
	Repository string    `json:"repository"`
	Session    string    `json:"session,omitempty"`
	Number     int       `json:"story_number"`
	Total      int       `json:"story_total"`
	At         time.Time `json:"at"`
}

func messageOf(repository string, e runner.Event) notify.Message {
	m := notify.Message{
		Event: string(e.What), Text: e.Text, Repository: repository, Session: e.Session, Story: e.Story, When: e.When,
		Passed: e.Status.Passed, Failed: e.Status.Failed, Total: e.Status.Total, CostUSD: e.Status.CostUSD,
	}
	if e.Attempt != nil {
		m.Outcome = string(e.Attempt.Outcome)
	}
	for _, x := range e.Actions {
		m.Actions = append(m.Actions, notify.Action{Number: x.Number, Command: x.Command})
	}
	return m
}
