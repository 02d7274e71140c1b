package runner

import (
	"context"
	"crypto/sha1" // git's own names of objects
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	digest "hash"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/proc"
	"github.com/seed-b23e517c/loop/internal/regular"
)

// maxAgentFiles is how many files of the agents' are named.
const maxAgentFiles = 2000

// agentFiles are the files of the work tree that are not, byte for byte, in the
// commit at which the session began: what an agent of it may have written. git
// only lists for it; nothing that its settings name is run.
func agentFiles(ctx context.Context, o *Options, since time.Time) []string {
	list := func(args ...string) []string {
		out := proc.Run(ctx, proc.RunOptions{
			Argv: gitArgv(args...), Dir: o.Root, Env: o.Env, Plain: true, Timeout: gitTimeout, Tail: 64 << 20, Separate: true, Now: o.Now,
		})
		return splitZero(string(out.Tail)) // no answer, no files
	}
	var changed []string
	for _, name := range list("ls-files", "-z", "--cached", "--others", "--exclude-standard") {
		path := filepath.Join(o.Root, filepath.FromSlash(name))
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && !changeTime(info).Before(since) && len(changed) < maxAgentFiles {
			changed = append(changed, name)
		}
	}
	if len(changed) == 0 || o.startHead == "" {
		return changed
	}
	was := map[string]string{}
	for _, entry := range list("ls-tree", "-r", "-z", o.startHead) {
		if about, name, ok := strings.Cut(entry, "\t"); ok {
			was[name] = about[strings.LastIndexByte(about, ' ')+1:]
		}
	}
	out := changed[:0]
	for _, name := range changed {
		if id := was[name]; id == "" || id != blobName(filepath.Join(o.Root, filepath.FromSlash(name)), len(id)) {
			out = append(out, name)
		}
	}
	return out
}

// blobName is the name that git gives to what a file holds, "" when it cannot be
// read. Source: git's object format.
func blobName(path string, size int) string {
	data, err := regular.Read(path, maxWatched)
	if err != nil {
		return ""
	}
	var sum digest.Hash = sha1.New()
	if size == 2*sha256.Size {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", len(data))
	_, _ = sum.Write(data) // a hash never fails
	return hex.EncodeToString(sum.Sum(nil))
}
