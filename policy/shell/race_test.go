//go:build race

package shell

// boundsSize is smaller under the race detector, which is ten times slower.
const boundsSize = 32 << 10
