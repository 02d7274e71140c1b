package claims

import (
	"strings"
)

// percentiles are those with brackets: p(95).
var percentiles = lazy(`\bp\((\d\d(?:\.\d+)?)\)`)

// cells splits a line of a table at bars, tabs and runs of spaces.
func cells(line string) []string {
	line = strings.ReplaceAll(strings.ReplaceAll(line, "|", "  "), "\t", "  ")
	var out []string
	for c := range strings.SplitSeq(line, "  ") {
		if c = strings.TrimSpace(c); c != "" {
			out = append(out, c)
		}
	}
	return out
}

// columns adds the head of the column in which a number stands, and the first
// cell of its row.
func (c *context) columns(text string, n number) {
	from, to := lineBounds(text, n.start, n.end)
	row := cells(text[from:to])
	if len(row) == 1 {
		c.label = append(c.label, content(loneHead(text[:from]))...)
	}
	if len(row) < 2 || to-from > 400 {
		return
	}
	at := len(cells(text[from:n.end])) - 1
	head := headOf(text[:from], len(row))
	if at < 1 || at >= len(head) {
		return
	}
	c.table, c.col = true, content(head[at])
	for i, h := range head {
		if i != at && i > 0 {
			c.cols = append(c.cols, content(h)...)
		}
	}
	c.label = append(c.label, content(head[at]+" "+row[0])...)
	if w := which(head[at], true); w != "" {
		c.which = w
	}
	if words := tokens(head[at]); c.unit == "" && len(words) > 0 {
		c.unit = units[strings.ToLower(words[len(words)-1])]
		if words[0] == "%" {
			c.unit = "%"
		}
	}
}

// loneHead is the head of a table with one column: a name above a line.
func loneHead(above string) string {
	above = above[max(0, len(above)-200):]
	lines := strings.Split(strings.TrimSuffix(above, "\n"), "\n")
	if n := len(lines); n >= 2 && strings.Contains(lines[n-1], "--") && strings.Trim(lines[n-1], "-+ ") == "" {
		return lines[n-2]
	}
	return ""
}

// headOf finds the head of a table with so many columns above a row: the
// nearest line of that many cells without a number.
func headOf(above string, columns int) []string {
	const reach = 60
	for range reach {
		above = strings.TrimSuffix(above, "\n")
		i := strings.LastIndexByte(above, '\n')
		line := above[i+1:]
		list := cells(line)
		switch {
		case len(line) > 400 || strings.TrimSpace(line) == "":
			return nil
		case strings.Trim(line, "-=+| \t:") == "":
		case len(list) == columns && !strings.ContainsAny(line, "0123456789"):
			return list
		case len(list) != columns && !strings.ContainsAny(line, "0123456789"):
			return nil
		}
		if i < 0 {
			return nil
		}
		above = above[:i]
	}
	return nil
}

// jsonParents are the words of the keys of the objects around a JSON value.
func jsonParents(text string, at int) []string {
	const reach = 2 << 10
	low := max(0, at-reach)
	if before := strings.TrimRight(text[low:at], " \t\n\""); !strings.HasSuffix(before, ":") {
		return nil
	}
	var out []string
	depth := 0
	for i := at - 1; i >= low; i-- {
		switch text[i] {
		case '}', ']':
			depth++
		case '{', '[':
			if depth > 0 {
				depth--
				continue
			}
			key := strings.TrimRight(text[low:i], " \t\n")
			if key, ok := strings.CutSuffix(key, ":"); ok {
				key = strings.TrimRight(key, " \t\n\"'")
				out = append(out, content(key[strings.LastIndexAny(key, "\"'{,\n")+1:])...)
			}
		}
	}
	return out
}

func firstFields(text string, n int) []string {
	list := strings.Fields(text)
	return list[:min(n, len(list))]
}
