package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOwnFileSaysHowToTell(t *testing.T) {
	user := write(t, "config.toml", "[notify]\ncommand = \"say\"\nwebhook = \"https://h.example/x\"\nntfy = \"https://ntfy.example/t\"\nevents = [\"end\"]\n"+
		"heartbeat_file = \"beat\"\nheartbeat_every = \"1m\"\n[host]\nmemory = \"8GiB\"\nspace = \"2GB\"\ninhibit = false\n")
	c, err := Load(user, "")
	if err != nil {
		t.Fatal(err)
	}
	if c.Notify.Command != "say" || c.Notify.HeartbeatEvery != time.Minute || c.Notify.HeartbeatFile != filepath.Join(user, "beat") || len(c.Notify.Events) != 1 {
		t.Errorf("%+v", c.Notify)
	}
	if c.Host != (Host{Inhibit: false, Memory: 8 << 30, Space: 2e9}) {
		t.Errorf("%+v", c.Host)
	}
}

// A repository is written by the agent too: it can name no command and no
// address, and ask for more care only.
func TestRepositoryCannotChooseWhereItIsTold(t *testing.T) {
	for key, value := range map[string]string{
		"command": `"curl x"`, "webhook": `"https://x.example"`, "ntfy": `"https://x.example/t"`,
		"heartbeat_file": `"/etc/passwd"`, "heartbeat_url": `"https://x.example"`, "heartbeat_every": `"1h"`,
	} {
		_, err := Load("", write(t, FileName, "[notify]\n"+key+" = "+value+"\n"))
		if err == nil || !strings.Contains(err.Error(), "notify."+key) || !strings.Contains(err.Error(), "your own config.toml") {
			t.Errorf("%s: %v", key, err)
		}
	}
	user := write(t, "config.toml", "[host]\nmemory = \"8GiB\"\nspace = \"2GiB\"\n")
	for text, want := range map[string]Host{
		"memory = \"9GiB\"\nspace = \"0\"":    {Inhibit: true, Memory: 8 << 30, Space: 2 << 30},
		"memory = \"0\"":                      {Inhibit: true, Memory: 8 << 30, Space: 2 << 30},
		"memory = \"1GiB\"\nspace = \"3GiB\"": {Inhibit: true, Memory: 1 << 30, Space: 3 << 30},
	} {
		c, err := Load(user, write(t, FileName, "[host]\n"+text+"\n"))
		if err != nil || c.Host != want {
			t.Errorf("%q: %+v, %v", text, c.Host, err)
		}
	}
}

func TestWrongWaysToTell(t *testing.T) {
	for text, want := range map[string]string{
		"[notify]\nevents = [\"ends\"]\n":          `"ends" is not one of`,
		"[notify]\nwebhook = \"ftp://a/secret\"\n": "notify.webhook: not an address",
		"[notify]\nntfy = \"topic\"\n":             "notify.ntfy: not an address",
		"[host]\nmemory = \"lots\"\n":              `"lots" is not a size`,
		"[host]\nspace = \"-1GiB\"\n":              "is not a size",
		"[host]\nspace = \"1e400GiB\"\n":           "is not a size",
		"[notify]\nheartbeat_url = \"https://\"\n": "notify.heartbeat_url",
		"[notify]\nheartbeat_every = \"0s\"\n":     "longer than zero",
	} {
		_, err := Load(write(t, "config.toml", text), "")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
