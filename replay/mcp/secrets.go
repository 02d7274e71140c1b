package mcp

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// shortestSecret is the length from which on a value is looked for in texts:
// "1" and "true" stand in every one.
const shortestSecret = 6

// secrets puts names in the place of the values of a configuration.
type secrets struct{ r *strings.Replacer }

// hide is for the values of an expanded configuration. Where a value stands
// whole in what is not secret anyway, such as a folder among the arguments, it
// is hidden all the same.
func (s Server) hide() secrets {
	var pairs []string
	add := func(name, value string) {
		if len(value) >= shortestSecret {
			pairs = append(pairs, value, "["+name+"]")
		}
	}
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		add(k, s.Env[k])
	}
	for _, k := range slices.Sorted(maps.Keys(s.Headers)) {
		add(k, s.Headers[k])
		// A server repeats the token, and not the word before it.
		if _, token, ok := strings.Cut(s.Headers[k], " "); ok {
			add(k, token)
		}
	}
	// What a query or a password of the address holds; what is in its path is
	// the address.
	if u, err := url.Parse(s.URL); err == nil {
		password, _ := u.User.Password()
		add("password", password)
		for k, values := range u.Query() {
			for _, v := range values {
				add(k, v)
				add(k, url.QueryEscape(v))
			}
		}
	}
	return secrets{strings.NewReplacer(pairs...)}
}

func (s secrets) in(text string) string {
	if s.r == nil {
		return text
	}
	return s.r.Replace(text)
}
