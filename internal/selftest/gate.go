package selftest

import (
	"fmt"
	"slices"
	"strings"
)

// Update is what a person types to get a client that loop can work with.
const Update = "npm install -g @anthropic-ai/claude-code (with Node 22 or newer: an older Node installs an old client and says nothing)"

// OldError says that a client is too old, or that its version cannot be told.
type OldError struct {
	Says   string // what it says to --version: hostile text
	Client string // how it is called
}

func (e *OldError) Error() string {
	if _, err := ParseVersion(e.Says); err != nil {
		return fmt.Sprintf("the client calls its version %q, which loop does not know: its guarantees cannot be told", e.Says)
	}
	return fmt.Sprintf("%s is too old: before %s a hook that fails is taken for one that had nothing to say", e.Client, Oldest)
}

// Hint is what to type next.
func (e *OldError) Hint() string {
	return Update + "; --old-client runs it all the same, and the report says so"
}

// Gate refuses a client that is too old to be relied on.
func Gate(c Client) error {
	v, err := ParseVersion(c.Version)
	if err != nil || v.Before(Oldest) {
		return &OldError{Says: c.Version, Client: c.Name()}
	}
	return nil
}

// BrokenError says that guarantees are not known to hold with a client.
type BrokenError struct {
	Client string
	Broken []Guarantee
}

func (e *BrokenError) Error() string {
	var failed, unknown []string
	for _, g := range e.Broken {
		if g.State == Fails {
			failed = append(failed, g.Name)
		} else {
			unknown = append(unknown, g.Name)
		}
	}
	if len(failed) == 0 {
		return fmt.Sprintf("%s could not be tested: not known to hold: %s", e.Client, list(unknown))
	}
	return fmt.Sprintf("%s does not keep what the firewall relies on: does not hold: %s", e.Client, list(failed))
}

// Hint is what to type next.
func (e *BrokenError) Hint() string {
	if !slices.ContainsFunc(e.Broken, func(g Guarantee) bool { return g.State == Fails }) {
		return "`loop doctor --live` shows why; a set-up in which the client cannot start with a home of its own can leave the test out:" +
			" self_test = false in the section [firewall] of your own config.toml, and every report says so"
	}
	return "`loop doctor --live` shows all; update the client: " + Update
}

func list(names []string) string {
	const shown = 3
	if more := len(names) - shown; more > 0 {
		names = append(names[:shown:shown], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, "; ")
}
