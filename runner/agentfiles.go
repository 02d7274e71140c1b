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
	"slices"
	"strings"
	"time"

	"github.com/seed-b23e517c/loop/internal/regular"
)

// maxAgentFiles is how many files of the agents' are named.
const maxAgentFiles = 2000

// agentFiles are the files of the work tree that are not, byte for byte, in the
// commit at which the session began: what an agent of it may have written. git
// only lists for it; nothing that its settings name is run.
func (r *run) agentFiles(ctx context.Context) []string {
	o, since := r.o, r.begun()
	list := func(args ...string) []string {
		names, _ := gitTexts(ctx, o, 64<<20, args...) // no answer, no files
		return names
	}
	var changed []string
	for _, name := range list("ls-files", "-z", "--cached", "--others", "--exclude-standard") {
		path := filepath.Join(o.Root, filepath.FromSlash(name))
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && !changeTime(info).Before(since) && len(changed) < maxAgentFiles {
			changed = append(changed, name)
		}
	}
	if len(changed) == 0 || o.startHead == "" {
		return under(o.Root, changed)
	}
	was := map[string]string{}
	for _, entry := range list("ls-tree", "-r", "-z", o.startHead) {
		if about, name, ok := strings.Cut(entry, "\t"); ok {
			was[name] = about[strings.LastIndexByte(about, ' ')+1:]
		}
	}
	return under(o.Root, slices.DeleteFunc(changed, func(name string) bool {
		id := was[name]
		return id != "" && id == blobName(filepath.Join(o.Root, filepath.FromSlash(name)), len(id))
	}))
}

// begun is from when on what was written may be an agent's. Some file systems
// know whole seconds only.
func (r *run) begun() time.Time { return r.session.Started.Truncate(time.Second) }

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
