package shell

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

// carriers are ways to run a command through something else. %s is the command
// as it is, %q the command in single quotes, %b in base64.
var carriers = []string{
	"%s", "( %s )", "{ %s; }", "! %s", "time %s", "%s &", "true && %s", "false || %s", "true; %s", "echo x | %s",
	"if true; then %s; fi", "while true; do %s; done", "for i in 1; do %s; done", "case x in x) %s;; esac",
	"f() { %s; }; f", "function f { %s; }; f", "echo $(%s)", "echo `%s`", "echo \"$(%s)\"", "X=$(%s)", "X=$(%s) true", "cat <(%s)",
	"cat <<EOF\n$(%s)\nEOF", "coproc %s", "trap %q EXIT", "eval %q", "alias a=%q; a", "c=%q; eval \"$c\"", "c=%q; $c",
	"bash -c %q", "sh -ec %q", "bash -lc %q", "zsh -c %q", "fish -c %q", "bash --norc -o pipefail -c %q", "/bin/sh -c %q", "bash <<< %q",
	"bash <<'EOF'\n%s\nEOF", "bash -s <<'EOF'\n%s\nEOF", "echo %q | sh", "printf '%%s\\n' %q | bash", "cat <<'EOF' | sh\n%s\nEOF",
	"echo %b | base64 -d | sh", "base64 -d <<< %b | bash", "eval \"$(echo %b | base64 --decode)\"", "bash <(echo %q)", "source <(echo %q)",
	"echo %q > /tmp/x.sh; sh /tmp/x.sh", "cat > x.sh <<'EOF'\n%s\nEOF\nchmod +x x.sh; ./x.sh", "echo %q | tee x >/dev/null; . ./x",
	"sudo %s", "sudo -u bob -E %s", "sudo -- %s", "sudo FOO=1 %s", "doas -u bob %s", "su -c %q", "su - bob -c %q", "su bob --command=%q",
	"runuser -u bob -- %s", "pkexec %s", "setpriv --reuid=1 %s", "env %s", "env A=1 B=2 %s", "env -i -u X -C /tmp %s", "env -S %q", "env -S'-i A=1' %s",
	"A=1 %s", "command %s", "command -p %s", "builtin command %s", "exec %s", "exec -a x %s", "nohup %s", "setsid -f %s", "setsid %s",
	"nice %s", "nice -n 5 %s", "nice -5 %s", "ionice -c 3 %s", "ionice -c2 -n7 %s", "chrt -f 10 %s", "taskset -c 0,1 %s", "taskset 0x3 %s",
	"numactl --membind 0 %s", "prlimit --nofile=10 %s", "cgexec -g cpu:x %s", "systemd-run --user -p A=1 %s", "stdbuf -oL %s", "stdbuf -o L -e 0 %s",
	"/usr/bin/time -f %%e %s", "timeout 60 %s", "timeout -k 5 60 %s", "timeout -s KILL --foreground 1m %s", "watch %s", "watch -n 5 -d %q", "watch -x %s",
	"chronic %s", "strace -f -o /tmp/x %s", "ltrace -e x %s", "valgrind --tool=x %s", "fakeroot %s", "faketime '2020-01-01' %s", "firejail --net=none %s",
	"unshare -r -n %s", "nsenter -t 1 -m %s", "chroot /x %s", "chroot --userspec=a:b /x %s", "sandbox-exec -f p %s",
	"bwrap --ro-bind / / --dev /dev --unshare-all %s", "caffeinate -i %s", "arch -arm64 %s", "busybox sh -c %q", "flock /tmp/l %s", "flock -n /tmp/l -c %q",
	"script -q -c %q /dev/null", "script -q /dev/null %s", "unbuffer %s", "proxychains4 -q %s", "torsocks %s", "xvfb-run -a %s", "rlwrap %s",
	"xargs %s < f", "xargs -n 1 -P 4 %s < f", "echo x | xargs -I{} %s", "echo x | xargs -r sh -c %q", "xargs -0 %s < f", "ls | xargs --no-run-if-empty %s",
	"parallel %s ::: x", "parallel -j 4 %q ::: x", "echo %q | parallel", "find . -exec %s \\;", "find . -name x -execdir %s {} +", "find . -ok %s ';'",
	"find . -type f -exec sh -c %q _ {} \\;", "fd -e go -x %s", "fd . --exec %s", "ls | entr %s", "watchexec -e js -w src -- %s", "echo %q | at now", "echo %q | batch",
	"crontab - <<'EOF'\n* * * * * %s\nEOF", "ssh host %s", "ssh -p 22 -i k me@host %q", "ssh host -- %s", "ssh host <<'EOF'\n%s\nEOF", "ssh -o ProxyCommand=%q host",
	"docker exec -it c %s", "docker exec -e A=1 -w /x c sh -c %q", "docker run --rm -v /a:/b -e A=1 img %s", "docker run --rm --entrypoint sh img -c %q",
	"docker --context x run img %s", "podman run img %s", "docker compose exec -T db %s", "docker compose -f x.yml run --rm app %s", "docker-compose exec db %s",
	"kubectl exec pod -- %s", "kubectl -n x exec -it pod -c y -- sh -c %q", "nix-shell -p x --run %q", "nix develop -c %s", "nix shell n#x --command %s",
	"direnv exec . %s", "mise exec node@20 -- %s", "mise x -- %s", "asdf exec %s", "rbenv exec %s", "poetry run %s", "uv run %s", "uv run --with x -p 3.12 %s",
	"pipenv run %s", "pdm run %s", "hatch run %s", "rye run %s", "conda run -n x %s", "bundle exec %s", "npx %s", "npx -y %s", "npx -p x -c %q", "pnpx %s", "bunx %s",
	"pnpm dlx %s", "pnpm exec %s", "pnpm --filter x exec %s", "yarn dlx %s", "yarn exec %s", "npm exec -- %s", "npm x -y -- %s", "npm exec -c %q", "pipx run %s", "uvx %s",
	"uv tool run %s", "cross-env A=1 %s", "dotenv -- %s", "dotenv -e .env -- %s", "op run -- %s", "op run --env-file=.env -- %s", "doppler run -- %s", "doppler run -p x --command %q",
	"aws-vault exec p -- %s", "chamber exec svc -- %s", "envchain ns %s", "infisical run --env=dev -- %s", "git submodule foreach %q", "git submodule foreach --recursive %q",
	"git rebase -x %q main", "git rebase --exec=%q main", "git bisect run %s", "git filter-branch --tree-filter %q", "git -c alias.x='!'%q x", "git config alias.x '!'%q && git x",
	"git config --global alias.x '!'%q; git x", "tmux new-session -d -s x %q", "tmux send-keys -t x %q Enter", "hyperfine %q", "concurrently %q 'true'",
	"sudo -E env A=1 timeout 5 nice bash -c %q", "bash -c 'bash -c \"$1\"' _ %q", "sudo sh -c \"sh -c \\\"$(cat x)\\\"; %s\"", "set -- %q; eval \"$1\"",
	"docker $OPTS run img %s", "docker run $OPTS img %s", "kubectl $ARGS exec pod -- %s", "$SUDO %s", "env $(cat .env | xargs) %s", "sudo $OPTS %s",
	"repeat 3 %s", "noglob %s", "sudo -s <<< %q", "cmd.exe /c %q", "git -c core.pager=%q log", "PAGER=%q git log", "tar cf x . --to-command=%q", "split --filter %q f",
	"gh alias set x '!'%q && gh x", "echo %q > .git/hooks/pre-commit; git commit", "read -r c <<< %q; $c", "for c in true %q; do $c; done", "run() { \"$@\"; }; run %s",
	"gosu bob %s", "tini -- %s", "hatch run -e x %s", "aws-vault exec p %s", "vagrant ssh -c %q", "gcloud compute ssh x --command=%q", "dbus-run-session -- %s",
}

// TestCarriers holds that a command is found in whatever carries it.
func TestCarriers(t *testing.T) {
	cmd := "git push origin main"
	want := []string{"git", "push", "origin", "main"}
	quoted := "'" + cmd + "'"
	for _, c := range carriers {
		line := strings.NewReplacer("%%", "%", "%s", cmd, "%q", quoted, "%b", base64.StdEncoding.EncodeToString([]byte(cmd))).Replace(c)
		if l := Read(line, Options{}); !holds(l, want) {
			t.Errorf("Read(%q) does not hold %q: %q", line, want, runs(l))
		}
	}
}

// TestCarriersNested holds the same for a carrier in a shell in a carrier.
func TestCarriersNested(t *testing.T) {
	cmd := "git push origin main"
	want := []string{"git", "push", "origin", "main"}
	for i, inner := range carriers {
		if strings.ContainsAny(inner, "'") || strings.Contains(inner, "EOF") {
			continue
		}
		line := strings.NewReplacer("%%", "%", "%s", cmd, "%q", `"`+cmd+`"`, "%b", base64.StdEncoding.EncodeToString([]byte(cmd))).Replace(inner)
		outer := carriers[(i*7+3)%len(carriers)]
		if rejoins(outer) || strings.Contains(outer, "%b") || strings.Contains(outer, "'!'") {
			outer = "bash -c %q"
		}
		outer = strings.NewReplacer("%%", "%", "%s", "sh -c '"+line+"'", "%q", `'sh -c "$(cat)"; `+line+`'`).Replace(outer)
		if l := Read(outer, Options{}); !holds(l, want) {
			t.Errorf("Read(%q) does not hold %q: %q", outer, want, runs(l))
		}
	}
}

// rejoins says whether a carrier splits its words again, so that what was one
// quoted word is not one any more.
func rejoins(carrier string) bool {
	for _, name := range []string{"watch %s", "watch -n", "watchexec", "ssh", "parallel", "$c", "env -S", "alias"} {
		if strings.Contains(carrier, name) {
			return true
		}
	}
	return false
}

// holds says whether a command that would run begins with the words of want.
func holds(l Line, want []string) bool {
	return slices.ContainsFunc(l.Commands, func(c Command) bool {
		if c.Mode != Runs || len(c.Argv) < len(want) {
			return false
		}
		for i, w := range want {
			if c.Argv[i].Text != w {
				return false
			}
		}
		return true
	})
}

// TestReformat holds that spelling a line differently, where the shell takes
// the difference away, does not change what is read.
func TestReformat(t *testing.T) {
	words := []string{"git", "-C", "../api", "push", "--force-with-lease", "origin", "HEAD:main"}
	spell := []func(string) string{
		func(w string) string { return w },
		func(w string) string { return `"` + w + `"` },
		func(w string) string { return "'" + w + "'" },
		func(w string) string { return w[:1] + `""` + w[1:] },
		func(w string) string { return w[:1] + "\\\n" + w[1:] },
		func(w string) string { return `\` + w },
		func(w string) string { return "$'" + w + "'" },
		func(w string) string { return `$"` + w + `"` },
		func(w string) string { return w[:len(w)-1] + `\` + w[len(w)-1:] },
		func(w string) string { return w[:len(w)-1] + "'" + w[len(w)-1:] + "'" },
	}
	gaps := []string{" ", "   ", "\t", " \\\n  ", "\\\n "}
	for i := range 500 {
		var b strings.Builder
		for j, w := range words {
			if j > 0 {
				b.WriteString(gaps[(i*31+j*17+i/7)%len(gaps)])
			}
			b.WriteString(spell[(i*13+j*7+i/10)%len(spell)](w))
		}
		for _, line := range []string{b.String(), "  " + b.String() + " ;", "\n\n" + b.String() + "\n", "true;" + b.String() + "# x"} {
			if before, ok := strings.CutSuffix(line, "# x"); ok {
				line = before + " # x"
			}
			if l := Read(line, Options{}); !holds(l, words) || len(l.Opaque) > 0 {
				t.Fatalf("Read(%q) = %q %q", line, runs(l), l.Opaque)
			}
		}
	}
}
