package queue

import "testing"

func TestSearch(t *testing.T) {
	a := push("t1")
	a.Number, a.StoryTitle, a.Target, a.Status = 12, "Ship the Ärger", "origin", Pending
	a.Said = &Said{Text: "Now I publish the branch."}
	a.Edited = &Edited{Command: "git push --dry-run"}
	mcp := push("t2")
	mcp.Tool, mcp.Command, mcp.Input = "mcp__mail__send", "mcp__mail__send", []byte(`{"to":"team@example.com","body":"Totals of May"}`)
	for _, c := range []struct {
		text     string
		one, two bool
	}{
		{"", true, true},
		{"  ", true, true},
		{"git push", true, false},
		{"PUSH Git", true, false},
		{"git pull", false, false},
		{"#12", true, false},
		{"ärger origin", true, false},
		{"dry-run", true, false},
		{"publish branch", true, false},
		{"git-push", false, false}, // a rule is named after what others look for as words
		{"team@example.com totals", false, true},
		{"pending", true, false},
		{"/repo", false, false}, // where it was called from is the same for all
	} {
		s := NewSearch(c.text)
		if got := s.Finds(&a); got != c.one {
			t.Errorf("%q in a push: %v", c.text, got)
		}
		if got := s.Finds(&mcp); got != c.two {
			t.Errorf("%q in a mail: %v", c.text, got)
		}
	}
}
