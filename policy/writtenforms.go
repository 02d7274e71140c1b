package policy

import (
	"path"
	"strings"
)

// writtenForms lists what a file of settings, written for later, would have
// done: by a command that stands there in parts, by a step of a workflow that
// a published action does, by a request that a task makes.
func (s *Set) writtenForms(name, text string) []Hit {
	ext := strings.ToLower(path.Ext(name))
	switch ext {
	case ".json", ".yml", ".yaml", ".plist", ".toml", ".jsonc", ".xml":
	default:
		return nil
	}
	if len(text) > maxProse {
		return nil
	}
	var hits []Hit
	if plain := inOneLine(text); plain != text {
		hits = append(hits, s.phrasesIn(plain)...)
	}
	if ext != ".yml" && ext != ".yaml" {
		return hits
	}
	posts := strings.Contains(text, "uri:") || strings.Contains(text, "win_uri:")
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "- ")
		if action, ok := strings.CutPrefix(line, "uses:"); ok && s.actsOutside(strings.TrimSpace(action)) {
			hits = append(hits, Hit{Rule: "workflow-action", Tier: External, Mention: true, Why: "A step of the workflow publishes, deploys or tells others.", Text: line})
		}
		if _, method, ok := strings.Cut(line, "method:"); ok && posts {
			switch strings.ToUpper(strings.Trim(strings.FieldsFunc(method+" ", func(c rune) bool { return c == ',' || c == '}' })[0], `"' `)) {
			case "POST", "PUT", "PATCH", "DELETE":
				hits = append(hits, Hit{Rule: "task-request", Tier: External, Mention: true, Why: "A task sends an HTTP request that writes.", Text: line})
			}
		}
	}
	return hits
}

// inOneLine is a text of settings in which a program and its arguments, which
// stand there as parts, follow each other with a blank between them.
func inOneLine(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line))
		b.WriteByte('\n')
	}
	plain := b.String()
	plain = strings.NewReplacer("</string>\n<string>", " ", "</string><string>", " ").Replace(plain)
	for _, key := range []string{`args`, `arguments`} {
		for _, form := range []string{`","` + key + `":["`, `", "` + key + `": ["`, "\",\n\"" + key + `": ["`, "\",\n\"" + key + "\": [\n\"", "\n" + key + ": [\"", "\n" + key + ": [", "\n" + key + ":\n- "} {
			plain = strings.ReplaceAll(plain, form, " ")
		}
	}
	plain = strings.ReplaceAll(plain, "\",\n\"", " ")
	return joinQuoted(plain)
}

// actsOutside: a published action does what reaches others, as its name says.
func (s *Set) actsOutside(action string) bool {
	name, _, _ := strings.Cut(strings.Trim(action, `"'`), "@")
	owner, repo, _ := strings.Cut(name, "/")
	words := nameWords(repo)
	for i, w := range words {
		switch w {
		case "artifact", "cache", "sarif", "checkout", "setup", "drafter":
			return w == "drafter"
		case "pages", "slack", "discord", "telegram", "teams", "twitter", "mastodon", "mail", "email", "sentry", "codecov", "pypi", "npm", "docker", "ecr", "helm", "s3", "azure", "aws", "gcp", "firebase", "vercel", "netlify", "wrangler", "ssh", "scp", "ftp", "rsync", "goreleaser", "release", "releases":
			if w != "docker" && w != "aws" && w != "azure" && w != "npm" && w != "helm" || s.table().riskyName(repo) {
				return !strings.HasPrefix(repo, "setup-")
			}
		}
		if i+1 < len(words) && orderedVerb(w, strings.Join(words[i+1:], "-")) {
			return true
		}
	}
	return owner != "." && s.table().riskyName(repo) || owner == "appleboy" || owner == "softprops" || owner == "peaceiris"
}
