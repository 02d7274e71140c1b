package firewall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// node is a value of a settings file. Its methods take a nil node for one that
// is not there.
type node hujson.Value

func (n *node) object() *hujson.Object {
	if n == nil {
		return nil
	}
	o, _ := n.Value.(*hujson.Object)
	return o
}

func (n *node) array() *hujson.Array {
	if n == nil {
		return nil
	}
	a, _ := n.Value.(*hujson.Array)
	return a
}

func (n *node) literal() string {
	if n == nil {
		return ""
	}
	l, _ := n.Value.(hujson.Literal)
	return string(l)
}

// index is the place of a member, the last of that name as for the client; -1
// when there is none.
func (n *node) index(name string) int {
	o := n.object()
	if o == nil {
		return -1
	}
	for i := len(o.Members) - 1; i >= 0; i-- {
		if l, ok := o.Members[i].Name.Value.(hujson.Literal); ok && l.String() == name {
			return i
		}
	}
	return -1
}

func (n *node) member(name string) *node {
	i := n.index(name)
	if i < 0 {
		return nil
	}
	return (*node)(&n.object().Members[i].Value)
}

func (n *node) elements() []*node {
	a := n.array()
	if a == nil {
		return nil
	}
	out := make([]*node, len(a.Elements))
	for i := range a.Elements {
		out[i] = (*node)(&a.Elements[i])
	}
	return out
}

// empty reports whether it is an object or a list with nothing in it, not even
// a comment.
func (n *node) empty() bool {
	switch {
	case n.object() != nil:
		return len(n.object().Members) == 0 && len(bytes.TrimSpace(n.object().AfterExtra)) == 0
	case n.array() != nil:
		return len(n.array().Elements) == 0 && len(bytes.TrimSpace(n.array().AfterExtra)) == 0
	}
	return false
}

// standard is the value as plain JSON.
func (n *node) standard() []byte {
	v := (*hujson.Value)(n).Clone()
	v.BeforeExtra, v.AfterExtra = nil, nil
	v.Standardize()
	return v.Pack()
}

// wrong says where something stands that is not what the client wants there.
func (d *document) wrong(n *node, name, want string) error {
	before := d.source[:min(n.StartOffset, len(d.source))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("%w: line %d, column %d: %q is not %s", errSettings, line, column, name, want)
}

// parts are the values of a composite, the extra before each, and the extra
// before its end. As the library has it, a comma stands behind the last value
// when the extra after that is not nil.
func (n *node) parts() (before []*hujson.Extra, values []*hujson.Value, end *hujson.Extra) {
	if o := n.object(); o != nil {
		for i := range o.Members {
			before = append(before, &o.Members[i].Name.BeforeExtra)
			values = append(values, &o.Members[i].Value)
		}
		return before, values, &o.AfterExtra
	}
	a := n.array()
	for i := range a.Elements {
		before = append(before, &a.Elements[i].BeforeExtra)
		values = append(values, &a.Elements[i])
	}
	return before, values, &a.AfterExtra
}

// add appends a member, or an element when name is "", in the manner in which
// the others are written.
func (d *document) add(n *node, name string, content any) {
	before, values, end := n.parts()
	outer := d.indentAt(n)
	inner, broken := outer+d.unit, true
	if len(before) > 0 {
		_, own, ok := strings.Cut(string(*before[len(before)-1]), "\n")
		if broken = ok || bytes.IndexByte(*end, '\n') >= 0; ok {
			inner = indentOf(own[strings.LastIndexByte(own, '\n')+1:])
		}
	}
	fresh := d.render(content, inner, broken)
	space := " "
	if broken {
		space = d.newline + inner
	}
	// A comment before the end belongs to what is last so far and stays with it;
	// the white space goes behind the new one.
	head, tail := cutSpace(*end)
	if len(values) == 0 {
		tail = hujson.Extra(d.newline + outer)
	} else if values[len(values)-1].AfterExtra != nil {
		fresh.AfterExtra = hujson.Extra{}
	}
	*end = tail
	n.push(name, append(head, space...), fresh, broken || n.spaced())
}

// push appends a value behind some extra.
func (n *node) push(name string, lead hujson.Extra, v hujson.Value, spaced bool) {
	o := n.object()
	if o == nil {
		v.BeforeExtra = lead
		n.array().Elements = append(n.array().Elements, v)
		return
	}
	if spaced {
		v.BeforeExtra = hujson.Extra(" ")
	}
	o.Members = append(o.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: lead, Value: hujson.String(name)}, Value: v})
}

// spaced: a blank stands behind the colons of the object.
func (n *node) spaced() bool {
	o := n.object()
	return o != nil && len(o.Members) > 0 && len(o.Members[0].Value.BeforeExtra) > 0
}

// set gives a value another content in the place and indentation it has.
func (d *document) set(n *node, content any) {
	at, broken := d.indentAt(n), false
	if o := n.object(); o != nil && len(o.Members) > 0 {
		broken = bytes.IndexByte(o.Members[0].Name.BeforeExtra, '\n') >= 0
	}
	n.Value = d.render(content, at, broken).Value
}

// drop removes the member or element at i with the white space before it.
func (n *node) drop(i int) {
	before, values, end := n.parts()
	head, _ := cutSpace(*before[i])
	after := values[i].AfterExtra
	switch {
	case len(values) == 1:
		*end = join(head, trimmed(after, *end))
	case i < len(values)-1:
		*before[i+1] = join(head, *before[i+1])
	case after != nil:
		prev := values[i-1]
		prev.AfterExtra = append(hujson.Extra{}, prev.AfterExtra...)
		*end = join(head, *end)
	default:
		prev := values[i-1]
		*end = join(slices.Concat(prev.AfterExtra, head), *end)
		prev.AfterExtra = nil
	}
	if o := n.object(); o != nil {
		o.Members = slices.Delete(o.Members, i, i+1)
		return
	}
	n.array().Elements = slices.Delete(n.array().Elements, i, i+1)
}

// trimmed is what two extras hold beside white space.
func trimmed(a, b hujson.Extra) hujson.Extra {
	both := slices.Concat(a, b)
	if len(bytes.TrimSpace(both)) == 0 {
		return nil
	}
	return both
}

// join puts two extras together, and a line end where the first ends with a
// line comment.
func join(head, rest hujson.Extra) hujson.Extra {
	line := head[bytes.LastIndexByte(head, '\n')+1:]
	open := bytes.Contains(line, []byte("//")) && !bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r"), []byte("\n"))
	if open {
		head = append(slices.Clone(head), '\n')
	}
	return slices.Concat(head, rest)
}

// cutSpace divides an extra into what ends with a comment and the white space
// behind it. The end of a line comment belongs to the comment.
func cutSpace(e hujson.Extra) (head, tail hujson.Extra) {
	head = bytes.TrimRight(e, " \t\r\n")
	tail = e[len(head):]
	return slices.Clone(head), slices.Clone(tail)
}

// render is content as a value whose lines but the first are indented.
func (d *document) render(content any, indent string, broken bool) hujson.Value {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if broken {
		enc.SetIndent(indent, d.unit)
	}
	_ = enc.Encode(content) // structs of strings and numbers: it cannot fail
	text := strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", d.newline)
	v, _ := hujson.Parse([]byte(text)) // what the encoder writes can be read
	return v
}

// indentAt is the white space at the start of the line on which a value
// begins. One that was just made stands one step below the object around it.
func (d *document) indentAt(n *node) string {
	text := d.text()
	d.value.UpdateOffsets()
	at := n.StartOffset + len(d.bom)
	return indentOf(string(text[bytes.LastIndexByte(text[:at], '\n')+1:]))
}

func indentOf(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}
