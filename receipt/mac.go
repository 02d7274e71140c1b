package receipt

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
)

const (
	v2Label = "loop-receipt/v2\n"
	// noOutput is what ZeroClaw signs, and shows, for an empty result.
	noOutput = "(no output)"
)

// input is what the MAC runs over, in parts, so that a long result is not
// copied.
type input [][]byte

func (f Format) input(c Call) (input, error) {
	if _, err := ParseFormat(string(f)); err != nil {
		return nil, err
	}
	read, write := Canonical, inputV2
	if f == ZCv1 {
		read, write = canonicalZC, inputV1
	}
	args, err := read(c.Args)
	if err != nil {
		return nil, fmt.Errorf("sign call %q of %q: arguments: %w", c.ToolUseID, c.Tool, err)
	}
	return write(c, args)
}

// inputV1 is name|args|result|seconds. Without the two checks a pipe in the
// name could be read as the one after it; with them the first pipe ends the
// name, the arguments end where their JSON does, and the last pipe starts the
// digits.
func inputV1(c Call, args []byte) (input, error) {
	if !isToolName(c.Tool) {
		return nil, fmt.Errorf("format %q cannot sign the tool name %q: use %q", ZCv1, c.Tool, V2)
	}
	if args[0] != '{' && string(args) != "null" {
		return nil, fmt.Errorf("format %q signs arguments that are an object, tool %q has none: use %q", ZCv1, c.Tool, V2)
	}
	result := c.Result
	if len(result) == 0 {
		result = []byte(noOutput)
	}
	pipe := []byte("|")
	return input{[]byte(c.Tool), pipe, args, pipe, result, pipe, c.decimalUnix()}, nil
}

// inputV2 has a label and then every part after its length. Arguments and
// result go in as hashes, so that who kept the hashes can verify as long as
// the key lives.
func inputV2(c Call, args []byte) (input, error) {
	argsSum, resultSum := sha256.Sum256(args), sha256.Sum256(c.Result)
	in := input{[]byte(v2Label)}
	for _, part := range [][]byte{
		[]byte(c.Scope), []byte(c.ToolUseID), strconv.AppendUint(nil, c.Seq, 10), []byte(c.Tool),
		argsSum[:], resultSum[:], c.decimalUnix(),
	} {
		in = append(in, binary.BigEndian.AppendUint64(nil, uint64(len(part))), part)
	}
	return in, nil
}

func (c Call) unix() uint64 { return uint64(max(c.Unix, 0)) }

func (c Call) decimalUnix() []byte { return strconv.AppendUint(nil, c.unix(), 10) }

// isToolName reports whether s is of the characters that tool names are made
// of and that the MCP allows: [A-Za-z0-9_.-]+.
func isToolName(s string) bool {
	for i := range len(s) {
		if b := s[i]; !isDigestByte(b) && b != '.' {
			return false
		}
	}
	return s != ""
}
