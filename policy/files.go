package policy

import (
	"path"
	"strings"
)

// isFileTool: the tool writes text into a file.
func isFileTool(key string) bool {
	switch key {
	case "write", "edit", "multiedit", "notebookedit", "writefile", "editfile", "replace", "createfile", "strreplace",
		"applypatch", "strreplaceeditor", "strreplacebasededittool", "searchreplace", "inserteditintofile", "replacestringinfile",
		"multireplacestringinfile", "editnotebookfile", "update", "create", "insert", "writetofile", "replaceinfile", "patch",
		"applydiff", "fileeditor", "insertcontent", "filechange":
		return true
	}
	return false
}

// fileCall classifies a call that writes a file: it changes this machine only,
// so what the text would do is a mention, and its evidence is that it was
// written.
func (s *Set) fileCall(c Call, in map[string]any) Result {
	name := ""
	for _, k := range []string{"file_path", "path", "filePath", "notebook_path", "filename", "target_file"} {
		if v, ok := in[k].(string); ok {
			name = v
			break
		}
	}
	var hits []Hit
	eachString(in, func(text string) {
		if strings.Contains(text, "disableAllHooks") && strings.Contains(name, ".claude/settings") {
			hits = append(hits, guardHit("Write "+name))
		}
		if text == name || c.NoWords {
			return
		}
		hits = append(hits, s.written(name, text)...)
		for _, f := range PatchedFiles(text) {
			if languageOfFile(f.Name, f.Text) != "" {
				hits = append(hits, s.written(f.Name, f.Text)...)
			}
		}
	})
	return finish(hits, Written)
}

// written lists what the text of a file speaks of or would do.
func (s *Set) written(name, text string) []Hit {
	hits := s.mentions(text)
	if len(hits) == 0 {
		hits = s.writtenForms(name, text)
	}
	lang := languageOfFile(name, text)
	if lang == "" || len(text) > maxProgram {
		return hits
	}
	for _, h := range s.newReading().program(lang, text) {
		if h.Tier > Local && h.Rule != "unread-text" {
			h.Mention, h.Net = true, false
			hits = append(hits, h)
		}
	}
	return hits
}

// languageOfFile tells the language of a script by its name or first line; ""
// when it is none.
func languageOfFile(name, text string) string {
	if rest, ok := strings.CutPrefix(text, "#!"); ok {
		line, _, _ := strings.Cut(rest, "\n")
		for w := range strings.FieldsSeq(line) {
			if l := languageOf(baseOf(w)); l != "" {
				return l
			}
		}
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".sh", ".bash", ".zsh", ".command", ".ksh":
		return "shell"
	case ".py":
		return "python"
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx":
		return "javascript"
	case ".rb":
		return "ruby"
	case ".pl", ".pm":
		return "perl"
	case ".php":
		return "php"
	case ".go":
		return "go"
	case ".java", ".kt", ".kts", ".cs", ".csx", ".fsx":
		return "java"
	case ".hs", ".ml", ".nim":
		return "generic"
	case ".zig":
		return "rust"
	case ".rs":
		return "rust"
	case ".swift":
		return "swift"
	case ".dart":
		return "dart"
	case ".groovy":
		return "groovy"
	case ".scala", ".sc":
		return "scala"
	case ".lua":
		return "lua"
	case ".r":
		return "rscript"
	case ".jl":
		return "julia"
	case ".ex", ".exs":
		return "elixir"
	case ".applescript", ".scpt":
		return "osascript"
	}
	return ""
}
