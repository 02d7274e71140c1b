package stories

import (
	"fmt"
	"slices"
)

// readKeys are the keys of a story in a list that mean something here.
func readKeys() []string {
	return slices.Concat(flagKeys(), verifyKeys(), dependsKeys(), criteriaKeys(), []string{
		statusKey, "id", "title", "name", "description", "details", "oneLiner", "notes", "completionNotes", "technicalNotes", "note",
		"checkpoint", "check", "type", "level", "category", "priority", "inProgress", "started", "issue_type", "_type",
	})
}

// unreadKeys names the keys of the stories that mean nothing here.
func unreadKeys(list *node) []string {
	var keys []string
	count := map[string]int{}
	known := readKeys()
	for i := range list.items {
		for _, m := range list.items[i].members {
			if slices.Contains(known, m.key) {
				continue
			}
			if count[m.key]++; count[m.key] == 1 && len(keys) < maxUnread {
				keys = append(keys, m.key)
			}
		}
	}
	texts := make([]string, 0, len(keys))
	for _, key := range keys {
		texts = append(texts, fmt.Sprintf("the key %q in %d of the stories", key, count[key]))
	}
	return texts
}

// maxUnread is how many kinds of what is not read are named.
const maxUnread = 30
