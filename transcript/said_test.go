package transcript

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func assistantLine(agent, block string) string {
	parent := "null"
	if agent != "" {
		parent = `"` + agent + `"`
	}
	return `{"type":"assistant","parent_tool_use_id":` + parent + `,"message":{"role":"assistant","content":[` + block + `]}}`
}

func callBlock(id string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"git push"}}`
}

func TestSaidBefore(t *testing.T) {
	lines := []string{
		assistantLine("", callBlock("c0")),
		assistantLine("", `{"type":"text","text":"I push now."}`),
		assistantLine("", callBlock("c1")),
		assistantLine("", callBlock("c2")),
		`{"type":"user","parent_tool_use_id":"c2","message":{"role":"user","content":[{"type":"text","text":"Publish the package."}]}}`,
		assistantLine("c2", callBlock("s1")),
		assistantLine("", `{"type":"text","text":"  "}`),
		"a torn line",
		assistantLine("", `{"type":"text","text":"Once more, with another tool."},`+callBlock("c3")),
		assistantLine("", callBlock("c4")),
	}
	want := map[string]Said{
		"c0": {},
		"c1": {Text: "I push now."},
		"c2": {Text: "I push now.", Calls: 1},
		"s1": {Text: "Publish the package.", Delegated: true},
		"c3": {Text: "Once more, with another tool."},
	}
	ids := map[string]bool{}
	for id := range want {
		ids[id] = true
	}
	got, err := SaidBefore(strings.NewReader(strings.Join(lines, "\n")+"\n"), Options{}, ids)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSaidBeforeReadsNoFurtherThanItMust(t *testing.T) {
	text := assistantLine("", `{"type":"text","text":"Now."}`) + "\n" + assistantLine("", callBlock("c1")) + "\n"
	r := &countingReader{r: strings.NewReader(text + strings.Repeat("x", 64<<20))}
	got, err := SaidBefore(r, Options{}, map[string]bool{"c1": true})
	if err != nil || got["c1"].Text != "Now." {
		t.Fatalf("%v, %v", got, err)
	}
	if r.n > 8<<20 {
		t.Errorf("read %d bytes for two lines", r.n)
	}
	if got, err := SaidBefore(r, Options{}, nil); err != nil || len(got) != 0 {
		t.Errorf("%v, %v for no calls", got, err)
	}
}

type countingReader struct {
	r *strings.Reader
	n int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

func TestSaidKeepsTheEndOfALongText(t *testing.T) {
	s := endOf(strings.Repeat("é", maxSaid) + "x")
	if len(s) > maxSaid || !strings.HasSuffix(s, "éx") || strings.ContainsRune(s, '\uFFFD') {
		t.Errorf("%d bytes, ends in %q", len(s), s[len(s)-4:])
	}
}
