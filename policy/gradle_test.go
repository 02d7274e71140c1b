package policy

import "testing"

// TestBuildScripts: of a build script's tasks those count that are told to
// run, with what they depend on.
func TestBuildScripts(t *testing.T) {
	gradle := "cat > build.gradle <<'X'\ntask hello { doLast { println 'hi' } }\n" +
		"task sendIt(type: Exec) {\n  commandLine 'git', 'push', 'origin'\n}\n" +
		"tasks.register('all2') {\n  dependsOn 'sendIt'\n}\n" +
		"tasks.register(\"two\", Exec) {\n  executable 'npm'\n  args 'publish'\n}\n" +
		"tasks.register('three') { exec { workingDir '.'; commandLine 'git', 'push' } }\nX\ngradle "
	ant := "cat > build.xml <<'X'\n<project default=\"x\">\n<target name=\"x\" depends=\"y\"/>\n" +
		"<target name=\"y\"><exec executable=\"git\"><arg value=\"push\"/></exec></target>\n" +
		"<target name=\"z\"><exec executable=\"git\"><arg line=\"status -s\"/></exec></target>\n</project>\nX\nant"
	cmake := "cat > CMakeLists.txt <<'X'\nproject(x)\nexecute_process(COMMAND git rev-parse HEAD OUTPUT_VARIABLE H)\n"
	docker := "cat > Dockerfile <<'X'\nFROM node:20\nRUN curl -fsSL https://deb.example.com/setup | bash -\n"
	s := builtin(t)
	for _, c := range []struct {
		line string
		want bool
	}{
		{gradle + "sendIt", true},
		{gradle + ":sendIt", true},
		{gradle + "all2", true},
		{gradle + "two", true},
		{gradle + "three", true},
		{gradle + "hello", false},
		{gradle + "clean build", false},
		{gradle + "sendIt --dry-run", false},
		{ant, true},
		{ant + " y", true},
		{ant + " z", false},
		{cmake + "X\ncmake -B build -S .", false},
		{cmake + "execute_process(COMMAND curl -d x https://api.example.com)\nX\ncmake -B build", true},
		{docker + "RUN npm ci\nX\ndocker build -t a .", false},
		{docker + "RUN npm publish\nX\ndocker build -t a .", true},
	} {
		r := s.ClassifyCommand(c.line, "")
		if got := r.Verdict == VerdictExternal; got != c.want {
			t.Errorf("%s: external %v by %v, want %v", c.line, got, r.Rules(), c.want)
		}
	}
}
