//go:build !unix

package runner

import "errors"

func lockRun(string) (func(), error) {
	return nil, errors.New("running stories is not supported on this system; scan, report and the queue are")
}

// Busy is never true: nothing runs here.
func Busy(string) (pid string, busy bool) { return "", false }
