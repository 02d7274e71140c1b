package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// placePredicate returns the predicates that ask where something goes.
func placePredicate(name string) predicate {
	switch name {
	case "bucket-dest":
		return func(a *args, rest []shell.Word) bool {
			if a.tool.is("mc") && len(rest) > 1 {
				return isAliasPath(rest[len(rest)-1].Text)
			}
			return len(rest) > 1 && (isBucket(rest[len(rest)-1].Text) || unknownWord(rest[len(rest)-1]) && !anyBucket(rest[:len(rest)-1]))
		}
	case "bucket-source":
		return func(_ *args, rest []shell.Word) bool { return len(rest) > 0 && isBucket(rest[0].Text) }
	case "remote-last":
		return func(_ *args, rest []shell.Word) bool {
			return len(rest) > 0 && (isRemoteSpec(rest[len(rest)-1].Text) || unknownWord(rest[len(rest)-1]))
		}
	case "loopback-first":
		return func(_ *args, rest []shell.Word) bool { return len(rest) > 0 && isLoopbackURL(rest[0].Text) }
	case "loopback-image":
		return func(_ *args, rest []shell.Word) bool { return len(rest) > 0 && allImagesLocal(rest) }
	case "loopback-tag":
		return func(a *args, _ []shell.Word) bool { return allImagesLocal(a.all("-t", "--tag")) }
	case "last-is-registry":
		return func(_ *args, rest []shell.Word) bool {
			if len(rest) == 0 {
				return false
			}
			last := rest[len(rest)-1].Text
			return strings.HasPrefix(last, "docker://") && !isLoopbackURL(last) || !strings.Contains(last, ":") && strings.Contains(last, ".") && !strings.HasPrefix(last, ".")
		}
	case "ko-local":
		return func(a *args, _ []shell.Word) bool {
			v, ok := a.env("KO_DOCKER_REPO")
			return ok && (v.Text == "ko.local" || v.Text == "kind.local" || isLoopbackHost(hostOf(v.Text)))
		}
	case "loopback-registry":
		return func(a *args, _ []shell.Word) bool {
			v, ok := a.env("npm_config_registry")
			return ok && isLoopbackURL(v.Text)
		}
	case "loopback-flag":
		return func(a *args, _ []shell.Word) bool {
			return loopbackValue(a, []string{"--address", "--host", "--api-url", "--server"})
		}
	case "aws-local":
		return func(a *args, _ []shell.Word) bool {
			if a.cmd.Program() == "awslocal" {
				return true
			}
			v, ok := a.env("AWS_ENDPOINT_URL")
			return ok && isLoopbackURL(v.Text)
		}
	case "remote-repository":
		return remoteRepository
	case "broker-local":
		return brokerLocal
	case "mail-local":
		return func(a *args, _ []shell.Word) bool {
			return loopbackValue(a, []string{"-s", "--server"}) && a.tool.is("swaks")
		}
	case "chain-local":
		return func(a *args, _ []shell.Word) bool {
			if v, ok := a.last("--network", "--cluster", "-u", "--provider.cluster"); ok {
				return v.Text == "localhost" || v.Text == "hardhat" || v.Text == "localnet" || v.Text == "development" || v.Text == "local" || v.Text == "l"
			}
			if v, ok := a.last("--rpc-url", "-r"); ok {
				return isLoopbackURL(v.Text)
			}
			return a.tool.is("forge") && !a.has("--broadcast") && !a.has("--verify") || a.tool.is("hardhat")
		}
	case "socat-remote":
		return socatRemote
	}
	return nil
}

func isBucket(s string) bool {
	for _, p := range []string{"s3://", "gs://", "b2://", "oss://", "cos://", "r2://"} {
		if strings.HasPrefix(strings.ToLower(s), p) {
			return true
		}
	}
	return strings.HasPrefix(s, "https://") && !isLoopbackURL(s)
}

// isAliasPath: ALIAS/bucket as MinIO's mc takes it. A path looks alike; one
// that means this directory begins with a dot or a slash.
func isAliasPath(s string) bool {
	alias, _, ok := strings.Cut(s, "/")
	return ok && alias != "" && alias[0] != '.' && alias[0] != '~' && alias != "local"
}

func anyBucket(words []shell.Word) bool {
	for _, w := range words {
		if isBucket(w.Text) {
			return true
		}
	}
	return false
}

// allImagesLocal: every image name begins with a registry on this machine.
func allImagesLocal(words []shell.Word) bool {
	for _, w := range words {
		first, _, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(w.Text, "oci://"), "docker://"), "/")
		if !ok && !strings.Contains(first, ":") && !isLoopbackHost(first) || !isLoopbackHost(hostOf(first)) && first != "kind.local" && first != "ko.local" {
			return false
		}
	}
	return len(words) > 0
}

func remoteRepository(a *args, rest []shell.Word) bool {
	words := append(a.all("-r", "--repo"), rest...)
	for _, e := range []string{"RESTIC_REPOSITORY", "BORG_REPO"} {
		if v, ok := a.env(e); ok {
			words = append(words, v)
		}
	}
	for _, w := range words {
		s := w.Text
		for _, p := range []string{"s3:", "b2:", "sftp:", "rest:", "azure:", "gs:", "swift:", "rclone:", "ssh://"} {
			if strings.HasPrefix(s, p) {
				return true
			}
		}
		if isRemoteSpec(s) && !strings.HasPrefix(s, "/") && !strings.Contains(s, "::/") && strings.Contains(s, "@") || strings.Contains(s, "://") && !strings.HasPrefix(s, "file:") {
			return true
		}
	}
	return false
}

// brokerLocal: the broker or directory server is this machine, by an option
// or because none is named.
func brokerLocal(a *args, rest []shell.Word) bool {
	found := false
	for _, w := range append(rest[:len(rest):len(rest)], a.all("-u", "--url", "--uri", "-U")...) {
		if strings.Contains(w.Text, "://") && !isLoopbackURL(w.Text) {
			return false
		}
	}
	for _, w := range append(a.all("-h", "-H", "--host", "-s", "--server", "-b", "--bootstrap-server", "--broker-list", "-L"), tail1(a, rest)...) {
		found = true
		for h := range strings.SplitSeq(w.Text, ",") {
			if !isLoopbackURL(h) && !strings.HasPrefix(h, "ldapi:") {
				return false
			}
		}
	}
	return found || !a.tool.is("snmpset")
}

func tail1(a *args, rest []shell.Word) []shell.Word {
	if a.tool.is("snmpset") && len(rest) > 0 {
		return rest[:1]
	}
	return nil
}

// socatRemote: one of the two addresses connects to another machine.
func socatRemote(_ *args, rest []shell.Word) bool {
	for _, w := range rest {
		kind, addr, ok := strings.Cut(w.Text, ":")
		kind = strings.ToUpper(kind)
		if !ok || strings.Contains(kind, "LISTEN") || kind == "TCP-L" || strings.HasPrefix(kind, "UNIX") || strings.HasPrefix(kind, "EXEC") ||
			strings.HasPrefix(kind, "SYSTEM") || kind == "FILE" || kind == "OPEN" || kind == "CREATE" || kind == "GOPEN" || kind == "PIPE" || kind == "PTY" {
			continue
		}
		if !isLoopbackHost(hostOf(addr)) {
			return true
		}
	}
	return false
}

// shapePredicate returns the predicates that ask for the shape of a call.
func shapePredicate(name string) predicate {
	switch name {
	case "bare-version":
		return func(a *args, rest []shell.Word) bool {
			return len(rest) == 0 && len(a.opts) == 0 && len(a.words) > 0 && a.words[len(a.words)-1].Text == "version"
		}
	case "bare-tool":
		return func(a *args, _ []shell.Word) bool { return len(a.argv) == 0 && a.cmd.Stdin.Kind == shell.InputNone }
	case "bare-quiet":
		return func(a *args, rest []shell.Word) bool {
			return len(rest) == 0 && a.cmd.Stdin.Kind == shell.InputNone && len(a.words) == 0
		}
	case "risky-path":
		return riskyPath
	case "setup-py":
		return func(a *args, rest []shell.Word) bool {
			return a.tool.is("setup.py") || len(rest) > 0 && baseOf(rest[0].Text) == "setup.py"
		}
	case "ansible-local":
		return func(a *args, _ []shell.Word) bool {
			c, _ := a.last("-c", "--connection")
			i, _ := a.last("-i", "--inventory")
			return c.Text == "local" || strings.TrimSuffix(i.Text, ",") == "localhost" || len(a.words) > 0 && a.words[0].Text == "localhost" && a.tool.is("ansible")
		}
	case "az-rest-read":
		return func(a *args, _ []shell.Word) bool {
			if len(a.words) == 0 || a.words[0].Text != "rest" {
				return false
			}
			m, ok := a.last("--method", "-m")
			return !sendingMethod(m) && ok || !ok && !a.has("--body") && !a.has("-b")
		}
	case "eas-local":
		return func(a *args, _ []shell.Word) bool { return a.has("--local") }
	case "d1-read":
		return func(a *args, _ []shell.Word) bool {
			v, ok := a.last("--command")
			if len(a.words) > 1 && a.words[1].Text == "execute" {
				return !a.has("--remote") || ok && !a.has("--file") && !a.tool.set.table().writes(v.Text)
			}
			return len(a.words) > 1 && !a.has("--remote") && (a.words[1].Text == "migrations" || a.words[1].Text == "import")
		}
	case "d1-select":
		return func(a *args, _ []shell.Word) bool {
			v, ok := a.last("--command")
			return ok && !a.has("--file") && !a.tool.set.table().writes(v.Text)
		}
	case "idle-probe":
		return func(a *args, rest []shell.Word) bool {
			return (a.tool.is("telnet") || a.cmd.Stdin.From == "/dev/null") && !hasInput(a, rest)
		}
	case "openssl-quiet":
		return func(a *args, _ []shell.Word) bool {
			in := a.cmd.Stdin
			return in.Known && len(strings.TrimSpace(in.Text)) <= 1
		}
	case "ftp-reads":
		return ftpReads
	case "production":
		return production
	case "two-operands":
		return func(_ *args, rest []shell.Word) bool { return len(rest) > 1 }
	case "db-name":
		return func(_ *args, rest []shell.Word) bool { return len(rest) > 0 && dbName(rest[0].Text) }
	case "db-loopback":
		return func(a *args, _ []shell.Word) bool {
			v, ok := a.env("DATABASE_URL")
			return ok && isLoopbackURL(v.Text)
		}
	case "db-dump":
		return func(a *args, _ []shell.Word) bool {
			p := a.cmd.Program()
			return p == "pg_dump" || p == "mysqldump" || p == "mongodump"
		}
	}
	return nil
}

// production: the environment or an argument says that the database is the one
// in production.
func production(a *args, rest []shell.Word) bool {
	for _, n := range []string{"RAILS_ENV", "NODE_ENV", "APP_ENV", "MIX_ENV", "FLASK_ENV", "DJANGO_SETTINGS_MODULE", "ENV"} {
		if v, ok := a.env(n); ok && strings.Contains(v.Text, "prod") {
			return true
		}
	}
	for _, w := range a.argv {
		if s := w.Text; s == "production" || s == "prod" || strings.HasSuffix(s, "=production") || strings.HasSuffix(s, "=prod") {
			return true
		}
	}
	return false
}

// dbName: a target is named like one that changes a database.
func dbName(name string) bool {
	words := nameWords(name)
	db, change := false, false
	for _, w := range words {
		switch w {
		case "db", "database":
			db = true
		case "migrate", "migrations":
			db, change = true, true
		case "reset", "drop", "seed", "rollback", "setup", "push", "wipe", "refresh", "fresh":
			change = true
		case "generate", "gen", "status", "check", "dry", "lint", "test", "new", "create", "make", "studio", "diff", "list", "validate", "start", "stop", "up":
			if w == "up" && db {
				continue
			}
			return false
		}
	}
	return db && change
}

// riskyPath: go run ./cmd/deploy, cargo run --bin publish.
func riskyPath(a *args, rest []shell.Word) bool {
	t := a.tool.set.table()
	words := a.all("--bin", "--example", "--project", "-p", "--package")
	if a.tool.is("go") {
		words = append(words, rest[:min(1, len(rest))]...)
	}
	for _, w := range words {
		if t.riskyScript(strings.TrimRight(w.Text, "/")) {
			return true
		}
	}
	return false
}

// ftpReads: the session only fetches, as far as its commands are given.
func ftpReads(a *args, rest []shell.Word) bool {
	script := ""
	if v, ok := a.last("-e", "-c"); ok {
		script = v.Text
	} else if a.cmd.Stdin.Known {
		script = a.cmd.Stdin.Text
	} else {
		return a.cmd.Stdin.Kind == shell.InputNone && !a.has("-b") && !a.has("-f") && !a.tool.is("cadaver") &&
			(a.tool.is("sftp") && a.cmd.Program() != "ncftpput" && a.cmd.Program() != "tftp" || a.cmd.Program() == "ncftp")
	}
	for _, w := range strings.FieldsFunc(script, func(r rune) bool { return r == ' ' || r == ';' || r == '\n' }) {
		switch w {
		case "put", "mput", "-R", "--reverse", "rm", "mrm", "rename", "mkdir", "rmdir", "chmod", "reput", "append", "del", "delete", "mv", "send":
			return false
		}
	}
	return true
}
