package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Usage is what one reply of the model has used. The client writes a record
// for each block of a reply, all with the same Message; Output is not final in
// them.
type Usage struct {
	Message                                 string // id
	Input, Output, CacheRead, CacheCreation int64
}

// Counted is what counts against a cap of tokens: all but what was read from
// the cache, which the provider's own limits leave out too.
func (u Usage) Counted() int64 { return u.Input + u.Output + u.CacheCreation }

// Usage is what an event's record says of its reply; false when it says
// nothing.
func (e Event) Usage() (Usage, bool) {
	switch e.Kind {
	case KindText, KindThinking, KindCall:
	default:
		return Usage{}, false
	}
	m := gjson.GetMany(e.Record, "message.id", "message.usage")
	if !m[1].IsObject() {
		return Usage{}, false
	}
	u := usageOf(m[1])
	u.Message = strings.Clone(m[0].String()) // who keeps it must not keep the line
	return u, true
}

func usageOf(v gjson.Result) Usage {
	return Usage{
		Input: v.Get("input_tokens").Int(), Output: v.Get("output_tokens").Int(),
		CacheRead: v.Get("cache_read_input_tokens").Int(), CacheCreation: v.Get("cache_creation_input_tokens").Int(),
	}
}

// modelTokens is what a result record's account by model comes to, which has
// subagents and earlier turns in it; 0 when there is none.
func modelTokens(models gjson.Result) (n int64) {
	models.ForEach(func(_, m gjson.Result) bool {
		n += m.Get("inputTokens").Int() + m.Get("outputTokens").Int() + m.Get("cacheCreationInputTokens").Int()
		return true
	})
	return n
}
