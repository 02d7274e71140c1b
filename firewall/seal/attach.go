package seal

import (
	"encoding/json"
	"strings"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/receipt"
)

// mark is a receipt as the model reads it.
func mark(t receipt.Token) string { return strings.TrimSpace(receipt.Trailer(t)) }

type postOutput struct {
	HookSpecificOutput struct {
		HookEventName     string          `json:"hookEventName"`
		AdditionalContext string          `json:"additionalContext,omitempty"`
		UpdatedToolOutput json.RawMessage `json:"updatedToolOutput,omitempty"`
	} `json:"hookSpecificOutput"`
}

// sealedReply puts a receipt where the model reads it. For Bash and MCP tools
// that is the result itself; updated is the result then. For the others, whose
// results are numbered lines of a file or a sentence of the client's, and could
// be copied into a file with it, it is a text of its own that names the call.
func sealedReply(r firewall.Request, t receipt.Token) (reply firewall.Reply, updated json.RawMessage) {
	var o postOutput
	o.HookSpecificOutput.HookEventName = firewall.EventPostToolUse
	switch {
	case r.Tool == "Bash":
		updated = intoBash(r.Response, t)
	case strings.HasPrefix(r.Tool, "mcp__"):
		updated = intoMCP(r.Response, t)
	}
	if updated != nil {
		o.HookSpecificOutput.UpdatedToolOutput = updated
	} else {
		o.HookSpecificOutput.AdditionalContext = "receipt for the result of " + r.Tool + " call " + r.ToolUseID + ": " + mark(t)
	}
	b, err := json.Marshal(o)
	if err != nil {
		return firewall.NoObjection(), nil
	}
	return firewall.Reply{Stdout: string(b)}, updated
}

// intoBash puts the receipt at the end of stderr: the client shows that after
// everything else, and in full where it cuts a long stdout. It takes the
// tool's whole object or nothing.
func intoBash(response json.RawMessage, t receipt.Token) json.RawMessage {
	var shape struct {
		Stdout, Stderr       *string
		Interrupted, IsImage *bool
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(response, &shape) != nil || json.Unmarshal(response, &o) != nil {
		return nil
	}
	if shape.Stdout == nil || shape.Stderr == nil || shape.Interrupted == nil || shape.IsImage == nil || *shape.IsImage {
		return nil
	}
	stderr := *shape.Stderr
	if stderr == "" && *shape.Stdout == "" {
		stderr = "(no output)" // what the client says then is not shown beside a stderr
	}
	text, err := json.Marshal(strings.TrimPrefix(stderr+receipt.Trailer(t), "\n"))
	if err != nil {
		return nil
	}
	o["stderr"] = text
	return encodeOrNil(o)
}

// intoMCP adds a text block to a result of blocks, and a trailer to a text.
func intoMCP(response json.RawMessage, t receipt.Token) json.RawMessage {
	var blocks []json.RawMessage
	if json.Unmarshal(response, &blocks) == nil && blocks != nil {
		block := encodeOrNil(map[string]string{"type": "text", "text": mark(t)})
		return encodeOrNil(append(blocks, block))
	}
	var text string
	if json.Unmarshal(response, &text) == nil {
		return encodeOrNil(text + receipt.Trailer(t))
	}
	return nil
}

func encodeOrNil(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}
