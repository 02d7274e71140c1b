//go:build e2e && !linux

package e2e

import "errors"

func reexecOnLoopback() error { return errors.New("only Linux has network namespaces") }
