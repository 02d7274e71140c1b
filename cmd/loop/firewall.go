package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
	"github.com/seed-b23e517c/loop/policy"
)

const firewallLong = `Put loop's firewall in front of the client that you use yourself, without loop run.

The client calls loop before every tool call. What leaves this machine is asked about
(interactive) or refused and queued (the other levels); loop says nothing of the rest, so
that the client's own permissions go on working.

  loop firewall install                       for you, everywhere: asks
  loop firewall install --level unattended    refuses and queues, for claude -p and loops of your own
  loop firewall install --project             for everybody who opens this repository
  loop firewall test                          a dry run of some calls through what is installed
  loop firewall status                        where it is, and whether it works
  loop firewall uninstall                     puts the settings back

` + exitHelp

func newFirewall(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "firewall", Short: "Put the firewall in front of the client you use yourself", Long: firewallLong,
		Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return usagef("loop firewall install", "loop firewall needs a command: install, uninstall, status or test")
		},
	}
	cmd.AddCommand(newFirewallInstall(a), newFirewallUninstall(a), newFirewallStatus(a), newFirewallTest(a))
	return cmd
}

const installLong = `Add loop's hook to the client's settings: ~/.claude/settings.json (or the one in
$CLAUDE_CONFIG_DIR), with --project .claude/settings.json of this repository. Nothing else
in the file is touched, and what was there is kept for loop firewall uninstall.

Levels: interactive asks you about what leaves this machine, in the client's own dialog;
supervised and unattended refuse and queue it; lockdown refuses everything that is not
plainly local. At interactive a failure of loop's own never stops a call, at the others it
always does.

  loop firewall install
  loop firewall install --project --level lockdown

` + exitHelp

func newFirewallInstall(a *app) *cobra.Command {
	var scope settingsScope
	var name string
	cmd := &cobra.Command{
		Use: "install", Short: "Add loop's hook to the client's settings", Long: installLong, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			level, err := policy.ParseLevel(name)
			if err != nil {
				return usagef("--level interactive, supervised, unattended or lockdown", "%w", err)
			}
			if err := scope.check(); err != nil {
				return err
			}
			return a.installFirewall(cmd.Context(), scope.project, level)
		},
	}
	scope.flags(cmd)
	cmd.Flags().StringVar(&name, "level", policy.Interactive.String(), "autonomy level: interactive, supervised, unattended or lockdown")
	return cmd
}

// settingsScope says whose settings are meant.
type settingsScope struct{ user, project bool }

func (s *settingsScope) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.user, "user", false, "your own settings (the default)")
	cmd.Flags().BoolVar(&s.project, "project", false, "the settings of this repository")
}

func (s *settingsScope) check() error {
	if s.user && s.project {
		return usagef("--user or --project", "--user and --project are two files; install into one at a time")
	}
	return nil
}

func (a *app) installFirewall(ctx context.Context, project bool, level policy.Level) error {
	w, store, err := a.openStore(ctx, true)
	if err != nil {
		return err
	}
	places, err := a.settingsPlaces(w)
	if err != nil {
		return err
	}
	program, err := a.hookProgram()
	if err != nil {
		return err
	}
	at := places.of(project)
	// An agent may raise the fence and not lower it.
	if old := at.read(); slices.ContainsFunc(old.settings.Hooks, func(h firewall.PromptHook) bool { return h.Level > level }) {
		if err := a.forPeople(ctx, store, "loop firewall install at a lower level"); err != nil {
			return err
		}
	}
	changed, err := at.file.Install(firewall.PromptHook{Program: program, Level: level})
	if err != nil {
		return settingsError(err)
	}
	word := "installed"
	if !changed {
		word = "kept     "
	}
	a.printf("%s  %s (%s)\n", word, term.Quote(at.file.Path), level)
	a.printf("program    %s\n", term.Quote(program))
	a.warnInstalled(w, at, level, program)
	a.warnSwitchedOff(places)
	return nil
}

// warnInstalled says what an installation brings that is easily overlooked.
func (a *app) warnInstalled(w workspace.Workspace, at settingsPlace, level policy.Level, program string) {
	if r, err := filepath.Rel(w.Root, program); err == nil && filepath.IsLocal(r) {
		a.warn("the program lies in the repository, where an agent can replace it; `make install` or `go install` puts it elsewhere")
	}
	if at.name == placeProject {
		a.warn("the client reads these settings only when it is started in " + term.Quote(w.Root) + " itself, not in a folder below")
	}
	if at.name == placeProject && level != policy.Interactive {
		a.warn("whoever opens this repository elsewhere needs loop at the same path: without it every call is refused")
	}
}

func (a *app) warn(text string) { fmt.Fprintf(a.stderr, "loop: warning: %s\n", text) }

// settingsError adds what to do about settings that cannot be read.
func settingsError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return err
	}
	return &hintedError{err: err, hint: "nothing was changed; mend the file and try again"}
}

func newFirewallUninstall(a *app) *cobra.Command {
	var scope settingsScope
	cmd := &cobra.Command{
		Use: "uninstall", Short: "Take loop's hook out of the client's settings", Args: args(cobra.NoArgs),
		Long: "Take loop's hook out of the client's settings. A file that nobody has changed since is put back byte\n" +
			"for byte; from one that was changed only loop's entry goes.\n\n  loop firewall uninstall\n  loop firewall uninstall --project\n\n" + exitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := scope.check(); err != nil {
				return err
			}
			w, store, err := a.openStore(cmd.Context(), true)
			if err != nil {
				return err
			}
			if err := a.forPeople(cmd.Context(), store, "loop firewall uninstall"); err != nil {
				return err
			}
			places, err := a.settingsPlaces(w)
			if err != nil {
				return err
			}
			return a.uninstallFirewall(places.of(scope.project))
		},
	}
	scope.flags(cmd)
	return cmd
}

func (a *app) uninstallFirewall(at settingsPlace) error {
	undone, err := at.file.Uninstall()
	if err != nil {
		return settingsError(err)
	}
	path := term.Quote(at.file.Path)
	switch undone {
	case firewall.PutBack:
		a.printf("put back   %s, as it was before\n", path)
	case firewall.FileRemoved:
		a.printf("removed    %s, which was made for the hook\n", path)
	case firewall.EntryRemoved:
		a.printf("removed    the hook from %s, which has been changed since; the rest stays\n", path)
	case firewall.NothingThere:
		a.printf("Nothing to do: loop's hook is not in %s.\n", path)
	}
	return nil
}
