package runner

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-b23e517c/loop/queue"
)

// leftName is the file that remembers what agents made of the files of gates:
// by tomorrow such a file is what the gates begin with.
const leftName = "gate-files-left.json"

func readLeft(state string) (map[string]string, error) {
	left := map[string]string{}
	data, err := os.ReadFile(filepath.Join(state, leftName))
	if errors.Is(err, fs.ErrNotExist) {
		return left, nil
	}
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(data, &left) != nil || left == nil {
		left = map[string]string{} // it only warns: a damaged one warns of nothing
	}
	return left, nil
}

// tellLeft says which files of the gates are still as an agent of an earlier
// session left them, and forgets those that somebody has changed since.
func (r *run) tellLeft(ctx context.Context) error {
	if len(r.gates.left) == 0 {
		return nil
	}
	said := map[string]bool{}
	for _, command := range slices.Sorted(maps.Keys(r.gates.kept)) {
		for _, name := range slices.Sorted(maps.Keys(r.gates.kept[command])) {
			if said[name] || r.gates.left[name] != leftHash(filepath.Join(r.o.Root, name)) {
				continue
			}
			said[name] = true
			text := fmt.Sprintf("%s is as an agent of an earlier session left it, and the gate %q of this one runs it so: read it, or put it back", name, command)
			if err := addFinding(ctx, r.o, &queue.Attempt{Session: r.session.ID}, "gate-copy", text); err != nil {
				return err
			}
		}
	}
	maps.DeleteFunc(r.gates.left, func(name, _ string) bool { return !said[name] })
	return r.writeLeft()
}

// noteLeft remembers what the agent made of the files of a gate.
func (r *run) noteLeft(files []keptFile) error {
	r.gates.mu.Lock()
	defer r.gates.mu.Unlock()
	for _, f := range files {
		r.gates.left[f.name] = leftHash(filepath.Join(r.o.Root, f.name))
	}
	return r.writeLeft()
}

func leftHash(path string) string {
	h := gateHash(path)
	return hex.EncodeToString(h[:])
}

func (r *run) writeLeft() error {
	path := filepath.Join(r.o.State, leftName)
	if len(r.gates.left) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.Marshal(r.gates.left)
	if err != nil {
		return err
	}
	return writeSynced(path, data, 0o600)
}
