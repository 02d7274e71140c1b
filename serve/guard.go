package serve

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"strings"
)

const (
	cookieName = "loop"
	maxForm    = 256 << 10 // an answer may take three times its length
	maxAnswer  = 64 << 10
)

// ServeHTTP lets nothing through to the pages that is not the person's.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.headers(w.Header())
	switch {
	case !s.ownHost(r.Host):
		s.refuse(w, "This is not the address of this page.")
	case !fromHere(r):
		s.refuse(w, "Another page asked for this.")
	case s.exchange(w, r):
	case !s.known(r):
		s.refuse(w, "Open the link that loop serve printed. It can be used once: for another browser, end loop serve and start it again.")
	case r.Method == http.MethodPost && !s.ownForm(w, r):
		s.refuse(w, "This form is not one of this page. Go back and reload it.")
	default:
		s.begin()
		defer s.end()
		http.StripPrefix(strings.TrimSuffix(s.base, "/"), s.mux).ServeHTTP(w, r)
	}
}

func (s *server) headers(h http.Header) {
	h.Set("Content-Security-Policy", s.page.policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	// With no-referrer a browser says nothing of where a form is from.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// ownHost: a foreign name that leads here (DNS rebinding) is in the Host header.
func (s *server) ownHost(host string) bool {
	_, port, err := net.SplitHostPort(s.host)
	return err == nil && (host == s.host || host == "localhost:"+port)
}

// fromHere: the person typed the address, or a page of this server asks. A
// browser says so; what changes something must be said to come from here.
func fromHere(r *http.Request) bool {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	own := origin == "http://"+r.Host
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return (site == "" || site == "none" || site == "same-origin") && (origin == "" || own)
	case http.MethodPost:
		return own && (site == "" || site == "same-origin")
	}
	return false
}

// exchange takes the token of the link for a cookie, once, and sends the
// browser to the address without it.
func (s *server) exchange(w http.ResponseWriter, r *http.Request) bool {
	token := r.URL.Query().Get("token")
	if r.Method != http.MethodGet || r.URL.Path != s.base || token == "" {
		return false
	}
	if !s.known(r) {
		if !equal(token, s.link) || !s.first() {
			return false
		}
		http.SetCookie(w, &http.Cookie{Name: cookieName, Value: s.session, Path: s.base, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
	http.Redirect(w, r, s.base, http.StatusSeeOther)
	return true
}

// first reports whether the link was not used before.
func (s *server) first() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.used
	s.used = true
	return !was
}

// known: below the right path, with the cookie of the session.
func (s *server) known(r *http.Request) bool {
	c, err := r.Cookie(cookieName)
	return err == nil && strings.HasPrefix(r.URL.Path, s.base) && equal(c.Value, s.session)
}

// ownForm: the form was made by this server for just this address.
func (s *server) ownForm(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	return r.ParseForm() == nil && equal(r.PostForm.Get("token"), s.keyed("form", strings.TrimPrefix(r.URL.Path, s.base)))
}

// keyed is a value that only this server can make.
func (s *server) keyed(purpose, value string) string {
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte(purpose + "\x00" + value))
	return hex.EncodeToString(m.Sum(nil))
}

func equal(got, want string) bool { return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1 }

func (s *server) refuse(w http.ResponseWriter, text string) {
	s.page.write(w, http.StatusForbidden, page{Title: "Refused", Text: text})
}
