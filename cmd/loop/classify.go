package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/policy"
)

const classifyLong = `Read calls as JSON, one a line, on standard input: {"id","command"} for a shell command,
{"id","tool","input"} for any tool, with the "annotations" of an MCP tool if it has some. Write a line for each:
{"id","verdict","tier","evidence","net","rules"}; verdict is external, shared, mention or local.
Each line stands alone: no file is read, and a script is judged by its name.

` + exitHelp

func newClassify(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "classify", Short: "Say how far calls reach, JSON lines in and out", Long: classifyLong,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, _, set, err := a.configured(cmd.Context())
			if err != nil {
				return err
			}
			return a.classify(set)
		},
	}
}

type classifyIn struct {
	ID      json.RawMessage `json:"id"`
	Command *string         `json:"command"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	Cwd     string          `json:"cwd"`

	Annotations *policy.Annotations `json:"annotations"`
}

type classifyOut struct {
	ID       json.RawMessage `json:"id,omitempty"`
	Verdict  policy.Verdict  `json:"verdict"`
	Tier     policy.Tier     `json:"tier"`
	Evidence policy.Evidence `json:"evidence"`
	Net      bool            `json:"net"`
	Rules    []string        `json:"rules"`
}

// classify answers every line it can read; a line that it cannot read is said
// and does not stop the others.
func (a *app) classify(set *policy.Set) error {
	in := bufio.NewReaderSize(a.stdin, 64<<10)
	out := bufio.NewWriter(a.stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	bad := 0
	for n := 1; ; n++ {
		line, readErr := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			r, err := classifyLine(set, line)
			if err != nil {
				bad++
				fmt.Fprintf(a.stderr, "loop: line %d: %v\n", n, err)
			} else if err := enc.Encode(r); err != nil {
				return err
			}
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return readErr
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d line(s) could not be read", bad)
	}
	return nil
}

func classifyLine(set *policy.Set, line []byte) (classifyOut, error) {
	var in classifyIn
	if err := json.Unmarshal(line, &in); err != nil {
		return classifyOut{}, err
	}
	var r policy.Result
	switch {
	case in.Tool != "":
		r = set.Classify(policy.Call{Tool: in.Tool, Input: in.Input, Cwd: in.Cwd, Annotations: in.Annotations})
	case in.Command != nil:
		r = set.ClassifyCommand(*in.Command, in.Cwd)
	default:
		return classifyOut{}, errors.New("neither command nor tool")
	}
	return classifyOut{ID: in.ID, Verdict: r.Verdict, Tier: r.Tier, Evidence: r.Evidence, Net: r.Net, Rules: r.Rules()}, nil
}
