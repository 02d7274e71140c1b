package report

import (
	"html/template"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
)

// Style is the style of the HTML report, for pages that show pieces of it.
func Style() string { return pageStyle }

// Pieces makes parts of the HTML report for pages that are not one.
type Pieces struct {
	page *template.Template
	o    Options
}

// NewPieces reads the report's templates.
func NewPieces(o Options) (*Pieces, error) {
	t, err := template.New("page").Parse(pageTemplate)
	o.Width, o.Color = 0, false
	return &Pieces{t, o}, err
}

// Action is what the report says of one action, without what to type. dir is
// the folder of the repository; folders below it are shown as seen from there.
func (p *Pieces) Action(a queue.Action, dir string) (template.HTML, error) {
	h := &pageMaker{teller: newTeller(p.o)}
	h.mark = func(s string) string { return string(begin) + s + string(end) }
	v := &view{Snapshot: queue.Snapshot{Session: queue.Session{Dir: dir}}}
	piece := h.action(v, &item{Action: &a})
	piece.More = nil
	if a.IsQuestion() {
		piece.Facts = nil
	}
	var b strings.Builder
	err := p.page.ExecuteTemplate(&b, "action", piece)
	return template.HTML(b.String()), err // made by the report's own template
}
