package runner

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	digest "hash"
	"io"
	"os"
	"path/filepath"
)

// keptTranscript writes a transcript and knows what it wrote: the agent is the
// same user and may write there too.
type keptTranscript struct {
	file *os.File
	sum  digest.Hash
	size int64
}

func keepTranscript(f *os.File) *keptTranscript { return &keptTranscript{file: f, sum: sha256.New()} }

func (k *keptTranscript) Write(p []byte) (int, error) {
	n, err := k.file.Write(p)
	_, _ = k.sum.Write(p[:n]) // a hash never fails
	k.size += int64(n)
	return n, err
}

// check compares what stands in the file with what was written, puts the file
// back where its name is gone or leads elsewhere, and says what was done to it;
// "" when nothing was.
func (k *keptTranscript) check() string {
	own, err := k.file.Stat()
	if err != nil {
		return fmt.Sprintf("the transcript cannot be read any more: %v", err)
	}
	path := k.file.Name()
	moved := ""
	if there, err := os.Lstat(path); err != nil || !os.SameFile(own, there) {
		moved = "the transcript was removed or replaced while it was written"
		if err := k.restore(path); err != nil {
			return fmt.Sprintf("%s, and could not be put back: %v", moved, err)
		}
		moved += "; loop has put it back"
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(k.file, 0, own.Size()))
	if err != nil || n != k.size || !bytes.Equal(sum.Sum(nil), k.sum.Sum(nil)) {
		return fmt.Sprintf("the transcript was changed while it was written: loop wrote %d bytes and finds %d, not the same. What was taken out is not scanned; the firewall was asked about each call all the same", k.size, own.Size())
	}
	return moved
}

// restore writes what the file holds under its name again.
func (k *keptTranscript) restore(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := create(path)
	if err != nil {
		return err
	}
	info, err := k.file.Stat()
	if err == nil {
		_, err = io.Copy(f, io.NewSectionReader(k.file, 0, info.Size()))
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
