package policy

import "testing"

// TestAssembled: what inline code puts together before it runs it is read as
// what it comes to.
func TestAssembled(t *testing.T) {
	s := builtin(t)
	for _, c := range []struct {
		line string
		want Verdict
	}{
		{`python3 -c "import subprocess; c=['git']; c.append('push'); subprocess.call(c)"`, VerdictExternal},
		{`python3 -c "import subprocess; c=['git']; c.append('status'); subprocess.call(c)"`, VerdictLocal},
		{`python3 -c "import subprocess; a=['push']; subprocess.run(['git', *a])"`, VerdictExternal},
		{`python3 -c "import subprocess; a=['add', 'x']; subprocess.run(['git'] + a, check=True)"`, VerdictLocal},
		{`python3 -c "import os; v='push'; os.system('git %s' % v)"`, VerdictExternal},
		{`python3 -c "import os; os.system('git {}'.format('log'))"`, VerdictLocal},
		{"python3 - <<'P'\nimport subprocess\ndef git(*a):\n    subprocess.run(['git', *a])\ngit('push', 'origin')\nP", VerdictExternal},
		{"python3 - <<'P'\nimport subprocess\ndef git(*a):\n    return subprocess.run(['git', *a], capture_output=True, text=True).stdout\nprint(git('log', '-1'))\nP", VerdictLocal},
		{"python3 - <<'P'\nimport os\nfor v in ['status', 'push']:\n    os.system('git ' + v)\nP", VerdictExternal},
		{`python3 -c "import os,sys; os.system(' '.join(sys.argv[1:]))" git push`, VerdictExternal},
		{`python3 -c "import os,sys; os.system(' '.join(sys.argv[1:]))" git log`, VerdictLocal},
		{`C='git push' python3 -c "import os; os.system(os.environ['C'])"`, VerdictExternal},
		{`C='git log' python3 -c "import os; os.system(os.environ['C'])"`, VerdictLocal},
		{`node -e "const cp=require('child_process'); let c='git'; c+=' push'; cp.execSync(c)"`, VerdictExternal},
		{`node -e "const cp=require('child_process'); const go=(v)=>cp.execSync('git '+v); go('push')"`, VerdictExternal},
		{`ruby -e 'v="push"; system("git #{v}")'`, VerdictExternal},
		{`ruby -e 'exec(*ARGV)' git push`, VerdictExternal},
		{`perl -e '@c=("git"); push @c, "push"; system @c'`, VerdictExternal},
		{`perl -e 'open F, "|git push"'`, VerdictExternal},
		{`perl -e 'open F, "<", "git push"; print <F>'`, VerdictMention},
		{`awk -v c='git push' 'BEGIN{system(c)}'`, VerdictExternal},
		{`awk 'BEGIN{c="git "; c=c "push"; system(c)}'`, VerdictExternal},
		{`echo 'git push' | awk '{system($0)}'`, VerdictExternal},
		{`echo 'git log' | awk '{system($0)}'`, VerdictLocal},
		{`awk '{system($0)}' lines.txt`, VerdictExternal},
		{`awk '{system("ls " $1)}' names.txt`, VerdictLocal},
	} {
		if r := s.ClassifyCommand(c.line, ""); r.Verdict != c.want {
			t.Errorf("%s is %s by %v, want %s", c.line, r.Verdict, r.Rules(), c.want)
		}
	}
}
