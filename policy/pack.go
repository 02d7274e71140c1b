package policy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// packDef is a rule pack as it stands in a TOML file.
type packDef struct {
	Pack     string       `toml:"pack"`
	Programs []string     `toml:"programs"` // every program the pack speaks of; the index of the embedded packs
	Patterns []string     `toml:"patterns"` // plain strings, found anywhere, external
	Tools    []toolDef    `toml:"tool"`
	Rules    []ruleDef    `toml:"rule"`
	MCP      *mcpDef      `toml:"mcp"`
	Names    *namesDef    `toml:"names"`
	Tables   *tablesDef   `toml:"tables"`
	Changers *changersDef `toml:"changers"`
}

// toolDef says how a program reads its command line.
type toolDef struct {
	Name       string            `toml:"name"`
	Names      []string          `toml:"names"`  // other names of the program; rules for it mean them too
	Like       []string          `toml:"like"`   // other programs that read their options alike
	Skip       []string          `toml:"skip"`   // operands that are none, as cargo +nightly
	Global     []string          `toml:"global"` // options with a value, before the subcommand only
	Value      []string          `toml:"value"`  // options with a value, anywhere
	Alias      map[string]string `toml:"alias"`  // other spellings of a subcommand word
	alias      []string          // the same in the generated packs: key, value, key, value
	Help       []string          `toml:"help"`        // options that only print help; --help is always one
	SingleDash bool              `toml:"single_dash"` // -long options, no clusters of short ones
	Abbrev     bool              `toml:"abbrev"`      // long options may be cut short where that names one alone, as getopt_long has it
	Stop       bool              `toml:"stop"`        // options end at the first operand
	StopAfter  int               `toml:"stop_after"`  // with so many operands more, as ssh HOST COMMAND
	Net        bool              `toml:"net"`         // a call that no rule speaks of reads the network
	Sub        []subDef          `toml:"sub"`
}

// subDef adds to a tool what holds after one subcommand path only.
type subDef struct {
	Path     string   `toml:"path"`
	Value    []string `toml:"value"`      // options with a value
	RunFlags []string `toml:"run_flags"`  // options whose value is run by a shell
	Run      string   `toml:"run"`        // what the operands after the path are: see payloads
	Lang     string   `toml:"lang"`       // the language of the code that it is given by an option, an operand or on standard input
	Code     []string `toml:"code_flags"` // options whose value is code
	Except   []string `toml:"except"`     // operands that run leaves out of account
	Net      bool     `toml:"net"`
}

// ruleDef is one rule as it stands in a pack. All conditions given must hold.
type ruleDef struct {
	ID       string   `toml:"id"`
	Tier     string   `toml:"tier"`
	Why      string   `toml:"why"`
	Undo     string   `toml:"undo"`      // "none", "correction" or "full": how far it can be taken back
	Net      bool     `toml:"net"`       // reads the network (tier local)
	Allow    bool     `toml:"allow"`     // takes back what other rules say of the command (tier local, a user's own pack only)
	Deny     bool     `toml:"deny"`      // refuses the command for good, without queueing it (tier external, a user's own pack only)
	Line     []string `toml:"line"`      // the command is exactly one of these, word by word
	Dir      string   `toml:"dir"`       // the folder in which the command runs, absolute
	Opaque   bool     `toml:"opaque"`    // what it runs cannot be seen
	Cmd      []string `toml:"cmd"`       // program and subcommand path; a word may be a|b or hold *
	Except   []string `toml:"except"`    // paths that cmd would match and the rule does not mean
	With     []string `toml:"with"`      // at least one of these options; "--opt=glob" looks at the value
	Without  []string `toml:"without"`   // none of these options
	Dry      []string `toml:"dry"`       // options that make it a dry run
	DryNet   bool     `toml:"dry_net"`   // the dry run still reads the network
	DryEnv   []string `toml:"dry_env"`   // environment forms of a dry run, NAME=value
	Env      []string `toml:"env"`       // NAME or NAME=glob in effect on the command
	Arg      []string `toml:"arg"`       // an operand after the path that matches
	NotArg   []string `toml:"not_arg"`   // operands that Arg leaves out of account
	NoArgs   bool     `toml:"no_args"`   // no operand after the path
	MinArgs  int      `toml:"min_args"`  // at least so many operands after the path
	URL      []string `toml:"url"`       // an operand or --url that matches, scheme left out
	Loopback []string `toml:"loopback"`  // options whose value, when it is this machine, takes the call out of the rule
	When     []string `toml:"when"`      // named predicates that hold
	Unless   []string `toml:"unless"`    // named predicates that do not
	Code     []string `toml:"code"`      // languages: the rule looks at calls in inline code
	Calls    []string `toml:"calls"`     // names of calls, with Code
	Imports  []string `toml:"imports"`   // the code names at least one of these, with Code
	CallArgs []string `toml:"call_args"` // the arguments of the call hold one of these words, with Code
	Runs     bool     `toml:"runs"`      // the call runs its argument as a command, with Code
	Writes   []string `toml:"writes"`    // changes a file that matches: "~/x" of the user's, "/x" of the machine, "x" of the work tree, "@files" what the run names
	Sets     []string `toml:"sets"`      // unsets, or runs with, a variable that matches
	Opens    []string `toml:"opens"`     // names a file of the kernel's for a process of the run, /proc/PID/...
	Port     bool     `toml:"port"`      // speaks to the port of the run's hooks
	Instead  string   `toml:"instead"`   // what the agent is told to do in place of it
	Mention  []string `toml:"mention"`   // phrases that count as a mention beside those made from cmd
	Quiet    bool     `toml:"quiet"`     // make no phrases from cmd
	Match    []string `toml:"match"`     // examples: at least three
	NotMatch []string `toml:"not_match"` // near misses: at least two
}

// mcpDef is the table of MCP tools: verbs, and servers that are known.
type mcpDef struct {
	External []string    `toml:"external"`
	Read     []string    `toml:"read"`
	Run      []string    `toml:"run"`
	Nouns    []string    `toml:"nouns"` // verbs that are nouns too
	Asks     []string    `toml:"asks"`  // reading verbs that make a noun of them: issue_get
	Senders  []string    `toml:"senders"`
	Servers  []serverDef `toml:"server"`
}

type serverDef struct {
	Names    []string `toml:"names"`
	Default  string   `toml:"default"`
	Net      bool     `toml:"net"`
	External []string `toml:"external"`
	Shared   []string `toml:"shared"`
	Local    []string `toml:"local"`
}

// namesDef holds the words by which a script or target that cannot be seen
// through is judged.
type namesDef struct {
	Risky    []string `toml:"risky"`    // deploy, publish, ...
	Counter  []string `toml:"counter"`  // build, lint, ...: with one of these it is local
	Soft     []string `toml:"soft"`     // counter words that do not clear a strong one
	Strong   []string `toml:"strong"`   // risky words that say that something is sent
	Stage    []string `toml:"stage"`    // dev, test: a counter word only before the risky one
	Verbs    []string `toml:"verbs"`    // a first operand of an unknown program
	Harmless []string `toml:"harmless"` // programs that are never judged by an operand
}

// tablesDef holds lists that named predicates look at.
type tablesDef struct {
	SQLWrites   []string `toml:"sql_writes"`
	MongoWrites []string `toml:"mongo_writes"`
	RedisReads  []string `toml:"redis_reads"`
	EnvPrinters []string `toml:"env_printers"` // programs that print set-up for a shell
	EnvVerbs    []string `toml:"env_verbs"`    // with one of these words
	Prose       []string `toml:"prose"`        // programs whose command lines are looked for in words
	English     []string `toml:"english"`      // programs that are English words: no phrase begins with them
	LocalTools  []string `toml:"local_tools"`  // client tools that are local
	NetTools    []string `toml:"net_tools"`    // client tools that read the network
	ShellTools  []string `toml:"shell_tools"`  // tools whose command, cmd, code, script or args is a command line
	WordTools   []string `toml:"word_tools"`   // tools whose input is words
	Viewers     []string `toml:"viewers"`      // images of tools that only look at the files they are given

	bins []string          // as Bins, in the generated packs
	Bins map[string]string `toml:"bins"` // packages, modules and images whose program has another name
}

// changersDef lists the programs that change files, by which of their words
// name the files.
type changersDef struct {
	Every   []string `toml:"every"`    // every operand
	Last    []string `toml:"last"`     // the last operand, a file or a folder to put the others into
	InPlace []string `toml:"in_place"` // every operand, where -i is given
	Output  []string `toml:"output"`   // the value of -o and its kin
	Folder  []string `toml:"folder"`   // what lies in the folder that -C, -d or -P names, else in the current one
	Script  []string `toml:"script"`   // what a text in a language of the program's own names
	Wrapper []string `toml:"wrapper"`  // a file that it is given beside the command that it runs
	Code    []string `toml:"code"`     // calls of programming languages that change a file
}

// decodePack reads a pack strictly; its errors name the file, the line and,
// where they can, the rule.
func decodePack(name string, data []byte) (*packDef, error) {
	var p packDef
	dec := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return nil, decodeError(name, data, err)
	}
	if p.Pack == "" {
		p.Pack = strings.TrimSuffix(baseOf(name), ".toml")
	}
	return &p, nil
}

func decodeError(name string, data []byte, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := strict.Errors[0]
		row, _ := e.Position()
		return fmt.Errorf("%s:%d: %sunknown key %q", name, row, ruleAt(data, row), strings.Join(e.Key(), "."))
	}
	var de *toml.DecodeError
	if errors.As(err, &de) {
		row, _ := de.Position()
		return fmt.Errorf("%s:%d: %s%w", name, row, ruleAt(data, row), err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// ruleAt names the rule that a line of a pack belongs to.
func ruleAt(data []byte, row int) string {
	id := ""
	for i, line := range strings.Split(string(data), "\n") {
		if i >= row {
			break
		}
		if s := strings.TrimSpace(line); strings.HasPrefix(s, "[[") {
			id = ""
		} else if k, v, ok := strings.Cut(s, "="); ok && strings.TrimSpace(k) == "id" {
			id = strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	if id == "" {
		return ""
	}
	return fmt.Sprintf("rule %q: ", id)
}

// lineOfRule finds where a rule stands in its file; 0 when it cannot.
func lineOfRule(data []byte, id string) int {
	for i, line := range strings.Split(string(data), "\n") {
		k, v, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && strings.TrimSpace(k) == "id" && strings.Trim(strings.TrimSpace(v), `"'`) == id {
			return i + 1
		}
	}
	return 0
}

func baseOf(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		return path[i+1:]
	}
	return path
}
