package policy

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// fastPack decodes an embedded pack. The embedded packs are written in a plain
// part of TOML (one key a line; strings, lists of strings, numbers, truth
// values, one-line tables), which takes a tenth of the time that the full
// language takes; every hook process pays for it. The examples are left out. A
// test holds it to the real decoder.
func fastPack(name, text string) (packDef, error) {
	var def packDef
	d := fastDecoder{fields: map[reflect.Type]map[string]int{}}
	d.at = reflect.ValueOf(&def).Elem()
	for row := 1; text != ""; row++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if err := d.line(&def, strings.TrimSpace(line)); err != nil {
			return def, fmt.Errorf("%s:%d: %w", name, row, err)
		}
	}
	return def, nil
}

type fastDecoder struct {
	at     reflect.Value // the table that keys go into
	fields map[reflect.Type]map[string]int
}

func (d *fastDecoder) line(def *packDef, s string) error {
	switch {
	case s == "" || s[0] == '#':
		return nil
	case s[0] == '[':
		return d.header(def, s)
	}
	key, value, ok := strings.Cut(s, " = ")
	if !ok {
		return fmt.Errorf("no value in %q", s)
	}
	if key == "match" || key == "not_match" {
		return nil
	}
	i, ok := d.index(key)
	if !ok {
		return fmt.Errorf("unknown key %q", key)
	}
	return setValue(d.at.Field(i), value)
}

// index finds the field of a key in the current table.
func (d *fastDecoder) index(key string) (int, bool) {
	t := d.at.Type()
	m := d.fields[t]
	if m == nil {
		m = make(map[string]int, t.NumField())
		for i := range t.NumField() {
			m[t.Field(i).Tag.Get("toml")] = i
		}
		d.fields[t] = m
	}
	i, ok := m[key]
	return i, ok
}

func (d *fastDecoder) header(def *packDef, s string) error {
	switch s {
	case "[[tool]]":
		def.Tools = append(def.Tools, toolDef{})
		d.at = reflect.ValueOf(&def.Tools[len(def.Tools)-1]).Elem()
	case "[[tool.sub]]":
		t := &def.Tools[len(def.Tools)-1]
		t.Sub = append(t.Sub, subDef{})
		d.at = reflect.ValueOf(&t.Sub[len(t.Sub)-1]).Elem()
	case "[[rule]]":
		def.Rules = append(def.Rules, ruleDef{})
		d.at = reflect.ValueOf(&def.Rules[len(def.Rules)-1]).Elem()
	case "[mcp]":
		def.MCP = &mcpDef{}
		d.at = reflect.ValueOf(def.MCP).Elem()
	case "[[mcp.server]]":
		def.MCP.Servers = append(def.MCP.Servers, serverDef{})
		d.at = reflect.ValueOf(&def.MCP.Servers[len(def.MCP.Servers)-1]).Elem()
	case "[names]":
		def.Names = &namesDef{}
		d.at = reflect.ValueOf(def.Names).Elem()
	case "[tables]":
		def.Tables = &tablesDef{}
		d.at = reflect.ValueOf(def.Tables).Elem()
	default:
		return fmt.Errorf("unknown table %s", s)
	}
	return nil
}

func setValue(f reflect.Value, s string) error {
	switch f.Kind() {
	case reflect.String:
		v, _, err := fastString(s)
		f.SetString(v)
		return err
	case reflect.Bool:
		f.SetBool(s == "true")
	case reflect.Int:
		n, err := strconv.Atoi(s)
		f.SetInt(int64(n))
		return err
	case reflect.Slice:
		list, err := fastList(s)
		f.Set(reflect.ValueOf(list))
		return err
	case reflect.Map:
		m, err := fastTable(s)
		f.Set(reflect.ValueOf(m))
		return err
	default:
		return fmt.Errorf("no value of this kind: %s", s)
	}
	return nil
}

// fastString reads a basic string and returns what stands behind it.
func fastString(s string) (value, rest string, err error) {
	if s == "" || s[0] != '"' {
		return "", "", fmt.Errorf("no string at %q", s)
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return s[1:i], s[i+1:], nil
		case '\\':
			return escapedString(s)
		}
	}
	return "", "", fmt.Errorf("a string without an end: %q", s)
}

func escapedString(s string) (value, rest string, err error) {
	end := 1
	for ; end < len(s) && s[end] != '"'; end++ {
		if s[end] == '\\' {
			end++
		}
	}
	if end >= len(s) {
		return "", "", fmt.Errorf("a string without an end: %q", s)
	}
	value, err = strconv.Unquote(s[:end+1])
	return value, s[end+1:], err
}

// fastList reads a list of strings on one line.
func fastList(s string) ([]string, error) {
	out := make([]string, 0, 1+strings.Count(s, `", "`))
	for s = s[1:]; ; {
		s = strings.TrimLeft(s, ", ")
		if s == "]" {
			return out, nil
		}
		v, rest, err := fastString(s)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		s = rest
	}
}

// fastTable reads a table of strings on one line: { a = "x", "b-c" = "y" }.
func fastTable(s string) (map[string]string, error) {
	out := map[string]string{}
	for s = strings.TrimLeft(s, "{ "); ; {
		s = strings.TrimLeft(s, ", ")
		if s == "}" {
			return out, nil
		}
		key, rest, ok := strings.Cut(s, " = ")
		if !ok {
			return nil, fmt.Errorf("no value in %q", s)
		}
		v, rest, err := fastString(rest)
		if err != nil {
			return nil, err
		}
		out[strings.Trim(key, `"`)] = v
		s = rest
	}
}
