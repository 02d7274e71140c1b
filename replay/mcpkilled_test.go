package replay

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/queue"
)

const (
	// howVar says what the MCP server that the test binary is does with a call.
	howVar = "LOOP_TEST_REPLAY_MCP_HOW"
	// killVar says at which look at the clock a replay is killed.
	killVar = "LOOP_TEST_REPLAY_KILL"
)

// hostileAnswer is what a server says to a person's terminal.
const hostileAnswer = "\x1b[2Jdone\r| forged\n#1: done, after 0s\n\u202egpj.exe\u202c p\u0430ypal API_TOKEN=hunter2hunter2 \x07\x1b]0;t\x07"

// playServer is an MCP server with the tool post_message. What is called is noted
// in a file before it is answered. "kill at WHEN" ends the replaying loop there.
func playServer(file, how string) int {
	killed, kills := strings.CutPrefix(how, "kill at ")
	kill := func(when string) {
		if !kills || when != killed {
			return
		}
		loop, err := os.FindProcess(os.Getppid())
		if err == nil {
			err = loop.Kill()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "cannot kill:", err)
		}
		select {} // until the end of loop reaches us
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 4<<20)
	for in.Scan() {
		var req struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		if json.Unmarshal(in.Bytes(), &req) != nil || req.ID == nil {
			continue
		}
		kill("before " + req.Method)
		var result any = map[string]any{}
		switch req.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": req.Params.ProtocolVersion, "capabilities": map[string]any{"tools": struct{}{}}, "serverInfo": map[string]any{"name": "chat", "version": "1"}}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]any{"name": "post_message", "inputSchema": map[string]any{"type": "object"}}}}
		case "tools/call":
			if f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
				fmt.Fprintln(f, "posted")
				f.Close()
			}
			kill("in " + req.Method)
			text, failed := "done", false
			switch how {
			case "die":
				fmt.Fprint(os.Stderr, "no database")
				return 3
			case "hang":
				fmt.Fprintln(os.Stderr, "waiting for the database")
				select {}
			case "garbage":
				fmt.Print("\x1b[31mposting\x1b[0m ...\n{not json\n\xff\xfe\n")
			case "no":
				text, failed = "the channel is archived", true
			case "long":
				text = strings.Repeat("0123456789abcde\n", 64<<10)
			case "long line":
				text = strings.Repeat("0123456789abcdef", 64<<10)
			case "hostile":
				text = hostileAnswer
			}
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": failed}
		}
		if json.NewEncoder(os.Stdout).Encode(map[string]any{"jsonrpc": "2.0", "id": req.ID, "result": result}) != nil {
			return 1
		}
		kill("after " + req.Method)
	}
	return 0
}

// killedNow is the clock of a replay in a child. At a look at it that the
// environment names, the child is killed.
func killedNow() func() time.Time {
	at, _ := strconv.Atoi(os.Getenv(killVar))
	n := 0
	return func() time.Time {
		if n++; n == at {
			if self, err := os.FindProcess(os.Getpid()); err == nil && self.Kill() == nil {
				select {}
			}
		}
		return time.Now()
	}
}

// chat is a bench with a call that waits, of a server that does as its name says.
func chat(t *testing.T, how string) (b *bench, a queue.Action, posted func() int) {
	t.Helper()
	b = newBench(t)
	file := b.configure(filepath.Join(b.repo, ".mcp.json"), "chat")
	b.env = append(b.env, howVar+"="+how)
	return b, b.add(b.call("mcp__chat__post_message", `{"text":"x"}`)), func() int { return strings.Count(b.posted(file), "\n") }
}

// kill -9 of a loop that replays a call of an MCP tool, at each step of it: what
// was not sent waits, of what may have been sent nobody knows, and nothing is
// sent a second time without a word.
func TestMCPReplayKilled(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The looks at the clock: for the screen, for the start, for the decision,
	// which is before the call, and for how long it took, which is after it.
	moments := []string{"look 1", "look 2", "look 3", "look 4"}
	for _, m := range []string{"initialize", "tools/list", "tools/call"} {
		moments = append(moments, "kill at before "+m, "kill at after "+m)
	}
	seen := map[queue.Status]int{}
	for _, moment := range append(moments, "kill at in tools/call") {
		t.Run(moment, func(t *testing.T) {
			b, a, posted := chat(t, moment)
			cmd := exec.CommandContext(t.Context(), exe)
			cmd.Env = append(b.env, childVar+"="+b.state, "GORACE=atexit_sleep_ms=0")
			if look, ok := strings.CutPrefix(moment, "look "); ok {
				cmd.Env = append(cmd.Env, killVar+"="+look)
			}
			out, err := cmd.CombinedOutput()
			var ended *exec.ExitError
			recorded := b.stored(a).Status == queue.Replayed
			if killed := errors.As(err, &ended) && ended.ExitCode() == -1; !killed && !(recorded && moment == "kill at after tools/call") {
				t.Fatalf("it was not killed: %v\n%s", err, out)
			}
			if _, err := Recover(t.Context(), b.store); err != nil {
				t.Fatal(err)
			}
			now, n := b.stored(a), posted()
			seen[now.Status]++
			b.env[len(b.env)-1] = howVar + "=ok"
			_, err = Run(t.Context(), b.request(a))
			switch now.Status {
			case queue.Pending:
				if n != 0 || err != nil || posted() != 1 || b.stored(a).Status != queue.Replayed {
					t.Errorf("sent %d times before, %d after, %v, %s", n, posted(), err, b.stored(a).Status)
				}
				return
			case queue.Unknown:
				if n > 1 || now.Replay.Error != "loop ended in the middle of it: it may have taken effect or not" || now.Owner == nil {
					t.Errorf("sent %d times, %+v", n, now.Replay)
				}
				wantRefused(t, err, "a replay of it died, and may have taken effect")
			case queue.Replayed:
				wantRefused(t, err, "it was replayed already")
			default:
				t.Fatalf("it is %s", now.Status)
			}
			if posted() != n {
				t.Errorf("it was sent again: %d and %d times", n, posted())
			}
			if left, err := proc.EndMarked(mark(a)); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
			if now.Status != queue.Unknown {
				return
			}
			again := b.request(a)
			again.Again = true
			if _, err := Run(t.Context(), again); err != nil || posted() != n+1 || len(b.stored(a).Earlier) != 1 {
				t.Errorf("with a word: %v, sent %d times, %d replays before", err, posted()-n, len(b.stored(a).Earlier))
			}
		})
	}
	if seen[queue.Pending] < 5 || seen[queue.Unknown] < 3 {
		t.Errorf("the moments are too much alike: %v", seen)
	}
}

// What a server does with a call, and what the queue and the screen have of it.
func TestMCPServersOutcome(t *testing.T) {
	for how, c := range map[string]struct {
		status       queue.Status
		output, err  string // kept; of a long one its end
		screen       string
		exact, limit bool
	}{
		"die":       {queue.Failed, "no database\n", "the server ended (exit 3) before it answered; whether it took effect is not known", "| no database\n", true, false},
		"hang":      {queue.Failed, "waiting for the database\n", "ended after 2s; whether it took effect is not known", "| waiting for the database\n#1: ended after 2s", true, true},
		"garbage":   {queue.Replayed, "\x1b[31mposting\x1b[0m ...\n{not json\n\ufffd\ndone\n", "", `| \x1b[31mposting\x1b[0m ...`, true, false},
		"no":        {queue.Failed, "the channel is archived\n", "the tool says that it failed", "| the channel is archived\n#1: the tool says that it failed", true, false},
		"long":      {queue.Replayed, strings.Repeat("0123456789abcde\n", 4<<10), "", "| 0123456789abcde\n", true, false},
		"long line": {queue.Replayed, "0123456789abcdef\n", "", "| 0123456789abcdef", false, false},
		"hostile":   {queue.Replayed, "[API_TOKEN]", "", `| \x1b[2Jdone\r| forged`, false, false},
	} {
		t.Run(how, func(t *testing.T) {
			b, a, posted := chat(t, how)
			r := b.request(a)
			if c.limit {
				r.Timeout = 2 * time.Second
			}
			_, err := Run(t.Context(), r)
			got := b.stored(a)
			if got.Status != c.status || got.Replay.Error != c.err || posted() != 1 || (err != nil) != (c.status == queue.Failed) {
				t.Errorf("%v; %s, %q, sent %d times", err, got.Status, got.Replay.Error, posted())
			}
			kept := got.Replay.Output
			if c.exact && kept != c.output || !strings.Contains(kept, c.output) || len(kept) > proc.DefaultTail {
				t.Errorf("kept %d bytes: %.300q", len(kept), kept)
			}
			if cut := strings.HasPrefix(how, "long"); got.Replay.Cut != cut {
				t.Errorf("cut: %v", got.Replay.Cut)
			}
			screen := b.out.String()
			if !strings.Contains(screen, c.screen) || strings.ContainsAny(screen, "\x1b\r\x07\u202e") || strings.Contains(screen+kept, "hunter2") {
				t.Errorf("screen %.2000q", screen[max(0, len(screen)-2000):])
			}
			_, after, _ := strings.Cut(screen, "since then")
			if strings.Count(after, "\n#1: ") != 1 {
				t.Errorf("an answer passes for loop's own line: %.2000q", after[max(0, len(after)-2000):])
			}
			if _, err := Run(t.Context(), b.request(a)); err == nil || posted() != 1 {
				t.Errorf("it is sent again: %v", err)
			}
			if left, err := proc.EndMarked(mark(a)); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
