package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/config"
	"github.com/seed-b23e517c/loop/stories"
)

func newInit(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Write a commented loop.toml and, where there is no story file, an example story",
		Long: "Write a commented loop.toml and, where there is no story file, an example story.\nNothing that exists is changed.\n\n" + exitHelp,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := a.workspace(cmd.Context())
			if err != nil {
				return err
			}
			return a.initAt(w.Root)
		},
	}
}

func (a *app) initAt(root string) error {
	// Looked for before anything is written: the example must not make a
	// second candidate.
	found, findErr := stories.Discover(root)
	if err := a.writeNew(filepath.Join(root, config.FileName), config.Example); err != nil {
		return err
	}
	switch {
	case findErr == nil:
		a.printf("kept    %s (your stories)\n", rel(root, found))
	case errors.Is(findErr, stories.ErrNoFile):
		dir := filepath.Join(root, "stories")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := a.writeNew(filepath.Join(dir, "001-example.md"), stories.Example()); err != nil {
			return err
		}
	default:
		a.printf("kept    your stories as they are: %s\n", findErr)
	}
	a.printf("\nNext: set gates in loop.toml, then `loop run --dry-run`.\n")
	return nil
}

// writeNew writes a file that is not there yet.
func (a *app) writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		a.printf("kept    %s\n", filepath.Base(path))
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), f.Close())
	}
	a.printf("wrote   %s\n", filepath.Base(path))
	return f.Close()
}

// rel is path as seen from root, where that is shorter.
func rel(root, path string) string {
	if r, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(r) {
		return r
	}
	return path
}
