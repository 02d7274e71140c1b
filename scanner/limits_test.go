package scanner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// TestRepeatsAreCounted holds that the same words are not reported without
// end, and that what is left out is counted.
func TestRepeatsAreCounted(t *testing.T) {
	in := strings.Repeat("run git push now\n", maxRepeats+500) + "run git push later\n"
	hits, stats := scanText(t, in, Options{})
	if len(hits) != maxRepeats+1 || stats.Folded != 500 || stats.Hits != len(hits) {
		t.Errorf("%d hits, %+v", len(hits), stats)
	}
	in = strings.Repeat(bash("", "git push"), maxRepeats+500)
	if hits, stats = scanText(t, in, Options{}); len(hits) != maxRepeats+500 || stats.Folded != 0 {
		t.Errorf("calls were folded: %d hits, %+v", len(hits), stats)
	}
}

// TestWaitingIsBounded holds that hits are not held back without end for a
// result that never comes, and that none is lost.
func TestWaitingIsBounded(t *testing.T) {
	var in strings.Builder
	const n = maxWaiting + 2000
	in.WriteString(bash("never", "git push first"))
	for i := range n {
		fmt.Fprintf(&in, "git push %d\n", i)
	}
	early := 0
	o := outbox{stats: &Stats{}, yield: func(Hit) error { early++; return nil }}
	for i := range n {
		o.put(Hit{Line: i}, false, i%2 == 0)
	}
	if len(o.queue) > maxWaiting || early == 0 {
		t.Errorf("%d hits wait, %d were given", len(o.queue), early)
	}
	o.finish()
	if early != n {
		t.Errorf("%d hits of %d", early, n)
	}
	hits, _ := scanText(t, in.String(), Options{})
	if len(hits) != n+1 {
		t.Errorf("%d hits, want %d", len(hits), n+1)
	}
}

// TestManyCallsInTheAir holds that calls whose results never come cost neither
// time nor hits.
func TestManyCallsInTheAir(t *testing.T) {
	var in strings.Builder
	const n = 3 * maxWaiting
	for i := range n {
		in.WriteString(bash(fmt.Sprint("c", i), "git push"))
	}
	hits, stats := scanText(t, in.String(), Options{})
	if len(hits) != n || stats.Calls != n {
		t.Errorf("%d hits of %d, %+v", len(hits), n, stats)
	}
}

func TestBigInputsAreNotKept(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	kept := 0
	o := outbox{stats: &Stats{}, yield: func(Hit) error { kept--; return nil }}
	for range 100 {
		kept++
		o.put(Hit{Command: big}, false, true)
		if o.bytes > maxWaitingBytes+2<<20 || kept > 20 {
			t.Fatalf("%d bytes of %d hits are kept", o.bytes, kept)
		}
	}
}

func TestErrors(t *testing.T) {
	in := bash("a", "git push") + ok("a", "") + strings.Repeat(bash("", "git push"), 3)
	stop := errors.New("full")
	n := 0
	stats, err := scan(context.Background(), strings.NewReader(in), Options{}, fake{}, func(Hit) error {
		n++
		return stop
	})
	if !errors.Is(err, stop) || n != 1 || stats.Hits != 1 {
		t.Errorf("error %v after %d hits, %+v", err, n, stats)
	}

	broken := errors.New("broken disk")
	n = 0
	_, err = scan(context.Background(), io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)), Options{}, fake{}, func(Hit) error {
		n++
		return nil
	})
	if !errors.Is(err, broken) || n != 4 {
		t.Errorf("error %v after %d hits", err, n)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = scan(ctx, strings.NewReader(in), Options{}, fake{}, func(Hit) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a cancelled scan", err)
	}
	if _, err = Scan(context.Background(), strings.NewReader(in), Options{}, nil); err == nil {
		t.Error("no error without rules")
	}
}

func TestShared(t *testing.T) {
	var shared []string
	o := Options{Shared: func(h Hit) error {
		shared = append(shared, brief(h)+" "+h.Tier.String())
		return nil
	}}
	hits, stats := scanText(t, bash("a", "git commit -m x")+ok("a", "")+bash("b", "git commit -m y")+denied("b", "no"), o)
	want := []string{`1 executed/ok Bash#a git-commit "git commit -m x" shared`, `3 blocked Bash#b git-commit "git commit -m y" shared`}
	if diff := cmp.Diff(want, shared); diff != "" || len(hits) != 0 || stats.Shared != 2 {
		t.Errorf("shared (-want +got):\n%s%v %+v", diff, briefs(hits), stats)
	}
}

func TestWhereAndWhen(t *testing.T) {
	in := `{"type":"system","subtype":"init","cwd":"/home/dev/tree","session_id":"s"}` + "\n" +
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"git push"}}]},"parent_tool_use_id":"toolu_agent","timestamp":"2026-11-30T03:05:39.565Z"}` + "\n" +
		`{"type":"assistant","cwd":"/other","message":{"content":[{"type":"tool_use","id":"b","name":"Bash","input":{"command":"git push"}}]}}` + "\n"
	hits, _ := scanText(t, in, Options{File: "f.jsonl", Cwd: "/given"})
	if len(hits) != 2 {
		t.Fatalf("hits %v", briefs(hits))
	}
	h := hits[0]
	if h.File != "f.jsonl" || h.Cwd != "/home/dev/tree" || h.Agent != "toolu_agent" || h.Time.Format("15:04:05") != "03:05:39" || string(h.Input) != `{"command":"git push"}` || h.Why == "" {
		t.Errorf("hit %+v", h)
	}
	if hits[1].Cwd != "/other" {
		t.Errorf("cwd %q", hits[1].Cwd)
	}
	hits, _ = scanText(t, bash("a", "git push"), Options{Cwd: "/given"})
	if len(hits) != 1 || hits[0].Cwd != "/given" {
		t.Errorf("hits %+v", hits)
	}
}

// endless gives n bytes of the same text over and over.
type endless struct {
	unit string
	n    int
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := copy(p, e.unit[e.at:])
	e.at = (e.at + n) % len(e.unit)
	e.n -= n
	return n, nil
}

// TestMemory scans one line of 64 MiB and long files: what is live at any time
// must not grow with them.
func TestMemory(t *testing.T) {
	script := tool("w", "Write", `{"file_path":"x.sh","content":"`+strings.Repeat("git push ", 4000)+`"}`)
	output := strings.Repeat(`some output of a tool \"x\"\n`, 100) + `git\npush`
	tests := []struct {
		name string
		in   *endless
		most uint64 // MiB
	}{
		{"line of 64 MiB", &endless{unit: output, n: 64 << 20}, 48},
		{"calls and words", &endless{unit: bash("", "git push") + said("then git push"), n: 3 << 20}, 48},
		{"calls in the air", &endless{unit: bash("a", "git commit") + pushNotice, n: 3 << 20}, 48},
		{"scripts", &endless{unit: script, n: 12 << 20}, 48},
	}
	for _, tt := range tests {
		var most uint64
		r := readFunc(func(p []byte) (int, error) {
			n, err := tt.in.Read(p)
			if tt.in.n>>20 != (tt.in.n+n)>>20 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc>>20)
			}
			return n, err
		})
		runtime.GC()
		if _, err := scan(context.Background(), r, Options{MaxLine: 4 << 20}, fake{}, func(Hit) error { return nil }); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d MiB", tt.name, most)
		if most > tt.most {
			t.Errorf("%s: %d MiB of heap, want at most %d", tt.name, most, tt.most)
		}
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func FuzzScan(f *testing.F) {
	for _, row := range positions {
		f.Add(strings.ReplaceAll(row, "@", "git push"), 0, false)
	}
	f.Add(bash("a", "git push")+pushNotice+pushed("a")+denied("a", "queued as #1"), 100, true)
	f.Fuzz(func(t *testing.T, in string, maxLine int, callsOnly bool) {
		o := Options{MaxLine: maxLine % (1 << 20), CallsOnly: callsOnly, Ignore: []string{"these are our own rules"}}
		hits, stats := scanText(t, in, o)
		if stats.Hits != len(hits) || stats.Bytes != int64(len(in)) {
			t.Errorf("%d hits, %+v of %d bytes", len(hits), stats, len(in))
		}
		for _, h := range hits {
			if h.Line < 1 || h.Line > stats.Lines || len(h.Rules) == 0 || strings.ContainsAny(h.Excerpt, "\r\n") {
				t.Errorf("hit %+v", h)
			}
		}
		if !callsOnly && strings.Contains(strings.ToLower(in), "git push") && len(hits) == 0 && !strings.Contains(in, "api-request") &&
			!strings.Contains(in, "prompt_snapshot") && !strings.Contains(in, refusal) && !strings.Contains(in, "\ufeff") {
			t.Errorf("%q is lost", in)
		}
	})
}
