package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/prompts"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
	"github.com/seed-b23e517c/loop/transcript"
)

// maxQuestion bounds a question that is kept.
const maxQuestion = 2000

// questionLine is the line by which the rules let an agent ask, with the marks
// that agents put round such words. A quoted or indented one asks nothing.
var questionLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[-*] |#{1,6} )?(?:\*\*|__)?QUESTION(?:\*\*|__)?:(?:\*\*|__)?\s*(.*)$`)
})

// questionIn is the question that a last text asks by the line QUESTION:, with
// what stands below it; "" when there is none.
func questionIn(text string) string {
	lines := strings.Split(text, "\n")
	inFence, found := false, -1
	for i, line := range lines {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			inFence = !inFence
		}
		if inFence || !questionLine().MatchString(strings.TrimRight(line, " \t\r")) {
			continue
		}
		if found < 0 {
			found = i
		}
	}
	if found < 0 {
		return ""
	}
	lines = slices.Clone(lines[found:])
	for i, line := range lines {
		if m := questionLine().FindStringSubmatch(strings.TrimRight(line, " \t\r")); m != nil {
			lines[i] = m[1]
		}
	}
	asked := strings.TrimSpace(strings.Join(lines, "\n"))
	if strings.Trim(asked, ".…`*_ \n") == "" {
		return "" // the rule repeated, or nothing asked
	}
	return clip(asked, maxQuestion)
}

// offers are the ends of texts that end with a question and ask nothing that
// the work needs.
var offers = []string{
	"anything else", "something else", "help with", "any questions", "make sense", "what do you think", "sound good", "look good", "happy to",
}

// pleas ask for an answer without a question mark at the end.
var pleas = []string{
	"please clarify", "please confirm", "please let me know", "please advise", "please specify", "please provide", "please tell me",
	"let me know which", "let me know how", "let me know what", "let me know whether", "let me know if you",
}

// askedInWords is the last paragraph of a text that ends by asking. It is only
// looked at where nothing was done.
func askedInWords(text string) string {
	paragraphs := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\n\n")
	last := strings.TrimSpace(paragraphs[len(paragraphs)-1])
	low := strings.ToLower(last)
	end := strings.TrimRight(low, " *_`\"')")
	asks := strings.HasSuffix(end, "?") || strings.HasSuffix(end, "？") || strings.HasSuffix(end, "؟") ||
		slices.ContainsFunc(pleas, func(p string) bool { return strings.Contains(low, p) })
	if !asks || slices.ContainsFunc(offers, func(p string) bool { return strings.Contains(low, p) }) {
		return ""
	}
	// What can be chosen from often stands above the sentence that asks.
	if len(paragraphs) > 1 && len(last) < 200 {
		last = strings.TrimSpace(paragraphs[len(paragraphs)-2]) + "\n\n" + last
	}
	return clip(last, maxQuestion)
}

// askedByTool is what a call of the client's question tool asks; the tool is
// not there in a run.
func askedByTool(call *transcript.Call) string {
	if call.Name != "AskUserQuestion" {
		return ""
	}
	var in struct {
		Questions []struct {
			Question string `json:"question"`
			Options  []struct {
				Label string `json:"label"`
			} `json:"options"`
		} `json:"questions"`
	}
	if json.Unmarshal(call.Input, &in) != nil {
		return ""
	}
	var out []string
	for _, q := range in.Questions {
		var text strings.Builder
		text.WriteString(strings.TrimSpace(q.Question))
		for _, o := range q.Options {
			text.WriteString("\n- " + strings.TrimSpace(o.Label))
		}
		out = append(out, text.String())
	}
	return clip(strings.TrimSpace(strings.Join(out, "\n\n")), maxQuestion)
}

// ask puts the question of an attempt into the queue, under the attempt's own
// id: an attempt asks once, whoever adds it again.
func ask(ctx context.Context, o *Options, a *queue.Attempt) error {
	if a.Outcome != queue.Question {
		return nil
	}
	x, _, err := o.Store.Add(ctx, queue.Action{
		ID: a.ID, Kind: queue.KindQuestion, Session: a.Session, Story: a.Story, StoryTitle: a.StoryTitle, StoryHash: a.StoryHash,
		Attempt: a.ID, Command: a.Question, Cwd: o.Root, GitHead: a.HeadAfter, Why: "The story waits for the answer.",
		Tier: policy.Local, Transcript: filepath.Join(a.Dir, transcriptName), DetectedAt: o.Now().UTC(), FoundBy: queue.ByScan,
	})
	if err != nil {
		return err
	}
	a.Reason = fmt.Sprintf("waits for your answer to #%d", x.Number)
	return nil
}

// questionsOf are the questions that earlier attempts at this very story
// asked, oldest first. Ids are used again for other stories.
func questionsOf(ctx context.Context, o *Options, s stories.Story) ([]queue.Action, error) {
	actions, err := o.Store.Actions(ctx, queue.Filter{Story: s.ID, Kind: queue.KindQuestion})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(actions, func(x queue.Action) bool {
		return x.Checkpoint != "" || x.StoryHash != s.Hash && x.StoryTitle != s.Title
	}), nil
}

// answers are what a person said to the questions of the story.
func answers(ctx context.Context, o *Options, s stories.Story) ([]prompts.Answer, error) {
	asked, err := questionsOf(ctx, o, s)
	if err != nil {
		return nil, err
	}
	var out []prompts.Answer
	for _, x := range asked {
		switch x.Status {
		case queue.Answered:
			out = append(out, prompts.Answer{Question: x.Command, Answer: x.AnswerText()})
		case queue.Rejected:
			text := "it will not be answered. Go on without it, and say what you took for granted; or say what is missing, and stop."
			if why := x.Decisions[len(x.Decisions)-1].Reason; why != "" {
				text = why + " (" + text + ")"
			}
			out = append(out, prompts.Answer{Question: x.Command, Answer: text})
		case queue.Pending, queue.Approved, queue.Replaying, queue.Replayed, queue.Failed, queue.Unknown, queue.Superseded:
		}
	}
	return out, nil
}

// WaitsFor says what word of a person's a story waits for; "" = for none. A
// story whose text has changed since it asked does not wait.
func WaitsFor(ctx context.Context, o *Options, s stories.Story) (string, error) {
	if o.Store == nil {
		return "", nil
	}
	asked, err := questionsOf(ctx, o, s)
	if err != nil {
		return "", err
	}
	for _, x := range asked {
		if x.Status == queue.Pending && x.StoryHash == s.Hash {
			return fmt.Sprintf("it waits for your answer to #%d (loop answer %d)", x.Number, x.Number), nil
		}
	}
	return checkpointOf(ctx, o, s)
}

// parked reports whether a story waits for a person, and says so.
func (r *run) parked(ctx context.Context, s stories.Story) (bool, error) {
	why, err := WaitsFor(ctx, r.o, s)
	if err == nil && why == "" && s.Approval && r.blockedBy(s) == "" {
		if err = r.askApproval(ctx, s); err == nil {
			why, err = WaitsFor(ctx, r.o, s)
		}
	}
	if err != nil || why == "" {
		return false, err
	}
	r.failed[s.ID] = true
	r.o.Progress.Notice(fmt.Sprintf("story %q is skipped: %s", s.ID, why))
	return true, addFinding(ctx, r.o, &queue.Attempt{Session: r.session.ID, Story: s.ID}, "asked", "not worked on: "+why)
}
