package sim

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// flags is what the stand-in understands of the client's command line.
type flags struct {
	version, print, verbose, hookEvents bool
	format                              string
	settings                            string
	session                             string
	mode                                string
	model                               string
	mcp                                 []string
	disallowed                          map[string]bool
	maxTurns                            int
	maxBudget                           float64
	files                               []string // that must be there
	prompt                              []string
}

// takesValue knows the flags with a value, those that setValue takes no notice
// of too.
func takesValue(name string) bool {
	switch name {
	case "--output-format", "--settings", "--session-id", "--permission-mode", "--model", "--mcp-config",
		"--append-system-prompt-file", "--append-subagent-system-prompt-file", "--system-prompt-file",
		"--disallowedTools", "--disallowed-tools", "--max-turns", "--max-budget-usd",
		"--setting-sources", "--append-system-prompt", "--append-subagent-system-prompt", "--system-prompt",
		"--fallback-model", "--add-dir", "--allowedTools", "--allowed-tools", "--tools", "--input-format", "--agents",
		"--effort", "--permission-prompts", "--system-prompt-snapshot":
		return true
	}
	return false
}

func parseFlags(args []string) (flags, error) {
	f := flags{format: "text", mode: "default", model: "claude-opus-5-5", disallowed: map[string]bool{}}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			f.prompt = append(f.prompt, args...)
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			f.prompt = append(f.prompt, arg)
			continue
		}
		if f.setSwitch(arg) {
			continue
		}
		name, value, joined := strings.Cut(arg, "=")
		if !takesValue(name) {
			return f, fmt.Errorf("error: unknown option '%s'", name)
		}
		if !joined {
			if len(args) == 0 {
				return f, fmt.Errorf("error: option '%s <value>' argument missing", name)
			}
			value, args = args[0], args[1:]
		}
		if err := f.setValue(name, value); err != nil {
			return f, err
		}
	}
	return f, f.check()
}

func (f *flags) setSwitch(arg string) bool {
	switch arg {
	case "--version", "-v":
		f.version = true
	case "--print", "-p":
		f.print = true
	case "--verbose":
		f.verbose = true
	case "--include-hook-events":
		f.hookEvents = true
	case "--strict-mcp-config", "--no-session-persistence", "--include-partial-messages", "--bare", "--debug":
	case "--dangerously-skip-permissions":
		f.mode = "bypassPermissions"
	default:
		return false
	}
	return true
}

func (f *flags) setValue(name, value string) error {
	var err error
	switch name {
	case "--output-format":
		f.format = value
	case "--settings":
		f.settings = value // given twice, the last wins
	case "--session-id":
		f.session = value
	case "--permission-mode":
		f.mode = value
	case "--model":
		f.model = value
	case "--mcp-config":
		f.mcp = append(f.mcp, value)
	case "--append-system-prompt-file", "--append-subagent-system-prompt-file", "--system-prompt-file":
		f.files = append(f.files, value)
	case "--disallowedTools", "--disallowed-tools":
		for _, t := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }) {
			f.disallowed[t] = true
		}
	case "--max-turns":
		f.maxTurns, err = strconv.Atoi(value)
	case "--max-budget-usd":
		f.maxBudget, err = strconv.ParseFloat(value, 64)
	}
	if err != nil {
		return fmt.Errorf("error: option '%s' argument '%s' is invalid", name, value)
	}
	return nil
}

// check refuses what the client refuses before it says anything.
func (f *flags) check() error {
	if f.version {
		return nil
	}
	if !f.print {
		return errors.New("error: only --print is played here")
	}
	if f.format == "stream-json" && !f.verbose {
		return errors.New("Error: When using --print, --output-format=stream-json requires --verbose") //nolint:staticcheck // the client's own words
	}
	if f.session != "" {
		if _, err := uuid.Parse(f.session); err != nil {
			return errors.New("Error: Invalid session ID. Must be a valid UUID.") //nolint:staticcheck // the client's own words
		}
	} else {
		f.session = uuid.NewString()
	}
	for _, name := range f.files {
		if _, err := os.Stat(name); err != nil {
			return fmt.Errorf("Error: Append system prompt file not found: %s", name) //nolint:staticcheck // the client's own words
		}
	}
	return nil
}
