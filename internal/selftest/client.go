package selftest

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/runner"
)

// Client is one program as it lies on the disk: another version, place, size
// or time of change is another client.
type Client struct {
	Program string    `json:"-"`    // how it is started, from any folder
	Path    string    `json:"path"` // with links followed
	Size    int64     `json:"size"`
	Changed time.Time `json:"changed"`
	Version string    `json:"version"` // what it says to --version
}

// Locate finds the client that a run in root would start; its version is not
// asked for.
func Locate(argv []string, root string, env []string) (Client, error) {
	program, err := proc.LookPath(argv[0], env)
	if err != nil {
		return Client{}, &runner.ClientError{Program: argv[0], Err: err}
	}
	if !filepath.IsAbs(program) {
		program = filepath.Join(root, program)
	}
	// What is started is the name that was given: a shim tells by it what to be.
	path, err := filepath.EvalSymlinks(program)
	if err != nil {
		return Client{}, &runner.ClientError{Program: argv[0], Err: err}
	}
	info, err := os.Stat(path)
	if err != nil {
		return Client{}, &runner.ClientError{Program: argv[0], Err: err}
	}
	return Client{Program: program, Path: path, Size: info.Size(), Changed: info.ModTime().UTC()}, nil
}

// Find is Locate, and asks the client for its version.
func Find(ctx context.Context, argv []string, root string, env []string, now func() time.Time) (Client, error) {
	c, err := Locate(argv, root, env)
	if err != nil {
		return c, err
	}
	c.Version, err = runner.ClientVersion(ctx, &runner.Options{Client: argv, Root: root, Env: env, Now: now})
	return c, err
}

// Same reports whether two are the same client, by all that is known of them.
func (c Client) Same(o Client) bool {
	return c.Path == o.Path && c.Size == o.Size && c.Changed.Equal(o.Changed) && c.Version == o.Version
}

// Name is how the client is called in a sentence.
func (c Client) Name() string {
	if v, err := ParseVersion(c.Version); err == nil {
		return "claude " + v.String()
	}
	return "the client"
}
