package sim

import (
	"context"
	"maps"
	"os"
	"strconv"

	"github.com/google/uuid"
)

// startHooks runs the hooks of the start and of the prompt. The records of the
// first come before init and are shown without being asked for; over HTTP the
// client sends no SessionStart.
func (s *session) startHooks(ctx context.Context) {
	if s.part.Hooks == HooksNone {
		return
	}
	shown := s.flags.hookEvents
	s.flags.hookEvents = true
	s.fire(ctx, nil, "SessionStart", "", object{"source": "startup"})
	s.flags.hookEvents = shown
	s.fire(ctx, nil, "UserPromptSubmit", "", object{"prompt": s.prompt})
}

// endHooks run after a signal too, so not under the ended context.
func (s *session) endHooks(ctx context.Context) {
	if s.part.Hooks == HooksRun {
		s.fire(context.WithoutCancel(ctx), nil, "SessionEnd", "", object{"reason": "other"})
	}
}

// fire runs all hooks of an event and gives what each said.
func (s *session) fire(ctx context.Context, a *agent, event, tool string, fields object) []answer {
	hooks := s.settings.of(event, tool)
	if len(hooks) == 0 {
		return nil
	}
	in := s.hookInput(a, event, fields)
	name := event
	switch {
	case event == "SessionStart":
		name += ":startup"
	case tool != "":
		name += ":" + tool
	}
	env := s.toolEnv()
	var answers []answer
	for _, h := range hooks {
		if event == "SessionStart" && h.Type == "http" {
			continue
		}
		id := uuid.NewString()
		if s.flags.hookEvents {
			s.emit(object{"type": "system", "subtype": "hook_started", "hook_id": id, "hook_name": name, "hook_event": event})
		}
		ans := h.run(ctx, event, in, env, s.dir)
		if s.flags.hookEvents {
			outcome := "success"
			if ans.exit != 0 {
				outcome = "error"
			}
			s.emit(object{
				"type": "system", "subtype": "hook_response", "hook_id": id, "hook_name": name, "hook_event": event,
				"output": ans.stdout + ans.stderr, "stdout": ans.stdout, "stderr": ans.stderr, "exit_code": ans.exit, "outcome": outcome,
			})
		}
		answers = append(answers, ans)
	}
	return answers
}

// hookInput is what a hook reads. SessionStart and SessionEnd have no
// permission mode; only what comes after the prompt has its id.
func (s *session) hookInput(a *agent, event string, fields object) []byte {
	in := object{
		"session_id": s.flags.session, "transcript_path": s.transcriptPath(), "cwd": s.cwd, "hook_event_name": event,
	}
	if event != "SessionStart" {
		in["prompt_id"] = s.promptID
	}
	if event != "SessionStart" && event != "SessionEnd" {
		in["permission_mode"] = s.flags.mode
		in["effort"] = object{"level": "medium"}
	}
	if a != nil {
		in["agent_id"], in["agent_type"] = a.id, a.kind
	}
	maps.Copy(in, fields)
	return []byte(encode(in))
}

// toolEnv is the environment of hooks and tools.
func (s *session) toolEnv() []string {
	return append(s.inv.Env[:len(s.inv.Env):len(s.inv.Env)],
		"AI_AGENT=claude-code_2-1-332_harness",
		"CLAUDECODE=1",
		"CLAUDE_CODE_CHILD_SESSION=1",
		"CLAUDE_CODE_ENTRYPOINT=sdk-cli",
		"CLAUDE_CODE_SESSION_ID="+s.flags.session,
		"CLAUDE_PID="+strconv.Itoa(os.Getpid()),
		"CLAUDE_PROJECT_DIR="+s.dir,
		"PWD="+s.cwd,
	)
}
