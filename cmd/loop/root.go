package main

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases.
var version = "dev"

const rootLong = `loop lets a coding agent work through stories overnight and lets nothing that
leaves this machine happen before a person has seen it.

  loop scan      what agents have sent out from this machine so far; needs no set-up
  loop init      write loop.toml and an example story
  loop stories   what loop reads in your story file, and the order of work
  loop doctor    is all there for a night; --live tests the firewall with your client
  loop run       work through the open stories
  loop status    how far it is; loop logs -f follows the agent, loop stop ends it
  loop report    what happened, and what waits
  loop review    decide what waits, on the terminal; loop serve, in a browser
  loop approve   run one waiting action by hand

` + exitHelp

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use: "loop", Short: "Supervise a coding agent overnight; nothing leaves before you have seen it",
		Long: rootLong, Version: buildOf().Version,
		SilenceErrors: true, SilenceUsage: true,
		Args:              args(cobra.NoArgs),
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.checkGlobals() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef(cmd.CommandPath()+" --help", "%w", err)
	})
	f := root.PersistentFlags()
	f.StringVar(&a.color, "color", "auto", "colour: auto, always or never")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "say more, on stderr (the same as --log-level debug)")
	f.StringVar(&a.level, "log-level", "warn", "what to log on stderr: debug, info, warn or error")
	root.AddCommand(
		newInit(a), newStories(a), newRun(a), newReport(a), newSessions(a), newReceipts(a), newAudit(a), newReview(a), newServe(a), newList(a), newShow(a), newApprove(a), newReject(a), newUndo(a),
		newAnswer(a), newExport(a),
		newStatus(a), newWatch(a), newLogs(a), newStop(a),
		newScan(a), newClassify(a), newExplain(a), newRules(a), newPrompt(a), newFirewall(a), newPrune(a), newDemo(a), newDoctor(a), newVersion(a),
	)
	a.complete(root)
	return root
}

func (a *app) checkGlobals() error {
	switch a.color {
	case "auto", "always", "never":
	default:
		return usagef("--color=auto, --color=always or --color=never", "unknown colour mode %q", a.color)
	}
	var l slog.Level
	if err := l.UnmarshalText([]byte(a.level)); err != nil {
		return usagef("--log-level debug, info, warn or error", "unknown log level %q", a.level)
	}
	return nil
}

// log is the logger of -v and --log-level.
func (a *app) log() *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(a.level)); err != nil || a.verbose {
		l = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: l}))
}

func (a *app) printf(format string, args ...any) {
	fmt.Fprintf(a.stdout, format, args...)
}
