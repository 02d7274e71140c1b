package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

func newFirewallStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show where the firewall is installed, and whether it works", Args: args(cobra.NoArgs),
		Long: "Show which settings files call loop and at which level, whether the program they name is there and is\n" +
			"this one, whether something switches hooks off, whether the rules here can be read, and what waits in\n" +
			"the queue of this repository. Exit code 1 when it is not installed or does not work.\n\n  loop firewall status\n\n" + exitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.firewallStatus(cmd.Context()) },
	}
}

func (a *app) firewallStatus(ctx context.Context) error {
	w, store, err := a.openStore(ctx, true)
	if err != nil {
		return err
	}
	places, err := a.settingsPlaces(w)
	if err != nil {
		return err
	}
	ro, err := a.reportOptions()
	if err != nil {
		return err
	}
	s := &statusPrinter{a: a, styles: term.NewStyles(ro.Color), works: true}
	for _, at := range places {
		s.place(at.read())
	}
	if s.installed == 0 {
		s.works = false
		a.printf("%s%s; `loop firewall install` does it\n", label("hook"), s.styles.Warn.Render("not installed"))
	}
	if off := places.switchedOff(); off != "" {
		s.bad("hooks", "SWITCHED OFF by "+off)
	} else {
		a.printf("%sno settings file switches them off\n", label("hooks"))
	}
	if _, _, err := a.loadConfig(w); err != nil {
		s.bad("rules", term.Line(err.Error()))
	}
	if err := s.waiting(ctx, store); err != nil {
		return err
	}
	if !s.works {
		return &codeError{code: exitFailed}
	}
	return nil
}

type statusPrinter struct {
	a         *app
	styles    term.Styles
	installed int
	works     bool
}

// label is the first column.
func label(s string) string { return term.Pad(s, 9) }

func (s *statusPrinter) bad(name, text string) {
	s.works = false
	s.a.printf("%s%s\n", label(name), s.styles.Danger.Render(text))
}

func (s *statusPrinter) place(r settingsRead) {
	path := term.Quote(r.file.Path)
	if r.err != nil {
		s.bad(r.name, path+"  cannot be read: "+term.Line(r.err.Error()))
		return
	}
	for _, h := range r.settings.Hooks {
		s.installed++
		s.a.printf("%s%s  %s\n", label(r.name), path, s.styles.Bold.Render(h.Level.String()))
		state, ok := programState(h.Program)
		if !ok {
			s.bad("", term.Quote(h.Program)+": "+state+"; `loop firewall install` names this one")
			continue
		}
		s.a.printf("%s%s: %s\n", label(""), term.Quote(h.Program), state)
	}
}

func (s *statusPrinter) waiting(ctx context.Context, store *queue.Store) error {
	list, err := store.Actions(ctx, queue.Filter{
		Status: []queue.Status{queue.Pending}, Evidence: []policy.Evidence{policy.Executed, policy.Blocked, policy.Written},
	})
	if err != nil {
		return err
	}
	switch len(list) {
	case 0:
		s.a.printf("%snothing waits in this repository\n", label("queue"))
	case 1:
		s.a.printf("%s1 action waits in this repository; `loop list` shows it\n", label("queue"))
	default:
		s.a.printf("%s%d actions wait in this repository; `loop list` shows them\n", label("queue"), len(list))
	}
	return nil
}

// installedHooks are the hooks that the client would call here.
func (p settingsPlaces) installedHooks() []firewall.PromptHook {
	var out []firewall.PromptHook
	for _, at := range p {
		out = append(out, at.read().settings.Hooks...)
	}
	return out
}
