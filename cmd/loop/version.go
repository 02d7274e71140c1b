package main

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// buildInfo is what this program was made from.
type buildInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"` // with "+changes" when files were changed
	Time     string `json:"time,omitempty"`   // of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// buildOf reads what Go has written into the program. The linker's version, of
// releases and of make, comes first.
func buildOf() buildInfo {
	b := buildInfo{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.Version == "dev" && info.Main.Version != "(devel)" {
		b.Version = cmp.Or(info.Main.Version, b.Version)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value + b.Commit
		case "vcs.modified":
			if s.Value == "true" {
				b.Commit += "+changes"
			}
		case "vcs.time":
			b.Time = s.Value
		}
	}
	return b
}

func newVersion(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Show what this program was built from", Args: args(cobra.NoArgs),
		Long: "Show the version, the commit that it was built from, Go's version and the platform.\n\n" + exitHelp,
		RunE: func(*cobra.Command, []string) error {
			b := buildOf()
			if asJSON {
				return a.json(b)
			}
			a.printf("loop %s\n", b.Version)
			for _, line := range [][2]string{{"commit", b.Commit}, {"time", b.Time}, {"go", b.Go}, {"platform", b.Platform}} {
				if line[1] != "" {
					a.printf("%-10s%s\n", line[0], line[1])
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
