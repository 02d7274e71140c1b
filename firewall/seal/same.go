package seal

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/seed-b23e517c/loop/receipt"
)

// sameInput reports whether the input that a hook was given is the one that
// the stream shows. The stream has what the model wrote; the client makes paths
// absolute, takes numbers and truth values out of strings and fills in defaults
// before it asks.
func sameInput(shown, given json.RawMessage) bool {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(shown, &a) != nil || json.Unmarshal(given, &b) != nil || a == nil || b == nil {
		return sameJSON(shown, given)
	}
	for key, value := range a {
		if other, ok := b[key]; ok && !sameValue(key, value, other) || !ok && !isDefault(value) {
			return false
		}
	}
	for key, value := range b {
		if _, ok := a[key]; !ok && !isDefault(value) {
			return false
		}
	}
	return true
}

func sameJSON(a, b json.RawMessage) bool {
	x, errX := receipt.Canonical(a)
	y, errY := receipt.Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func sameValue(key string, shown, given json.RawMessage) bool {
	if sameJSON(shown, given) {
		return true
	}
	var text, path string
	if json.Unmarshal(shown, &text) != nil {
		return false
	}
	if text == strings.TrimSpace(string(given)) {
		return true // "5" for 5, "true" for true
	}
	if !strings.HasSuffix(key, "path") || json.Unmarshal(given, &path) != nil || !filepath.IsAbs(path) {
		return false
	}
	// From which folder the client made it absolute is not ours to know; what
	// was named below it is.
	rel := filepath.Clean("/" + strings.TrimPrefix(filepath.Clean(text), "~"))
	for strings.HasPrefix(rel, "/../") {
		rel = strings.TrimPrefix(rel, "/..")
	}
	return rel == "/" || strings.HasSuffix(path, rel)
}

// isDefault reports whether a value is what the client fills in where the model
// said nothing.
func isDefault(v json.RawMessage) bool {
	switch strings.TrimSpace(string(v)) {
	case "null", "false", `""`, "0":
		return true
	}
	return false
}
