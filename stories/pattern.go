package stories

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: a
// hook of loop is a process of its own and reads no story.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
