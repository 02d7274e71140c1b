package policy

import "testing"

// TestToldModule: a module that inline code runs with words of its own is read
// as that command.
func TestToldModule(t *testing.T) {
	s := builtin(t)
	for _, c := range []struct {
		line string
		want Verdict
	}{
		{`python3 -c "import runpy,sys; sys.argv=['twine','upload','dist/x']; runpy.run_module('twine', run_name='__main__')"`, VerdictExternal},
		{`python3 -c "import runpy,sys; sys.argv=['x','upload','dist/x']; runpy.run_module('twine.__main__')"`, VerdictExternal},
		{`python3 -c "import sys; sys.argv = ['poetry', 'publish']; from poetry.console.application import main; main()"`, VerdictExternal},
		{`python3 -c "import runpy; runpy.run_path('scripts/deploy.py')"`, VerdictExternal},
		{`python3 -c "import sys; sys.argv=['twine','check','dist/x']; from twine.__main__ import main; main()"`, VerdictLocal},
		{`python3 -c "import runpy; runpy.run_module('pytest', run_name='__main__')"`, VerdictLocal},
		{`python3 -c "import sys; print(sys.argv == ['git', 'push'])"`, VerdictMention},
	} {
		if r := s.ClassifyCommand(c.line, ""); r.Verdict != c.want {
			t.Errorf("%s is %s by %v, want %s", c.line, r.Verdict, r.Rules(), c.want)
		}
	}
}

// TestSetProperties: what a request or a process is told by its properties
// counts like a call.
func TestSetProperties(t *testing.T) {
	s := builtin(t)
	for _, c := range []struct {
		line string
		want Verdict
	}{
		{`swift -e 'import Foundation; let p = Process(); p.executableURL = URL(fileURLWithPath: "/usr/bin/git"); p.arguments = ["push"]; try p.run()'`, VerdictExternal},
		{`swift -e 'import Foundation; let p = Process(); p.launchPath = "/usr/bin/env"; p.arguments = ["npm", "publish"]; p.launch()'`, VerdictExternal},
		{`swift -e 'import Foundation; let p = Process(); p.executableURL = URL(fileURLWithPath: "/usr/bin/git"); p.arguments = ["status"]; try p.run()'`, VerdictLocal},
		{`groovy -e 'def c = new URL("https://api.example.com").openConnection(); c.requestMethod == "POST"'`, VerdictLocal},
		{"cat > a.swift <<'S'\nimport Foundation\nvar r = URLRequest(url: URL(string: \"https://api.example.com\")!)\nr.httpMethod = \"PATCH\"\nS\nswift a.swift", VerdictExternal},
		{"cat > a.dart <<'D'\nimport 'dart:io';\nvoid main() async { await Process.run('git', ['push']); }\nD\ndart run a.dart", VerdictExternal},
		{"cat > a.dart <<'D'\nimport 'dart:io';\nvoid main() async { await Process.run('git', ['status']); }\nD\ndart run a.dart", VerdictLocal},
	} {
		if r := s.ClassifyCommand(c.line, ""); r.Verdict != c.want {
			t.Errorf("%s is %s by %v, want %s", c.line, r.Verdict, r.Rules(), c.want)
		}
	}
}

// TestToldByOption: a program that no rule speaks of is judged by what an
// option, a compound word or an address tells it.
func TestToldByOption(t *testing.T) {
	s := builtin(t)
	for _, c := range []struct {
		line string
		want Verdict
	}{
		{"acme-notes build --push", VerdictExternal},
		{"acme-notes build --push --dry-run", VerdictLocal},
		{"acme-notes build --no-push", VerdictLocal},
		{"acmectl create ticket --title x", VerdictExternal},
		{"acmectl todo ticket create x", VerdictExternal},
		{"acmectl create component x", VerdictLocal},
		{"acmectl post-comment 3", VerdictExternal},
		{"acmectl list-issues", VerdictLocal},
		{"acloud vm RunInstances --n 1", VerdictExternal},
		{"acloud vm DescribeInstances", VerdictLocal},
		{"acmeq -u amqp://q.example.com -m x", VerdictExternal},
		{"acmeq -u amqp://localhost -m x", VerdictLocal},
	} {
		if r := s.ClassifyCommand(c.line, ""); r.Verdict != c.want {
			t.Errorf("%s is %s by %v, want %s", c.line, r.Verdict, r.Rules(), c.want)
		}
	}
}
