package replay

import (
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy"
)

// dryForm is how one command of a program is told to change nothing, by its
// own manual. gh is not here: `gh pr create --dry-run` may still push; nor are
// docker push, twine and gem push, which have none.
type dryForm struct {
	program string
	words   []string // of its command, in order; each may list several, split by |
	values  []string // options before these words whose value is the next word
	add     []string // put behind these words
	instead []string // put in the place of the last of these words, with add
	drop    []string // options that the other form does not take, by how they begin
	plain   bool     // words that are no options have no place in the other form
	code    bool     // it may run code of the project
}

func dryForms() []dryForm {
	n := []string{"--dry-run"}
	kube := []string{"-n", "--namespace", "--context", "--cluster", "--kubeconfig", "--user", "--kube-context", "-s", "--server"}
	server := []string{"--dry-run=server"}
	return []dryForm{
		// Without its hook: that is code of the repository.
		{program: "git", words: []string{"push"}, values: []string{"-C"}, add: []string{"--dry-run", "--no-verify"}},
		{program: "jj", words: []string{"git", "push"}, add: n},
		// Without the package's scripts, and without building what is published.
		{program: "npm", words: []string{"publish"}, add: []string{"--dry-run", "--ignore-scripts"}},
		{program: "pnpm", words: []string{"publish"}, add: []string{"--dry-run", "--ignore-scripts"}},
		{program: "bun", words: []string{"publish"}, add: n, code: true},
		{program: "cargo", words: []string{"publish"}, add: []string{"--dry-run", "--no-verify"}},
		{program: "uv", words: []string{"publish"}, add: n},
		{program: "poetry", words: []string{"publish"}, add: n, code: true},
		{program: "dart|flutter", words: []string{"pub", "publish"}, add: n, drop: []string{"-f", "--force"}},
		{program: "deno", words: []string{"publish"}, add: n},
		{program: "mix", words: []string{"hex.publish"}, add: n, code: true},
		{program: "kubectl|oc", words: []string{"apply|create|delete|patch|replace|label|annotate|scale|autoscale|expose|run|taint|cordon|uncordon|drain"}, values: kube, add: server},
		{program: "kubectl|oc", words: []string{"rollout", "undo"}, values: kube, add: server},
		{program: "helm", words: []string{"install|upgrade|uninstall|delete|rollback"}, values: kube, add: n},
		{program: "terraform|tofu", words: []string{"apply"}, instead: []string{"plan"}, add: []string{"-input=false", "-lock=false"},
			drop: []string{"-auto-approve", "--auto-approve", "-input", "-lock", "-backup", "-state-out"}, plain: true, code: true},
		{program: "terraform|tofu", words: []string{"destroy"}, instead: []string{"plan", "-destroy"}, add: []string{"-input=false", "-lock=false"},
			drop: []string{"-auto-approve", "--auto-approve", "-input", "-lock", "-backup", "-state-out"}, plain: true, code: true},
		{program: "ansible-playbook", add: []string{"--check"}, code: true},
		{program: "rsync", add: n},
		{program: "rclone", words: []string{"copy|sync|move|copyto|moveto|delete|deletefile|purge|bisync"}, add: n},
		{program: "aws", words: []string{"s3", "cp|mv|rm|sync"}, values: []string{"--profile", "--region", "--endpoint-url", "--output"}, add: []string{"--dryrun"}},
		{program: "gcloud", words: []string{"storage", "rsync"}, values: []string{"--project", "--account", "--configuration"}, add: n},
		{program: "gsutil", words: []string{"rsync"}, values: []string{"-o", "-h"}, add: []string{"-n"}},
		{program: "azcopy", words: []string{"copy|cp|sync|remove|rm"}, add: n},
		{program: "wrangler", words: []string{"deploy"}, add: n, code: true},
	}
}

// dryWords is a command's own dry run, word by word. ok is false when it has
// none, or when it is more than one plain command, whose words are what they
// look like.
func dryWords(command string) (argv []string, code, ok bool) {
	words, ok := policy.ExactWords(strings.TrimSpace(command))
	if !ok || slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, "*?[{<>") || strings.HasPrefix(w, "~") }) {
		return nil, false, false
	}
	for _, f := range dryForms() {
		if argv, ok := f.of(words); ok {
			return argv, f.code, true
		}
	}
	return nil, false, false
}

func (f dryForm) of(words []string) (argv []string, ok bool) {
	if !oneOf(f.program, words[0]) {
		return nil, false
	}
	at := 0
	for _, w := range f.words {
		if at = f.next(words, at+1); at < 0 || !oneOf(w, words[at]) {
			return nil, false
		}
	}
	head, rest := slices.Clone(words[:at+1]), words[at+1:]
	if f.instead != nil {
		head = append(head[:at], f.instead...)
	}
	argv = append(head, f.add...)
	for _, w := range rest {
		if f.plain && !strings.HasPrefix(w, "-") {
			return nil, false
		}
		if !slices.ContainsFunc(f.drop, func(d string) bool { return w == d || strings.HasPrefix(w, d+"=") }) {
			argv = append(argv, w)
		}
	}
	return argv, true
}

// next is the index of the next word that is no option; -1 when there is none,
// or one that is not known before it.
func (f dryForm) next(words []string, i int) int {
	for ; i < len(words); i++ {
		w := words[i]
		switch {
		case !strings.HasPrefix(w, "-"):
			return i
		case slices.Contains(f.values, w):
			i++
		case !strings.Contains(w, "=") || f.program == "git":
			return -1
		}
	}
	return -1
}

func oneOf(list, word string) bool { return slices.Contains(strings.Split(list, "|"), word) }
