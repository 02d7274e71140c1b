package runner

import (
	"crypto/sha256"

	"github.com/seed-b23e517c/loop/internal/regular"
)

// maxWatched is the largest file of a work tree that a run reads whole.
const maxWatched = 64 << 20

// fingerprints are the hashes of the files that a run is told by; a missing
// file has the zero hash.
func fingerprints(paths []string) map[string]hash {
	out := make(map[string]hash, len(paths))
	for _, p := range paths {
		// What cannot be read counts as missing: becoming readable, or no
		// longer so, is a change.
		if data, err := regular.Read(p, maxWatched); err == nil {
			out[p] = sha256.Sum256(data)
		} else {
			out[p] = hash{}
		}
	}
	return out
}
