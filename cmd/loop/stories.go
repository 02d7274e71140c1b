package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/queue"
	"github.com/seed-b23e517c/loop/stories"
)

func newStories(a *app) *cobra.Command {
	var o struct{ json, forms bool }
	cmd := &cobra.Command{
		Use: "stories [FILE]", Short: "Show what is read in a story file, and in which order it would be worked on",
		Long: "Show what is read in a story file or a folder of stories: its form, every story with its state and\nwhat it waits for, " +
			"the order in which `loop run` would work on them, and what was not understood.\nWithout FILE, the one that `loop run` would take. Nothing is changed.\n\n" + exitHelp,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, files []string) error {
			if o.forms {
				return a.listForms(o.json)
			}
			path, root, err := a.storiesPath(cmd.Context(), files)
			if err != nil {
				return err
			}
			f, err := stories.Read(path)
			if err != nil {
				return err
			}
			order, err := f.Order()
			if err != nil {
				return err
			}
			if o.json {
				return a.json(storiesJSON(f, order))
			}
			return a.listStories(f, order, rel(root, path))
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.forms, "forms", false, "list the forms that are read and where they are looked for")
	return cmd
}

// storiesPath is the file that is named, else the one a run would take.
func (a *app) storiesPath(ctx context.Context, files []string) (path, root string, err error) {
	w, c, _, err := a.configured(ctx)
	if len(files) == 1 {
		return files[0], w.Root, nil // it is read whatever the configuration says
	}
	if err != nil {
		return "", "", err
	}
	path, err = storyFile(w.Root, c)
	var many *stories.CandidatesError
	if errors.As(err, &many) {
		err = &hintedError{err: err, hint: "loop stories FILE shows one of them; stories = \"FILE\" in loop.toml chooses for good"}
	}
	return path, w.Root, err
}

// storyState is a story's state in one word, and why.
func storyState(s stories.Story) (state, why string) {
	switch {
	case s.Done:
		return "done", ""
	case s.Held != "":
		return "held", s.Held
	case s.InProgress:
		return "open", cmp.Or(s.Conflict, "begun")
	}
	return "open", s.Conflict
}

type storyJSON struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Group      string   `json:"group,omitempty"`
	State      string   `json:"state"`
	Why        string   `json:"why,omitempty"`
	Order      int      `json:"order,omitempty"` // from 1; none for what is not worked on
	File       string   `json:"file,omitempty"`
	Line       int      `json:"line"`
	Depends    []string `json:"depends,omitempty"`
	Priority   *float64 `json:"priority,omitempty"`
	Level      string   `json:"level,omitempty"`
	Checkpoint bool     `json:"checkpoint,omitempty"`
	Approval   bool     `json:"approval,omitempty"`
	Criteria   []string `json:"criteria,omitempty"`
	Verify     []string `json:"verify,omitempty"`
}

func storiesJSON(f *stories.File, order []stories.Story) any {
	place := places(order)
	list := make([]storyJSON, 0, len(f.Stories))
	for _, s := range f.Stories {
		x := storyJSON{
			ID: s.ID, Title: s.Title, Group: s.Group, Order: place[s.ID], File: s.File, Line: s.Line, Depends: s.Depends,
			Level: s.Level, Checkpoint: s.Checkpoint, Approval: s.Approval, Criteria: s.Criteria, Verify: s.Verify,
		}
		x.State, x.Why = storyState(s)
		if s.HasPriority {
			x.Priority = &s.Priority
		}
		list = append(list, x)
	}
	return struct {
		Schema   int         `json:"schema"`
		File     string      `json:"file"`
		Form     string      `json:"form"`
		Project  string      `json:"project,omitempty"`
		Branch   string      `json:"branch,omitempty"`
		Gates    []string    `json:"gates,omitempty"`
		Stories  []storyJSON `json:"stories"`
		Warnings []string    `json:"warnings,omitempty"`
		Unread   []string    `json:"unread,omitempty"`
	}{queue.Schema, f.Path, f.Form, f.Project, f.Branch, f.Gates, list, f.Warnings, f.Unread}
}

// places is where in the order of work each story comes, from 1.
func places(order []stories.Story) map[string]int {
	place := make(map[string]int, len(order))
	for i, s := range order {
		place[s.ID] = i + 1
	}
	return place
}

// listStories prints a file's stories for a person: in the order of work those
// that would be worked on, then the others as in the file.
func (a *app) listStories(f *stories.File, order []stories.Story, path string) error {
	ro, err := a.reportOptions()
	if err != nil {
		return err
	}
	l := storyLister{a: a, styles: term.NewStyles(ro.Color), width: ro.Width, folder: f.Stories[0].File != ""}
	count := map[string]int{}
	for _, s := range f.Stories {
		state, _ := storyState(s)
		count[state]++
		l.id = max(l.id, min(term.Cells(term.Quote(s.ID)), 40))
	}
	a.printf("%s  %s\n", l.styles.Heading.Render(term.Quote(path)), term.Quote(f.Form))
	a.printf("%s: %d open, %d done, %d held\n", counted(len(f.Stories), "story", "stories"), count["open"], count["done"], count["held"])
	if len(order) > 0 {
		a.printf("\nIn this order\n")
		for i, s := range order {
			l.line(fmt.Sprintf("%4d.", i+1), s)
		}
	}
	l.others(f, "held", "\nHeld\n")
	l.others(f, "done", "\nDone\n")
	l.texts("\nCommands the file names; loop runs only the gates of your configuration\n", f.Gates)
	l.texts("\nWarnings\n", f.Warnings)
	l.texts("\nNot read\n", f.Unread)
	return nil
}

type storyLister struct {
	a         *app
	styles    term.Styles
	width, id int
	folder    bool
}

func (l *storyLister) others(f *stories.File, state, title string) {
	for _, s := range f.Stories {
		if of, _ := storyState(s); of != state {
			continue
		}
		l.a.printf("%s", title)
		title = ""
		l.line("    -", s)
	}
}

// line prints one story, and under it what else is to be known of it.
func (l *storyLister) line(lead string, s stories.Story) {
	where := fmt.Sprintf("line %d", s.Line)
	if l.folder {
		where = ""
	}
	title := term.Quote(s.Title)
	if l.width > 0 {
		title = term.Truncate(title, max(12, l.width-len(lead)-l.id-len(where)-6))
	}
	l.a.printf("%s %s  %s  %s\n", lead, term.Pad(term.Quote(s.ID), l.id), title, l.styles.Faint.Render(where))
	var more []string
	if s.Group != "" {
		more = append(more, "under "+term.Quote(s.Group))
	}
	if len(s.Depends) > 0 {
		more = append(more, "after "+term.Quote(strings.Join(s.Depends, ", ")))
	}
	if s.Level != "" {
		more = append(more, "level "+term.Quote(s.Level))
	}
	if s.Checkpoint {
		more = append(more, "checkpoint")
	}
	if s.Approval {
		more = append(more, "asks for approval")
	}
	if n := len(s.Criteria); n > 0 {
		more = append(more, counted(n, "criterion", "criteria"))
	}
	if _, why := storyState(s); why != "" {
		more = append(more, term.Quote(why))
	}
	if len(more) > 0 {
		l.a.printf("%s %s\n", term.Spaces(len(lead)+1), l.styles.Faint.Render(strings.Join(more, " · ")))
	}
}

func (l *storyLister) texts(title string, list []string) {
	for _, text := range list {
		l.a.printf("%s  %s\n", title, term.Quote(text))
		title = ""
	}
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// listForms prints the forms that are read, and the usual places.
func (a *app) listForms(asJSON bool) error {
	if asJSON {
		type formJSON struct {
			Form  string `json:"form"`
			Files string `json:"files"`
			Story string `json:"story"`
			Mark  string `json:"mark"`
		}
		var list []formJSON
		for _, f := range stories.Forms() {
			list = append(list, formJSON{f.Name, f.Files, f.Story, f.Mark})
		}
		return a.json(struct {
			Schema int        `json:"schema"`
			Forms  []formJSON `json:"forms"`
			Places []string   `json:"places"`
		}{queue.Schema, list, stories.Places()})
	}
	for _, f := range stories.Forms() {
		a.printf("%s\n  files  %s\n  story  %s\n  done   %s\n", f.Name, f.Files, f.Story, f.Mark)
	}
	a.printf("\nLooked for in this order, without --stories and stories in loop.toml:\n")
	for _, place := range stories.Places() {
		a.printf("  %s\n", place)
	}
	a.printf("Two that hold open stories are refused; name the one that is meant.\n")
	return nil
}
