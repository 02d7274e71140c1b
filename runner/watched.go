package runner

import (
	"crypto/sha256"
	"os"
)

// fingerprints are the hashes of the files that a run is told by; a missing
// file has the zero hash.
func fingerprints(paths []string) map[string]hash {
	out := make(map[string]hash, len(paths))
	for _, p := range paths {
		// What cannot be read counts as missing: becoming readable, or no
		// longer so, is a change.
		if data, err := os.ReadFile(p); err == nil {
			out[p] = sha256.Sum256(data)
		} else {
			out[p] = hash{}
		}
	}
	return out
}
