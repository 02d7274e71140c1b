package term

import (
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"bearer header", `curl -H "Authorization: Bearer abcd1234efgh"`, `curl -H "Authorization: Bearer abcd…"`},
		{"basic header", `-H 'authorization: Basic dXNlcjpwYXNz'`, `-H 'authorization: Basic dXNl…'`},
		{"header without scheme", `-H "Authorization: 9f8e7d6c5b4a"`, `-H "Authorization: 9f8e…"`},
		{"header escaped in JSON", `{"h":"{\"Authorization\":\"Bearer abcd1234efgh\"}"}`, `{"h":"{\"Authorization\":\"Bearer abcd…\"}"}`},
		{"bare bearer", "Bearer 0123456789abcdef", "Bearer 0123…"},
		{"api key header", `-H "X-Api-Key: k3y-0123456789"`, `-H "X-Api-Key: k3y-…"`},
		{"gitlab header", `--header "PRIVATE-TOKEN: abc123def456"`, `--header "PRIVATE-TOKEN: abc1…"`},
		{"cookie", `-H "Cookie: session=abcdef123456; x=y"`, `-H "Cookie: sess…"`},
		{"github classic", "ghp_0123456789abcdefghij", "ghp_…"},
		{"github fine-grained", "x github_pat_11ABCDEFG0_abcdef y", "x gith… y"},
		{"gitlab", "glpat-abcdefABCDEF123456", "glpa…"},
		{"npm", "npm_abcdefghij0123456789", "npm_…"},
		{"anthropic", "sk-ant-api03-abcdefghij", "sk-a…"},
		{"stripe", "sk_live_51Habcdef0123", "sk_l…"},
		{"slack", "xoxb-123456789012-abcdef", "xoxb…"},
		{"aws id", "AKIAIOSFODNN7EXAMPLE", "AKIA…"},
		{"jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig-part_1", "eyJh…"},
		{"url password", "git push https://bot:s3cr3tpass@github.com/o/r", "git push https://bot:s3cr…@github.com/o/r"},
		{"url password with at", "psql postgres://u:p@ssw0rd123@db/x", "psql postgres://u:p@ss…@db/x"},
		{"url token", "git push https://abcdef0123456789abcdef@github.com/o/r", "git push https://abcd…@github.com/o/r"},
		{"flag", "mysql --password x", "mysql --password …"},
		{"flag with equals", "login --api-key=abcdef123456", "login --api-key=abcd…"},
		{"flag quoted", `login --passphrase "three little words"`, `login --passphrase "thre…"`},
		{"pass flag", "sshpass --pass hunter2hunter2", "sshpass --pass hunt…"},
		{"curl user", "curl -u admin:hunter2hunter2 https://x", "curl -u admin:hunt… https://x"},
		{"assignment", "NPM_TOKEN=abcdef123456 npm publish", "NPM_TOKEN=abcd… npm publish"},
		{"assignment quoted", `export DB_PASSWORD='a b c d e f g'`, `export DB_PASSWORD='a b …'`},
		{"aws secret", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENG", "AWS_SECRET_ACCESS_KEY=wJal…"},
		{"query string", "curl 'https://x/?access_token=abcdef123456&b=1'", "curl 'https://x/?access_token=abcd…&b=1'"},
		{"JSON field", `{"password": "hunter2hunter2"}`, `{"password": "hunt…"}`},
		{"YAML field", "password: hunter2hunter2", "password: hunt…"},
		{"npmrc", "//registry.npmjs.org/:_authToken=abcdef123456", "//registry.npmjs.org/:_authToken=abcd…"},
		{"short secret", "TOKEN=hunter2", "TOKEN=h…"},
		{"private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\nMIIE…-----END RSA PRIVATE KEY-----"},
		{"private key, torn", `echo "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r`, `echo "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl…`},
		{"private key with header", "-----BEGIN PRIVATE KEY-----\nProc-Type: 4\n\nMIIEow\n-----END", "-----BEGIN PRIVATE KEY-----\nProc…-----END"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Mask(tt.in)
			if got != tt.want {
				t.Errorf("Mask(%q)\n got %s\nwant %s", tt.in, got, tt.want)
			}
			if again := Mask(got); again != got {
				t.Errorf("not stable: %s, then %s", got, again)
			}
		})
	}
}

func TestMaskLeavesOrdinaryText(t *testing.T) {
	for _, s := range []string{
		"git push origin main",
		"docker run -p 8080:80 -u 1000:1000 nginx",
		"add the password reset form and a token bucket",
		"bearer authentication for the gateway",
		"task-management-something-long sk-learn",
		"npm_config_registry=https://registry.npmjs.org",
		`curl -H "Authorization: Bearer $GITHUB_TOKEN" https://x`,
		"GH_TOKEN=$(pass show gh) gh pr create",
		"NPM_TOKEN=${NPM_TOKEN} npm publish",
		"gh auth login --with-token < token.txt",
		"docker login --password-stdin",
		"max_tokens=4096 tokenizer=bpe",
		"https://example.com:8080/path@2x",
		"git clone git@github.com:owner/repo.git",
		"npm publish @scope/pkg@1.2.3",
		"commit 3f2a9c1d8e7b6a5f4c3d2e1f0a9b8c7d6e5f4a3b",
		"if token == nil { return }",
		"author=Jane key=value monkey=1",
	} {
		if got := Mask(s); got != s {
			t.Errorf("Mask(%q) = %q", s, got)
		}
	}
}

func TestMaskField(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"password", "hunter2hunter2", "hunt…"},
		{"apiKey", "abcdef123456", "abcd…"},
		{"X-API-Key", "abcdef123456", "abcd…"},
		{"auth_token", "$TOKEN", "$TOKEN"},
		{"command", "git push", "git push"},
		{"command", "TOKEN=abcdef123456 x", "TOKEN=abcd… x"},
		{"passed", "yes", "yes"},
		{"tokens", "many", "many"},
	}
	for _, tt := range tests {
		if got := (Masker{}).MaskField(tt.name, tt.value); got != tt.want {
			t.Errorf("MaskField(%q, %q) = %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
}

func FuzzMask(f *testing.F) {
	for _, s := range []string{"", "TOKEN=abc", "Authorization: Bearer x1y2z3w4", "-----BEGIN PRIVATE KEY-----a", "https://a:b@c"} {
		f.Add(s)
	}
	secret := "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	f.Fuzz(func(t *testing.T, s string) {
		if got := Mask(s + " " + secret); strings.Contains(got, secret[8:]) {
			t.Errorf("the secret after %q survives: %q", s, got)
		}
	})
}
