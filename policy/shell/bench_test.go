package shell

import "testing"

// The lines are of the kinds that agents write: a plain command, a chain with a
// heredoc, and a script that only the dry run resolves.
func BenchmarkRead(b *testing.B) {
	lines := map[string]string{
		"plain":  "git status --short && git diff --stat",
		"commit": "git add -A && git commit -m \"$(cat <<'EOF'\nfeat: queue external commands\n\nCo-Authored-By: x\nEOF\n)\" && git push origin HEAD",
		"nested": "sudo -u bob timeout 60 bash -lc 'cd /srv && env A=1 git push'",
		"script": "set -euo pipefail\nV=$(jq -r .version package.json)\nfor r in a b; do\n  git push $r \"v$V\"\ndone\nif [ -n \"$V\" ]; then gh release create \"v$V\"; fi",
		"dry":    "i=0; while [ $i -lt 3 ]; do i=$((i+1)); git push o$i; done",
	}
	for name, line := range lines {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Read(line, Options{})
			}
		})
	}
}
