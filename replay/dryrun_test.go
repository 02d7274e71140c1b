package replay

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/queue"
)

func TestDryWords(t *testing.T) {
	for command, want := range map[string]string{
		"git push":                             "git push --dry-run --no-verify",
		"git -C sub push -u origin main":       "git -C sub push --dry-run --no-verify -u origin main",
		"npm publish --access public":          "npm publish --dry-run --ignore-scripts --access public",
		"cargo publish -p x":                   "cargo publish --dry-run --no-verify -p x",
		"rsync -a --delete 'my dir/' host:/x":  "rsync --dry-run -a --delete my dir/ host:/x",
		"kubectl -n prod apply -f x.yaml":      "kubectl -n prod apply --dry-run=server -f x.yaml",
		"kubectl rollout undo deployment/x":    "kubectl rollout undo --dry-run=server deployment/x",
		"aws --profile p s3 sync . s3://b":     "aws --profile p s3 sync --dryrun . s3://b",
		"helm upgrade --install x ./c":         "helm upgrade --dry-run --install x ./c",
		"terraform apply -auto-approve -var=a": "terraform plan -input=false -lock=false -var=a",
		"terraform destroy -auto-approve":      "terraform plan -destroy -input=false -lock=false",
		"ansible-playbook site.yml":            "ansible-playbook --check site.yml",
		"dart pub publish --force":             "dart pub publish --dry-run",

		"git push && true":              "",
		"git push origin $BRANCH":       "",
		"sudo rsync a b":                "",
		"./git push":                    "",
		"rsync *.txt host:":             "",
		"rsync ~/x host:":               "",
		"git -c a.b=c push":             "",
		"git --git-dir=x push":          "",
		"git status":                    "",
		"terraform apply saved.plan":    "",
		"kubectl exec x -- ls":          "",
		"kubectl rollout restart x":     "",
		"docker push x":                 "",
		"gh pr create -f":               "",
		"aws s3 ls":                     "",
		"npm --loglevel silent publish": "",
	} {
		argv, _, ok := dryWords(command)
		if got := strings.Join(argv, " "); got != want || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", command, got, ok, want)
		}
	}
}

func TestDryRunOfAPush(t *testing.T) {
	b, bare := pushBench(t)
	before := b.head
	b.commit("one")
	proof := filepath.Join(filepath.Dir(b.repo), "proof")
	if err := os.WriteFile(filepath.Join(b.repo, ".git", "hooks", "pre-push"), []byte("#!/bin/sh\ntouch "+proof+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := b.add(b.action("git push origin main"))
	r := b.request(a)
	r.DryRun, r.Yes = true, false
	if res, err := Run(t.Context(), r); err != nil || res.Ran {
		t.Fatalf("Run = %+v, %v", res, err)
	}
	screen := b.out.String()
	for _, want := range []string{"its own dry run: git push --dry-run --no-verify origin main\n| To ", "main -> main\n", "nothing was sent, and it still waits\n"} {
		if !strings.Contains(screen, want) {
			t.Errorf("no %q in\n%s", want, screen)
		}
	}
	if got := strings.Fields(b.git("ls-remote", bare, "main"))[0]; got != before {
		t.Error("the dry run pushed")
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("the dry run ran a hook")
	}
	if d := cmp.Diff(a, b.stored(a)); d != "" {
		t.Errorf("the action was changed:\n%s", d)
	}
}

func TestDryRunThatFailsSaysSo(t *testing.T) {
	b, bare := pushBench(t)
	b.commit("one")
	a := b.add(b.action("git push origin main"))
	b.elsewhere(bare)
	r := b.request(a)
	r.DryRun = true
	_, err := Run(t.Context(), r)
	var failed *DryRunError
	if !errors.As(err, &failed) || failed.ExitCode != 1 || b.stored(a).Status != queue.Pending {
		t.Errorf("Run: %v, status %s", err, b.stored(a).Status)
	}
}

// Where a dry run could run code that an agent wrote, it is asked about, or
// not made.
func TestDryRunThatRunsCode(t *testing.T) {
	b, _ := pushBench(t)
	bin := filepath.Join(filepath.Dir(b.repo), "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "terraform"), []byte("#!/bin/sh\necho ran $*\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.env = append([]string{"PATH=" + bin + ":" + os.Getenv("PATH")}, b.env[1:]...)
	plan := b.add(b.action("terraform apply -auto-approve"))
	for _, c := range []struct {
		answer    string
		yes, runs bool
	}{{"", false, false}, {"n\n", false, false}, {"y\n", false, true}, {"", true, true}} {
		b.out.Reset()
		r := b.request(plan)
		r.DryRun, r.Yes, r.IsTerminal, r.In = true, c.yes, c.answer != "", strings.NewReader(c.answer)
		if _, err := Run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if ran := strings.Contains(b.out.String(), "| ran plan -input=false"); ran != c.runs {
			t.Errorf("%+v: ran %v\n%s", c, ran, b.out.String())
		}
	}
	b.git("config", "core.sshCommand", "touch x;ssh")
	push := b.add(b.action("git push origin main"))
	r := b.request(push)
	r.DryRun = true
	if _, err := Run(t.Context(), r); err != nil || !strings.Contains(b.out.String(), "was not made: the repository's own settings say how it is reached") {
		t.Errorf("Run: %v\n%s", err, b.out.String())
	}
}
