package scanner

import (
	"bytes"
	"hash/maphash"

	"github.com/seed-b23e517c/loop/transcript"
)

// maxIDs is how many calls are remembered to know repeats, twice.
const maxIDs = 64 << 10

// known is the calls that were seen.
type known struct {
	seed     maphash.Seed
	ids, old map[uint64]uint64 // hash of the id to hash of the call
}

func newKnown() *known { return &known{seed: maphash.MakeSeed(), ids: map[uint64]uint64{}} }

// repeated says whether this very call was seen before, and remembers it. The
// same id with another input is another call.
func (c *known) repeated(call *transcript.Call) bool {
	if call.ID == "" {
		return false
	}
	id := maphash.String(c.seed, call.ID)
	sum := c.sum(call.Input) ^ maphash.String(c.seed, call.Name)
	before, ok := c.ids[id]
	if !ok {
		before, ok = c.old[id]
	}
	if len(c.ids) >= maxIDs {
		c.old, c.ids = c.ids, map[uint64]uint64{}
	}
	c.ids[id] = sum
	return ok && before == sum
}

// sum is a hash of JSON that is the same for every way to space it.
func (c *known) sum(js []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for inString := false; len(js) > 0; {
		n := bytes.IndexByte(js, '"') + 1
		if n == 0 {
			n = len(js)
		}
		piece := js[:n]
		if !inString && bytes.ContainsAny(piece, " \t\r\n") {
			piece = bytes.Join(bytes.Fields(piece), nil)
		}
		_, _ = h.Write(piece) // it cannot fail
		if !inString || !escaped(js[:n-1]) {
			inString = !inString
		}
		js = js[n:]
	}
	return h.Sum64()
}

func (c *known) seen(id string) bool {
	h := maphash.String(c.seed, id)
	_, now := c.ids[h]
	_, old := c.old[h]
	return now || old
}
