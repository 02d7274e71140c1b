package runner

import (
	"context"
	"strings"

	"github.com/seed-b23e517c/loop/internal/proc"
)

// filters are git's settings of the programs through which it passes files, and
// by which it merges them, as they stood at one moment.
type filters map[string]string

func readFilters(ctx context.Context, o *Options, dir string) filters {
	f := filters{}
	// No filters and no answer are the same: then there is none to put back.
	out := proc.Run(ctx, proc.RunOptions{
		Argv: []string{"git", "config", "--null", "--get-regexp", `^(filter\..*\.(clean|smudge|process|required)|merge\..*\.driver)$`},
		Dir:  dir, Env: gateEnv(o), Plain: true, Timeout: gitTimeout, Tail: 1 << 20, Separate: true, Now: o.Now,
	})
	for entry := range strings.SplitSeq(string(out.Tail), "\x00") {
		if key, value, ok := strings.Cut(entry, "\n"); ok {
			f[key] = value
		}
	}
	return f
}

// over are the arguments that give filters which were made or changed since
// the value that they had: an agent can write git's settings, and loop must not
// run what stands there.
func (f filters) over(now filters) []string {
	var args []string
	for key, value := range now {
		old := f[key]
		if old == value {
			continue
		}
		if old == "" && strings.HasSuffix(key, ".required") {
			old = "false"
		}
		if old == "" && strings.HasPrefix(key, "merge.") {
			old = "false" // what does not merge is a conflict; no command at all would be one side
		}
		args = append(args, "-c", key+"="+old)
	}
	for key, old := range f {
		if _, there := now[key]; !there {
			args = append(args, "-c", key+"="+old)
		}
	}
	return args
}
