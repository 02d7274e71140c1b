//go:build !unix

package workspace

// Here git is asked: it writes paths in a form of its own, and whose a file is
// the files' modes do not say.
func ours(...string) bool            { return false }
func sameDevice(string, string) bool { return false }
