package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSamples decodes every capture of the real client. LOOP_UPDATE=1
// rewrites the golden file.
func TestSamples(t *testing.T) {
	var got strings.Builder
	for _, file := range samples(t) {
		data := read(t, file)
		events, stats := decodeAll(t, data, Options{})
		fmt.Fprintf(&got, "== %s\n", filepath.Base(file))
		for _, ev := range events {
			fmt.Fprintln(&got, describe(ev))
		}
		if !strings.HasSuffix(file, ".txt") && stats.Plain+stats.Broken+stats.Oversize > 0 {
			t.Errorf("%s: not all was read: %+v", file, stats)
		}
		if stats.Bytes != int64(len(data)) || stats.Lines != bytes.Count(data, []byte("\n"))+lastLine(data) {
			t.Errorf("%s: %+v does not match the file", file, stats)
		}
	}
	const golden = "testdata/samples.golden"
	if os.Getenv("LOOP_UPDATE") == "1" {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, golden)), got.String()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func lastLine(data []byte) int {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return 1
	}
	return 0
}

func samples(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/samples/*")
	if err != nil || len(files) < 40 {
		t.Fatalf("samples: %d files, %v", len(files), err)
	}
	return files
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decodeAll(t testing.TB, data []byte, o Options) ([]Event, Stats) {
	t.Helper()
	return drain(t, NewDecoder(bytes.NewReader(data), o))
}

func drain(t testing.TB, d *Decoder) ([]Event, Stats) {
	t.Helper()
	var events []Event
	for {
		ev, err := d.Next()
		if errors.Is(err, io.EOF) {
			return events, d.Stats()
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
}

var kindNames = map[Kind]string{
	KindOther: "other", KindInit: "init", KindText: "text", KindThinking: "thinking", KindPrompt: "prompt",
	KindCall: "call", KindResult: "result", KindFinal: "final", KindRateLimit: "ratelimit", KindHook: "hook",
	KindVCS: "vcs", KindRetry: "retry", KindTask: "task", KindPlain: "plain", KindOversize: "oversize",
}

// describe prints an event on one line.
func describe(ev Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", ev.Line, kindNames[ev.Kind])
	if ev.Agent != "" {
		fmt.Fprintf(&b, " agent=%s", ev.Agent)
	}
	if !ev.Time.IsZero() {
		fmt.Fprintf(&b, " %s", ev.Time.Format("15:04:05.000"))
	}
	if ev.Text != "" {
		text := []rune(ev.Text)
		fmt.Fprintf(&b, " %q", string(text[:min(60, len(text))]))
	}
	for _, v := range []any{ev.Call, ev.Result, ev.Init, ev.Final, ev.RateLimit, ev.Hook, ev.VCS, ev.Retry, ev.Task} {
		if js, err := json.Marshal(v); err == nil && string(js) != "null" {
			text := []rune(string(js))
			fmt.Fprintf(&b, " %s", string(text[:min(500, len(text))]))
		}
	}
	return b.String()
}
