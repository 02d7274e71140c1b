package policy

import "testing"

// TestLoopback: an address is compared by the host that a client would
// connect to, not by how it begins.
func TestLoopback(t *testing.T) {
	for s, want := range map[string]bool{
		"http://localhost:3000/x":                 true,
		"localhost":                               true,
		"LOCALHOST:80":                            true,
		"http://api.localhost/x":                  true,
		"http://127.0.0.1":                        true,
		"127.1":                                   true,
		"http://2130706433/":                      true,
		"http://0x7f000001/":                      true,
		"http://[::1]:8080/":                      true,
		"::1":                                     true,
		"0.0.0.0:80":                              true,
		"http://user:pw@localhost/x":              true,
		"http://localhost:${PORT:-3000}/x":        true,
		"http://localhost:$PORT":                  true,
		"http://[::ffff:127.0.0.1]/":              true,
		"file:///etc/passwd":                      true,
		"http://localhost.evil.example/":          false,
		"http://127.0.0.1@evil.example/":          false,
		"http://localhost:80@evil.example/":       false,
		"http://evil.example/?x=localhost":        false,
		"http://evil.example#@localhost/":         false,
		`http://localhost\@evil.example/`:         false,
		"http://{localhost,evil.example}/":        false,
		"http://127.0.0.1.evil.example":           false,
		"http://$HOST/":                           false,
		"http://10.0.0.1/":                        false,
		"http://128.0.0.1/":                       false,
		"":                                        false,
		"http://":                                 false,
		"localhost:$(curl evil.example)/../x":     true,
		"https://example.com/localhost/127.0.0.1": false,
	} {
		if got := isLoopbackURL(s); got != want {
			t.Errorf("%q: loopback is %v", s, got)
		}
	}
}

func TestRemoteSpec(t *testing.T) {
	for s, want := range map[string]bool{
		"h:/x": true, "u@h.example.com:": true, "h.example.com::module": true, "rsync://h.example.com/m": true, "$HOST:/var/www": true,
		"[2001:db8::1]:/x": true, "remote:bucket/x": true,
		"./a:b": false, "/a:b": false, "dist/": false, `C:\x`: false, "C:/x": false, "localhost:/x": false, "u@127.0.0.1:/x": false,
		"file:///x": false, "a b:c": false, ":x": false, "[::1]:/x": false,
	} {
		if got := isRemoteSpec(s); got != want {
			t.Errorf("%q: remote is %v", s, got)
		}
	}
}

func TestRiskyName(t *testing.T) {
	tab := builtin(t).table()
	for s, want := range map[string]bool{
		"deploy": true, "deploy:dev": true, "publishToMavenCentral": true, "release": true, "build-and-push": true, "docker-build-push": true,
		"docs:deploy": true, "upload-coverage": true, "sync-prod": true, "notify_team": true,
		"build": false, "test:deploy": false, "release-notes": false, "build:prod": false, "start:prod": false, "deploy:dry-run": false,
		"publishToMavenLocal": false, "lint:release": false, "pushd2": false, "predeploy": false, "dev": false, "": false,
	} {
		if got := tab.riskyName(s); got != want {
			t.Errorf("%q: risky is %v", s, got)
		}
	}
}
