package policy

import (
	"strings"

	"github.com/seed-b23e517c/loop/policy/shell"
)

// orderedByOption: an option tells the program to do what reaches outside when
// it is done with its work: changelogen --release --push, komac --submit.
func orderedByOption(argv []shell.Word) bool {
	if hasDry(argv) || helpOnly(argv) {
		return false
	}
	for _, w := range argv[1:] {
		switch w.Text {
		case "--push", "--publish", "--submit", "--upload", "--deploy", "--auto-push", "--push=true", "--publish=true", "--upload=true", "--submit=true",
			"--create-pr", "--open-pr", "--create-pull-request", "--git-push", "--push-tags", "--send-mail", "--send-email", "--post-comment":
			return true
		case "--":
			return false
		}
	}
	return false
}

// givenServer: a program that is not looked into is given the address of a
// broker, a mail server or a database on another machine.
func givenServer(c *shell.Command) (Hit, bool) {
	for i, w := range c.Argv[1:] {
		option, value, glued := strings.Cut(w.Text, "=")
		if !glued || !strings.HasPrefix(w.Text, "-") {
			option, value = c.Argv[i].Text, w.Text
		}
		if (strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://") || isBucket(value)) && sinkOption(option) && !isLoopbackURL(value) && !hasDry(c.Argv) {
			return opaqueHit("opaque-server", commandText(c), "A program that is not looked into is given an address on another machine for what it puts out."), true
		}
		value = strings.TrimPrefix(value, "jdbc:")
		scheme, rest, ok := strings.Cut(value, "://")
		if !ok || isLoopbackURL(value) || strings.HasPrefix(rest, "/") {
			continue
		}
		switch scheme, _, _ = strings.Cut(scheme, "+"); scheme {
		case "amqp", "amqps", "mqtt", "mqtts", "nats", "redis", "rediss", "mongodb", "postgres", "postgresql", "mysql", "mssql", "sqlserver", "clickhouse",
			"neo4j", "bolt", "smtp", "smtps", "kafka", "stomp", "pulsar", "libsql", "cassandra", "couchbase", "couchbases", "arangodb", "edgedb", "gel", "hive2", "trino", "presto", "vertica", "redshift", "snowflake", "oracle", "ldap", "ldaps", "syslog", "irc", "ircs", "xmpp":
			return opaqueHit("opaque-server", commandText(c), "A program that is not looked into is given the address of a server on another machine."), true
		}
	}
	return Hit{}, false
}

// changesServer: a statement of a database's language that changes something,
// and a host that is not this machine.
func (r *reading) changesServer(c *shell.Command) bool {
	writes, away := false, false
	for i, w := range c.Argv[1:] {
		if strings.Contains(w.Text, " ") && r.set.table().writes(w.Text) {
			writes = true
			continue
		}
		host := w.Text
		if _, after, ok := strings.Cut(w.Text, "@"); ok {
			host = after
		}
		switch option := c.Argv[i].Text; option {
		case "-h", "-H", "--host", "--hostname", "--server", "--uri", "-u", "-s", "--address", "--endpoint":
			away = away || strings.Contains(host, ".") && !isLoopbackHost(hostOf(host)) && !strings.HasPrefix(host, "/") && !strings.HasPrefix(host, ".")
		}
	}
	return writes && away
}

// carriesWords: the program is named for a service that carries words to
// people, and is given some: go-sendxmpp a@b, pushover-cli hi.
func carriesWords(prog string, c *shell.Command) bool {
	if len(c.Argv) < 2 || strings.ContainsAny(c.Argv[0].Text, "/.") || hasDry(c.Argv) || helpOnly(c.Argv) {
		return false
	}
	named := false
	for _, w := range nameWords(prog) {
		switch w {
		case "xmpp", "xmppc", "sendxmpp", "jabber", "pushover", "pushbullet", "prowl", "simplepush", "simplex", "telegram", "whatsapp", "mattermost", "rocketchat",
			"zulip", "signal", "gotify", "ntfy", "twilio", "sms", "smtp", "sendmail", "mastodon", "bluesky", "bsky", "tweet", "twitter", "toot", "discord",
			"pagerduty", "opsgenie", "webhook", "reddit", "linkedin", "viber", "threema", "noti", "notifier":
			named = true
		case "bot", "test", "tests", "server", "mock", "fake", "lint", "exporter", "parser", "terminal", "desktop":
			return false
		}
	}
	if !named {
		return servesWork(prog) && changesFirst(c.Argv[1:])
	}
	switch first := c.Argv[1].Text; first {
	case "list", "ls", "get", "login", "logout", "status", "help", "--help", "-h", "version", "--version", "-V", "config", "init", "search", "read", "receive", "view",
		"show", "history", "auth", "whoami", "subscribe", "serve", "server", "dev", "start", "build", "check", "validate", "install", "update", "setup", "completion":
		return false
	}
	return true
}

// changesFirst: one of the first two words says that something is changed.
func changesFirst(words []shell.Word) bool {
	for _, w := range words[:min(2, len(words))] {
		if publicVerb(w.Text) && w.Text != "open" && w.Text != "run" {
			return true
		}
	}
	return false
}

// servesWork: the program is named for a service where people keep their work.
func servesWork(prog string) bool {
	for _, w := range nameWords(prog) {
		switch w {
		case "jira", "ticket", "tickets", "issue", "issues", "gcal", "calcom", "zoom", "github", "gitlab", "gitea", "forgejo", "codeberg", "bitbucket", "trello",
			"asana", "clickup", "linear", "notion", "hubspot", "salesforce", "zendesk", "intercom", "freshdesk", "youtrack", "redmine", "shopify", "stripe",
			"paypal", "confluence", "airtable", "basecamp", "todoist", "servicenow", "calendly", "eventbrite", "mailchimp", "klaviyo", "segment", "mixpanel":
			return true
		}
	}
	return false
}

// sinkOption: the option says where a program puts what it makes.
func sinkOption(option string) bool {
	if !strings.HasPrefix(option, "-") {
		return false
	}
	words := nameWords(option)
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "output", "out", "dest", "destination", "sink", "o":
		return true
	}
	for _, w := range words {
		switch w {
		case "push", "upload", "webhook", "webhooks", "notify", "publish", "post", "sink", "callback", "submit":
			return true
		}
	}
	return false
}

// platformNoun: what a platform that runs applications names in front of a
// colon.
func platformNoun(s string) bool {
	switch strings.TrimSuffix(s, "s") {
	case "app", "env", "secret", "domain", "cert", "release", "addon", "buildpack", "p", "pipeline", "environment", "deployment", "site", "droplet", "certificate", "drain":
		return true
	}
	return false
}

// makesPages: the program makes a web site; a post is a file of it.
func makesPages(name string) bool {
	switch baseOf(name) {
	case "jekyll", "hexo", "hugo", "octopress", "zola", "pelican", "eleventy", "nikola", "middleman", "gatsby", "bridgetown", "rails", "bundle":
		return true
	}
	return false
}

// keepsWords: a script of the project, which may have any word for anything.
func keepsWords(name string) bool { return strings.ContainsAny(name, "/.") }

// compound: a subcommand of several words that says what is done and to what:
// push-components, createAlert, post-comment.
func (t *tables) compound(s string) bool {
	w := nameWords(s)
	if len(w) < 2 || len(w) > 4 || strings.ContainsAny(s, "/.=$@ _") {
		return false
	}
	if orderedVerb(w[0], w[1]) {
		return true
	}
	return t.strong.has(w[0]) && t.verbs.has(w[0]) && t.riskyName(s)
}

// cloudAction: an action of a cloud's interface, named as its clients name it:
// RunInstances, DeleteBucket.
func cloudAction(s string) bool {
	w := nameWords(s)
	if len(w) < 2 || s[0] < 'A' || s[0] > 'Z' || !isWordOnly(s) {
		return false
	}
	switch w[0] {
	case "run", "create", "delete", "terminate", "modify", "update", "start", "stop", "reboot", "put", "send", "publish", "attach", "detach", "reset",
		"release", "allocate", "associate", "authorize", "revoke", "set", "add", "remove", "invoke", "import", "renew", "resize", "purge", "push":
		return true
	}
	return false
}

func isWordOnly(s string) bool {
	for i := range len(s) {
		if !isIdent(s[i]) {
			return false
		}
	}
	return true
}
