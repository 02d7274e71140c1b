package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed-b23e517c/loop/queue"
)

// golden compares with a file in testdata; LOOP_UPDATE=1 rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if os.Getenv("LOOP_UPDATE") == "1" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (LOOP_UPDATE=1 writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got), LOOP_UPDATE=1 rewrites it:\n%s", file, diff)
	}
}

func nights() map[string]queue.Snapshot {
	return map[string]queue.Snapshot{
		"bad": badNight(), "good": goodNight(), "empty": {}, "running": runningNight(), "hostile": hostileNight(),
	}
}

func options(width int, color bool) Options {
	return Options{Width: width, Color: color, Now: morning, Location: time.FixedZone("CET", 3600), Titles: map[string]string{"7": "Print the invoice on one page", "4": "Export orders as CSV"}}
}

func TestTerminalGolden(t *testing.T) {
	for name, d := range nights() {
		for _, width := range []int{40, 80, 120, 200} {
			for _, color := range []bool{false, true} {
				o := options(width, color)
				o.Alive = name == "running"
				file := fmt.Sprintf("%s-%d", name, width)
				if color {
					file += "-color"
				}
				t.Run(file, func(t *testing.T) { golden(t, file, terminal(t, d, o)) })
			}
		}
	}
}

func TestTerminalAllGolden(t *testing.T) {
	o := options(80, false)
	o.All = true
	golden(t, "bad-80-all", terminal(t, badNight(), o))
}

func TestTerminalPipeGolden(t *testing.T) {
	golden(t, "bad-pipe", terminal(t, badNight(), options(0, false)))
}

func TestListGolden(t *testing.T) {
	for _, width := range []int{40, 80, 120, 200} {
		var b bytes.Buffer
		if err := List(&b, badNight().Actions, options(width, false)); err != nil {
			t.Fatal(err)
		}
		golden(t, fmt.Sprintf("list-%d", width), b.Bytes())
	}
}

func TestShowGolden(t *testing.T) {
	a := badNight().Actions[1]
	a.Excerpt, a.Transcript, a.Line = "I will push the branch now so that it can be reviewed.", "/home/mara/.local/state/loop/runs/2-1/transcript.jsonl", 88
	a.Decisions = []queue.Decision{{Verb: "approve", Who: "mara", When: morning, Reason: "looks right"}}
	a.Status = queue.Failed
	a.Replay = &queue.Replay{Started: morning, Duration: 3 * time.Second, ExitCode: 1, Output: "To github.com:mara/shop.git\n ! [rejected] main -> main (fetch first)\n"}
	for _, width := range []int{40, 80, 120, 200} {
		var b bytes.Buffer
		if err := Show(&b, a, options(width, width == 80)); err != nil {
			t.Fatal(err)
		}
		golden(t, fmt.Sprintf("show-%d", width), b.Bytes())
	}
}

func TestJSONGolden(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, badNight(), Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "bad-json", b.Bytes())
}

func terminal(t *testing.T, d queue.Snapshot, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Terminal(&b, d, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
