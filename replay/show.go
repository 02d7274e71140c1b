package replay

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
)

// Show writes exactly what will run, where, by whom, and what has changed
// since it was recorded. Everything an agent may have written is quoted, and
// nothing is masked or cut: what is on the screen is what runs.
func Show(w io.Writer, a queue.Action, s Since) error {
	var b strings.Builder
	diff := FormDiff(a)
	a = a.AsRun()
	fmt.Fprintf(&b, "action #%d  %s\n", a.Number, term.Quote(a.ID))
	field := func(name, text string) { fmt.Fprintf(&b, "  %-9s %s\n", name, text) }
	field("status", string(a.Status))
	field("evidence", evidenceText(a))
	field("story", story(a))
	field("why", reason(a))
	field("detected", fmt.Sprintf("%s (%s ago)", a.DetectedAt.UTC().Format(time.RFC3339), age(s.Now.Sub(a.DetectedAt))))
	if a.Repeats > 0 {
		field("repeats", fmt.Sprintf("tried %d more times", a.Repeats))
	}
	if diff != nil {
		b.WriteString("\nedited: - is the agent's form, + is yours\n")
		for _, d := range diff {
			fmt.Fprintf(&b, "  %c %s\n", d.Sign, shown(d.Text))
		}
	}
	list := changes(a, s)
	if s.Call != nil {
		writeCall(&b, a, s.Call)
		list = callChanges(s.Call)
	} else {
		writeCommand(&b, a, s)
	}
	if diff == nil {
		writeClaims(&b, a)
	}
	b.WriteString("\nsince then\n")
	for _, c := range list {
		fmt.Fprintf(&b, "  %s\n", c)
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// maxClaims is how many claims without a source are shown before one is asked.
const maxClaims = 5

// writeClaims shows what of the agent's text nothing in its session shows.
func writeClaims(b *strings.Builder, a queue.Action) {
	if len(a.Claims) == 0 {
		return
	}
	b.WriteString("\nits text claims\n")
	unproven := 0
	for _, c := range queue.GravestFirst(a.Claims) {
		if c.Proven() {
			continue
		}
		if unproven++; unproven > maxClaims {
			continue
		}
		where := ""
		if c.Where != "" {
			where = " in " + shown(c.Where)
		}
		fmt.Fprintf(b, "  !! \"%s\"%s: %s\n", strings.ReplaceAll(term.Command(c.Text), `"`, `\"`), where, c.Basis())
	}
	if more := unproven - maxClaims; more > 0 {
		fmt.Fprintf(b, "  !! and %d more without a source\n", more)
	}
	if proven := len(a.Claims) - unproven; proven > 0 {
		fmt.Fprintf(b, "  %d with a source in its session\n", proven)
	}
	fmt.Fprintf(b, "  loop show %d lists them\n", a.Number)
}

func writeCommand(b *strings.Builder, a queue.Action, s Since) {
	command := commandOf(a)
	b.WriteString("\nwill run\n")
	writeLines(b, command)
	for _, n := range notes(a, command) {
		fmt.Fprintf(b, "  !! %s\n", n)
	}
	fmt.Fprintf(b, "\n  %-9s %s\n", "in", folder(a, s))
	fmt.Fprintf(b, "  %-9s %s\n", "by", term.Command(s.Shell)+" -c, with your own environment, no input and no prompts")
	writePushes(b, s.Pushes)
}

func story(a queue.Action) string {
	out := term.Line(a.Story)
	if out == "" {
		out = "none"
	}
	if a.StoryTitle != "" {
		out += "  " + term.Line(a.StoryTitle)
	}
	if a.Agent != "" {
		out += "  (subagent " + term.Line(a.Agent) + ")"
	}
	return out
}

func reason(a queue.Action) string {
	out := a.Tier.String()
	if len(a.Rules) > 0 {
		out += ", " + term.Line(strings.Join(a.Rules, " "))
	}
	if a.Why != "" {
		out += ": " + term.Line(a.Why)
	}
	return out
}

func folder(a queue.Action, s Since) string {
	out := term.Quote(term.Lookalikes(a.Cwd))
	if s.Cwd != "" {
		out += "  !! " + term.Quote(s.Cwd)
	}
	return out
}

// writeLines numbers the lines, so that a person sees how many there are and
// where each begins.
func writeLines(b *strings.Builder, command string) {
	lines := strings.Split(command, "\n")
	width := len(fmt.Sprint(len(lines)))
	for i, l := range lines {
		fmt.Fprintf(b, "  %*d | %s\n", width, i+1, shown(l))
	}
}

// shown is one line with everything visible. A blank at its end is an escape,
// because it is there and cannot be seen.
func shown(line string) string {
	body := strings.TrimRight(line, " ")
	return term.Quote(term.Lookalikes(body)) + strings.Repeat(`\x20`, len(line)-len(body))
}

// changes says what is different now, one sentence each.
func changes(a queue.Action, s Since) []string {
	if s.Cwd != "" {
		return []string{"!! the folder cannot be used, so nothing else was looked at"}
	}
	var out []string
	switch {
	case s.Git != "" && a.GitHead == "":
		out = append(out, "no git state was recorded, and there is none now")
	case s.Git != "":
		out = append(out, "!! git HEAD was "+at(a.GitHead, a.GitBranch)+", and is not known now: "+term.Quote(s.Git))
	case a.GitHead == "":
		out = append(out, "git HEAD is "+at(s.Head, s.Branch)+", what it was is not known")
	case a.GitHead != s.Head || a.GitBranch != "" && a.GitBranch != s.Branch:
		out = append(out, "!! git HEAD was "+at(a.GitHead, a.GitBranch)+", is "+at(s.Head, s.Branch))
	default:
		out = append(out, "git HEAD is the same, "+at(s.Head, s.Branch))
	}
	out = append(out, workNotes(a, s.Work)...)
	for _, f := range s.Files {
		out = append(out, fmt.Sprintf("!! changed: %s, at %s", shown(f.Path), f.Modified.Format(time.RFC3339)))
	}
	if len(s.Files) == 0 {
		out = append(out, "no file that it names has changed")
	}
	return out
}

// workNotes say what loop's own branch and commits mean for a line that was
// written before they were there.
func workNotes(a queue.Action, w *queue.Work) []string {
	if w == nil || w.Gone {
		return nil
	}
	var out []string
	push := slices.ContainsFunc(a.Rules, func(r string) bool { return strings.Contains(r, "push") })
	switch {
	case push && w.Parallel > 0 && strings.HasPrefix(a.GitBranch, w.Branch+"-"):
		out = append(out, fmt.Sprintf("!! %s is the branch of this story's own work tree, where it was put together with those before it; all of the session is on %s",
			term.Quote(term.Lookalikes(a.GitBranch)), term.Quote(term.Lookalikes(w.Branch))))
	case push:
		out = append(out, fmt.Sprintf("!! the work of that session is on the branch %s: a push of another branch sends none of it before it is merged there",
			term.Quote(term.Lookalikes(w.Branch))))
	}
	if slices.Contains(a.Rules, "git-history") {
		out = append(out, "!! loop has committed what that session left: a commit in this line may find nothing to commit, and end it")
	}
	return out
}

func at(head, branch string) string {
	out := term.Quote(head)
	if len(out) > 12 {
		out = out[:12]
	}
	if branch != "" && branch != "HEAD" {
		out += " on " + term.Quote(term.Lookalikes(branch))
	}
	return out
}

// age is a length of time as a person says it, with at most two units.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(max(d, 0)/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d/time.Hour), int(d%time.Hour/time.Minute))
	}
	return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
}
