package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// maxGradleTasks is how many tasks of a build are followed, those included
// that others depend on.
const maxGradleTasks = 16

// gradleTasks classifies the commands in the tasks of the project's build
// script that gradle is told to do.
func (r *reading) gradleTasks(c *shell.Command) []Hit {
	if containsAnyWord(c.Argv, "-m", "--dry-run", "--help", "-h", "tasks") {
		return nil
	}
	var hits []Hit
	names := wordTexts(c.Argv[1:])
	for i := 0; i < len(names) && i < maxGradleTasks; i++ {
		project, name := path.Split(strings.ReplaceAll(names[i], ":", "/"))
		if !plainWord(name) {
			continue
		}
		for _, script := range []string{"build.gradle", "build.gradle.kts"} {
			text, file, ok := r.file(c, path.Join("./"+project, script))
			if !ok {
				continue
			}
			block, start := gradleTask(text, name)
			if block == "" {
				continue
			}
			needs := gradleNeeds(block)
			for _, n := range needs {
				if !slices.Contains(names, n) {
					names = append(names, n)
				}
			}
			found, _ := r.following(file+"\x00"+name, func() []Hit {
				return r.placed(r.gradleBlock(block), file, text, strings.Count(text[:start], "\n"))
			})
			hits = append(hits, reachOutside(found)...)
		}
	}
	return hits
}

// gradleTask is the block of a task in a build script, and where it begins.
func gradleTask(text, name string) (block string, start int) {
	for _, form := range []string{"task " + name, "task('" + name + "'", "task(\"" + name + "\"", "(\"" + name + "\"", "('" + name + "'", "tasks." + name} {
		for at := 0; ; {
			i := strings.Index(text[at:], form)
			if i < 0 {
				break
			}
			at += i + len(form)
			if at < len(text) && isIdent(text[at]) {
				continue
			}
			o := strings.IndexByte(text[at:], '{')
			if o < 0 || strings.Contains(text[at:at+o], "\n\n") || strings.Contains(text[at:at+o], "}") {
				continue
			}
			end := at + o + matching(text[at+o:]) + 1
			block += text[at:min(end, len(text))] + "\n"
			if start == 0 {
				start = at
			}
		}
	}
	return block, start
}

// gradleNeeds lists the tasks that a task's block names as those it depends on.
func gradleNeeds(block string) []string {
	src := lex("groovy", block)
	var out []string
	for _, l := range src.lits {
		before := src.code[:l.start]
		line := before[strings.LastIndexByte(before, '\n')+1:]
		if (strings.Contains(line, "dependsOn") || strings.Contains(line, "finalizedBy")) && plainWord(l.text) {
			out = append(out, l.text)
		}
	}
	return out
}

// gradleBlock classifies the commands of a task, and what its code starts or
// sends.
func (r *reading) gradleBlock(block string) []Hit {
	hits := r.program("groovy", block)
	for _, words := range gradleCommands(lex("groovy", block)) {
		hits = append(hits, r.line(quoteWords(words))...)
	}
	return hits
}

// gradleCommands are the commands that a build script names: commandLine 'git',
// 'push', or an executable and its args.
func gradleCommands(src *source) [][]string {
	var out [][]string
	prog := ""
	for at, line := range lineStarts(src.code) {
		from := max(strings.Index(line, "commandLine"), 0)
		var words []string
		for _, l := range src.within(at+from, at+len(line)) {
			words = append(words, l.text)
		}
		switch word := strings.TrimSpace(line); {
		case len(words) == 0:
		case strings.Contains(word, "commandLine"):
			out = append(out, words)
		case strings.Contains(word, "executable"):
			prog = words[0]
		case strings.HasPrefix(word, "args") && prog != "":
			out = append(out, append([]string{prog}, words...))
		}
	}
	return out
}

// lineStarts gives each line of a text with the place where it begins.
func lineStarts(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		at := 0
		for line := range strings.Lines(text) {
			if !yield(at, line) {
				return
			}
			at += len(line)
		}
	}
}

// antTargets classifies the programs that the targets of a build.xml start.
func (r *reading) antTargets(c *shell.Command) []Hit {
	if containsAnyWord(c.Argv, "-p", "-projecthelp", "-version", "-help") {
		return nil
	}
	name := "build.xml"
	for i, w := range c.Argv[1:] {
		if o := c.Argv[i].Text; o == "-f" || o == "-file" || o == "-buildfile" {
			name = w.Text
		}
	}
	text, file, ok := r.file(c, name)
	if !ok || len(text) > maxProgram {
		return nil
	}
	names := wordTexts(c.Argv[1:])
	if len(c.Argv) == 1 {
		names = []string{attribute(text, "default")}
	}
	var hits []Hit
	for i := 0; i < len(names) && i < maxGradleTasks; i++ {
		_, target, ok := strings.Cut(text, `<target name="`+names[i]+`"`)
		if names[i] == "" || !ok {
			continue
		}
		target, _, _ = strings.Cut(target, "</target>")
		head, _, _ := strings.Cut(target, ">")
		for n := range strings.SplitSeq(attribute(head, "depends"), ",") {
			if n = strings.TrimSpace(n); n != "" && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
		found, _ := r.following(file+"\x00"+names[i], func() []Hit {
			var hits []Hit
			for _, e := range strings.Split(target, "<exec")[1:] {
				e, _, _ = strings.Cut(e, "</exec>")
				words := []string{attribute(e, "executable")}
				for _, a := range strings.Split(e, "<arg")[1:] {
					words = append(words, attribute(a, "value"))
					words = append(words, strings.Fields(attribute(a, "line"))...)
				}
				words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
				hits = append(hits, r.line(quoteWords(words))...)
			}
			return r.placed(hits, file, text, 0)
		})
		hits = append(hits, reachOutside(found)...)
	}
	return hits
}

// attribute is the value of the first attribute of that name.
func attribute(text, name string) string {
	_, rest, ok := strings.Cut(text, " "+name+`="`)
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}
