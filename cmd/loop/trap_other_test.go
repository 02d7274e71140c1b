//go:build !linux || !(amd64 || arm64)

package main

// testCommands are what else the test binary can be.
func testCommands() map[string]func() { return nil }
