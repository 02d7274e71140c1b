package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/receipt"
)

// Judging a long attempt, whose results are in other scripts as well and full
// of receipts.
func BenchmarkCited(b *testing.B) {
	var all strings.Builder
	for i := range 5000 {
		id := fmt.Sprint("t", i)
		all.WriteString(called(id, "Bash", `{"command":"cat page"}`) + "\n" + came(id, strings.Repeat("Быстрая lisa ", 150)+fmt.Sprintf("zc-receipt-%d-%s", i, strings.Repeat("A", 43))) + "\n")
	}
	path := filepath.Join(b.TempDir(), transcriptName)
	if err := os.WriteFile(path, []byte(all.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(all.Len()))
	for b.Loop() {
		w := newWriting("s", func(receipt.Token) bool { return false })
		if err := eachEvent(path, w.see); err != nil {
			b.Fatal(err)
		}
	}
}
