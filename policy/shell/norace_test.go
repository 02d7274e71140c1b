//go:build !race

package shell

const boundsSize = 256 << 10
