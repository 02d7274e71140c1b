package policy

import "slices"

import "strings"

// Programs whose output says something about the machine or the net, not
// about the work: a URL built from them is an ordinary download.
var harmlessSources = []string{
	"uname", "arch", "date", "dpkg", "lsb_release", "rustc", "getconf", "nproc", "seq", "sw_vers", "curl", "wget",
	"go", "node", "python", "python3", "rpm", "gh", "tr", "cut", "sed", "awk", "head", "tail", "sort", "jq", "grep",
	"echo", "printf", "basename", "dirname", "gcloud", "aws", "kubectl", "minikube", "docker", "whoami-url", "urlencode",
}

// firstSources are those of them that may stand first in a pipe; the others
// are filters, and as the first program they read a file.
var firstSources = []string{
	"uname", "arch", "date", "dpkg", "lsb_release", "rustc", "getconf", "nproc", "seq", "sw_vers", "curl", "wget", "go",
	"gh", "rpm", "kubectl", "minikube", "gcloud", "aws", "docker", "echo", "printf", "basename", "dirname",
}

// harmlessSubst reports whether every substitution in a word's source prints
// only what an ordinary download needs: a version, a platform, a date. What
// it cannot read is not harmless.
func harmlessSubst(text string) bool {
	bodies, ok := substitutions(text)
	if !ok || len(bodies) == 0 {
		return false
	}
	for _, b := range bodies {
		if !harmlessBody(b) {
			return false
		}
	}
	return true
}

func harmlessBody(body string) bool {
	if nested, ok := substitutions(body); !ok || len(nested) > 0 && !harmlessSubst(body) {
		return false
	}
	body = withoutSubstitutions(body)
	if strings.ContainsAny(body, "<>;&") {
		return false
	}
	for i, part := range strings.Split(body, "|") {
		f := strings.Fields(part)
		if len(f) == 0 {
			return false
		}
		prog := strings.Trim(f[0], `"'`)
		if i == 0 && prog == "git" && len(f) > 1 && containsString([]string{"rev-parse", "describe", "branch", "tag"}, f[1]) {
			continue
		}
		if i == 0 && !containsString(firstSources, prog) || !containsString(harmlessSources, prog) {
			return false
		}
	}
	return true
}

func containsString(list []string, s string) bool {
	return slices.Contains(list, s)
}

// substitutions lists the bodies of the outermost $( ) and ` ` in a source
// text; ok is false when one does not end.
func substitutions(s string) (bodies []string, ok bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '`':
			j := strings.IndexByte(s[i+1:], '`')
			if j < 0 {
				return nil, false
			}
			bodies = append(bodies, s[i+1:i+1+j])
			i += j + 1
		case strings.HasPrefix(s[i:], "$(") && !strings.HasPrefix(s[i:], "$(("):
			depth, j := 1, i+2
			for ; j < len(s) && depth > 0; j++ {
				switch s[j] {
				case '(':
					depth++
				case ')':
					depth--
				}
			}
			if depth > 0 {
				return nil, false
			}
			bodies = append(bodies, s[i+2:j-1])
			i = j - 1
		}
	}
	return bodies, true
}

// withoutSubstitutions is a source text with its substitutions cut out: what
// stands in them is judged on its own.
func withoutSubstitutions(s string) string {
	bodies, ok := substitutions(s)
	if !ok {
		return s
	}
	for _, b := range bodies {
		s = strings.Replace(strings.Replace(s, "$("+b+")", "$", 1), "`"+b+"`", "$", 1)
	}
	return s
}
