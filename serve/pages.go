package serve

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"

	"github.com/seed-b23e517c/loop/report"
)

//go:embed page.html
var pageTemplate string

//go:embed page.css
var pageStyle string

// pages makes the pages. Every text that it is given is quoted already.
type pages struct {
	t      *template.Template
	style  template.CSS
	policy string // what a page may load and where its forms may go
}

// The values of the pages.
type (
	page struct {
		Title, Text, Hint string
		Tone              string
		Up                string // to the list; "" = no way there
		Link              *link
		Wrote             string // what the person wrote, of something that was not done
		Style             template.CSS
		List              *listPage
		Action            *actionPage
		Ask               *askPage
	}
	link     struct{ Href, Text string }
	listPage struct {
		Sections    []section
		Newer, More string
	}
	section struct {
		ID, Title string
		Entries   []entry
		Rows      []row
	}
	entry struct {
		Number uint64
		Piece  template.HTML // made by the report
		Read   string        // the text of the link to all of it
		Run    string        // of the link to run it; "" = none
	}
	row struct {
		Number       uint64
		Status, What string
	}
	actionPage struct {
		Number  uint64
		Piece   template.HTML
		Word    string // what was decided last
		Wrote   string // with these words
		Outcome string
		Tone    string
		Output  string
		Record  string
		Run     *link
		Answer  *answerForm
		Reject  *form
		Undo    *form
	}
	answerForm struct {
		form
		Checkpoint bool
		Most       int
	}
	askPage struct {
		Number  uint64
		Screen  string
		Form    *form
		Again   bool
		Changed []string // what is not as it was deferred, which wants a word of its own
	}
	form struct{ Action, Token, Shown string }
)

func newPages() (*pages, error) {
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	style := report.Style() + pageStyle
	sum := sha256.Sum256([]byte(style))
	return &pages{
		t: t, style: template.CSS(style), // our own files
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	}, nil
}

// write sends a page, or nothing of it.
func (p *pages) write(w http.ResponseWriter, code int, v page) {
	v.Style = p.style
	var b bytes.Buffer
	if err := p.t.Execute(&b, v); err != nil {
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // who has gone away reads nothing
}
