package transcript

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// maxDepth is how deep a record may be nested. The JSON reader recurses, and
// a deep enough record would overflow its stack.
const maxDepth = 1000

// valueEnd returns the index behind the JSON object or array that begins at
// s[0], or -1 when it does not end or is nested too deep.
func valueEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			end := stringEnd(s, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return -1
			}
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// stringEnd returns the index behind the string whose opening quote is s[i].
func stringEnd(s string, i int) int {
	for at := i + 1; ; {
		j := strings.IndexByte(s[at:], '"')
		if j < 0 {
			return -1
		}
		j += at
		slashes := 0
		for k := j - 1; k > i && s[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			return j + 1
		}
		at = j + 1
	}
}

// eachField calls f with every key of a valid JSON object and its value as
// raw JSON, without looking into the values.
func eachField(obj string, f func(key, value string)) {
	for i := skipSpace(obj, 1); i < len(obj) && obj[i] == '"'; {
		end := stringEnd(obj, i)
		if end < 0 {
			return
		}
		key := unescape(obj[i+1 : end-1])
		at := skipSpace(obj, end)
		if end = rawEnd(obj, at); end < 0 {
			return
		}
		f(key, obj[at:end])
		i = skipSpace(obj, end)
	}
}

// eachElement calls f with every element of a valid JSON array as raw JSON.
func eachElement(list string, f func(value string)) {
	if list == "" || list[0] != '[' {
		return
	}
	for i := skipSpace(list, 1); i < len(list) && list[i] != ']'; {
		end := rawEnd(list, i)
		if end < 0 {
			return
		}
		f(list[i:end])
		i = skipSpace(list, end)
	}
}

// skipSpace goes over white space and what divides fields and elements.
func skipSpace(s string, i int) int {
	for i < len(s) {
		switch s[i] {
		case ' ', '\t', '\n', '\r', ',', ':':
			i++
		default:
			return i
		}
	}
	return i
}

// rawEnd returns the index behind the JSON value that begins at s[i], or -1.
func rawEnd(s string, i int) int {
	if i >= len(s) {
		return -1
	}
	switch s[i] {
	case '"':
		return stringEnd(s, i)
	case '{', '[':
		n := valueEnd(s[i:])
		if n < 0 {
			return -1
		}
		return i + n
	}
	n := strings.IndexAny(s[i:], ",]} \t\r\n")
	if n <= 0 {
		return -1
	}
	return i + n
}

// first returns the first of the keys that v has.
func first(v gjson.Result, keys ...string) gjson.Result {
	for _, k := range keys {
		if r := v.Get(k); r.Exists() && r.Type != gjson.Null {
			return r
		}
	}
	return gjson.Result{}
}

// parseTime reads a record's timestamp; what is not one is the zero time.
func parseTime(s string) time.Time {
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// epoch reads a moment given as seconds or milliseconds since 1970, as a
// number or in a string, or as RFC 3339.
func epoch(v gjson.Result) time.Time {
	if v.Type == gjson.String {
		if t := parseTime(v.String()); !t.IsZero() {
			return t
		}
	}
	n := v.Int()
	switch {
	case n <= 0:
		return time.Time{}
	case n > 1e11: // seconds of the year 5138: these are milliseconds
		return time.UnixMilli(n).UTC()
	}
	return time.Unix(n, 0).UTC()
}

func stringsOf(v gjson.Result) []string {
	var out []string
	for _, e := range v.Array() {
		if e.Type == gjson.String {
			out = append(out, e.String())
		}
	}
	return out
}
