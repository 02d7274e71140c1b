package config

import (
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

type fileNotify struct {
	Command        *string   `toml:"command"`
	Webhook        *string   `toml:"webhook"`
	Ntfy           *string   `toml:"ntfy"`
	Events         []string  `toml:"events"`
	HeartbeatFile  *string   `toml:"heartbeat_file"`
	HeartbeatURL   *string   `toml:"heartbeat_url"`
	HeartbeatEvery *duration `toml:"heartbeat_every"`
}

type fileHost struct {
	Inhibit *bool `toml:"inhibit"`
	Space   *size `toml:"space"`
	Memory  *size `toml:"memory"`
}

// own is the first key that only the user's own file may have, "" = none.
func (n fileNotify) own() string {
	for _, k := range []struct {
		name string
		said bool
	}{
		{"command", n.Command != nil}, {"webhook", n.Webhook != nil}, {"ntfy", n.Ntfy != nil},
		{"heartbeat_file", n.HeartbeatFile != nil}, {"heartbeat_url", n.HeartbeatURL != nil}, {"heartbeat_every", n.HeartbeatEvery != nil},
	} {
		if k.said {
			return k.name
		}
	}
	return ""
}

// size is a number of bytes written as "500MiB", "8GB" or "0".
type size uint64

func (s *size) UnmarshalText(b []byte) error {
	text := strings.TrimSpace(string(b))
	digits := strings.TrimRight(text, "KMGTiB ")
	unit, ok := map[string]float64{
		"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}[strings.TrimSpace(text[len(digits):])]
	n, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || n < 0 || n*unit > math.MaxInt64 || math.IsNaN(n) {
		return fmt.Errorf("%q is not a size like \"500MiB\" or \"8GiB\"", b)
	}
	*s = size(n * unit)
	return nil
}

func (c *Config) mergeNotify(n fileNotify, path string) {
	set(c, "notify.command", path, &c.Notify.Command, n.Command)
	set(c, "notify.webhook", path, &c.Notify.Webhook, n.Webhook)
	set(c, "notify.ntfy", path, &c.Notify.Ntfy, n.Ntfy)
	set(c, "notify.heartbeat_file", path, &c.Notify.HeartbeatFile, n.HeartbeatFile)
	set(c, "notify.heartbeat_url", path, &c.Notify.HeartbeatURL, n.HeartbeatURL)
	setDuration(c, "notify.heartbeat_every", path, &c.Notify.HeartbeatEvery, n.HeartbeatEvery)
	if n.Events != nil {
		c.Notify.Events, c.Sources["notify.events"] = n.Events, path
	}
	if f := c.Notify.HeartbeatFile; f != "" && !filepath.IsAbs(f) {
		c.Notify.HeartbeatFile = filepath.Join(filepath.Dir(path), f)
	}
}

// mergeHost takes over what a file says of the machine. A repository can ask for
// more care and not for less.
func (c *Config) mergeHost(h fileHost, path string, repository bool) {
	set(c, "host.inhibit", path, &c.Host.Inhibit, h.Inhibit)
	if h.Space != nil && (!repository || uint64(*h.Space) > c.Host.Space) {
		c.Host.Space, c.Sources["host.space"] = uint64(*h.Space), path
	}
	if h.Memory != nil && (!repository || c.Host.Memory == 0 || *h.Memory != 0 && uint64(*h.Memory) < c.Host.Memory) {
		c.Host.Memory, c.Sources["host.memory"] = uint64(*h.Memory), path
	}
}

func (c *Config) checkNotify() error {
	for _, e := range c.Notify.Events {
		if !slices.Contains(NotifyEvents(), e) {
			return fmt.Errorf("notify.events: %q is not one of %s", e, strings.Join(NotifyEvents(), ", "))
		}
	}
	for _, a := range []struct{ name, value string }{
		{"webhook", c.Notify.Webhook}, {"ntfy", c.Notify.Ntfy}, {"heartbeat_url", c.Notify.HeartbeatURL},
	} {
		// The address is not repeated: it may hold a secret.
		if u, err := url.Parse(a.value); a.value != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
			return fmt.Errorf("notify.%s: not an address that begins with https:// or http://", a.name)
		}
	}
	return nil
}
