package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// jvmBuild classifies what a build of Gradle's or Maven's would start, of the
// build files that the agent wrote. In one that the project had, a task that
// publishes says nothing of the build that is asked for.
func (r *reading) jvmBuild(prog string, c *shell.Command) []Hit {
	switch prog {
	case "gradle", "gradlew", "mvn", "mvnw", "mvnd":
	default:
		return nil
	}
	if r.tree == nil || r.tree.changed == nil || helpOnly(c.Argv) {
		return nil
	}
	return r.outsideOnce("\x00jvm "+prog[:1], func() []Hit {
		var hits []Hit
		for _, name := range r.changedFiles() {
			base := path.Base(name)
			gradle := strings.HasSuffix(base, ".gradle") || strings.HasSuffix(base, ".gradle.kts") || strings.Contains(name, "/buildSrc/")
			if gradle != (prog[0] == 'g') || !gradle && base != "pom.xml" && !strings.Contains(name, "/.mvn/") {
				continue
			}
			text, file, ok := r.readAt(name)
			if !ok {
				continue
			}
			if gradle {
				hits = append(hits, r.gradleFile(text, file)...)
			} else {
				hits = append(hits, r.pomFile(text, file)...)
			}
		}
		return slices.DeleteFunc(hits, func(h Hit) bool { return h.Opaque })
	})
}

func (r *reading) gradleFile(text, file string) []Hit {
	lang := "groovy"
	if !strings.HasSuffix(file, ".gradle") {
		lang = "java" // Kotlin, as far as strings and calls go
	}
	hits := r.programFile(lang, text, file)
	for _, words := range gradleCommands(lex(lang, text)) {
		hits = append(hits, r.placed(r.line(quoteWords(words)), file, text, 0)...)
	}
	return hits
}

// pomFile classifies the programs that plugins of Maven's start: <executable>
// with its <argument>s, and Ant's <exec executable="...">.
func (r *reading) pomFile(text, file string) []Hit {
	var hits []Hit
	for at := 0; ; {
		i := strings.Index(text[at:], "executable")
		if i < 0 {
			return hits
		}
		at += i + len("executable")
		rest := text[at:min(len(text), at+4000)]
		prog := xmlValue(rest)
		if prog == "" {
			continue
		}
		for _, end := range []string{"</configuration>", "</exec>", "<executable>"} {
			if k := strings.Index(rest, end); k >= 0 {
				rest = rest[:k]
			}
		}
		var line strings.Builder
		line.WriteString(prog)
		for _, tag := range []string{"<argument>", "<commandlineArgs>", `value="`, `line="`} {
			closing := "<"
			if strings.HasSuffix(tag, `"`) {
				closing = `"`
			}
			for part := range strings.SplitSeq(rest, tag) {
				if v, _, ok := strings.Cut(part, closing); ok && !strings.HasPrefix(rest, part) {
					line.WriteString(" " + strings.TrimSpace(v))
				}
			}
		}
		hits = append(hits, r.placed(r.line(line.String()), file, text, 0)...)
	}
}

// xmlValue is what stands behind the name of an attribute or of an element.
func xmlValue(rest string) string {
	if v, ok := strings.CutPrefix(rest, `="`); ok {
		v, _, _ = strings.Cut(v, `"`)
		return v
	}
	if v, ok := strings.CutPrefix(rest, ">"); ok {
		v, _, _ = strings.Cut(v, "<")
		return strings.TrimSpace(v)
	}
	return ""
}
