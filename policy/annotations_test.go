package policy

import (
	"encoding/json"
	"testing"
)

// TestAnnotations holds that what a server says of its tool lowers what is
// unknown, and nothing else.
func TestAnnotations(t *testing.T) {
	yes, no := new(true), new(false)
	reads := &Annotations{ReadOnly: yes}
	tests := []struct {
		name, tool, input string
		a                 *Annotations
		want              Verdict
		net               bool
	}{
		{"nothing said", "mcp__acme__frobnicate", `{}`, nil, VerdictExternal, false},
		{"reads", "mcp__acme__frobnicate", `{"id":1}`, reads, VerdictLocal, true},
		{"reads here only", "mcp__acme__frobnicate", `{}`, &Annotations{ReadOnly: yes, OpenWorld: no}, VerdictLocal, false},
		{"reads the world", "mcp__acme__frobnicate", `{}`, &Annotations{ReadOnly: yes, OpenWorld: yes, Destructive: no}, VerdictLocal, true},
		{"says both", "mcp__acme__frobnicate", `{}`, &Annotations{ReadOnly: yes, Destructive: yes}, VerdictExternal, false},
		{"changes", "mcp__acme__frobnicate", `{}`, &Annotations{ReadOnly: no}, VerdictExternal, false},
		{"stays here, it says", "mcp__acme__frobnicate", `{}`, &Annotations{Destructive: no, OpenWorld: no, Idempotent: yes}, VerdictExternal, false},
		{"sending verb", "mcp__acme__post_message", `{}`, reads, VerdictExternal, false},
		{"verb at the end", "mcp__acme__message_send", `{}`, reads, VerdictExternal, false},
		{"known server", "mcp__slack__frobnicate", `{}`, reads, VerdictExternal, false},
		{"operation", "mcp__acme__frobnicate", `{"operation":"delete"}`, reads, VerdictExternal, false},
		{"command", "mcp__acme__frobnicate", `{"command":"ls"}`, reads, VerdictExternal, false},
		{"code", "mcp__acme__frobnicate", `{"options":{"sourceCode":"x()"}}`, reads, VerdictExternal, false},
		{"program", "mcp__acme__frobnicate", `{"text":["#!/bin/sh\nls"]}`, reads, VerdictExternal, false},
		{"statement", "mcp__acme__frob_query", `{"query":"delete from x"}`, reads, VerdictExternal, false},
		{"runner", "mcp__acme__shell", `{"command":"git push"}`, reads, VerdictExternal, false},
		{"no server in the name", "frobnicate", `{"id":1}`, reads, VerdictLocal, true},
		{"no server, nothing said", "frobnicate", `{"id":1}`, nil, VerdictExternal, false},
		{"no server, verb", "send_invoice", `{"id":1}`, reads, VerdictExternal, false},
		{"a verb that reads is no worse for it", "mcp__acme__get_x", `{}`, &Annotations{ReadOnly: no, Destructive: yes}, VerdictLocal, true},
		{"a shell", "Bash", `{"command":"git push"}`, reads, VerdictExternal, false},
	}
	s := builtin(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := s.Classify(Call{Tool: tt.tool, Input: json.RawMessage(tt.input), Annotations: tt.a})
			if r.Verdict != tt.want || r.Net != tt.net {
				t.Errorf("%s net=%v by %v, want %s net=%v", r.Verdict, r.Net, r.Rules(), tt.want, tt.net)
			}
		})
	}
}
