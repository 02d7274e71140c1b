// Package shell reads a command line into the simple commands it would run.
//
// It parses with mvdan.cc/sh, unwraps wrappers (sudo, env, timeout, xargs,
// sh -c, eval, ssh HOST, ...), resolves what can be known without running
// anything, and knows no rule: it never says what is dangerous. The one
// invariant: a command that the line could run is never left out; what cannot
// be seen through is named in Opaque.
package shell

// Word is one word of a simple command after quote removal and the expansions
// that can be known without running anything. A part that cannot be known
// keeps its source text ($HOST, $(cat x)), and Dynamic is set.
type Word struct {
	Text    string
	Dynamic bool // some part is not known before the line runs
	Subst   bool // the unknown part comes from a command or process substitution, or a file read
}

// Assign is an assignment in effect on one command: FOO=1 cmd, env FOO=1 cmd,
// or an earlier export in the line. A later one of the same name wins.
type Assign struct {
	Name  string
	Value Word
}

// Mode says whether a command would run.
type Mode uint8

const (
	// Runs: the line runs it, or might (a branch, a loop, the right of && or ||).
	Runs Mode = iota
	// Defined: it stands in a function, alias or trap that the line never calls.
	Defined
)

// InputKind says where a command's standard input comes from.
type InputKind uint8

// The kinds of standard input.
const (
	InputNone       InputKind = iota // inherited or not known
	InputHeredoc                     // <<EOF
	InputHereString                  // <<<
	InputPipe                        // the command on the left of |
	InputFile                        // < file
)

// Input is what is known of a command's standard input.
type Input struct {
	Kind  InputKind
	Text  string // the text, when Known (heredoc, here-string, or a pipe from echo/printf/cat <<EOF)
	Known bool
	From  string // the file of InputFile; the source text of the producing command of InputPipe
}

// Redirect is one redirection of a command; heredocs are in Stdin instead.
type Redirect struct {
	Op     string // ">", ">>", "<", "&>", ">|", "<>", ...; with the descriptor in front when it is not the usual one: "2>", "3<>"
	Target Word
}

// Command is one simple command, wrappers taken off.
type Command struct {
	Argv      []Word     // program first; Argv[0].Text is as written (a path stays a path)
	Env       []Assign   // assignments in effect
	Wrappers  []string   // what was unwrapped, outermost first: "sudo", "timeout 60", "bash -c"
	Redirects []Redirect // of this command
	Stdin     Input
	Source    string // the simple command as it stands in the line (or in the payload it came from)
	Depth     int    // how many payloads deep (bash -c, eval, heredoc to a shell): 0 = the line itself
	Mode      Mode
	Remote    string   // host it would run on ("ssh HOST CMD"), container ("docker exec NAME CMD": "docker:NAME"); "" = here
	Dir       string   // directory after the line's own known cd's, as written; "" = unchanged
	Opaque    string   // why it cannot be seen through (e.g. "runs what curl prints"); "" = it can
	Files     []File   // files named in Argv that the same line wrote, with their text
	Scripts   []string // the files from Options.ReadFile in which it stands, outermost first, as ReadFile was asked for them
}

// File is a file that the line itself writes, as far as its text is known.
type File struct {
	Name string // as named on the command
	Text string
}

// Program is the name of the program without directory, backslash or .exe.
func (c *Command) Program() string { return baseName(c.Argv) }

// TextKind says what kind of data a Text is.
type TextKind uint8

// The kinds of data in a line.
const (
	TextComment TextKind = iota // # ...
	TextHeredoc                 // a heredoc or here-string whose consumer only reads it as data
)

// Text is a span of the line that is data: nothing in it runs.
type Text struct {
	Kind TextKind
	Body string
}

// Options bound the reading.
type Options struct {
	MaxBytes int // a longer line is opaque; 0 = 1 MiB
	MaxDepth int // nesting of payloads; 0 = 16

	// ReadFile gives the text of a script that the line runs (sh x.sh, ./x.sh,
	// . x.sh); nil, or false, leaves such a command as it stands. The name is as
	// written, joined to the directory of the line's own cd's. Scripts that run
	// scripts are followed four deep, and none within itself.
	ReadFile func(name string) (text string, ok bool)

	// Effects lists what a program that this package does not know puts into
	// files, as far as its command says it; nil knows none. Names are as the
	// command has them. read gives the text of a file that the line has written.
	Effects func(c *Command, read func(name string) (string, bool)) []Write

	Parsers *Parsers // may be nil
}

// Line is a command line, read.
type Line struct {
	Commands []Command
	Texts    []Text    // data spans, for the mention pass; words of commands are not repeated here
	Opaque   []string  // why part of the line could not be read ("syntax error at 1:5: ...", "nested too deep", ...)
	Ran      []Command // commands whose script, the last of their Scripts, Options.ReadFile gave: what it runs is in Commands
	Written  []Write   // what the line puts into files, in order
}

// Write is what a line puts into one file.
type Write struct {
	Name   string // joined to the directory of the line's own cd's
	Text   string
	Known  bool // the text is known
	Append bool
}
