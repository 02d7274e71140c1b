package firewall

// PlainDenials are permission rules of the client for the plainest spellings of
// what leaves the machine: a second belt under the hooks, which are asked first
// and queue the call. A deny of the client outranks every allow, so they are
// not for a run in which rules of the user's own let something through, and
// they name only what has no local form: with :* the beginning of a command,
// else the whole of it.
func PlainDenials() []string {
	var out []string
	for _, command := range []string{
		"git push", "git push --force", "git push -f", "git push --tags", "git push origin", "git push origin HEAD", "git push origin main",
		"git push origin master", "git push -u origin HEAD", "git push -u origin main", "git push origin main --force", "git push --force origin main",
		"gh pr create --fill", "gh pr merge:*", "gh pr comment:*", "gh pr review:*", "gh issue create:*", "gh issue comment:*", "gh issue close:*",
		"gh release create:*", "gh release upload:*", "gh repo create:*", "gh repo delete:*", "gh gist create:*", "glab mr create --fill",
		"npm publish", "npm unpublish:*", "pnpm publish", "yarn publish", "cargo publish", "twine upload:*", "gem push:*",
		"loop approve:*", "loop reject:*", "loop prune:*",
	} {
		out = append(out, "Bash("+command+")")
	}
	return out
}
