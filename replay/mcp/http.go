package mcp

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func overHTTP(s Server, o Options) (mcp.Transport, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &MissingError{What: "the server's address is none of HTTP"}
	}
	base := o.HTTP
	if base == nil {
		base = &http.Transport{}
	}
	client := &http.Client{
		Transport: headers{base: base, set: s.Headers, scheme: u.Scheme, host: u.Host},
		// What is sent is for the server that was shown.
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch {
			case r.URL.Host != u.Host || r.URL.Scheme != u.Scheme:
				return fmt.Errorf("the server sends on to another, %s", r.URL.Host)
			case len(via) >= 5:
				return errors.New("the server sends on without end")
			}
			return nil
		},
	}
	if s.Way() == SSE {
		return &mcp.SSEClientTransport{Endpoint: s.URL, HTTPClient: client}, nil
	}
	// Nothing is tried again: a call may have had its effect.
	return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true}, nil
}

// headers adds those of the configuration to each request to its server, and
// lets none go elsewhere.
type headers struct {
	base         http.RoundTripper
	set          map[string]string
	scheme, host string
}

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != h.host || r.URL.Scheme != h.scheme {
		return nil, fmt.Errorf("the server names an address on another host, %s", r.URL.Host)
	}
	r = r.Clone(r.Context())
	for k, v := range h.set {
		r.Header.Set(k, v)
	}
	return h.base.RoundTrip(r)
}
