package transcript

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// TestOversize holds that every byte of a line over the cap reaches the hook
// in order, and that the call it makes is still named.
func TestOversize(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 40<<10) // 640 KiB
	rows := map[string]string{
		"name first":  `{"type":"assistant","session_id":"s1","message":{"id":"msg_1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"` + long + `"}}]}}`,
		"name last":   `{"type":"assistant","session_id":"s1","message":{"content":[{"id":"t1","input":{"command":"` + long + `","name":"no"},"name":"Bash","type":"tool_use"}],"id":"msg_1"}}`,
		"escaped key": `{"type":"assistant","session_id":"s1","message":{"id":"msg_1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"\"name\":\"x\"` + long + `\"id\":\"y\""}}]}}`,
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			var seen strings.Builder
			o := Options{MaxLine: 1 << 10, Chunk: func(c Chunk) {
				if c.Line != 2 {
					t.Errorf("chunk of line %d", c.Line)
				}
				if had := seen.String(); string(c.Data[:c.Overlap]) != had[len(had)-c.Overlap:] {
					t.Error("the overlap does not repeat what came before")
				}
				seen.Write(c.Data[c.Overlap:])
			}}
			in := textRow + "\n" + row + "\r\n" + textRow
			events, stats := drain(t, NewDecoder(iotest.HalfReader(strings.NewReader(in)), o))
			if len(events) != 3 || events[1].Kind != KindOversize || events[2].Line != 3 {
				t.Fatalf("events %v", events)
			}
			ev := events[1]
			if ev.Call == nil || ev.Call.ID != "t1" || ev.Call.Name != "Bash" || ev.SessionID != "s1" {
				t.Errorf("call %+v, session %q", ev.Call, ev.SessionID)
			}
			if len(ev.Text) != firstPart || !strings.HasPrefix(row, ev.Text) {
				t.Errorf("%d bytes of text", len(ev.Text))
			}
			if strings.TrimSuffix(seen.String(), "\r") != row {
				t.Errorf("the hook saw %d bytes of %d", seen.Len(), len(row))
			}
			if stats.Oversize != 1 || stats.Lines != 3 || stats.Bytes != int64(len(in)) {
				t.Errorf("stats %+v", stats)
			}
		})
	}
}

func TestOversizeResult(t *testing.T) {
	row := `{"type":"user","message":{"content":[{"tool_use_id":"t1","type":"tool_result","content":"` + strings.Repeat("x", 300<<10) +
		`","is_error":true}]},"parent_tool_use_id":"agent","tool_result_meta":[{"id":"t1","permission_decision":{"decision":"reject","source":"hook"}}]}`
	events, _ := decodeAll(t, []byte(row), Options{MaxLine: 1 << 10})
	if len(events) != 1 || events[0].Result == nil {
		t.Fatalf("events %v", events)
	}
	if r := events[0].Result; r.CallID != "t1" || !r.IsError || !r.NotRun || r.DeniedBy != "hook" || events[0].Agent != "agent" {
		t.Errorf("result %+v, agent %q", r, events[0].Agent)
	}
}

// TestMaxLineIsExact holds that the cap does not depend on how much a read
// happens to return.
func TestMaxLineIsExact(t *testing.T) {
	for _, n := range []int{99, 100, 101} {
		for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, func(r io.Reader) io.Reader { return r }} {
			in := strings.Repeat("x", n) + "\nshort\n"
			events, _ := drain(t, NewDecoder(wrap(strings.NewReader(in)), Options{MaxLine: 100}))
			if len(events) != 2 || (events[0].Kind == KindOversize) != (n > 100) || events[1].Text != "short" {
				t.Errorf("%d bytes: %v", n, brief(events))
			}
		}
	}
}

// endless is a line of n bytes.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.n)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.n -= n
	return n, nil
}

// TestMemory reads a line of 64 MiB and one of 256 MiB: what is allocated
// must be the same.
func TestMemory(t *testing.T) {
	var allocated [2]uint64
	for i, size := range []int{64 << 20, 256 << 20} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		events, stats := drain(t, NewDecoder(&endless{n: size}, Options{}))
		runtime.ReadMemStats(&after)
		if len(events) != 1 || stats.Bytes != int64(size) {
			t.Fatalf("%d events, %+v", len(events), stats)
		}
		allocated[i] = after.TotalAlloc - before.TotalAlloc
	}
	if most := uint64(4 * defaultMaxLine); allocated[0] > most || allocated[1] > most {
		t.Errorf("allocated %d and %d bytes, want at most %d", allocated[0], allocated[1], most)
	}
}

// TestHostileLines holds that looking for records in a line is not quadratic.
func TestHostileLines(t *testing.T) {
	for _, unit := range []string{`{"type"`, `{"type":"`, `{"type":"a"`, `[{`, `\"`, `{"id":1}`, `{"type":"x"},`} {
		in := "x" + strings.Repeat(unit, (1<<20)/len(unit))
		events, _ := decodeAll(t, []byte(in), Options{})
		if len(events) == 0 {
			t.Errorf("%q: no event", unit)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for _, s := range []string{callRow, resultRow, textRow, callRow + textRow, "{\n \"a\":1\n}\n", "\ufeffx\r\n", `{"type":"system","subtype":"init"}`, "\xff\xfea\x00", "{\x00" + strings.Repeat("0", 100)} {
		f.Add([]byte(s), 64)
	}
	for _, file := range samples(f) {
		f.Add(read(f, file), 1<<20)
	}
	f.Fuzz(func(t *testing.T, data []byte, maxLine int) {
		o := Options{MaxLine: maxLine % (1 << 20)}
		var chunks int64
		o.Chunk = func(c Chunk) { chunks += int64(len(c.Data) - c.Overlap) }
		events, stats := decodeAll(t, data, o)
		if stats.Bytes != int64(len(data)) {
			t.Errorf("read %d bytes of %d", stats.Bytes, len(data))
		}
		if chunks > stats.Bytes && !strings.HasPrefix(string(data), "\xff\xfe") && !strings.HasPrefix(string(data), "\xfe\xff") && !wide(data) {
			t.Errorf("the hook had %d bytes of %d", chunks, stats.Bytes)
		}
		last := 0
		for _, ev := range events {
			if ev.Line < last || ev.Line > stats.Lines {
				t.Fatalf("line %d after %d of %d", ev.Line, last, stats.Lines)
			}
			last = ev.Line
			if ev.Kind == KindPlain && strings.TrimSpace(ev.Text) == "" {
				t.Error("a blank event")
			}
		}
	})
}

func BenchmarkDecoder(b *testing.B) {
	data := []byte(strings.Repeat(textRow+"\n"+callRow+"\n"+resultRow[:len(resultRow)-8]+strings.Repeat("some output of a tool\\n", 80)+`"}]}}`+"\n", 500))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		drain(b, NewDecoder(strings.NewReader(string(data)), Options{}))
	}
}
