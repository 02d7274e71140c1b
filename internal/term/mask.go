package term

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Mask is Masker.Mask with no receipt known.
func Mask(s string) string { return Masker{}.Mask(s) }

// Masker hides secrets. The zero value hides all that looks like one.
type Masker struct {
	// Known gives where in a text receipts stand that loop itself issued: they
	// are no secrets, whatever they look like. May be nil.
	Known func(text string) [][2]int
	// Dressed gives where something stands that passes for a receipt in other
	// letters or in escapes, in order: a hiding place as well. May be nil.
	Dressed func(text string) [][2]int
}

// Mask replaces what looks like a secret by its first characters and "…":
// tokens with a known prefix, JWTs, private key blocks, the values of
// Authorization and similar headers, passwords in URLs, the values of
// flags, variables and fields named like a secret, and what is dressed up as a
// receipt and is not known. References such as "$TOKEN" stay: they tell no
// secret. It works on raw text, before Quote, and is for display only.
func (k Masker) Mask(s string) string {
	if len(s) < shortest {
		return s
	}
	if k.Dressed != nil {
		s = hideEach(s, k.Dressed(s))
	}
	lower := strings.ToLower(s)
	named := containsAny(lower, secretWords)
	receipts := strings.Contains(lower, receiptPrefix)
	if receipts {
		s = maskReceipts(s, k.known(s))
	}
	for _, m := range maskers() {
		if (named || !m.named) && containsAny(lower, m.keys) && strings.Contains(lower, m.sign) {
			var known [][2]int
			if receipts {
				known = k.known(s)
			}
			s = m.apply(s, known)
		}
	}
	return s
}

func (k Masker) known(s string) [][2]int {
	if k.Known == nil {
		return nil
	}
	return k.Known(s)
}

// shortest is the length of the shortest text that can hold a secret and the
// name that gives it away: _pat=x.
const shortest = 6

// secretWords are in every name of a secret, in lower case.
var secretWords = []string{"token", "secret", "pass", "key", "credential", "_pat"}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// masker is one shape of a secret. Every capturing group of its expression is
// an alternative place of the secret.
type masker struct {
	named bool     // one of secretWords is in every match
	keys  []string // one of these, in lower case, is in every match
	sign  string   // and so is this
	re    *regexp.Regexp
	ok    func(value string) bool // nil: every match is a secret
}

func (m masker) apply(s string, known [][2]int) string {
	var b strings.Builder
	last := 0
	for _, loc := range m.re.FindAllStringSubmatchIndex(s, -1) {
		from, to := firstGroup(loc)
		value := s[from:to]
		if isMasked(value) || isReference(value) || within(known, from, to) || m.ok != nil && !m.ok(value) {
			continue
		}
		b.WriteString(s[last:from])
		b.WriteString(hide(value))
		last = to
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

func firstGroup(loc []int) (from, to int) {
	for i := 2; i+1 < len(loc); i += 2 {
		if loc[i] >= 0 {
			return loc[i], loc[i+1]
		}
	}
	return loc[0], loc[1]
}

// hide keeps four characters, fewer of a short secret.
func hide(value string) string {
	n := utf8.RuneCountInString(value)
	keep := 4
	if n < 10 {
		keep = n / 4
	}
	for i := range value {
		if keep == 0 {
			return value[:i] + Ellipsis
		}
		keep--
	}
	return Ellipsis
}

// hideEach hides parts of a text.
func hideEach(s string, parts [][2]int) string {
	if len(parts) == 0 {
		return s
	}
	var b strings.Builder
	last := 0
	for _, p := range parts {
		b.WriteString(s[last:p[0]])
		b.WriteString(hide(s[p[0]:p[1]]))
		last = p[1]
	}
	b.WriteString(s[last:])
	return b.String()
}

func isMasked(value string) bool {
	return strings.HasSuffix(value, Ellipsis) && utf8.RuneCountInString(value) <= 5
}

// isReference reports whether the value names a secret and is none.
func isReference(value string) bool {
	if strings.HasPrefix(value, "$(") || strings.HasPrefix(value, "`") || strings.HasPrefix(value, "<") {
		return true
	}
	name, ok := strings.CutPrefix(value, "$")
	name = strings.TrimSuffix(strings.TrimPrefix(name, "{"), "}")
	return ok && strings.ToUpper(name) == name && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

func hasDigit(v string) bool { return strings.ContainsAny(v, "0123456789") }

// looksRandom tells a token from a word: digits, or capitals inside.
func looksRandom(v string) bool {
	return hasDigit(v) || strings.ContainsFunc(v[1:], unicode.IsUpper) && strings.ContainsFunc(v, unicode.IsLower)
}

// isNoNumber lets the ids of docker run -u 1000:1000 through.
func isNoNumber(v string) bool { return strings.Trim(v, "0123456789") != "" }

const (
	// secretName ends the name of a variable, flag or field.
	secretName = `(?:token|secret|passwd|password|passphrase|api[_-]?key|access[_-]?key(?:[_-]?id)?|` +
		`private[_-]?key|secret[_-]?key|signing[_-]?key|credentials?|_pat)`
	// shellValue is a value in double quotes, in single quotes, or bare.
	shellValue = `(?:\\*"([^"\\]+)|'([^']+)|([^\s"'&;|<>,\\=-][^\s"'&;|<>,\\]*))`
)

// maskers are made on first use: most runs of loop print nothing to mask.
// They work in this order: whole blocks, what is known by its own shape, what
// is known by what stands before it.
var maskers = sync.OnceValue(func() []masker {
	table := []struct {
		named bool
		keys  string
		sign  string
		expr  string
		ok    func(string) bool
	}{
		{false, "private key-----", "", `(?s)-----BEGIN[^-]*PRIVATE KEY-----(?:\s|\\n)*(.+?)(?:-----END|\z)`, nil},
		{false, "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- dckr_pat_ pypi- hf_", "",
			`\b((?:gh[pousr]_|github_pat_|glpat-|dckr_pat_|pypi-|hf_)[A-Za-z0-9_-]{6,})`, nil},
		{false, "npm_", "", `\b(npm_[A-Za-z0-9]{10,})`, hasDigit},
		{false, "sk- k_live_ k_test_", "", `\b((?:sk-|[srp]k_live_|[srp]k_test_)[A-Za-z0-9_-]{10,})`, hasDigit},
		{false, "xox", "-", `\b(xox[abeprs]-[A-Za-z0-9-]{6,})`, nil},
		{false, "akia asia aiza", "", `\b((?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[0-9A-Za-z_-]{30,})`, nil},
		{false, "eyj", ".", `\b(eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?)`, nil},
		{false, "://", "@", `[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"']*:([^\s/"']+)@`, nil},
		{false, "://", "@", `[A-Za-z][A-Za-z0-9+.-]*://([^\s/:@"']{20,})@`, nil},
		{false, "authorization", "", `(?i)authorization["'\\]*\s*[:=]\s*["'\\]*(?:bearer|basic|token|digest|apikey|negotiate)\s+([^\s"'\\]+)`, nil},
		{false, "authorization", "", `(?i)authorization["'\\]*\s*[:=]\s*["'\\]*([^\s"'\\]+)`, looksRandom},
		{true, "key token", ":", `(?i)\b(?:x-)?(?:api-?key|[a-z]+-token)["'\\]*:\s*["'\\]*([^\s"'\\]+)`, looksRandom},
		{false, "cookie:", "", `(?i)\bcookie:\s*([^"'\n]+)`, nil},
		{false, "bearer", "", `(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{8,})`, looksRandom},
		{false, "-u -user", ":", `(?:^|\s)(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"'/=]+:([^\s"']+)`, isNoNumber},
		{true, "--", "", `(?i)--(?:[a-z0-9-]*` + secretName + `|(?:[a-z0-9-]*-)?pass)(?:=|\s+)` + shellValue, nil},
		{true, "=", "", `(?i)` + secretName + `=` + shellValue, nil},
		{true, ":", "", `(?i)` + secretName + `\\*["']\s*:\s*\\*["']([^"'\\]+)`, nil},
		{true, ":", "", `(?i)` + secretName + `:\s+([^\s"'\\]{8,})`, looksRandom},
	}
	out := make([]masker, len(table))
	for i, t := range table {
		out[i] = masker{t.named, strings.Fields(t.keys), t.sign, regexp.MustCompile(t.expr), t.ok}
	}
	return out
})

// MaskField is Mask for a value that stands apart from its name, as in JSON.
func (k Masker) MaskField(name, value string) string {
	if value == "" || isReference(value) || receiptAlone(value) || !isSecretName(strings.ToLower(name)) || within(k.known(value), 0, len(value)) {
		return k.Mask(value)
	}
	return hide(value)
}

func isSecretName(lower string) bool {
	lower = strings.ReplaceAll(strings.ReplaceAll(lower, "-", ""), "_", "")
	for _, end := range []string{
		"token", "secret", "passwd", "password", "passphrase", "apikey", "accesskey", "accesskeyid",
		"privatekey", "secretkey", "signingkey", "credential", "credentials", "authorization", "cookie",
	} {
		if strings.HasSuffix(lower, end) {
			return true
		}
	}
	return lower == "pass"
}
