package shell

// wrapperOf finds the wrapper that a program is. A program with several
// subcommands that wrap has one entry for each.
func wrapperOf(name string, argv []Word) (wrapper, bool) {
	list := systemWrapper(name)
	if list == nil {
		list = toolWrapper(name)
	}
	if list == nil {
		list = remoteWrapper(name)
	}
	for _, wr := range list {
		if p := wr.parseArgs(argv); p.subs && (len(p.code) > 0 || len(p.cmd) > 0 || len(p.values["--entrypoint"].Text) > 0) {
			return wr, true
		}
	}
	return wrapper{}, false
}

// systemWrapper holds the wrappers of Unix systems.
func systemWrapper(name string) []wrapper {
	switch name {
	case "sudo":
		return one(wrapper{assign: true, none: "-V --version",
			value: "-a -C -c -D -g -p -R -r -T -t -U -u --auth-type --close-from --login-class --chdir --group --prompt --chroot --role --command-timeout --type --other-user --user --host"})
	case "doas":
		return one(wrapper{value: "-a -C -u"})
	case "pkexec":
		return one(wrapper{value: "-u --user"})
	case "setpriv":
		return one(wrapper{value: "--reuid --regid --ruid --rgid --euid --egid --groups --inh-caps --ambient-caps --bounding-set --securebits --selinux-label --apparmor-profile --pdeathsig --landlock-access --landlock-rule --seccomp-filter --ptracer"})
	case "sg":
		return one(wrapper{code: "-c", skip: 1, join: true})
	case "env", "genv":
		return one(wrapper{assign: true, value: "-u -C -a -P --unset --chdir --argv0"})
	case "builtin", "nohup", "gnohup", "chronic", "unbuffer", "winpty", "catchsegv", "dbus-run-session", "eatmydata", "rtk", "noglob", "nocorrect":
		return one(wrapper{})
	case "systemd-cat":
		return one(wrapper{value: "-t -p --identifier --priority --stderr-priority --level-prefix"})
	case "repeat": // zsh
		return one(wrapper{skip: 1})
	case "nice", "gnice":
		return one(wrapper{value: "-n --adjustment"})
	case "setsid":
		return one(wrapper{})
	case "ionice":
		return one(wrapper{value: "-c -n --class --classdata", none: "-p -P -u --pid --pgid --uid"})
	case "chrt":
		return one(wrapper{skip: 1, value: "-T -P -D --sched-runtime --sched-period --sched-deadline", none: "-p --pid -m --max"})
	case "taskset":
		return one(wrapper{skip: 1, none: "-p --pid"})
	case "numactl":
		return one(wrapper{value: "-i -N -C -m -p -P -w --interleave --cpunodebind --physcpubind --membind --preferred --preferred-many --weighted-interleave", none: "-s -H --show --hardware"})
	case "prlimit":
		return one(wrapper{value: "-o --output", none: "-p --pid"})
	case "cgexec":
		return one(wrapper{value: "-g"})
	case "systemd-run":
		return one(wrapper{value: "-p -u -M -H -E --property --unit --machine --host --setenv --slice --description --uid --gid --nice --working-directory --service-type --background --on-active --on-boot --on-startup --on-unit-active --on-unit-inactive --on-calendar --timer-property --path-property --socket-property --job-mode"})
	case "systemd-inhibit":
		return one(wrapper{value: "--what --who --why --mode"})
	case "stdbuf", "gstdbuf":
		return one(wrapper{value: "-i -o -e --input --output --error"})
	case "time", "gtime":
		return one(wrapper{value: "-f -o --format --output"})
	case "timeout", "gtimeout":
		return one(wrapper{skip: 1, value: "-k -s --kill-after --signal"})
	case "strace":
		return one(wrapper{value: "-a -b -e -E -I -o -O -p -P -s -S -u -U -X"})
	case "ltrace":
		return one(wrapper{value: "-a -A -D -e -F -l -n -o -p -s -u -w -x"})
	case "valgrind", "firejail", "heaptrack":
		return one(wrapper{})
	case "perf":
		return one(wrapper{sub: "stat|record|trace", value: "-e -o -F -c -C -r -p -t --event --output --freq"})
	case "fakeroot":
		return one(wrapper{value: "-l -f -s -i -b --lib --faked"})
	case "faketime":
		return one(wrapper{skip: 1})
	case "unshare":
		return one(wrapper{value: "-R -w -S -G -l --root --wd --setuid --setgid --map-user --map-users --map-group --map-groups --propagation --setgroups --monotonic --boottime --load-interp"})
	case "nsenter":
		return one(wrapper{value: "-t -S -G -N --target --setuid --setgid --net-socket"})
	case "chroot", "gchroot":
		return one(wrapper{skip: 1, value: "--userspec --groups"})
	case "sandbox-exec":
		return one(wrapper{value: "-f -n -p -D"})
	case "caffeinate":
		return one(wrapper{value: "-t -w"})
	case "arch":
		return one(wrapper{assign: true})
	}
	return moreSystemWrapper(name)
}

func moreSystemWrapper(name string) []wrapper {
	switch name {
	case "setarch":
		return one(wrapper{skip: 1})
	case "linux32", "linux64", "i386", "x86_64", "run-one", "daemonize", "wait-for-it", "wait-for-it.sh", "wait-for", "dockerize", "gotestsum", "reflex":
		return one(wrapper{dash: name != "linux32" && name != "linux64" && name != "i386" && name != "x86_64" && name != "run-one"})
	case "launchctl":
		return one(wrapper{sub: "submit", dash: true, value: "-l -p -o -e"})
	case "env-cmd":
		return one(wrapper{value: "-f -e -r --file --environments --rc-file"})
	case "onchange":
		return one(wrapper{dash: true})
	case "script":
		// util-linux has -c CODE, BSD has a command behind the file.
		return one(wrapper{skip: 1, code: "-c --command", value: "-I -O -B -T -m -E -o --log-in --log-out --log-io --log-timing --logging-format --echo --output-limit"})
	case "flock":
		return one(wrapper{skip: 1, code: "-c --command", value: "-w -E --timeout --wait --conflict-exit-code"})
	case "proxychains", "proxychains4":
		return one(wrapper{value: "-f"})
	case "torsocks":
		return one(wrapper{value: "-u -p -a -P --user --pass --address --port"})
	case "torify", "tsocks", "graftcp":
		return one(wrapper{})
	case "xvfb-run":
		return one(wrapper{value: "-e -f -n -p -s -w --error-file --auth-file --server-num --xauth-protocol --server-args --wait"})
	case "rlwrap":
		return one(wrapper{value: "-a -b -C -D -f -g -H -l -m -M -O -p -P -q -s -S -t -w -z"})
	case "tsp":
		return one(wrapper{value: "-L -D -N -S -s -i -o -c -p -t -k -r -w -u -U"})
	case "gosu", "su-exec", "setuidgid", "s6-setuidgid", "envdir", "chpst":
		return one(wrapper{skip: 1, value: "-u -U -e -b -d -o -m -p -f -c -r -t"})
	case "tini", "dumb-init", "catatonit":
		return one(wrapper{value: "-p -e -r --rewrite"})
	case "entr":
		return one(wrapper{})
	case "watchexec":
		return one(wrapper{join: true, value: "-e -w -W -i -f -d -s -o -E -j -N -n --exts --watch --watch-non-recursive --ignore --filter --debounce --signal --on-busy-update --env --shell --workdir --project-origin --delay-run --stop-signal --stop-timeout --ignore-file --filter-file --filter-prog --emit-events-to --poll --fs-events --wrap-process --timings --color --log-file"})
	case "nodemon":
		return []wrapper{{code: "-x --exec", value: "-e -w -i -d -C --ext --watch --ignore --delay --config --cwd --signal"}}
	case "snap":
		return one(wrapper{sub: "run", value: "--hook --revision -r"})
	case "wsl", "distrobox-host-exec", "host-spawn", "flatpak-spawn":
		return one(wrapper{value: "-d -u -e --distribution --user --exec --env --directory --watch-bus --forward-fd"})
	case "screen":
		return one(wrapper{value: "-S -c -e -h -L -p -s -t -T -X -Q -x -r -R -D", none: "-ls -list -r -x -X"})
	case "dtach":
		return one(wrapper{skip: 1, value: "-e -r"})
	case "gnome-terminal", "ptyxis", "kgx":
		return one(wrapper{dash: true})
	case "ip":
		return one(wrapper{sub: "netns exec", skip: 1, value: "-n -netns"})
	case "guix":
		return []wrapper{{sub: "shell", dash: true}, {sub: "environment", dash: true}, {sub: "time-machine", dash: true}}
	case "with-contenv", "retry":
		return one(wrapper{value: "-t -s -d -m -x --times --sleep --delay --min --max"})
	}
	return nil
}

// toolWrapper holds the runners of languages, package and secret managers.
func toolWrapper(name string) []wrapper {
	switch name {
	case "direnv":
		return one(wrapper{sub: "exec", skip: 1})
	case "flox":
		return one(wrapper{sub: "activate", dash: true, code: "-c --command", value: "-d -r --dir --remote"})
	case "terramate":
		return one(wrapper{sub: "run", value: "-C -B -X --chdir --tags --no-tags --git-change-base --parallel -j --status --target --from-target"})
	case "mise", "rtx":
		return one(wrapper{sub: "exec|x", dash: true, code: "-c --command", value: "-C -E -j --cd --env --jobs"})
	case "asdf":
		return one(wrapper{sub: "exec"})
	case "rbenv", "pyenv", "nodenv", "goenv", "jenv", "phpenv", "plenv", "fnm", "opam", "stack", "cabal":
		return one(wrapper{sub: "exec", value: "--using --switch --package"})
	case "nvm":
		return one(wrapper{sub: "exec|run", skip: 1})
	case "volta":
		return one(wrapper{sub: "run", value: "--node --npm --yarn --pnpm --bundled-npm"})
	case "rustup":
		return one(wrapper{sub: "run", skip: 1})
	case "poetry":
		return one(wrapper{sub: "run", value: "-C -P --directory --project"})
	case "pipenv":
		return one(wrapper{sub: "run"})
	case "pdm":
		return one(wrapper{sub: "run", value: "-p -s --project --site-packages"})
	case "rye":
		return one(wrapper{sub: "run"})
	case "hatch":
		return one(wrapper{sub: "run", value: "-e -p --env --project --data-dir --cache-dir --config"})
	case "uv":
		return []wrapper{
			{sub: "run", value: uvValues},
			{sub: "tool run", value: uvValues},
		}
	case "uvx":
		return one(wrapper{value: uvValues})
	case "pipx":
		return one(wrapper{sub: "run", value: "--spec --python --pip-args --index-url -i --path"})
	case "conda", "mamba", "micromamba":
		return one(wrapper{sub: "run", value: "-n -p --name --prefix --cwd"})
	case "pixi":
		return one(wrapper{sub: "run", value: "-e --environment --manifest-path"})
	case "bundle", "bundler":
		return one(wrapper{sub: "exec", value: "--gemfile"})
	case "bunx":
		return one(wrapper{value: "-p --package"})
	case "pnpx":
		return one(wrapper{value: "-p --package"})
	case "bun":
		return one(wrapper{sub: "x", value: "-p --package --cwd"})
	case "pnpm":
		return one(wrapper{sub: "exec|dlx", value: "-C -F -w --dir --filter --package --reporter"})
	case "yarn", "yarnpkg":
		return one(wrapper{sub: "exec|dlx", value: "-p --package --cwd"})
	case "corepack":
		return one(wrapper{})
	case "cross-env", "cross-env-shell":
		return one(wrapper{assign: true, join: name == "cross-env-shell"})
	case "nix-shell":
		return one(wrapper{code: "--run --command", value: "-p -E -A -I --packages --attr --option -j --max-jobs"})
	}
	return secretWrapper(name)
}

const uvValues = "-p -w --python --with --with-editable --with-requirements --from --package --project --directory --env-file --extra --group --only-group --no-group --index --default-index --index-url --extra-index-url --find-links --refresh-package --config-file --cache-dir --color --link-mode --resolution --prerelease -f -i -P -C"

// secretWrapper holds the tools that put secrets into a command's environment.
func secretWrapper(name string) []wrapper {
	switch name {
	case "dotenv":
		return []wrapper{
			{sub: "run", value: "-f -q -e --file --quote --export"},
			{value: "-e -f -p -v -c --env --files -i", assign: true},
		}
	case "dotenvx":
		return one(wrapper{sub: "run", value: "-f -e -fv --env --env-file --env-vault-file --convention"})
	case "op":
		return one(wrapper{sub: "run", value: "--env-file --account --config --session --cache"})
	case "doppler":
		return one(wrapper{sub: "run", code: "--command", value: "-p -c -t --project --config --token --scope --fallback --mount --mount-format --mount-template --name-transformer --only-secrets"})
	case "aws-vault":
		return one(wrapper{sub: "exec", skip: 1, value: "-d -t --duration --mfa-token --region --backend --prompt"})
	case "saml2aws", "aws-sso":
		return one(wrapper{sub: "exec", dash: true, value: "-a -p -t -A -R -S --exec-profile --profile --account --role --arn --sso"})
	case "aws-okta", "granted":
		return one(wrapper{sub: "exec", skip: 1, value: "-a -p -t --exec-profile --profile"})
	case "chamber":
		return one(wrapper{sub: "exec", dash: true, value: "-b --backend"})
	case "envchain":
		return one(wrapper{skip: 1})
	case "infisical":
		return one(wrapper{sub: "run", code: "-c --command", value: "--env -e --path --projectId --token --domain --tags -t --project-config-dir"})
	case "teller":
		return one(wrapper{sub: "run", value: "-c --config"})
	case "sops":
		return one(wrapper{sub: "exec-env|exec-file", skip: 1, join: true, value: "--config --filename --user"})
	case "summon":
		return one(wrapper{value: "-p -f -D -e -i --provider --environment --yaml --ignore"})
	case "vault-env", "berglas", "envconsul":
		return one(wrapper{value: "-config -secret -prefix"})
	}
	return nil
}

// remoteWrapper holds what runs a command elsewhere: the tool itself stays a
// command, since it reaches there.
func remoteWrapper(name string) []wrapper {
	const container = "-e -u -w --env --env-file --user --workdir --detach-keys --index"
	switch name {
	case "kubectl", "oc", "k", "microk8s.kubectl", "k3s.kubectl":
		return one(wrapper{sub: "exec|debug|run", dash: true, keep: true, where: "kubectl:", value: "-c -n -s -f --container --namespace --context --cluster --kubeconfig --server --user --as --token --request-timeout --pod-running-timeout --filename --image"})
	case "docker-compose", "podman-compose":
		return []wrapper{
			{sub: "exec", skip: 1, keep: true, where: "docker:", value: composeValues + " " + container},
			{sub: "run", skip: 1, keep: true, where: "docker:", value: composeValues + " " + container + " " + composeRun},
		}
	case "docker", "podman", "nerdctl":
		return []wrapper{
			{sub: "exec", skip: 1, keep: true, where: "docker:", value: dockerGlobal + " " + container},
			{sub: "run", skip: 1, keep: true, image: true, where: "docker:", value: dockerGlobal + " " + dockerRun},
			{sub: "container exec", skip: 1, keep: true, where: "docker:", value: dockerGlobal + " " + container},
			{sub: "container run", skip: 1, keep: true, image: true, where: "docker:", value: dockerGlobal + " " + dockerRun},
			{sub: "compose exec", skip: 1, keep: true, where: "docker:", value: composeValues + " " + container},
			{sub: "compose run", skip: 1, keep: true, where: "docker:", value: composeValues + " " + container + " " + composeRun},
		}
	case "lxc", "incus", "multipass":
		return one(wrapper{sub: "exec", skip: 1, keep: true, where: name + ":", value: "--env --user --group --cwd --mode -d --working-directory"})
	case "orb":
		return []wrapper{
			{sub: "run|shell", skip: 1, keep: true, where: name + ":", value: "-m -u -w --machine --user --workdir"},
			{keep: true, where: name + ":", value: "-m -u -w --machine --user --workdir"},
		}
	case "colima":
		return one(wrapper{sub: "ssh", dash: true, keep: true, where: name + ":", value: "-p --profile"})
	case "limactl":
		return one(wrapper{sub: "shell|run", skip: 1, keep: true, where: name + ":", value: "--workdir --shell -m -u -w"})
	case "toolbox":
		return one(wrapper{sub: "run", keep: true, value: "-c -d -r --container --distro --release"})
	case "distrobox":
		return one(wrapper{sub: "enter", dash: true, keep: true, where: "distrobox:", value: "-n --name"})
	case "vagrant":
		return one(wrapper{sub: "ssh", skip: 1, code: "-c --command", keep: true, where: "vagrant:"})
	case "gcloud":
		return one(wrapper{sub: "compute ssh", skip: 1, code: "--command", keep: true, where: "gcloud:", value: "--zone --project --account"})
	}
	return nil
}

const (
	dockerGlobal  = "-c -H --config --context --host --log-level --tlscacert --tlscert --tlskey --connection --url --namespace"
	composeValues = "-f -p --file --project-name --profile --env-file --project-directory --ansi --parallel --progress"
	composeRun    = "-v -p --volume --publish --label --name --entrypoint --env-from-file --cap-add --cap-drop --pull"
	dockerRun     = "-a -c -e -h -l -m -p -u -v -w --add-host --annotation --attach --blkio-weight --blkio-weight-device --cap-add --cap-drop --cgroup-parent --cgroupns --cidfile --cpu-period --cpu-quota --cpu-rt-period --cpu-rt-runtime --cpu-shares --cpus --cpuset-cpus --cpuset-mems --detach-keys --device --device-cgroup-rule --device-read-bps --device-read-iops --device-write-bps --device-write-iops --dns --dns-option --dns-search --domainname --entrypoint --env --env-file --expose --gpus --group-add --health-cmd --health-interval --health-retries --health-start-period --health-timeout --hostname --ip --ip6 --ipc --isolation --kernel-memory --label --label-file --link --link-local-ip --log-driver --log-opt --mac-address --memory --memory-reservation --memory-swap --memory-swappiness --mount --name --net --net-alias --network --network-alias --oom-score-adj --pid --pids-limit --platform --publish --pull --restart --runtime --security-opt --shm-size --stop-signal --stop-timeout --storage-opt --sysctl --tmpfs --ulimit --user --userns --uts --volume --volume-driver --volumes-from --workdir --pod --arch --os --variant --secret --requires --systemd --userns"
)

func one(wr wrapper) []wrapper { return []wrapper{wr} }
