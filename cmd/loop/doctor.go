package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/internal/selftest"
	"github.com/seed-b23e517c/loop/runner"
)

type doctorOptions struct {
	live, json bool
	claude     string
}

const doctorLong = `Say whether everything is there for a night, and what to do first when it is not.
Starts no agent.

With --live: play a small night with the installed client, whose model is a script on
this machine, and say which guarantees of the firewall hold with it. It takes seconds,
needs no account and no network, and uses nothing of yours. loop run does the same by
itself before the first story with a client that it has not tested yet.

Exit codes: 0 all is well, or everything that protects holds; 1 something is missing or
does not hold; 2 wrong use; 130 interrupted.`

func newDoctor(a *app) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check that all is there for a night; --live tests the firewall with your client", Long: doctorLong,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.live {
				return a.doctorLive(cmd.Context(), o)
			}
			return a.doctor(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.live, "live", false, "test the firewall with the installed client and a scripted model")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.StringVar(&o.claude, "claude", "", "client program to look at")
	return cmd
}

// doctor makes the quick checks.
func (a *app) doctor(ctx context.Context, o doctorOptions) error {
	checks, client := a.checkAll(ctx, o)
	bad := firstBad(checks)
	var err error
	if o.json {
		doc := doctorDocument{Schema: 1, OK: bad == nil, Client: client, Checks: checks}
		if bad != nil {
			doc.First = bad.Fix
		}
		err = a.json(doc)
	} else {
		err = a.printChecks(checks)
	}
	if err == nil && bad != nil {
		err = codeOnly(exitFailed)
	}
	return err
}

// doctorDocument is the JSON of the quick checks.
type doctorDocument struct {
	Schema int             `json:"schema"`
	OK     bool            `json:"ok"`
	First  string          `json:"first,omitempty"` // what to do first
	Client selftest.Client `json:"client,omitzero"`
	Checks []check         `json:"checks"`
}

// doctorLive tests the client and remembers what came of it.
func (a *app) doctorLive(ctx context.Context, o doctorOptions) error {
	w, err := a.workspace(ctx)
	if err != nil {
		return err
	}
	c, err := config.Load(w.User, w.Root)
	if err != nil {
		return err
	}
	if o.claude != "" {
		c.Claude = o.claude
	}
	client, err := selftest.Find(ctx, []string{c.Claude}, w.Root, a.env, a.now)
	if err != nil {
		return err
	}
	if !o.json {
		a.printf("Testing %s with a scripted model: no account, no network, nothing of yours.\n\n", client.Name())
	}
	res, err := a.testClient(ctx, client)
	if err != nil {
		return err
	}
	if err := a.remember(res); err != nil {
		return err
	}
	first := liveFirst(&res)
	if o.json {
		err = a.json(liveDocument{Result: res, OK: first == "", TookMS: res.Took.Round(time.Millisecond).Milliseconds(), First: first})
	} else {
		err = a.printLive(&res, first)
	}
	if err == nil && first != "" {
		err = codeOnly(exitFailed)
	}
	return err
}

// remember keeps a test for the next run. One that was made in an agent's
// session, in an environment of the agent's making, is no ground for that.
func (a *app) remember(res selftest.Result) error {
	if a.getenv(runner.AttemptVar) != "" || a.getenv("CLAUDECODE") != "" {
		return nil
	}
	path, err := a.clientTests()
	if err != nil {
		return err
	}
	return selftest.Remember(path, res)
}

// liveDocument is the JSON of --live.
type liveDocument struct {
	selftest.Result

	OK     bool   `json:"ok"`
	TookMS int64  `json:"took_ms"`
	First  string `json:"first,omitempty"` // what to do first
}

// liveFirst is what to do first after a test, "" when nothing is.
func liveFirst(r *selftest.Result) string {
	if old := selftest.Gate(r.Client); old != nil {
		return fmt.Sprintf("%v. Update it: %s", old, selftest.Update)
	}
	if r.Passed() {
		return ""
	}
	return "Do not run stories with this client. Update it: " + selftest.Update
}

func (a *app) json(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
