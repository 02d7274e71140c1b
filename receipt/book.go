package receipt

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
)

// ErrIssued is what a second receipt for the same call gets.
var ErrIssued = errors.New("the call has a receipt")

// Entry is one receipt of a Book. Bodies are not kept, only their hashes.
type Entry struct {
	Token        Token
	Format       Format
	Scope        string
	ToolUseID    string
	Seq          uint64 // number of the receipt in its scope, from 1
	Tool         string
	Unix         int64
	ArgsSHA256   [sha256.Size]byte // of the canonical arguments
	ResultSHA256 [sha256.Size]byte // of the bytes that were signed
	Revoked      string            // why it counts no more; empty while it does
}

// Book is the table of a session's receipts: what it did not issue is none,
// whatever the MAC says. It lives in memory, like the key. All methods may be
// called from several goroutines.
type Book struct {
	key    Key
	format Format

	mu     sync.RWMutex
	calls  map[callID]*Entry
	tokens map[Token][]*Entry // several only in zc-v1
	seq    map[string]uint64
}

type callID struct{ scope, toolUseID string }

// NewBook begins an empty table that issues in one format. Who made the key
// closes it.
func NewBook(key Key, format Format) *Book {
	return &Book{
		key: key, format: format,
		calls: map[callID]*Entry{}, tokens: map[Token][]*Entry{}, seq: map[string]uint64{},
	}
}

// Issue mints the receipt of a call and enters it. It numbers the receipts of
// a scope itself; c.Seq is not looked at. A call that has a receipt, revoked or
// not, gets ErrIssued: two results for one id mean that one was made up.
func (b *Book) Issue(c Call) (Entry, error) {
	if c.ToolUseID == "" {
		return Entry{}, errors.New("issue a receipt: the call has no id")
	}
	args, err := Canonical(c.Args)
	if err != nil {
		return Entry{}, fmt.Errorf("issue a receipt for %q: arguments: %w", c.ToolUseID, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	id := callID{c.Scope, c.ToolUseID}
	if b.calls[id] != nil {
		return Entry{}, fmt.Errorf("%q in %q: %w", c.ToolUseID, c.Scope, ErrIssued)
	}
	c.Seq = b.seq[c.Scope] + 1
	t, err := b.key.Mint(b.format, c)
	if err != nil {
		return Entry{}, err
	}
	e := &Entry{
		Token: t, Format: b.format, Scope: c.Scope, ToolUseID: c.ToolUseID, Seq: c.Seq, Tool: c.Tool, Unix: c.Unix,
		ArgsSHA256: sha256.Sum256(args), ResultSHA256: sha256.Sum256(c.Result),
	}
	b.calls[id], b.seq[c.Scope] = e, c.Seq
	b.tokens[t] = append(b.tokens[t], e)
	return *e, nil
}

// Revoke withdraws the receipt of a call, for good and for the first reason
// given. It reports whether there was one.
func (b *Book) Revoke(scope, toolUseID, why string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.calls[callID{scope, toolUseID}]
	if e == nil {
		return false
	}
	if e.Revoked == "" {
		if e.Revoked = why; why == "" {
			e.Revoked = "no reason given"
		}
	}
	return true
}

// Lookup gives the entries that bear a token, oldest first. In zc-v1 the same
// call twice in a second has one token.
func (b *Book) Lookup(t Token) []Entry {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var entries []Entry
	for _, e := range b.tokens[t] {
		entries = append(entries, *e)
	}
	return entries
}

// Call gives the receipt of a call.
func (b *Book) Call(scope, toolUseID string) (Entry, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if e := b.calls[callID{scope, toolUseID}]; e != nil {
		return *e, true
	}
	return Entry{}, false
}

// Verify recomputes the MAC of an entry's call, as a check of the table
// itself. The bodies are the caller's to bring.
func (b *Book) Verify(e Entry, c Call) bool {
	c.Scope, c.ToolUseID, c.Seq, c.Tool, c.Unix = e.Scope, e.ToolUseID, e.Seq, e.Tool, e.Unix
	return b.key.Verify(e.Format, c, e.Token)
}
