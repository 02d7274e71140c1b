package policy

import (
	"bytes"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const generatedFile = "packs_gen.go"

// TestGeneratedPacks holds the packs as the program has them to the files in
// packs/. LOOP_UPDATE=1 writes them anew.
func TestGeneratedPacks(t *testing.T) {
	want := generatePacks(t)
	if os.Getenv("LOOP_UPDATE") != "" {
		if err := os.WriteFile(generatedFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(generatedFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is behind packs/*.toml; LOOP_UPDATE=1 go test -run TestGeneratedPacks ./policy writes it anew", generatedFile)
	}
}

// embedded decodes the embedded packs and makes their rules ready.
func embedded(t *testing.T) []*pack {
	t.Helper()
	names, err := fs.Glob(builtinPacks, "packs/*.toml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no packs: %v", err)
	}
	var out []*pack
	for _, n := range names {
		data, err := builtinPacks.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		def, err := decodePack(n, data)
		if err != nil {
			t.Fatal(err)
		}
		p := &pack{name: n, data: data, def: *def}
		if err := p.compile(); err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func generatePacks(t *testing.T) []byte {
	t.Helper()
	packs := embedded(t)
	var b bytes.Buffer
	b.WriteString("// Code generated from packs/*.toml by TestGeneratedPacks; DO NOT EDIT.\n\npackage policy\n\n")
	b.WriteString("var builtinNames = [...]string{\n")
	programs := map[string]uint32{}
	for i, p := range packs {
		fmt.Fprintf(&b, "%q,\n", p.name)
		for _, name := range p.programs() {
			programs[name] |= 1 << i
		}
	}
	b.WriteString("}\n\nvar builtinPrograms = [...]programPacks{\n")
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		fmt.Fprintf(&b, "{%q, %#x},\n", name, programs[name])
	}
	b.WriteString("}\n\nvar builtinDefs = [...]packDef{\n")
	for _, p := range packs {
		writeLiteral(&b, reflect.ValueOf(withoutMaps(p.def)))
		b.WriteString(",\n")
	}
	b.WriteString("}\n")
	writePhrases(&b, packs)
	text, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// writePhrases writes the phrases of the packs and their index.
func writePhrases(b *bytes.Buffer, packs []*pack) {
	x := &phraseIndex{all: classics()}
	english := map[string]bool{}
	for _, p := range packs {
		if p.def.Tables != nil {
			maps.Copy(english, setOf(p.def.Tables.English))
		}
	}
	for _, p := range packs {
		for i := range p.def.Rules {
			x.add(&p.def.Rules[i], english)
		}
	}
	words := map[string][]int32{}
	var loose [256][]int32
	for i := range x.all {
		p := &x.all[i]
		first, _, several := strings.Cut(p.text, " ")
		if several && !p.exact && len(first) <= maxFirstWord {
			words[first] = append(words[first], int32(i))
			continue
		}
		p.loose = true
		c := p.text[0]
		loose[c] = append(loose[c], int32(i))
		if c >= 'a' && c <= 'z' {
			loose[c-32] = append(loose[c-32], int32(i))
		}
	}
	number := map[*phraseRule]int{}
	b.WriteString("\nvar builtinPhraseRules = [...]phraseRule{\n")
	for _, p := range x.all {
		if _, ok := number[p.of]; !ok {
			number[p.of] = len(number)
			fmt.Fprintf(b, "{%q, %q},\n", p.of.id, p.of.why)
		}
	}
	b.WriteString("}\n\nvar builtinPhrases = [...]phrase{\n")
	for _, p := range x.all {
		fmt.Fprintf(b, "{%q, &builtinPhraseRules[%d], %v, %v},\n", p.text, number[p.of], p.exact, p.loose)
	}
	b.WriteString("}\n\nvar builtinWords = [...]wordPhrases{\n")
	for _, w := range slices.Sorted(maps.Keys(words)) {
		writeLiteral(b, reflect.ValueOf(wordPhrases{w, words[w]}))
		b.WriteString(",\n")
	}
	b.WriteString("}\n\nvar builtinLoose = [256][]int32{\n")
	for c, list := range loose {
		if list != nil {
			fmt.Fprintf(b, "%d: ", c)
			writeLiteral(b, reflect.ValueOf(list))
			b.WriteString(",\n")
		}
	}
	b.WriteString("}\n")
}

// withoutMaps is a pack as it is laid out: a map would have to be made at the
// start of every process, and the examples are for tests and for people.
func withoutMaps(d packDef) packDef {
	d.Programs = nil
	for i := range d.Tools {
		d.Tools[i].alias, d.Tools[i].Alias = pairs(d.Tools[i].Alias), nil
	}
	for i := range d.Rules {
		d.Rules[i].Match, d.Rules[i].NotMatch = nil, nil
	}
	if d.Tables != nil {
		d.Tables.bins, d.Tables.Bins = pairs(d.Tables.Bins), nil
	}
	return d
}

func pairs(m map[string]string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, k, m[k])
	}
	return out
}

// writeLiteral writes a value as Go has it in its sources.
func writeLiteral(b *bytes.Buffer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if b.Len() > 0 && bytes.HasSuffix(b.Bytes(), []byte("&")) {
			b.WriteString(v.Type().Name())
		}
		b.WriteString("{")
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				b.WriteString(v.Type().Field(i).Name + ": ")
				writeLiteral(b, f)
				b.WriteString(", ")
			}
		}
		b.WriteString("}")
	case reflect.Slice:
		fmt.Fprintf(b, "[]%s{", v.Type().Elem().Name())
		for i := range v.Len() {
			if v.Type().Elem().Kind() == reflect.Struct {
				b.WriteString("\n")
			}
			writeLiteral(b, v.Index(i))
			b.WriteString(", ")
		}
		b.WriteString("}")
	case reflect.Pointer:
		b.WriteString("&")
		writeLiteral(b, v.Elem())
	case reflect.String:
		fmt.Fprintf(b, "%q", v.String())
	case reflect.Bool:
		fmt.Fprint(b, v.Bool())
	case reflect.Int, reflect.Int32:
		fmt.Fprint(b, v.Int())
	case reflect.Uint8:
		fmt.Fprint(b, v.Uint())
	default:
		panic("no literal for " + v.Kind().String())
	}
}
