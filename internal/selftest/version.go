package selftest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Version is a version of the client.
type Version struct{ Major, Minor, Patch int }

// Oldest is the oldest client that knows onFailure: an older one takes a hook
// that failed for one that had nothing to say.
var Oldest = Version{2, 1, 300}

// ParseVersion reads what the client says to --version: "2.1.332 (Claude
// Code)". What follows the three numbers is not looked at.
func ParseVersion(line string) (Version, error) {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	word, _, _ = strings.Cut(word, "-") // a pre-release counts as its release
	parts := strings.Split(strings.TrimPrefix(word, "v"), ".")
	if len(parts) != 3 {
		return Version{}, fmt.Errorf("%q is no version like \"2.1.332 (Claude Code)\"", line)
	}
	var v Version
	for i, dst := range []*int{&v.Major, &v.Minor, &v.Patch} {
		n, err := strconv.Atoi(parts[i])
		if err != nil || n < 0 {
			return Version{}, fmt.Errorf("%q is no version like \"2.1.332 (Claude Code)\"", line)
		}
		*dst = n
	}
	return v, nil
}

// Before reports whether v is older than o.
func (v Version) Before(o Version) bool {
	return cmp.Or(cmp.Compare(v.Major, o.Major), cmp.Compare(v.Minor, o.Minor), cmp.Compare(v.Patch, o.Patch)) < 0
}

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }
