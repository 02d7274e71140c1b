package selftest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/seed-b23e517c/loop/policy"
)

// test is one test under way.
type test struct {
	o      Options
	dir    string
	set    *policy.Set
	client Client
}

// finding is what was seen of one guarantee.
type finding struct {
	state  State
	detail string
}

// findings is what a scene saw, by the guarantee's id.
type findings map[string]finding

// is notes a guarantee as held, or broken with what was seen.
func (f findings) is(id string, holds bool, format string, args ...any) {
	if holds {
		f[id] = finding{state: Holds}
		return
	}
	f[id] = finding{Fails, fmt.Sprintf(format, args...)}
}

// unknown notes why a guarantee could not be checked.
func (f findings) unknown(id, format string, args ...any) {
	f[id] = finding{Unchecked, fmt.Sprintf(format, args...)}
}

// merge takes over what another scene saw; what broke in one is broken.
func (f findings) merge(other findings) {
	for id, x := range other {
		if old, ok := f[id]; !ok || old.state == Holds || old.state == Unchecked && x.state == Fails {
			f[id] = x
		}
	}
}

// play plays the scenes side by side; each has a world of its own.
func (t *test) play(ctx context.Context) (findings, error) {
	scenes := []func(context.Context) (findings, error){t.night, t.silence, t.later, t.results}
	all, errs := make([]findings, len(scenes)), make([]error, len(scenes))
	var wg sync.WaitGroup
	for i, scene := range scenes {
		wg.Go(func() { all[i], errs[i] = scene(ctx) })
	}
	wg.Wait()
	out := findings{}
	for _, f := range all {
		out.merge(maps.Clone(f))
	}
	return out, errors.Join(errs...)
}
