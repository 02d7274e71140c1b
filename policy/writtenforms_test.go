package policy

import "testing"

// TestWrittenForms: what a file of settings would have done stays to be seen,
// be it in parts, by an action or by a task's request.
func TestWrittenForms(t *testing.T) {
	s := builtin(t)
	for _, c := range []struct {
		name, text string
		want       Verdict
	}{
		{"/r/.vscode/tasks.json", `{"tasks":[{"command":"git","args":["push","origin"]}]}`, VerdictMention},
		{"/r/tasks.json", "{\n  \"command\": \"npm\",\n  \"args\": [\n    \"publish\"\n  ]\n}\n", VerdictMention},
		{"/r/x.plist", "<array>\n  <string>git</string>\n  <string>push</string>\n</array>", VerdictMention},
		{"/r/w.yml", "steps:\n- uses: softprops/action-gh-release@v2\n", VerdictMention},
		{"/r/w.yml", "steps:\n- uses: peter-evans/create-pull-request@v7\n", VerdictMention},
		{"/r/w.yml", "steps:\n- uses: docker/build-push-action@v6\n", VerdictMention},
		{"/r/play.yml", "- uri: {url: https://api.example.com, method: POST}\n", VerdictMention},
		{"/r/play.yml", "- uri: {url: https://example.com, method: GET}\n", VerdictLocal},
		{"/r/w.yml", "steps:\n- uses: actions/checkout@v4\n- uses: actions/setup-node@v4\n- uses: docker/setup-buildx-action@v3\n- run: npm test\n", VerdictLocal},
		{"/r/tasks.json", `{"tasks":[{"command":"npm","args":["test"]}]}`, VerdictLocal},
		{"/r/a.hs", "main = callProcess \"git\" [\"push\"]\n", VerdictMention},
		{"/r/a.cs", "await new HttpClient().PostAsync(\"https://api.example.com\", c);", VerdictMention},
	} {
		in := mustJSON(t, map[string]string{"file_path": c.name, "content": c.text})
		if r := s.Classify(Call{Tool: "Write", Input: in}); r.Verdict != c.want {
			t.Errorf("%s %q is %s by %v, want %s", c.name, c.text, r.Verdict, r.Rules(), c.want)
		}
	}
}
