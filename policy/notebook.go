package policy

import (
	"encoding/json"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// notebooks classifies the notebooks that a command runs from end to end.
func (r *reading) notebooks(prog string, c *shell.Command) []Hit {
	words := wordTexts(c.Argv[1:])
	runs := prog == "papermill" || prog == "jupyter-execute" || prog == "runipy"
	for i, w := range words {
		runs = runs || w == "--execute" || i == 0 && prog == "jupyter" && (w == "execute" || w == "run")
	}
	if !runs {
		return nil
	}
	var hits []Hit
	for _, w := range words {
		if !strings.HasSuffix(w, ".ipynb") {
			continue
		}
		text, file, ok := r.file(c, w)
		if !ok {
			continue
		}
		code := notebookCode(text)
		hits = append(hits, r.programFile("python", code, file)...)
		bangs, _ := r.following(file, func() []Hit {
			return r.placed(r.bangs(strings.Split(code, "\n"), "!", "%system ", "%sx "), file, code, 0)
		})
		hits = append(hits, bangs...)
		if prog == "papermill" {
			break // the second is what it writes
		}
	}
	return hits
}

// notebookCode is the source of a notebook's code cells; a text that is no
// notebook, or what stands behind one, is code as it is.
func notebookCode(text string) string {
	var nb struct {
		Cells []struct {
			CellType string          `json:"cell_type"`
			Source   json.RawMessage `json:"source"`
		} `json:"cells"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	if d.Decode(&nb) != nil {
		return text
	}
	var b strings.Builder
	for _, cell := range nb.Cells {
		var lines []string
		var whole string
		switch {
		case cell.CellType != "code":
			continue
		case json.Unmarshal(cell.Source, &lines) == nil:
			whole = strings.Join(lines, "")
		case json.Unmarshal(cell.Source, &whole) != nil:
			continue
		}
		b.WriteString(whole + "\n")
	}
	return b.String() + text[d.InputOffset():]
}
