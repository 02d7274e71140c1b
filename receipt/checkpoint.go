package receipt

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/note"
)

// ErrSignature is what a checkpoint gets that the key did not sign.
var ErrSignature = errors.New("the checkpoint is not signed by this key")

// Origin is the name under which the log of a session is signed.
func Origin(session string) string { return "loop.local/" + session }

// Checkpoint is a state of a log under the name of the log.
type Checkpoint struct {
	Origin string // like loop.local/SESSION; no spaces, no plus
	Tree
}

// body is the text that is signed: three lines.
func (c Checkpoint) body() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, base64.StdEncoding.EncodeToString(c.Root[:]))
}

func parseBody(text string) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 {
		return Checkpoint{}, errors.New("read a checkpoint: it has three lines")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read a checkpoint: size %q", shorten(lines[1]))
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || len(root) != len(Hash{}) {
		return Checkpoint{}, fmt.Errorf("read a checkpoint: root %q", shorten(lines[2]))
	}
	c := Checkpoint{Origin: lines[0], Tree: Tree{Size: size, Root: Hash(root)}}
	if c.Size < 0 || c.body() != text {
		return Checkpoint{}, errors.New("read a checkpoint: not in its canonical form")
	}
	return c, nil
}

// Signer holds the Ed25519 key of one session. Its private half has no way
// out, prints as "redacted" and is gone after Close: who writes to the log
// later can sign nothing.
type Signer struct {
	redacted
	origin   string
	public   string
	verifier note.Verifier

	mu      sync.Mutex
	private hidden[ed25519.PrivateKey]
}

// NewSigner makes a key from random, or from the system's source when random
// is nil. Origin is the name of the log and of the key.
func NewSigner(origin string, random io.Reader) (*Signer, error) {
	if random == nil {
		random = rand.Reader
	}
	seed := make([]byte, ed25519.SeedSize)
	defer clear(seed)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("make a checkpoint key: %w", err)
	}
	private := ed25519.NewKeyFromSeed(seed)
	public, err := note.NewEd25519VerifierKey(origin, ed25519.PublicKey(private[ed25519.SeedSize:]))
	if err != nil {
		return nil, fmt.Errorf("make a checkpoint key for %q: %w", origin, err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		return nil, fmt.Errorf("make a checkpoint key for %q: a name without spaces and plus is needed: %w", origin, err)
	}
	return &Signer{origin: origin, public: public, verifier: verifier, private: hide(&private)}, nil
}

// PublicKey is what OpenCheckpoint needs: one line, name+hash+key, to be kept
// where the log's keeper cannot change it.
func (s *Signer) PublicKey() string { return s.public }

// Close zeroes the private half.
func (s *Signer) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(*s.private())
	*s.private() = nil
}

// Sign gives the signed checkpoint of a state: the three lines, an empty one
// and a line with the signature, as transparency logs have it.
func (s *Signer) Sign(t Tree) ([]byte, error) {
	signed, err := note.Sign(&note.Note{Text: Checkpoint{s.origin, t}.body()}, noteSigner{s})
	if err != nil {
		return nil, fmt.Errorf("sign a checkpoint: %w", err)
	}
	return signed, nil
}

// noteSigner lets note reach the key without it becoming reachable otherwise.
type noteSigner struct{ s *Signer }

func (n noteSigner) Name() string    { return n.s.verifier.Name() }
func (n noteSigner) KeyHash() uint32 { return n.s.verifier.KeyHash() }

func (n noteSigner) Sign(msg []byte) ([]byte, error) {
	n.s.mu.Lock()
	defer n.s.mu.Unlock()
	private := *n.s.private()
	if private == nil {
		return nil, ErrClosed
	}
	return ed25519.Sign(private, msg), nil
}

// OpenCheckpoint verifies a signed checkpoint under a public key and reads it.
// The key's name must be the log's.
func OpenCheckpoint(signed []byte, publicKey string) (Checkpoint, error) {
	verifier, err := note.NewVerifier(publicKey)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read the public key %q: %w", shorten(publicKey), err)
	}
	n, err := note.Open(signed, note.VerifierList(verifier))
	if err != nil {
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	c, err := parseBody(n.Text)
	if err != nil {
		return Checkpoint{}, err
	}
	if c.Origin != verifier.Name() {
		return Checkpoint{}, fmt.Errorf("%w: it is of %q, the key of %q", ErrSignature, shorten(c.Origin), verifier.Name())
	}
	return c, nil
}
