package fakeapi

import (
	"encoding/json"
	"fmt"
	"io"
)

// event is one server-sent event of a streamed reply.
type event struct {
	name string
	data map[string]any
}

func (e event) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, mustJSON(e.data))
	return err
}

// reply is a turn made ready to be sent in either form.
type reply struct {
	id     string
	model  string
	stop   string
	blocks []Block
}

func (p reply) content() []any {
	out := make([]any, 0, len(p.blocks))
	for _, b := range p.blocks {
		if b.Tool == "" {
			out = append(out, map[string]any{"type": "text", "text": b.Text})
			continue
		}
		out = append(out, map[string]any{
			"type": "tool_use", "id": b.ID, "name": b.Tool, "input": json.RawMessage(b.input()),
		})
	}
	return out
}

func (b Block) input() []byte {
	if b.Input == nil {
		return []byte("{}")
	}
	return mustJSON(b.Input)
}

func (p reply) usage() map[string]any {
	return map[string]any{
		"input_tokens": 10, "output_tokens": 10 * (len(p.blocks) + 1),
		"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
	}
}

// message is the reply as the API gives it when no stream was asked for.
func (p reply) message() map[string]any {
	return map[string]any{
		"id": p.id, "type": "message", "role": "assistant", "model": p.model,
		"content": p.content(), "stop_reason": p.stop, "stop_sequence": nil, "usage": p.usage(),
	}
}

// events is the reply as a stream.
func (p reply) events() []event {
	start := p.message()
	start["content"], start["stop_reason"] = []any{}, nil
	out := []event{mk("message_start", "message", start)}
	for i, b := range p.blocks {
		out = append(out, b.events(i)...)
	}
	last := mk("message_delta", "delta", map[string]any{"stop_reason": p.stop, "stop_sequence": nil})
	last.data["usage"] = p.usage()
	return append(out, last, mk("message_stop", "", nil))
}

func (b Block) events(index int) []event {
	open := map[string]any{"type": "text", "text": ""}
	delta := map[string]any{"type": "text_delta", "text": b.Text}
	if b.Tool != "" {
		open = map[string]any{"type": "tool_use", "id": b.ID, "name": b.Tool, "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(b.input())}
	}
	out := []event{
		mk("content_block_start", "content_block", open),
		mk("content_block_delta", "delta", delta),
		mk("content_block_stop", "", nil),
	}
	for _, e := range out {
		e.data["index"] = index
	}
	return out
}

func mk(name, key string, value any) event {
	e := event{name: name, data: map[string]any{"type": name}}
	if key != "" {
		e.data[key] = value
	}
	return e
}
