package policy

import (
	"slices"
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// dbRemote: a database client speaks to a server on another machine. A host
// that is not known, or hides in a variable, is one.
func dbRemote(a *args, rest []shell.Word) bool {
	hosts := a.all("-h", "--host", "--hostname", "-S", "-H", "--server", "-u", "--uri", "--url", "-d", "--dbname", "--connection-string", "--connect-url", "--database-url", "--database", "-D", "--dsn", "--source")
	for _, e := range []string{"PGHOST", "DATABASE_URL", "MYSQL_HOST", "PGHOSTADDR", "REDIS_URL", "REDISCLI_URL"} {
		if v, ok := a.env(e); ok {
			hosts = append(hosts, v)
		}
	}
	if a.tool.is("cqlsh") {
		hosts = append(hosts, a.all("-a", "--address")...) // cypher-shell
		if len(rest) > 0 && a.cmd.Program() == "sqlplus" && strings.Contains(rest[0].Text, "@") {
			_, at, _ := strings.Cut(rest[0].Text, "@")
			return !isLoopbackHost(hostOf(strings.TrimLeft(at, "/")))
		}
	}
	if copiesAway(a, rest) {
		return true
	}
	if a.tool.is("cqlsh") && a.cmd.Program() == "cqlsh" && len(rest) > 0 && !isLoopbackHost(rest[0].Text) {
		return true
	}
	for _, w := range a.cmd.Wrappers {
		for _, part := range nameWords(w) {
			if part == "prod" || part == "production" {
				return true // dotenv -e .env.prod --, doppler run -c prod --
			}
		}
	}
	hosts = append(hosts, rest...)
	for _, w := range a.words[:len(a.words)-len(rest)] { // goose DRIVER ADDRESS up
		if strings.Contains(w.Text, "://") || strings.Contains(w.Text, "host=") {
			hosts = append(hosts, w)
		}
	}
	for _, h := range hosts {
		if remoteHost(h, a) {
			return true
		}
	}
	return false
}

func remoteHost(w shell.Word, a *args) bool {
	s := strings.ToLower(w.Text)
	if unknownWord(w) {
		return strings.Contains(s, "url") || strings.Contains(s, "host") || strings.Contains(s, "uri") || strings.Contains(s, "dsn") || strings.Contains(s, "conn")
	}
	switch {
	case a.tool.is("sqlite3") && (strings.HasPrefix(s, "md:") || strings.HasPrefix(s, "motherduck:") || strings.HasPrefix(s, "libsql:")):
		return true // DuckDB's hosted service
	case strings.Contains(s, "://"):
		return !isLoopbackURL(s) && !strings.Contains(s, ":///") && !strings.HasPrefix(s, "sqlite")
	case strings.Contains(s, "service=") && a.tool.is("psql"):
		return true // a named entry of the service file
	case strings.Contains(s, "host="):
		_, h, _ := strings.Cut(s, "host=")
		h = strings.Trim(strings.FieldsFunc(h+" ", func(r rune) bool { return r == ' ' || r == ';' || r == '&' })[0], `'"`)
		return !isLoopbackHost(h) && !strings.HasPrefix(h, "/")
	}
	for _, n := range []string{"-h", "--host", "--hostname", "-S", "-H", "--server"} {
		for _, v := range a.all(n) {
			if v == w && s != "" && s[0] != '/' && s[0] != '.' && !isLoopbackHost(hostOf(strings.TrimPrefix(s, "tcp:"))) {
				return n != "-S" || !strings.ContainsAny(s, "/") && a.tool.is("sqlcmd")
			}
		}
	}
	for _, e := range []string{"PGHOST", "MYSQL_HOST", "PGHOSTADDR"} {
		if v, ok := a.env(e); ok && v == w {
			return s != "" && s[0] != '/' && !isLoopbackHost(s)
		}
	}
	return false
}

// dbWrites: the client is given a statement that changes something, or a file
// or input that cannot be looked into.
func dbWrites(a *args, rest []shell.Word) bool {
	t := a.tool.set.table()
	if a.has("-f") || a.has("--file") || a.has("-i") && a.tool.is("sqlcmd") {
		for _, f := range a.cmd.Files {
			if t.writes(f.Text) {
				return true
			}
		}
		return len(a.cmd.Files) == 0 // a script that cannot be seen
	}
	if hasInput(a, rest) && (!a.cmd.Stdin.Known || t.writes(a.cmd.Stdin.Text)) {
		return true
	}
	for _, v := range a.all("-c", "--command", "-e", "--execute", "--eval", "-q", "-Q", "--query", "-cmd", "--sql") {
		if t.writes(v.Text) || unknownWord(v) {
			return true
		}
	}
	for _, w := range rest {
		if strings.ContainsAny(w.Text, " ;(") && t.writes(w.Text) || a.cmd.Program() == "sqlplus" && strings.HasPrefix(w.Text, "@") {
			return true
		}
	}
	return copiesAway(a, rest)
}

// copiesAway: a statement writes a table to a bucket or an address elsewhere.
func copiesAway(a *args, rest []shell.Word) bool {
	texts := append(rest[:len(rest):len(rest)], a.all("-c", "-s", "-cmd", "-q", "-e", "--query", "--command")...)
	if a.cmd.Stdin.Known {
		texts = append(texts, shell.Word{Text: a.cmd.Stdin.Text})
	}
	for _, w := range texts {
		low := strings.ToLower(w.Text)
		if _, after, ok := strings.Cut(low, " to '"); ok && strings.Contains(low, "copy ") {
			if target := after; isBucket(target) || strings.HasPrefix(target, "http") && !isLoopbackURL(target) || strings.HasPrefix(target, "az") && strings.Contains(target, "://") {
				return true
			}
		}
	}
	return false
}

// writes reports whether a statement text changes a database: one of its
// statements begins with a writing word, or it calls a writing method.
func (t *tables) writes(text string) bool {
	up := strings.ToUpper(text)
	for _, st := range strings.FieldsFunc(up, func(r rune) bool { return r == ';' || r == '\n' }) {
		f := strings.FieldsFunc(st, func(r rune) bool { return r == ' ' || r == '\t' || r == '(' || r == ')' })
		if len(f) == 0 {
			continue
		}
		if f[0] == "COPY" && !strings.Contains(st, " FROM ") || copiesOut(st) {
			continue
		}
		if t.sqlWrites.has(f[0]) {
			return true
		}
		if f[0] == "WITH" || f[0] == "EXPLAIN" || f[0] == "BEGIN" {
			if slices.ContainsFunc(f, t.sqlWrites.has) {
				return true
			}
		}
		if strings.HasPrefix(f[0], `\COPY`) && strings.Contains(st, " FROM ") || f[0] == `\I` || f[0] == ".IMPORT" || f[0] == ".RESTORE" || f[0] == ".READ" {
			return true
		}
	}
	for _, m := range t.mongoWrites.list {
		if strings.Contains(text, "."+m+"(") {
			return true
		}
	}
	return false
}

// redisWrites: the command given to redis-cli changes something, or commands
// come from standard input.
func redisWrites(a *args, rest []shell.Word) bool {
	if len(rest) == 0 {
		return hasInput(a, rest)
	}
	return !a.tool.set.table().redisReads.has(strings.ToUpper(rest[0].Text))
}

// copiesOut: COPY (SELECT ...) TO, with or without psql's backslash.
func copiesOut(st string) bool {
	st = strings.TrimPrefix(strings.TrimSpace(st), `\`)
	rest, ok := strings.CutPrefix(st, "COPY ")
	return ok && strings.HasPrefix(strings.TrimSpace(rest), "(") && !strings.Contains(st, " TO PROGRAM")
}
