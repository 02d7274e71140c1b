package runner

import (
	"crypto/sha256"
	"maps"
	"os"
	"slices"
)

// fingerprints are the hashes of the files that a run is told by; a missing
// file has the zero hash.
func fingerprints(paths []string) map[string][sha256.Size]byte {
	out := make(map[string][sha256.Size]byte, len(paths))
	for _, p := range paths {
		// What cannot be read counts as missing: becoming readable, or no
		// longer so, is a change.
		if data, err := os.ReadFile(p); err == nil {
			out[p] = sha256.Sum256(data)
		} else {
			out[p] = [sha256.Size]byte{}
		}
	}
	return out
}

// changed lists the files whose hash is another now.
func changed(before, now map[string][sha256.Size]byte) []string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(before)) {
		if now[p] != before[p] {
			out = append(out, p)
		}
	}
	return out
}
