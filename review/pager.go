package review

// pager shows a text of which it knows what has been on the screen.
type pager struct {
	text   string
	width  int
	height int
	rows   []row
	top    int
	seen   []bool // by line of the text: all of it was on the screen
	shown  []bool // by row
	lines  int
}

// set gives it another text; what was seen of the one before does not count.
func (p *pager) set(text string) {
	p.text, p.top = text, 0
	p.seen = nil
	p.rewrap()
}

// more gives it a text that goes on where the one before ended.
func (p *pager) more(text string) {
	p.text = text
	p.rewrap()
	p.scroll(0)
}

// size is the room for the text. Lines that were seen stay seen.
func (p *pager) size(width, height int) {
	height = max(height, 1)
	if width == p.width && height == p.height {
		return
	}
	first := 0
	if p.top < len(p.rows) {
		first = p.rows[p.top].from
	}
	rewrap := width != p.width
	p.width, p.height = width, height
	if rewrap {
		p.rewrap()
		for p.top = 0; p.top < len(p.rows)-1 && p.rows[p.top].from < first; {
			p.top++
		}
	}
	p.scroll(0)
}

func (p *pager) rewrap() {
	p.rows = wrapped(p.text, max(p.width, 1), 0)
	p.lines = 0
	if n := len(p.rows); n > 0 {
		p.lines = p.rows[n-1].from + 1
	}
	p.seen = append(p.seen, make([]bool, max(0, p.lines-len(p.seen)))...)
	p.shown = make([]bool, len(p.rows))
	for i, r := range p.rows {
		p.shown[i] = p.seen[r.from]
	}
}

// scroll moves by so many rows and notes what is on the screen then.
func (p *pager) scroll(by int) {
	p.top = max(0, min(p.top+by, len(p.rows)-p.height))
	for i := p.top; i < min(p.top+p.height, len(p.rows)); i++ {
		p.shown[i] = true
	}
	// A line counts when the last of its rows does; rows of a line stand together.
	for i := 0; i < len(p.rows); {
		line, all := p.rows[i].from, true
		for ; i < len(p.rows) && p.rows[i].from == line; i++ {
			all = all && p.shown[i]
		}
		if all {
			p.seen[line] = true
		}
	}
}

// next goes on to what has not been on the screen yet, else a page down.
func (p *pager) next() {
	for i, s := range p.shown {
		if !s {
			p.top = i
			p.scroll(0)
			return
		}
	}
	p.scroll(p.height)
}

// unseen counts the lines of which a part has not been on the screen.
func (p *pager) unseen() int {
	n := 0
	for _, s := range p.seen {
		if !s {
			n++
		}
	}
	return n
}

func (p *pager) view() []row {
	return p.rows[min(p.top, len(p.rows)):min(p.top+p.height, len(p.rows))]
}

// key moves, and reports whether it knew the key.
func (p *pager) key(name string) bool {
	switch name {
	case "down", "j":
		p.scroll(1)
	case "up", "k":
		p.scroll(-1)
	case "pgdown", "ctrl+d", "ctrl+f":
		p.scroll(max(1, p.height-1))
	case "pgup", "ctrl+u", "ctrl+b":
		p.scroll(-max(1, p.height-1))
	case "home", "g":
		p.scroll(-len(p.rows))
	case "end", "G":
		p.scroll(len(p.rows))
	case "space":
		p.next()
	default:
		return false
	}
	return true
}
