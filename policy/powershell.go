package policy

import "strings"

// powershellCall classifies the line of a tool that is PowerShell, where \ is a
// letter of a path and ` goes on with the line.
func (s *Set) powershellCall(cmd string, in map[string]any, c Call) Result {
	line := strings.NewReplacer("`\r\n", " ", "`\n", " ", `\`, "/").Replace(cmd)
	res := s.classifyLine(line, c)
	if hits := dotNet(cmd); len(hits) > 0 {
		res = finish(append(res.Hits, hits...), Mentioned)
	}
	if res.Verdict == VerdictLocal {
		if extra := s.wordsOf(c, without(in, cmd)); len(extra) > 0 {
			return finish(append(res.Hits, extra...), Mentioned)
		}
	}
	return res
}

// cloudCmdlet reports whether a command of PowerShell changes something in a
// cloud or at a service: a verb that changes, and a noun that begins with the
// module's own mark.
func cloudCmdlet(prog string) bool {
	verb, noun, ok := strings.Cut(strings.ToLower(prog), "-")
	if !ok {
		return false
	}
	switch verb {
	case "new", "set", "remove", "add", "update", "start", "stop", "restart", "invoke", "send", "publish", "move", "import", "enable", "disable",
		"grant", "revoke", "register", "unregister", "write", "push", "submit", "approve", "deny", "clear", "reset", "rename", "copy", "edit",
		"complete", "request", "confirm", "restore", "suspend", "resume", "deploy", "upload", "mount":
	default:
		return false
	}
	for _, mark := range []string{"azurerm", "azuread", "az", "mg", "msol", "spo", "pnp", "exo", "mailbox", "transportrule", "distributiongroup", "csteams",
		"s3", "ec2", "iam", "lm", "sqs", "sns", "cfn", "ecs", "eks", "rds", "ddb", "secsecret", "ssm", "r53", "elb2", "kms", "gce", "gcs",
		"aduser", "adgroup", "adcomputer", "adaccount", "adobject", "adorganizationalunit", "dnsserver", "dhcpserver",
		"github", "gitlab", "adops", "vsteam", "jira", "slack", "servicenow", "okta", "dba", "pagerduty", "octopus", "azdevops"} {
		if rest, ok := strings.CutPrefix(noun, mark); ok && (rest != "" || len(mark) > 5) && !strings.HasSuffix(noun, "context") && !strings.HasSuffix(noun, "config") && !strings.HasSuffix(noun, "defaultprofile") {
			return true
		}
	}
	return false
}

// started classifies the programs that PowerShell starts through .NET:
// [Diagnostics.Process]::Start('git', 'push').
func (r *reading) started(text string) []Hit {
	var hits []Hit
	low := strings.ToLower(text)
	for at := 0; len(low) == len(text); {
		i := strings.Index(low[at:], "process]::start(")
		if i < 0 {
			break
		}
		at += i + len("process]::start(")
		args, _, _ := strings.Cut(text[at:], ")")
		var words []string
		for w := range strings.SplitSeq(args, ",") {
			words = append(words, strings.Trim(w, ` '"`))
		}
		hits = append(hits, r.line(strings.Join(words, " "))...)
	}
	return hits
}
