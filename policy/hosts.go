package policy

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// hostOf takes the host out of a URL, a host:port or a user@host:path. It
// reads as URL parsers do: what stands before the last @ of the authority is
// not the host.
func hostOf(s string) string {
	if _, after, ok := strings.Cut(s, "://"); ok {
		s = after
	}
	if strings.ContainsRune(s, '\\') {
		return "" // clients disagree about it: no host that anyone can rely on
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = s[i+1:]
	}
	if strings.HasPrefix(s, "[") {
		if i := strings.IndexByte(s, ']'); i > 0 {
			return s[1:i]
		}
	}
	if i := strings.IndexByte(s, ':'); i >= 0 && (strings.Count(s, ":") == 1 || strings.Contains(s[i:], "$")) {
		s = s[:i]
	}
	return strings.ToLower(strings.TrimSuffix(s, "."))
}

// isLoopbackHost reports whether a host name or address is this machine.
func isLoopbackHost(h string) bool {
	h = strings.Trim(strings.ToLower(h), "[]")
	h = strings.TrimSuffix(h, ".")
	switch h {
	case "localhost", "ip6-localhost", "ip6-loopback",
		"host.docker.internal", "gateway.docker.internal", "host.containers.internal", "host.lima.internal": // this machine, from within a container
		return true
	}
	if strings.HasSuffix(h, ".localhost") {
		return true
	}
	if a, err := netip.ParseAddr(h); err == nil {
		a = a.Unmap()
		return a.IsLoopback() || a.IsUnspecified()
	}
	return shortLoopback(h)
}

// shortLoopback reads the short and numeric spellings of an IPv4 address that
// resolvers take: 127.1, 0x7f000001, 2130706433, 0.
func shortLoopback(h string) bool {
	parts := strings.Split(h, ".")
	if len(parts) > 4 || h == "" {
		return false
	}
	var n [4]uint64
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 0, 32)
		if err != nil {
			return false
		}
		n[i] = v
	}
	if len(parts) == 1 {
		return n[0]>>24 == 127 || n[0] == 0
	}
	return n[0] == 127
}

// isLoopbackURL reports whether a URL or host names this machine.
func isLoopbackURL(s string) bool {
	low := strings.ToLower(s)
	if strings.HasPrefix(low, "file:") || strings.HasPrefix(low, "unix:") || strings.HasPrefix(low, "http+unix:") {
		return true
	}
	return isLoopbackHost(hostOf(s))
}

// urlsOf lists the words of a command that a client takes as URLs: operands
// and --url.
func urlsOf(a *args) []shell.Word {
	out := a.all("--url")
	for _, w := range a.words {
		out = append(out, w)
	}
	return out
}

// isRemoteSpec reports whether a transfer tool takes the word as a place on
// another machine: host:path, user@host:path, scheme://host/path. C:\x
// is a drive, and a slash before the colon makes it a path.
func isRemoteSpec(s string) bool {
	if i := strings.Index(s, "://"); i > 0 {
		scheme := strings.ToLower(s[:i])
		return scheme != "file" && !isLoopbackURL(s)
	}
	if strings.HasPrefix(s, "[") {
		i := strings.Index(s, "]:")
		return i > 0 && !isLoopbackHost(s[1:i])
	}
	i := strings.IndexByte(s, ':')
	if i < 1 || strings.ContainsAny(s[:i], `/\ `) {
		return false
	}
	if i == 1 && s[0] >= 'A' && s[0] <= 'Z' && len(s) > 2 && (s[2] == '\\' || s[2] == '/') {
		return false
	}
	host := s[:i]
	if j := strings.LastIndexByte(host, '@'); j >= 0 {
		host = host[j+1:]
	}
	return !isLoopbackHost(host)
}
