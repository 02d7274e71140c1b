package seal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/receipt"
)

// Result takes note of a result that the stream shows of a call that ran.
// structured is the client's own form of it, nil where it gives none; text is
// what the model reads. A call has one result: the client may repeat it, in
// another form too, and it counts once.
func (s *Seal) Result(id string, structured json.RawMessage, text string, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.call(id)
	c.input = nil
	again := c.first != nil
	switch got := sumOf(structured, text, failed); {
	case !again:
		c.first = &got
	case *c.first == got:
		return
	}
	why := c.contradicts(structured, text, failed)
	if why != "" {
		s.contradicted(id, c, why)
	}
	if failed && !again {
		c.failure = receipt.SumHex([]byte(text))
	}
	if again || failed {
		return
	}
	s.coverage.Results++
	if c.counted = why == "" && !c.token.IsZero() && s.revoked[id] == ""; c.counted {
		s.coverage.Receipted++
	} else {
		s.missing(c.name(id))
	}
}

// missing names a call without a receipt. The lock is held.
func (s *Seal) missing(name string) {
	if len(s.coverage.Missing) == maxMissing {
		s.unnamed++
		return
	}
	s.coverage.Missing = append(s.coverage.Missing, name)
}

// maxMissing bounds how many calls without a receipt are named.
const maxMissing = 100

// name is the call for people, also of one that was never shown.
func (c *sealed) name(id string) string {
	if c.line == "" {
		return "call " + id
	}
	return c.line
}

// short is as much of a call as is kept for people.
func short(line string) string {
	const most = 400
	if len(line) <= most {
		return strings.Clone(line)
	}
	return strings.ToValidUTF8(line[:most], "") + "…"
}

func sumOf(structured json.RawMessage, text string, failed bool) sum {
	h := sha256.New()
	fmt.Fprintf(h, "%t %d ", failed, len(structured))
	h.Write(structured)
	_, _ = io.WriteString(h, text)
	return sum(h.Sum(nil))
}

// contradicted withdraws a receipt that the stream does not bear out. A receipt
// that was counted counts no more. The lock is held.
func (s *Seal) contradicted(id string, c *sealed, why string) {
	if c.token.IsZero() {
		s.fault("%q: %s", c.name(id), why)
		return
	}
	s.revoke(id, why)
	s.fault("the receipt of %q was withdrawn: %s", c.name(id), why)
}

// contradicts says in which way a result is not the one that was reported.
func (c *sealed) contradicts(structured json.RawMessage, text string, failed bool) string {
	switch {
	case c.token.IsZero() && c.failed && !failed:
		return "it was reported as failed, and the client's stream shows that it was not"
	case c.token.IsZero():
		return ""
	case failed:
		return "the client's stream shows that it failed"
	case len(structured) > 0:
		got, err := canonicalSum(structured)
		if err != nil || got != c.results[0] && (got != c.results[1] || c.results[1] == sum{}) {
			return "the client's stream shows another result"
		}
		if text != "" && !c.text.maybe(text, c.token) {
			return "the client's stream shows another result to the model than to us"
		}
	// A subagent's results come as text only.
	case c.inline && !strings.Contains(text, c.token.String()) && !keptApart(text):
		return "the client's stream shows a result without it"
	case !c.text.maybe(text, c.token):
		return "the client's stream shows another result"
	}
	return ""
}

// NotRun takes note that the stream shows that a call did not run: the client
// refused it by a rule of its own, or knows no such tool. Nobody was asked about
// it, or the answer was to let it run.
func (s *Seal) NotRun(id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.call(id)
	if c.refused || c.notRun || c.first != nil {
		return // it is in the trail
	}
	c.notRun = true
	if !c.token.IsZero() {
		s.contradicted(id, c, "the client's stream shows that it did not run")
		return
	}
	s.untold = append(s.untold, s.record(receipt.CallDenied, id, c, receipt.SumHex([]byte(text))))
	c.input = nil
}

// record is of a call about which no hook said how it ended.
func (s *Seal) record(event receipt.Event, id string, c *sealed, result string) receipt.Record {
	args := c.asked
	if args == (sum{}) {
		args, _ = canonicalSum(c.input) // of what cannot be read there is none
	}
	return receipt.Record{
		Event: event, Scope: s.Scope, Tool: c.tool, ToolUseID: id, TS: s.Now().Unix(),
		ArgsSHA256: fmt.Sprintf("%x", args), ResultSHA256: result,
	}
}

// Elsewhere takes note that a call runs at the provider: it fires no hooks.
func (s *Seal) Elsewhere(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, id)
}

// unreported are the records of the calls that may have run and of which no hook
// told: no result came, or the stream shows that they were cut off. They are in
// the order in which the calls were made. The lock is held.
func (s *Seal) unreported() (records []receipt.Record) {
	var ids []string
	for id, c := range s.calls {
		if c.place > 0 && !c.reported && !c.refused && !c.notRun && (c.first == nil || c.failure != "") {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(s.calls[a].place, s.calls[b].place) })
	for _, id := range ids {
		c := s.calls[id]
		records = append(records, s.record(receipt.CallFail, id, c, cmp.Or(c.failure, receipt.SumHex([]byte(receipt.CutOff)))))
	}
	return records
}

// whole is the file into which the client puts all of an output of which the
// model and the hook see the beginning.
type whole struct {
	path string
	sum  sum
}

// maxWhole is the longest such file that is held against itself later.
const maxWhole = 16 << 20

func wholeOf(response json.RawMessage) whole {
	var r struct {
		Path string `json:"persistedOutputPath"`
	}
	if !bytes.Contains(response, []byte(`"persistedOutputPath"`)) || json.Unmarshal(response, &r) != nil || r.Path == "" {
		return whole{}
	}
	sum, ok := fileSum(r.Path)
	if !ok {
		return whole{}
	}
	return whole{r.Path, sum}
}

func fileSum(path string) (sum, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxWhole {
		return sum{}, false
	}
	f, err := os.Open(path)
	if err != nil {
		return sum{}, false
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxWhole)); err != nil {
		return sum{}, false
	}
	return sum(h.Sum(nil)), true
}

// Account is how the attempt stands.
type Account struct {
	Coverage
	Faults  []string          // what went wrong; may quote hostile text
	Revoked map[string]string // receipts that were withdrawn: why, by tool_use_id
	Untold  []receipt.Record  // of calls about whose end no hook told: the client did not run them, or they were cut off
}

// Account is how the attempt stands at its end.
func (s *Seal) Account() Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, c := range s.calls {
		// A file that is gone is not one that was changed: the client tidies up.
		if now, ok := fileSum(c.whole.path); ok && now != c.whole.sum {
			s.fault("the file that has all of the output of %q was changed afterwards: %q", c.name(id), c.whole.path)
		}
		c.whole = whole{}
	}
	coverage := s.coverage
	if s.unnamed > 0 {
		coverage.Missing = append(slices.Clone(coverage.Missing), fmt.Sprintf("and %d more", s.unnamed))
	}
	return Account{coverage, s.faults, s.revoked, append(slices.Clone(s.untold), s.unreported()...)}
}
