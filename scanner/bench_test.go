package scanner

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
)

// night makes a transcript of about size bytes the way a night of work looks:
// by bytes mostly results of reads, searches and tests, then text and written
// files, with a call for each result and a push now and then.
func night(size int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for n := 0; b.Len() < size; n++ {
		id := fmt.Sprintf("toolu_%06d", n)
		meta := fmt.Sprintf(`,"parent_tool_use_id":null,"session_id":"84fdc7b6-42c0-4403-a006-ffc0a4956bcb","uuid":"%08x-bab0-45b3-becf-3d1c7d87793b","timestamp":"2026-11-30T03:05:39.562Z"`, n)
		row := func(role, content, more string) {
			b.WriteString(`{"type":"` + role + `","message":{"id":"msg_01","type":"message","role":"` + role + `","content":[` + content + `],"stop_reason":null,"usage":{"input_tokens":12516,"output_tokens":1}}` + meta + more + "}\n")
		}
		row("assistant", `{"type":"text","text":`+quoted(prose(r, 40+r.IntN(120)))+`}`, "")
		call, result := "", code(r, 20+r.IntN(400))
		switch r.IntN(20) {
		case 0:
			call = `{"type":"tool_use","id":"` + id + `","name":"Write","input":{"file_path":"/home/dev/project/a.go","content":` + quoted(code(r, 60)) + `}}`
			result = "File created successfully at: /home/dev/project/a.go"
		case 1, 2, 3, 4, 5, 6:
			call = `{"type":"tool_use","id":"` + id + `","name":"Read","input":{"file_path":"/home/dev/project/a.go"}}`
		default:
			command := []string{"go test ./... 2>&1 | tail -40", "rg -n 'func New' --type go", "git status --short && git diff", "sed -n 1,200p main.go", "make lint"}[r.IntN(5)]
			if r.IntN(20) == 0 {
				command = "git add -A && git commit -m 'work'"
			}
			if r.IntN(200) == 0 {
				command = "git push origin main"
				result += "git push, as told"
			}
			call = `{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":` + quoted(command) + `,"description":"do it"}}`
		}
		row("assistant", call, "")
		row("user", `{"tool_use_id":"`+id+`","type":"tool_result","content":`+quoted(result)+`,"is_error":false}`,
			`,"tool_use_result":{"stdout":`+quoted(result)+`,"stderr":"","interrupted":false},"tool_result_meta":[{"id":"`+id+`","permission_decision":{"decision":"accept","source":"config"}}]`)
	}
	return b.Bytes()
}

var vocabulary = strings.Fields(`the function returns an error when config value is missing so we should check that test covers this case and git commit then
 push back on it curl npm run build server request response handler package import context publish deploy release branch merge pull docker kubectl gh pr
 client queue story report session transcript hash parse decode scan buffer line number string byte slice map struct interface method receiver`)

// prose is words in any order, but none that name a command by accident: in
// a real night they stand in few lines.
func prose(r *rand.Rand, n int) string {
	var b strings.Builder
	tool := false
	for i := range n {
		w := vocabulary[r.IntN(len(vocabulary))]
		if tool {
			w = "is"
		}
		tool = strings.Contains(" git npm docker kubectl gh curl railway ", " "+w+" ")
		b.WriteString(w)
		if i%17 == 16 {
			b.WriteString(".\n")
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func code(r *rand.Rand, lines int) string {
	var b strings.Builder
	for i := range lines {
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "%5d\t\tif err := s.%s(ctx, %q); err != nil {\n", i, vocabulary[r.IntN(len(vocabulary))], vocabulary[r.IntN(len(vocabulary))])
		case 1:
			fmt.Fprintf(&b, "%5d\t\t\treturn fmt.Errorf(\"%s %s: %%w\", err)\n", i, vocabulary[r.IntN(len(vocabulary))], vocabulary[r.IntN(len(vocabulary))])
		case 2:
			fmt.Fprintf(&b, "internal/%s/%s.go:%d:\t// %s\n", vocabulary[r.IntN(len(vocabulary))], vocabulary[r.IntN(len(vocabulary))], i, strings.TrimSpace(strings.ReplaceAll(prose(r, 9), "\n", " ")))
		default:
			b.WriteString("\t\t}\n")
		}
	}
	return b.String()
}

// nothing finds nothing, in no time: what is left is the scanner's own cost.
type nothing struct{ fake }

func (nothing) MayMention([]byte) bool { return false }

func (nothing) FindMentions([]byte, func(policy.Mention) bool) {}

func BenchmarkScan(b *testing.B) {
	data := night(32 << 20)
	set := builtin(b)
	run := func(name string, rules classifier, o Options, data []byte) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := scan(context.Background(), bytes.NewReader(data), o, rules, func(Hit) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("real rules", set, Options{}, data)
	run("real rules, calls only", set, Options{CallsOnly: true}, data)
	run("no rules", nothing{}, Options{}, data)
	plain := bytes.Repeat([]byte(code(rand.New(rand.NewPCG(3, 4)), 2000)), 64)
	run("plain log", set, Options{}, plain)
	long := append([]byte(`{"type":"user","message":{"content":"`), bytes.Repeat([]byte("some output of a tool\\n"), 3<<20)...)
	run("line of 69 MB", set, Options{}, long)
}

// BenchmarkMemory shows that what is allocated does not grow with the file.
func BenchmarkMemory(b *testing.B) {
	set := builtin(b)
	unit := night(1 << 20)
	for _, n := range []int{16, 64} {
		b.Run(fmt.Sprintf("%d MiB", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				readers := make([]io.Reader, n)
				for i := range readers {
					readers[i] = bytes.NewReader(unit)
				}
				if _, err := Scan(context.Background(), io.MultiReader(readers...), Options{Set: set}, func(Hit) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
