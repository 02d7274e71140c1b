//go:build !linux || !(amd64 || arm64)

package trap

import "errors"

// Become works on Linux only.
func Become([]string) error { return errors.ErrUnsupported }
