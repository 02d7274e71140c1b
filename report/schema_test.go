package report

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-b23e517c/loop/policy"
	"github.com/seed-b23e517c/loop/queue"
)

const (
	schemaFile = "../docs/report.schema.json"
	schemaID   = "https://github.com/seed-b23e517c/loop/blob/main/docs/report.schema.json"
)

// schemaMaker makes a JSON Schema of Go types; what it says of a field is the
// comment beside it.
type schemaMaker struct {
	defs  map[string]any
	words map[string]string // "Type.Field" -> comment
}

// commentsOf reads the comments of the types in the files of a folder.
func commentsOf(t *testing.T, into map[string]string, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					for _, id := range field.Names {
						into[spec.Name.Name+"."+id.Name] = strings.Join(strings.Fields(field.Doc.Text()+" "+field.Comment.Text()), " ")
					}
				}
			}
			return true
		})
	}
}

func (m *schemaMaker) of(t reflect.Type) any {
	switch t {
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{"description": "any JSON"}
	case reflect.TypeFor[policy.Tier]():
		return map[string]any{"enum": []any{"local", "shared", "external"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.of(t.Elem())
	case reflect.Slice:
		return map[string]any{"type": "array", "items": m.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": m.of(t.Elem())}
	case reflect.Struct:
		name := strings.ToLower(t.Name())
		if _, ok := m.defs[name]; !ok {
			m.defs[name] = nil // types may hold themselves
			m.defs[name] = m.object(t)
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	default:
		return map[string]any{"type": "integer"}
	}
}

func (m *schemaMaker) object(t reflect.Type) any {
	props := map[string]any{}
	required := []any{}
	m.fields(t, props, &required)
	return map[string]any{"type": "object", "properties": props, "required": required}
}

func (m *schemaMaker) fields(t reflect.Type, props map[string]any, required *[]any) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			m.fields(f.Type, props, required)
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		s := m.of(f.Type)
		omitted := strings.Contains(options, "omit")
		if (f.Type.Kind() == reflect.Slice && f.Type != reflect.TypeFor[json.RawMessage]() || f.Type.Kind() == reflect.Pointer) && !omitted {
			s = map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
		}
		if words := m.words[t.Name()+"."+f.Name]; words != "" {
			s.(map[string]any)["description"] = words
		}
		if name == "schema" {
			s = map[string]any{"const": queue.Schema}
		}
		props[name] = s
		if !omitted {
			*required = append(*required, name)
		}
	}
}

// reportSchema is the schema of `loop report --json`.
func reportSchema(t *testing.T) map[string]any {
	t.Helper()
	m := &schemaMaker{defs: map[string]any{}, words: map[string]string{}}
	commentsOf(t, m.words, "../queue")
	commentsOf(t, m.words, ".")
	root := m.of(reflect.TypeFor[Document]()).(map[string]any)
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": schemaID, "title": "loop report --json",
		"description": "Times are RFC 3339, durations nanoseconds, money US dollars. Secrets are masked. Later versions add fields and take none away while schema is 1.",
		"$ref":        root["$ref"], "$defs": m.defs,
	}
}

// The schema in docs is what the types are; LOOP_UPDATE=1 rewrites it.
func TestSchemaIsThatOfTheTypes(t *testing.T) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(reportSchema(t)); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("LOOP_UPDATE") == "1" {
		if err := os.WriteFile(schemaFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(old), b.String()); diff != "" {
		t.Errorf("%s is not that of the types, LOOP_UPDATE=1 rewrites it (-file +types):\n%s", schemaFile, diff)
	}
}

func compiled(t *testing.T, doc any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(schemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// closed lets an object have the properties only that the schema names.
func closed(v any) {
	switch x := v.(type) {
	case map[string]any:
		if _, ok := x["properties"]; ok {
			x["additionalProperties"] = false
		}
		for _, y := range x {
			closed(y)
		}
	case []any:
		for _, y := range x {
			closed(y)
		}
	}
}

func schemaFromDocs(t *testing.T) any {
	t.Helper()
	raw, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestReportsAreAsTheSchemaSays(t *testing.T) {
	doc := schemaFromDocs(t)
	closed(doc)
	s := compiled(t, doc)
	all := nights()
	joined, sessions := Join([]queue.Snapshot{badNight(), goodNight()})
	all["joined"] = joined
	for name, d := range all {
		var b bytes.Buffer
		o := options(0, false)
		if name == "joined" {
			o.Sessions = sessions
		}
		if err := JSON(&b, d, o); err != nil {
			t.Fatal(err)
		}
		got, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is no report does not pass for one.
func TestTheSchemaRefuses(t *testing.T) {
	s := compiled(t, schemaFromDocs(t))
	var b bytes.Buffer
	if err := JSON(&b, badNight(), options(0, false)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]any){
		"another schema": func(d map[string]any) { d["schema"] = 2 },
		"no actions":     func(d map[string]any) { delete(d, "actions") },
		"a text as number": func(d map[string]any) {
			d["counts"].(map[string]any)["waiting"] = "4"
		},
		"no time": func(d map[string]any) { d["session"].(map[string]any)["started"] = "yesterday" },
	} {
		d, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		change(d.(map[string]any))
		if s.Validate(d) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
