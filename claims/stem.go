package claims

import "strings"

// short are abbreviations and words for the same thing, by their stems.
var short = map[string]string{
	"req": "request", "alloc": "allocat", "allocation": "allocat", "cov": "coverag", "cover": "coverag", "err": "error", "conn": "connection", "msg": "messag", "op": "operat",
	"operation": "operat", "mem": "memory", "lat": "latency", "dep": "dependency", "bench": "benchmark", "failure": "fail", "speedup": "fast", "quick": "fast", "speed": "fast",
	"avg": "mean", "averag": "mean", "average": "mean", "med": "median", "minimum": "min", "maximum": "max", "took": "tak", "ran": "run", "success": "pass", "succeed": "pass", "ok": "pass",
	"green": "pass", "spec": "test", "file": "fil", "pars": "pars", "ignor": "skip", "ignored": "skip", "acc": "accuracy", "txn": "transaction", "sess": "session",
	"warn": "warning", "func": "function", "stmt": "statement",
}

// stem is a word in the form in which words are compared: singular, without the
// ending of a verb, abbreviations written out.
func stem(word string) string {
	w := strings.ToLower(word)
	if u, ok := units[w]; ok && len(w) > 1 {
		return u
	}
	w = singular(w)
	if u, ok := units[w]; ok && len(w) > 1 {
		return u
	}
	if s, ok := short[w]; ok {
		return s
	}
	w = verb(w)
	if s, ok := short[w]; ok {
		return s
	}
	return w
}

func singular(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		return w[:len(w)-2]
	case len(w) > 2 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us"):
		return w[:len(w)-1]
	}
	return w
}

// verb takes the ending of a verb off, and the double letter before it.
func verb(w string) string {
	for _, end := range []string{"ing", "ed", "er", "e"} {
		s, ok := strings.CutSuffix(w, end)
		if !ok || len(s) < 3 {
			continue
		}
		if n := len(s); s[n-1] == s[n-2] && s[n-1] != 's' && s[n-1] != 'l' {
			s = s[:n-1]
		}
		return s
	}
	return w
}
