package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
)

// logged gives the record that a collector of logs has put into a line of its
// own, as a text: Docker, journald and logging libraries do. "" = it is none.
func logged(obj string) string {
	if obj[0] != '{' {
		return ""
	}
	inner := ""
	eachField(obj, func(key, value string) {
		switch key {
		case "log", "MESSAGE", "message", "msg", "line", "textPayload":
		default:
			return
		}
		if s := strings.TrimSpace(text(value)); inner == "" && startsRecord(s) && valueEnd(s) == len(s) && gjson.Valid(s) {
			inner = s
		}
	})
	return inner
}

func startsRecord(s string) bool {
	for _, start := range recordStarts {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}

// unquoted is the object in a JSON string, where an input was kept as its text;
// else raw as it is.
func unquoted(raw string) string {
	if s := strings.TrimSpace(text(raw)); strings.HasPrefix(s, "{") && valueEnd(s) == len(s) && gjson.Valid(s) {
		return s
	}
	return raw
}
