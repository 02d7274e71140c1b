package selftest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// mostRemembered bounds the file of remembered tests: one a client.
const mostRemembered = 8

type memory struct {
	Schema int      `json:"schema"`
	Tests  []Result `json:"tests"` // newest first
}

// read gives what is remembered. A file that cannot be read is as good as
// none: the client is tested again.
func read(path string) memory {
	var m memory
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &m) != nil || m.Schema != Schema {
		return memory{Schema: Schema}
	}
	return m
}

// Remembered is the last test of this very client by this very build of loop.
func Remembered(path string, c Client, loop string) (Result, bool) {
	for _, r := range read(path).Tests {
		if r.Client.Same(c) && r.Loop == loop {
			return r, true
		}
	}
	return Result{}, false
}

// Remember keeps a test in place of the last one of the program at the same
// path. The file is written whole or not at all.
func Remember(path string, r Result) error {
	m := read(path)
	m.Tests = slices.DeleteFunc(m.Tests, func(old Result) bool { return old.Client.Path == r.Client.Path })
	m.Tests = append([]Result{r}, m.Tests...)
	m.Tests = m.Tests[:min(len(m.Tests), mostRemembered)]
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("remember the test of the client: %w", err)
	}
	if err := writeWhole(path, append(data, '\n')); err != nil {
		return fmt.Errorf("remember the test of the client: %w", err)
	}
	return nil
}

func writeWhole(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
