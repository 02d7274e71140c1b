package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/seed-b23e517c/loop/queue"
)

// Fingerprint names what a person was shown of an action before a yes. It is
// another one when anything of the action, or of what was found out beside it,
// is different; only the time of the look is left out. It is made of what may be
// secret, so whoever gives it away keys it first.
func Fingerprint(a queue.Action, s Since) (string, error) {
	s.Now = a.DetectedAt
	h := sha256.New()
	if err := Show(h, a, s); err != nil {
		return "", err
	}
	s.Work = nil // a run that goes on changes it; what it means here was shown
	if err := json.NewEncoder(h).Encode([]any{a, s}); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
