package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Request is one request that the client made, as the model would see it.
type Request struct {
	Method string
	Path   string
	Header http.Header
	Body   []byte

	Model    string
	Stream   bool
	System   string // all blocks of the system prompt
	Messages []Message
	Tools    []string // names, as offered to the model

	Conversation string // Match of the conversation that answered; see Scripted
	Scripted     bool   // false = no conversation or no turn left for it
	Turn         int
	Attempt      int // 0 = the first time that this turn was asked for
}

// Message is one message of the conversation so far.
type Message struct {
	Role    string
	Content []Content
}

// Content is one block of a message.
type Content struct {
	Type    string // text, tool_use, tool_result, ...
	Text    string // of a text; of a tool_result, its text blocks joined
	ID      string // of a tool_use; of a tool_result, the call it answers
	Name    string // of a tool_use
	Input   json.RawMessage
	IsError bool
}

// Text is the text of all text blocks of m.
func (m Message) Text() string {
	var parts []string
	for _, c := range m.Content {
		if c.Type == "text" {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// FirstUser is the text of the first user message, without the blocks that
// the client puts in front by itself (the state of the repository, its last
// commits).
func (r Request) FirstUser() string {
	i := slices.IndexFunc(r.Messages, func(m Message) bool { return m.Role == "user" })
	if i < 0 {
		return ""
	}
	own := slices.DeleteFunc(slices.Clone(r.Messages[i].Content), func(c Content) bool {
		return strings.HasPrefix(c.Text, "<system-reminder>")
	})
	return Message{Content: own}.Text()
}

// Results are the tool results that the model was given since its last reply.
func (r Request) Results() []Content {
	var out []Content
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != "assistant"; i-- {
		var here []Content
		for _, c := range r.Messages[i].Content {
			if c.Type == "tool_result" {
				here = append(here, c)
			}
		}
		out = append(here, out...)
	}
	return out
}

func (r Request) replies() int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

type wireContent struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// parse fills r from a Messages API body.
func (r *Request) parse() error {
	var body struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return fmt.Errorf("read request body: %w", err)
	}
	r.Model, r.Stream = body.Model, body.Stream
	system, err := contents(body.System)
	if err != nil {
		return fmt.Errorf("read system prompt: %w", err)
	}
	r.System = Message{Content: system}.Text()
	for i, m := range body.Messages {
		c, err := contents(m.Content)
		if err != nil {
			return fmt.Errorf("read message %d: %w", i, err)
		}
		r.Messages = append(r.Messages, Message{Role: m.Role, Content: c})
	}
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	return nil
}

// contents reads what the API takes as content: nothing, a string, or blocks.
func contents(raw json.RawMessage) ([]Content, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		return []Content{{Type: "text", Text: s}}, nil
	}
	var blocks []wireContent
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, err
	}
	out := make([]Content, 0, len(blocks))
	for _, b := range blocks {
		c := Content{Type: b.Type, Text: b.Text, ID: b.ID, Name: b.Name, Input: b.Input, IsError: b.IsError}
		if b.Type == "tool_result" {
			inner, err := contents(b.Content)
			if err != nil {
				return nil, err
			}
			c.ID, c.Text = b.ToolUseID, Message{Content: inner}.Text()
		}
		out = append(out, c)
	}
	return out, nil
}
